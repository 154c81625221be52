#include "core/program_cache.h"

#include <stdlib.h>
#include <string.h>

#include "base/status.h"

enum { MOST_IDLE = 64 };
#define MOST_IDLE_BYTES (UINT64_C(64) << 20)

void core_program_cache_open(core_program_cache *cache, const qn_adapter_table *table, qn_adapter_device *device) {
  *cache = (core_program_cache){
      .table = table, .device = device, .most_idle = MOST_IDLE, .most_idle_bytes = MOST_IDLE_BYTES};
}

/* ---- Binaries ----------------------------------------------------------------------------------- */

static core_binary *new_binary(const qn_key *key) {
  core_binary *binary = calloc(1, sizeof *binary);
  if (!binary) return NULL;
  binary->key = *key;
  binary->users = 1;
  binary->state = CORE_BINARY_COMPILING;
  qn_arena_init(&binary->arena, 0);
  return binary;
}

static qn_status destroy_binary(core_program_cache *cache, core_binary *binary) {
  qn_status status = binary->native ? cache->table->program_destroy(cache->device, binary->native) : QN_OK;
  qn_arena_free(&binary->arena);
  free(binary->failure_text);
  free(binary);
  return status;
}

static void unlink_idle(core_program_cache *cache, core_binary *binary) {
  if (binary->previous) binary->previous->next = binary->next;
  if (binary->next) binary->next->previous = binary->previous;
  if (cache->first_idle == binary) cache->first_idle = binary->next;
  if (cache->last_idle == binary) cache->last_idle = binary->previous;
  binary->previous = binary->next = NULL;
  cache->idle--;
  cache->idle_bytes -= binary->bytes;
}

static void append_idle(core_program_cache *cache, core_binary *binary) {
  binary->previous = cache->last_idle;
  if (cache->last_idle) cache->last_idle->next = binary;
  cache->last_idle = binary;
  if (!cache->first_idle) cache->first_idle = binary;
  cache->idle++;
  cache->idle_bytes += binary->bytes;
}

/* The idle binary that was let go first, out of the cache; NULL when no more than that are idle. */
static core_binary *evict(core_program_cache *cache, uint32_t most, uint64_t most_bytes) {
  core_binary *oldest = cache->idle > most || cache->idle_bytes > most_bytes ? cache->first_idle : NULL;
  if (!oldest) return NULL;
  unlink_idle(cache, oldest);
  qn_map_remove(&cache->map, qn_key_view(&oldest->key));
  return oldest;
}

/* ---- Get ---------------------------------------------------------------------------------------- */

/* One use fewer of a binary that failed. The one who compiled took it out of the map; the last who leaves destroys it. */
static void leave_failed(core_program_cache *cache, core_binary *binary) {
  if (--binary->users == 0) (void)!destroy_binary(cache, binary); /* nothing was loaded that could be refused */
}

/* A use of what the map has, waited for while it compiles. Under the lock. */
static qn_status use_known(core_program_cache *cache, core_binary *binary, core_binary **out_binary) {
  if (binary->users++ == 0) unlink_idle(cache, binary);
  while (binary->state == CORE_BINARY_COMPILING) qn_cond_wait(&cache->changed, &cache->lock, QN_FOREVER);
  *out_binary = binary->state == CORE_BINARY_READY ? binary : NULL;
  if (*out_binary) return QN_OK;
  qn_status status =
      qn_error_set_driver(binary->failure, binary->driver_code, "%s",
                          binary->failure_text ? binary->failure_text : "no memory for the error's text");
  leave_failed(cache, binary);
  return status;
}

/* Compiles outside the lock; others who want the key wait for `changed`. Under the lock. */
static qn_status compile_new(core_program_cache *cache, core_binary *binary, core_compile_fn compile, void *user) {
  qn_mutex_unlock(&cache->lock);
  qn_status status = compile(user, binary);
  qn_mutex_lock(&cache->lock);
  binary->state = status < 0 ? CORE_BINARY_FAILED : CORE_BINARY_READY;
  qn_cond_broadcast(&cache->changed);
  if (status >= 0) return status;
  binary->failure = status;
  binary->driver_code = qn_error_driver_code();
  binary->failure_text = strdup(qn_error_text());
  qn_map_remove(&cache->map, qn_key_view(&binary->key));
  leave_failed(cache, binary);
  return status;
}

static qn_status get_locked(core_program_cache *cache, const qn_key *key, core_compile_fn compile, void *user,
                            core_binary **out_binary, bool *out_hit) {
  core_binary *known = qn_map_get(&cache->map, qn_key_view(key));
  *out_hit = known != NULL;
  if (known) return use_known(cache, known, out_binary);
  core_binary *binary = new_binary(key);
  if (!binary || !qn_map_set(&cache->map, qn_key_view(&binary->key), binary)) {
    free(binary);
    QN_FAIL(QN_ERROR_OUT_OF_HOST_MEMORY, "no memory for a program's record");
  }
  qn_status status = compile_new(cache, binary, compile, user);
  *out_binary = status < 0 ? NULL : binary; /* a failed one is gone, or about to be */
  return status;
}

qn_status core_program_cache_get(core_program_cache *cache, const qn_key *key, core_compile_fn compile, void *user,
                                 core_binary **out_binary, bool *out_hit) {
  qn_mutex_lock(&cache->lock);
  qn_status status = get_locked(cache, key, compile, user, out_binary, out_hit);
  qn_mutex_unlock(&cache->lock);
  return status;
}

/* ---- Put ---------------------------------------------------------------------------------------- */

/* Destroys idle ones, outside the lock, until no more than that are left. Returns the first thing that was refused. */
static qn_status evict_down_to(core_program_cache *cache, uint32_t most, uint64_t most_bytes) {
  qn_status first = QN_OK;
  for (;;) {
    qn_mutex_lock(&cache->lock);
    core_binary *old = evict(cache, most, most_bytes);
    qn_mutex_unlock(&cache->lock);
    if (!old) return first;
    qn_status status = destroy_binary(cache, old);
    if (first == QN_OK && status < 0) first = status;
  }
}

qn_status core_program_cache_put(core_program_cache *cache, core_binary *binary) {
  qn_mutex_lock(&cache->lock);
  if (--binary->users == 0) append_idle(cache, binary);
  qn_mutex_unlock(&cache->lock);
  return evict_down_to(cache, cache->most_idle, cache->most_idle_bytes);
}

qn_status core_program_cache_trim(core_program_cache *cache) { return evict_down_to(cache, 0, 0); }

void core_program_cache_close(core_program_cache *cache, core_refusal *refusal) {
  core_refusal_note(refusal, core_program_cache_trim(cache), "program");
  qn_map_free(&cache->map);
}

qn_status core_program_cache_count(core_program_cache *cache, uint32_t *out_count) {
  uint32_t entries = 0, idle = 0;
  qn_mutex_lock(&cache->lock);
  for (size_t i = 0; i < cache->map.capacity; i++) {
    const core_binary *binary = cache->map.entries[i].value;
    entries += binary != NULL;
    idle += binary && binary->users == 0;
  }
  bool right = entries == cache->map.count && idle == cache->idle;
  qn_mutex_unlock(&cache->lock);
  if (!right) QN_FAIL(QN_ERROR_INTERNAL, "the program cache has %u entries, and counts otherwise", entries);
  *out_count = entries;
  return QN_OK;
}

/* labels: threads */
/* The cache of programs in memory (C2), driven at random against a plain model, and by threads. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
/* cmocka asks for some of the above. */
#include <cmocka.h>
#include <pthread.h>
#include <stdatomic.h>

#include "base/os/clock.h"
#include "base/status.h"
#include "core/program_cache.h"

enum { KEYS = 200 };

/* ---- A device that counts ---- */

struct qn_adapter_program {
  int key;
};
static _Atomic int loaded[KEYS]; /* programs of a key that exist on the device */
static _Atomic int refuse;

static qn_status program_destroy(qn_adapter_device *device, qn_adapter_program *program) {
  (void)device;
  assert_non_null(program); /* a release function never sees NULL */
  atomic_fetch_sub(&loaded[program->key], 1);
  free(program);
  return atomic_load(&refuse) ? qn_error_set(QN_ERROR_DEVICE, "refused") : QN_OK;
}

static const qn_adapter_table table = {.struct_size = sizeof table, .program_destroy = program_destroy};

typedef struct compile_request {
  int key;
  bool fails;
  uint64_t sleep_ns, bytes;
  _Atomic int compiled;
} compile_request;

static qn_status compile(void *user, core_binary *binary) {
  compile_request *r = user;
  atomic_fetch_add(&r->compiled, 1);
  if (r->sleep_ns) qn_clock_sleep(r->sleep_ns);
  if (r->fails) QN_FAIL(QN_ERROR_COMPILE, "key %d does not compile", r->key);
  binary->bytes = r->bytes;
  binary->native = malloc(sizeof *binary->native);
  binary->native->key = r->key;
  atomic_fetch_add(&loaded[r->key], 1);
  return QN_OK;
}

static qn_key key_of(int number) {
  qn_key_maker maker;
  qn_key key;
  qn_key_start(&maker);
  qn_key_add_u64(&maker, (uint64_t)number);
  qn_key_end(&maker, &key);
  return key;
}

static void assert_nothing_is_loaded(void) {
  for (int i = 0; i < KEYS; i++) assert_int_equal(loaded[i], 0);
}

/* ---- Tests ---- */

static void test_C2_a_random_history_agrees_with_a_list(void **state) {
  (void)state;
  enum { STEPS = 20000, MOST_HELD = 50 };
  core_program_cache cache;
  core_refusal refusal = {0};
  core_binary *held[MOST_HELD];
  int held_key[MOST_HELD], uses[KEYS] = {0}, count = 0;
  core_program_cache_open(&cache, &table, NULL);
  srand(1);
  for (int step = 0; step < STEPS; step++) {
    int what = rand() % 10;
    if (what < 5 && count < MOST_HELD) {
      compile_request r = {.key = rand() % KEYS, .fails = rand() % 10 == 0};
      bool was_loaded = loaded[r.key] == 1, hit = false;
      qn_key key = key_of(r.key);
      qn_status status = core_program_cache_get(&cache, &key, compile, &r, &held[count], &hit);
      assert_int_equal(r.compiled, was_loaded ? 0 : 1);
      assert_int_equal(status, r.fails && !was_loaded ? QN_ERROR_COMPILE : QN_OK);
      if (status < 0) assert_null(held[count]);
      if (status == QN_OK) {
        assert_int_equal(hit, was_loaded);
        assert_int_equal(held[count]->native->key, r.key);
        held_key[count++] = r.key;
        uses[r.key]++;
      }
    } else if (what < 9 && count > 0) {
      int at = rand() % count;
      assert_int_equal(core_program_cache_put(&cache, held[at]), QN_OK);
      uses[held_key[at]]--;
      held[at] = held[--count];
      held_key[at] = held_key[count];
    } else if (what == 9 && rand() % 50 == 0) {
      assert_int_equal(core_program_cache_trim(&cache), QN_OK);
      for (int i = 0; i < KEYS; i++) assert_int_equal(loaded[i], uses[i] > 0);
    }
    size_t known = 0;
    for (int i = 0; i < KEYS; i++) {
      assert_true(loaded[i] == 1 || (loaded[i] == 0 && uses[i] == 0)); /* never two of a key, never less than held */
      known += (size_t)loaded[i];
    }
    assert_int_equal(cache.map.count, known); /* the count doesn't drift */
  }
  while (count > 0) assert_int_equal(core_program_cache_put(&cache, held[--count]), QN_OK);
  core_program_cache_close(&cache, &refusal);
  assert_nothing_is_loaded();
  assert_int_equal(refusal.status, QN_OK);
}

static void test_C2_idle_programs_are_bounded_and_the_oldest_goes_first(void **state) {
  (void)state;
  core_program_cache cache;
  core_refusal refusal = {0};
  core_program_cache_open(&cache, &table, NULL);
  for (int i = 0; i < 100; i++) {
    compile_request r = {.key = i};
    core_binary *binary = NULL;
    bool hit = false;
    qn_key key = key_of(i);
    assert_int_equal(core_program_cache_get(&cache, &key, compile, &r, &binary, &hit), QN_OK);
    assert_int_equal(core_program_cache_put(&cache, binary), QN_OK);
  }
  for (int i = 0; i < 100; i++) assert_int_equal(loaded[i], i >= 36);
  atomic_store(&refuse, 1);
  core_program_cache_close(&cache, &refusal);
  atomic_store(&refuse, 0);
  assert_int_equal(refusal.status, QN_ERROR_DEVICE);
  assert_nothing_is_loaded();
}

static void test_C2_idle_programs_are_bounded_by_their_bytes(void **state) {
  (void)state;
  core_program_cache cache;
  core_refusal refusal = {0};
  core_binary *binaries[10];
  core_program_cache_open(&cache, &table, NULL);
  cache.most_idle_bytes = 5500;
  for (int i = 0; i < 10; i++) {
    compile_request r = {.key = i, .bytes = 1000};
    bool hit = false;
    qn_key key = key_of(i);
    assert_int_equal(core_program_cache_get(&cache, &key, compile, &r, &binaries[i], &hit), QN_OK);
  }
  for (int i = 0; i < 10; i++) assert_int_equal(loaded[i], 1); /* what is held is never evicted */
  for (int i = 9; i >= 0; i--) assert_int_equal(core_program_cache_put(&cache, binaries[i]), QN_OK);
  for (int i = 0; i < 10; i++) assert_int_equal(loaded[i], i < 5);
  assert_int_equal(cache.idle_bytes, 5000);
  core_program_cache_close(&cache, &refusal);
  assert_nothing_is_loaded();
}

typedef struct shared {
  core_program_cache *cache;
  compile_request *request;
  _Atomic int hits, errors;
} shared;

static void *want(void *given) {
  shared *s = given;
  core_binary *binary = NULL;
  bool hit = false;
  qn_key key = key_of(s->request->key);
  if (core_program_cache_get(s->cache, &key, compile, s->request, &binary, &hit) != QN_OK) {
    if (binary || !strstr(qn_error_text(), "does not compile")) abort();
    atomic_fetch_add(&s->errors, 1);
    return NULL;
  }
  atomic_fetch_add(&s->hits, hit);
  if (core_program_cache_put(s->cache, binary) != QN_OK) abort();
  return NULL;
}

static void run_threads(shared *s, int count) {
  pthread_t threads[64];
  assert_true(count <= 64);
  for (int i = 0; i < count; i++) assert_int_equal(pthread_create(&threads[i], NULL, want, s), 0);
  for (int i = 0; i < count; i++) pthread_join(threads[i], NULL);
}

static void test_C2_a_crowd_compiles_one_key_once(void **state) {
  (void)state;
  core_program_cache cache;
  core_refusal refusal = {0};
  core_program_cache_open(&cache, &table, NULL);
  compile_request r = {.key = 7, .sleep_ns = 20000000};
  shared s = {.cache = &cache, .request = &r};
  run_threads(&s, 64);
  assert_int_equal(r.compiled, 1);
  assert_int_equal(s.hits, 63);
  core_program_cache_close(&cache, &refusal);
  assert_nothing_is_loaded();
}

/* Each of the compiles waits until all have begun: were one to wait for another's lock, none would come to its end. */
enum { SIDE_BY_SIDE = 8 };
static _Atomic int begun;

static qn_status compile_with_others(void *user, core_binary *binary) {
  uint64_t deadline = qn_clock_deadline(UINT64_C(20000000000));
  atomic_fetch_add(&begun, 1);
  while (atomic_load(&begun) < SIDE_BY_SIDE) {
    if (qn_clock_left(deadline) == 0) QN_FAIL(QN_ERROR_TIMEOUT, "alone");
    qn_clock_sleep(100000);
  }
  return compile(user, binary);
}

typedef struct one_of_many {
  core_program_cache *cache;
  compile_request request;
  qn_status status;
} one_of_many;

static void *compile_own(void *given) {
  one_of_many *o = given;
  core_binary *binary = NULL;
  bool hit = false;
  qn_key key = key_of(o->request.key);
  o->status = core_program_cache_get(o->cache, &key, compile_with_others, &o->request, &binary, &hit);
  if (o->status >= 0) o->status = core_program_cache_put(o->cache, binary);
  return NULL;
}

static void test_C2_different_keys_are_compiled_side_by_side(void **state) {
  (void)state;
  core_program_cache cache;
  core_refusal refusal = {0};
  one_of_many each[SIDE_BY_SIDE];
  pthread_t threads[SIDE_BY_SIDE];
  core_program_cache_open(&cache, &table, NULL);
  atomic_store(&begun, 0);
  for (int i = 0; i < SIDE_BY_SIDE; i++) {
    each[i] = (one_of_many){.cache = &cache, .request = {.key = 100 + i}};
    assert_int_equal(pthread_create(&threads[i], NULL, compile_own, &each[i]), 0);
  }
  for (int i = 0; i < SIDE_BY_SIDE; i++) {
    pthread_join(threads[i], NULL);
    assert_int_equal(each[i].status, QN_OK);
    assert_int_equal(each[i].request.compiled, 1);
  }
  core_program_cache_close(&cache, &refusal);
  assert_nothing_is_loaded();
}

static void test_C2_a_refused_unload_is_reported_by_the_close(void **state) {
  (void)state;
  core_program_cache cache;
  core_refusal refusal = {0};
  core_program_cache_open(&cache, &table, NULL);
  for (int i = 0; i < 3; i++) {
    compile_request r = {.key = i};
    core_binary *binary = NULL;
    bool hit = false;
    qn_key key = key_of(i);
    assert_int_equal(core_program_cache_get(&cache, &key, compile, &r, &binary, &hit), QN_OK);
    assert_int_equal(core_program_cache_put(&cache, binary), QN_OK);
  }
  atomic_store(&refuse, 1);
  core_program_cache_close(&cache, &refusal);
  atomic_store(&refuse, 0);
  assert_int_equal(refusal.status, QN_ERROR_DEVICE);
  assert_non_null(strstr(refusal.text, "program"));
  assert_non_null(strstr(refusal.text, "refused"));
  assert_nothing_is_loaded(); /* each was asked for once all the same */
}

static void test_C2_a_failure_is_told_to_all_and_not_kept(void **state) {
  (void)state;
  core_program_cache cache;
  core_refusal refusal = {0};
  core_program_cache_open(&cache, &table, NULL);
  compile_request bad = {.key = 9, .sleep_ns = 200000000, .fails = true}, good = {.key = 9};
  shared s = {.cache = &cache, .request = &bad};
  run_threads(&s, 8);
  assert_int_equal(s.errors, 8);
  assert_int_equal(bad.compiled, 1);
  assert_int_equal(cache.map.count, 0);
  s.request = &good;
  s.errors = 0;
  run_threads(&s, 8);
  assert_int_equal(s.errors, 0);
  assert_int_equal(good.compiled, 1);
  core_program_cache_close(&cache, &refusal);
  assert_nothing_is_loaded();
}

static void keys_differ_by_their_parts(void **state) {
  (void)state;
  const char *const parts[][2] = {{"ab", "c"}, {"a", "bc"}, {"abc", ""}, {"", "abc"}};
  qn_key keys[4];
  char text[65], short_text[13];
  for (int i = 0; i < 4; i++) {
    qn_key_maker maker;
    qn_key_start(&maker);
    qn_key_add_str(&maker, parts[i][0]);
    qn_key_add_str(&maker, parts[i][1]);
    qn_key_end(&maker, &keys[i]);
    for (int j = 0; j < i; j++) assert_memory_not_equal(keys[i].bytes, keys[j].bytes, QN_KEY_BYTES);
  }
  qn_key_print(&keys[0], text, sizeof text);
  qn_key_print(&keys[0], short_text, sizeof short_text);
  assert_int_equal(strlen(text), 64);
  assert_int_equal(strlen(short_text), 12);
  assert_memory_equal(text, short_text, 12);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_C2_a_random_history_agrees_with_a_list),
      cmocka_unit_test(test_C2_idle_programs_are_bounded_and_the_oldest_goes_first),
      cmocka_unit_test(test_C2_idle_programs_are_bounded_by_their_bytes),
      cmocka_unit_test(test_C2_a_crowd_compiles_one_key_once),
      cmocka_unit_test(test_C2_different_keys_are_compiled_side_by_side),
      cmocka_unit_test(test_C2_a_refused_unload_is_reported_by_the_close),
      cmocka_unit_test(test_C2_a_failure_is_told_to_all_and_not_kept),
      cmocka_unit_test(keys_differ_by_their_parts),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

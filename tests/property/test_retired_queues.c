/* labels: threads */
/* The situation of oneAPI.jl #736: threads make queues, use memory on them and end; queue, buffers and all are released in one
 * collection, in every order, with work in flight; then others get those blocks. There the pool brought the destroyed stream
 * back as a block's owner, and the driver crashed. Here blocks of retired queues, idle ones and such whose work is still
 * in flight, must be handed out again, and what their new owners write must be what they read. */
#include <pthread.h>
#include <stdlib.h>

#include "support.h"

enum { THREADS = 3, BUFFERS = 3, HANDLES = BUFFERS + 2, ORDERS = 120 };

/* ---- Who used a block last ---------------------------------------------------------------------- */

/* A queue, kept to the end of the test. */
typedef struct owner {
  struct owner *next;
  _Atomic bool is_retired; /* its handle has been released */
} owner;

typedef struct block {
  uint64_t address;
  owner *owner;
  qn_point last; /* its last use by that owner */
} block;

enum { BLOCKS = 1 << 14, NEW_BLOCK, LIVE_BLOCK, IDLE_BLOCK, PENDING_BLOCK };

/* ---- One use: what is checked when its work is complete ----------------------------------------- */

typedef struct use {
  struct use *next;
  qn_point done;
  uint64_t size;
  unsigned char seed;
  uint32_t origin[BUFFERS]; /* ..._BLOCK */
  unsigned char *up, *down[2];
} use;

typedef struct situation {
  property_device d;
  const char *selector;
  qn_kernel slow; /* NULL: the device's work is late by itself, or there are no kernels */
  property_wrong wrong;
  uint64_t size;
  _Atomic uint64_t user; /* serial number of the next one */

  pthread_mutex_t collecting;
  pthread_mutex_t lock; /* the rest */
  block blocks[BLOCKS];
  owner *owners;
  use *uses;
  const void *garbage[1024]; /* handles that a collector releases */
  uint32_t garbage_count;
  uint64_t again[PENDING_BLOCK + 1]; /* blocks handed out, by origin, whose contents were right */
} situation;

static block *find(situation *s, uint64_t address) {
  uint64_t at = (address * UINT64_C(0x9e3779b97f4a7c15)) >> 50;
  while (s->blocks[at].address != 0 && s->blocks[at].address != address) at = (at + 1) % BLOCKS;
  return &s->blocks[at];
}

/* Where the block that a buffer got comes from. */
static uint32_t origin_of(situation *s, uint64_t address) {
  pthread_mutex_lock(&s->lock);
  const block b = *find(s, address);
  pthread_mutex_unlock(&s->lock);
  if (b.address == 0) return NEW_BLOCK;
  if (!atomic_load(&b.owner->is_retired)) return LIVE_BLOCK;
  return qn_point_wait(&b.last, QN_POLL) == QN_NOT_READY ? PENDING_BLOCK : IDLE_BLOCK;
}

static void note_use(situation *s, uint64_t address, owner *o, const qn_point *last) {
  pthread_mutex_lock(&s->lock);
  *find(s, address) = (block){address, o, *last};
  pthread_mutex_unlock(&s->lock);
}

/* ---- The collector ------------------------------------------------------------------------------ */

/* One thread at a time; who comes meanwhile waits, and is told that something was released. */
static bool collect(situation *s) {
  const void *taken[1024];
  bool was_busy = pthread_mutex_trylock(&s->collecting) != 0;
  if (was_busy) pthread_mutex_lock(&s->collecting);
  pthread_mutex_lock(&s->lock);
  uint32_t count = s->garbage_count;
  memcpy(taken, s->garbage, count * sizeof *taken);
  s->garbage_count = 0;
  pthread_mutex_unlock(&s->lock);
  for (uint32_t i = 0; i < count; i++)
    if (qn_release(taken[i]) != QN_OK) (void)property_note(&s->wrong, "a release by the collector", qn_error_text());
  pthread_mutex_unlock(&s->collecting);
  return was_busy || count > 0;
}

/* As a garbage collector does when memory is short. */
static uint32_t under_pressure(void *user, uint64_t wanted_bytes) {
  (void)wanted_bytes;
  return collect(user);
}

static void throw_away(situation *s, const void *const *handles) {
  pthread_mutex_lock(&s->lock);
  bool fits = s->garbage_count + HANDLES <= 1024;
  if (fits) memcpy(&s->garbage[s->garbage_count], handles, HANDLES * sizeof *handles);
  if (fits) s->garbage_count += HANDLES;
  pthread_mutex_unlock(&s->lock);
  for (int i = 0; !fits && i < HANDLES; i++) (void)qn_release(handles[i]);
}

/* ---- A thread that uses memory and ends --------------------------------------------------------- */

/* Order number `order` of 5! of the handles. */
static void permute(const void **handles, uint64_t order) {
  for (uint32_t left = HANDLES; left > 1; left--) {
    uint64_t at = order % left;
    order /= left;
    const void *kept = handles[at];
    handles[at] = handles[left - 1];
    handles[left - 1] = kept;
  }
}

static use *make_use(situation *s, uint64_t serial) {
  use *u = calloc(1, sizeof *u);
  if (!u) return NULL;
  u->size = s->size;
  u->seed = (unsigned char)serial;
  u->up = malloc((size_t)u->size);
  for (int i = 0; i < 2; i++) u->down[i] = malloc((size_t)u->size);
  for (uint64_t i = 0; u->up && i < u->size; i++) u->up[i] = (unsigned char)(serial + i * 7);
  return u;
}

static owner *make_owner(situation *s) {
  owner *o = calloc(1, sizeof *o);
  if (!o) return NULL;
  pthread_mutex_lock(&s->lock);
  o->next = s->owners;
  s->owners = o;
  pthread_mutex_unlock(&s->lock);
  return o;
}

static bool make_objects(situation *s, use *u, qn_queue *queue, qn_buffer *buffers, uint64_t *addresses) {
  STEP(&s->wrong, qn_queue_create(s->d.device, NULL, queue));
  for (int i = 0; i < BUFFERS; i++) {
    qn_buffer_options o = QN_INIT(qn_buffer_options);
    o.size_bytes = u->size;
    o.queue = i == 0 ? NULL : *queue; /* with and without a hint */
    STEP(&s->wrong, qn_buffer_create(s->d.device, &o, &buffers[i]));
    STEP(&s->wrong, qn_native_handle(buffers[i], 0, &addresses[i]));
    u->origin[i] = origin_of(s, addresses[i]);
  }
  return true;
}

/* Something slow, an upload, a copy of it, a fill; the copy and the fill are read. Nothing is waited for. */
static bool work(situation *s, use *u, qn_queue queue, const qn_buffer *buffers) {
  qn_view views[BUFFERS];
  for (int i = 0; i < BUFFERS; i++) views[i] = test_view(buffers[i], 0, QN_WHOLE);
  if (s->slow) STEP(&s->wrong, qn_launch(queue, s->slow, QN_RANGE_1D(1), QN_ARGS(buffers[0], 20000u), NULL));
  STEP(&s->wrong, qn_write(queue, &views[0], u->up, NULL));
  STEP(&s->wrong, qn_copy(queue, &views[1], &views[0], NULL));
  STEP(&s->wrong, qn_fill(queue, &views[2], &u->seed, 1, NULL));
  STEP(&s->wrong, qn_read(queue, &views[1], u->down[0], NULL));
  STEP(&s->wrong, qn_read(queue, &views[2], u->down[1], &u->done));
  return true;
}

/* The queue, the buffers and a count of the device, in one of all orders, by this thread or by the collector. */
static bool let_go(situation *s, uint64_t serial, qn_queue queue, const qn_buffer *buffers, owner *o) {
  const void *handles[HANDLES] = {queue, s->d.device};
  memcpy(&handles[2], buffers, BUFFERS * sizeof *buffers);
  permute(handles, serial % ORDERS);
  STEP(&s->wrong, qn_retain(s->d.device));
  if (serial / ORDERS % 2 == 0) {
    throw_away(s, handles);
    if (serial % 5 == 0) (void)collect(s);
  } else {
    for (int i = 0; i < HANDLES; i++) STEP(&s->wrong, qn_release(handles[i]));
  }
  atomic_store(&o->is_retired, true); /* or will be before anybody else can have the blocks */
  return true;
}

static bool run_user(situation *s) {
  uint64_t serial = atomic_fetch_add(&s->user, 1), addresses[BUFFERS] = {0};
  qn_queue queue = NULL;
  qn_buffer buffers[BUFFERS] = {NULL};
  use *u = make_use(s, serial);
  owner *o = make_owner(s);
  if (!u || !o) return property_note(&s->wrong, "a user", "no memory");
  if (!make_objects(s, u, &queue, buffers, addresses) || !work(s, u, queue, buffers)) return false;
  for (int i = 0; i < BUFFERS; i++) note_use(s, addresses[i], o, &u->done);
  pthread_mutex_lock(&s->lock);
  u->next = s->uses;
  s->uses = u;
  pthread_mutex_unlock(&s->lock);
  return let_go(s, serial, queue, buffers, o);
}

static void *user(void *given) {
  (void)run_user(given);
  return NULL;
}

/* ---- The test ----------------------------------------------------------------------------------- */

static void check_use(situation *s, use *u) {
  OK(qn_point_wait(&u->done, PATIENCE));
  for (uint64_t i = 0; i < u->size; i++) {
    if (u->down[0][i] != u->up[i])
      fail_msg("%s: byte %llu of a copied upload differs", s->selector, (unsigned long long)i);
    if (u->down[1][i] != u->seed) fail_msg("%s: byte %llu of a fill differs", s->selector, (unsigned long long)i);
  }
  for (int i = 0; i < BUFFERS; i++) s->again[u->origin[i]]++;
  free(u->up);
  free(u->down[0]);
  free(u->down[1]);
  free(u);
}

static void check_uses(situation *s) {
  while (s->uses) {
    use *u = s->uses;
    s->uses = u->next;
    check_use(s, u);
  }
}

/* Threads come, use and end; what they did is looked at some rounds later. */
static void run_rounds(situation *s, uint64_t rounds) {
  pthread_t threads[THREADS];
  for (uint64_t round = 0; round < rounds; round++) {
    for (int i = 0; i < THREADS; i++) assert_int_equal(pthread_create(&threads[i], NULL, user, s), 0);
    for (int i = 0; i < THREADS; i++) pthread_join(threads[i], NULL);
    property_right(&s->wrong);
    if (round % 8 == 7) check_uses(s);
  }
  check_uses(s);
}

/* So that no more than the living users need can be taken from the driver, and a block of another size only for one given
 * back. */
static void limit_memory(situation *s, uint64_t size) {
  qn_memory_options o = QN_INIT(qn_memory_options);
  o.limit_bytes = (THREADS * BUFFERS + 1) * size;
  o.keep_bytes = o.limit_bytes;
  o.pressure = under_pressure;
  o.user = s;
  OK(qn_memory_configure(s->d.device, &o));
  s->size = size;
}

static const char slow_source[] =
    "kernel void slow(global uint *x, uint n) {\n"
    "  uint y = n;\n"
    "  for (uint i = 0; i < n; i++) y = y * 1664525u + 1013904223u;\n"
    "  x[0] = y;\n"
    "}\n";

static void make_slow_kernel(situation *s) {
  qn_program_options o = QN_INIT(qn_program_options);
  qn_program program = NULL;
  o.source = slow_source;
  if (PROPERTY_TSAN || !property_can_launch(&s->d)) return;
  OK(qn_program_build(s->d.device, &o, &program));
  OK(qn_kernel_get(program, "slow", &s->slow));
  OK(qn_release(program));
}

static void report(const situation *s, uint64_t pending_at_least) {
  qn_memory_statistics m = QN_INIT(qn_memory_statistics);
  OK(qn_memory_statistics_get(s->d.device, &m));
  printf(
      "measured: %s: blocks of retired queues handed out again: %llu idle, %llu pending (own queue %llu, known %llu, "
      "complete %llu, new %llu, device wait %llu, host wait %llu; pressure %llu times)\n",
      s->selector, (unsigned long long)s->again[IDLE_BLOCK], (unsigned long long)s->again[PENDING_BLOCK],
      (unsigned long long)m.from_own_queue, (unsigned long long)m.from_known, (unsigned long long)m.from_complete,
      (unsigned long long)m.from_new, (unsigned long long)m.from_device_wait, (unsigned long long)m.from_host_wait,
      (unsigned long long)m.pressure_calls);
  assert_int_equal(m.reserved_bytes, m.used_bytes + m.cached_bytes + m.pending_bytes + m.quarantined_bytes);
  assert_true(m.limited_bytes <= m.limit_bytes);
  assert_in_range(s->again[IDLE_BLOCK] + s->again[PENDING_BLOCK], 1000, UINT64_MAX);
  assert_in_range(s->again[PENDING_BLOCK], pending_at_least, UINT64_MAX);
  assert_in_range(m.from_own_queue + m.from_known + m.from_complete + m.from_device_wait, 1000, UINT64_MAX);
  assert_in_range(m.from_device_wait + m.from_host_wait, pending_at_least, UINT64_MAX);
}

static void close_situation(situation *s) {
  while (s->owners) {
    owner *next = s->owners->next;
    free(s->owners);
    s->owners = next;
  }
  (void)collect(s);
  if (s->slow) OK(qn_release(s->slow));
  property_close(&s->d);
}

static void run_situation(const char *selector, const char *settings, uint64_t size) {
  static situation s;
  char what[64];
  s = (situation){.selector = selector, .collecting = PTHREAD_MUTEX_INITIALIZER, .lock = PTHREAD_MUTEX_INITIALIZER};
  s.d = property_open(selector, "%s", settings);
  if (!s.d.device) return;
  snprintf(what, sizeof what, "threads' queues and blocks on %s", selector);
  uint64_t rounds = test_rounds(what, 300, 10000);
  make_slow_kernel(&s);
  for (int i = 0; i < 4; i++) { /* the size changes: blocks of the old one go back to the driver */
    limit_memory(&s, i % 2 ? size : size / 4);
    run_rounds(&s, rounds / 4);
  }
  report(&s, rounds < 10000 ? 1 : 1000);
  close_situation(&s);
}

static void test_L5_blocks_of_retired_queues_are_used_again_on_null(void **state) {
  (void)state;
  run_situation("null", "seed=736", 4096);
}
static void test_L5_blocks_of_retired_queues_are_used_again_on_cpu(void **state) {
  (void)state;
  run_situation("cpu", "seed=0", 65536);
}
static void test_L5_blocks_of_retired_queues_are_used_again_on_opencl(void **state) {
  (void)state;
  if (!PROPERTY_TSAN) run_situation("opencl", "seed=0", 65536);
}
static void test_L5_blocks_of_retired_queues_are_used_again_on_cuda(void **state) {
  (void)state;
  if (!PROPERTY_TSAN) run_situation("cuda", "seed=0", 65536);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_L5_blocks_of_retired_queues_are_used_again_on_null),
      cmocka_unit_test(test_L5_blocks_of_retired_queues_are_used_again_on_cpu),
      cmocka_unit_test(test_L5_blocks_of_retired_queues_are_used_again_on_opencl),
      cmocka_unit_test(test_L5_blocks_of_retired_queues_are_used_again_on_cuda),
  };
  property_watch();
  return cmocka_run_group_tests(tests, NULL, NULL);
}

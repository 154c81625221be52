/* labels: threads */
/* The situation of the Unified Runtime's loader (#2511): adapters in one process, objects that come and go on many threads, and
 * addresses that pass from one adapter to the other. There the loader kept counts by address, an address of one adapter came back
 * as another's, and the wrong adapter was called. Here `null` is loaded twice, and both take their memory, also that of their
 * objects, from one allocator that gives the address freed last out first. No adapter may ever be handed an object of
 * another, or one that is no more; each watches that itself. */
#include <pthread.h>
#include <stdlib.h>

#include "support.h"

#ifdef QUERN_WITHOUT_CPU
enum { OURS = 2 };
#else
enum { OURS = 3 };
#endif
enum { THREADS = 6, DEVICES = 5, OBJECTS = 3, SIZE = 96 };
/* Those behind the first OURS may lack. */
static const char *const selectors[DEVICES] = {"null", "null2", "cpu", "opencl:0", "opencl:1"};

/* ---- Native addresses, and whose they were ------------------------------------------------------ */

typedef struct sighting {
  uint64_t address;
  uint32_t adapter;
} sighting;

enum { SIGHTINGS = 1 << 16 };
typedef struct addresses {
  pthread_mutex_t lock;
  sighting seen[SIGHTINGS]; /* a hash table; a full one forgets nothing and takes nothing more */
  uint64_t passed;          /* from one of the two nulls to the other */
} addresses;

static void see(addresses *a, uint32_t adapter, uint64_t address) {
  uint64_t hash = address * UINT64_C(0x9e3779b97f4a7c15) >> 48;
  pthread_mutex_lock(&a->lock);
  for (uint32_t i = 0; i < 64; i++) {
    sighting *s = &a->seen[(hash + i) % SIGHTINGS];
    if (s->address != 0 && s->address != address) continue;
    if (s->address == address && s->adapter != adapter && s->adapter < 2 && adapter < 2) a->passed++;
    *s = (sighting){address, adapter};
    break;
  }
  pthread_mutex_unlock(&a->lock);
}

/* ---- The stress --------------------------------------------------------------------------------- */

typedef struct stress {
  qn_runtime runtime;
  qn_device devices[DEVICES]; /* NULL: not there */
  addresses addresses;
  property_wrong wrong;
  uint64_t rounds;
  _Atomic uint64_t next;
} stress;

/* What one round makes. */
typedef struct set {
  uint32_t adapter;
  qn_runtime runtime; /* of its own, or NULL */
  qn_device device;   /* likewise */
  qn_queue queues[OBJECTS];
  qn_buffer buffers[OBJECTS];
} set;

static bool see_native(stress *s, uint32_t adapter, const void *handle) {
  uint64_t address = 0;
  if (adapter >= 2) return true;
  STEP(&s->wrong, qn_native_handle(handle, 0, &address));
  see(&s->addresses, adapter, address);
  return true;
}

static bool ask(stress *s, qn_device device, qn_buffer buffer, property_random *random) {
  qn_device_info info = QN_INIT(qn_device_info);
  qn_buffer_info buffer_info = QN_INIT(qn_buffer_info);
  uint32_t kind = 0;
  if (property_pick(random, 2) == 0) return true;
  STEP(&s->wrong, qn_device_query(device, &info));
  STEP(&s->wrong, qn_buffer_query(buffer, &buffer_info));
  STEP(&s->wrong, qn_handle_kind(device, &kind));
  return true;
}

/* A device of its own in one of four rounds, a runtime as well in one of twenty. */
static bool open_set(stress *s, set *t, property_random *random) {
  do {
    t->adapter = (uint32_t)property_pick(random, DEVICES);
  } while (!s->devices[t->adapter]);
  t->device = s->devices[t->adapter];
  if (property_pick(random, 4) != 0) {
    STEP(&s->wrong, qn_retain(t->device));
    return true;
  }
  qn_runtime runtime = s->runtime;
  if (property_pick(random, 5) == 0) {
    const qn_runtime_options options = {.struct_size = sizeof options,
                                        .adapter_path = QUERN_BINARY_DIR "/tests/property/adapters:" QUERN_BINARY_DIR};
    STEP(&s->wrong, qn_runtime_open(&options, &t->runtime));
    runtime = t->runtime;
  }
  STEP(&s->wrong, qn_device_open(runtime, selectors[t->adapter], &t->device));
  return see_native(s, t->adapter, t->device);
}

static bool fill_set(stress *s, set *t, property_random *random) {
  for (int i = 0; i < OBJECTS; i++) {
    qn_buffer_options o = QN_INIT(qn_buffer_options);
    o.size_bytes = SIZE;
    STEP(&s->wrong, qn_queue_create(t->device, NULL, &t->queues[i]));
    STEP(&s->wrong, qn_buffer_create(t->device, &o, &t->buffers[i]));
    if (!see_native(s, t->adapter, t->queues[i]) || !see_native(s, t->adapter, t->buffers[i])) return false;
    if (!ask(s, t->device, t->buffers[i], random)) return false;
  }
  return true;
}

/* A byte goes from buffer to buffer, each time on another queue, and is read on the last. */
static bool use_set(stress *s, set *t, property_random *random) {
  unsigned char byte = (unsigned char)property_pick(random, 256), got[SIZE];
  qn_point done = {0, 0};
  qn_view views[OBJECTS];
  for (int i = 0; i < OBJECTS; i++) views[i] = test_view(t->buffers[i], 0, QN_WHOLE);
  STEP(&s->wrong, qn_fill(t->queues[0], &views[0], &byte, 1, NULL));
  for (int i = 1; i < OBJECTS; i++) STEP(&s->wrong, qn_copy(t->queues[i], &views[i], &views[i - 1], NULL));
  STEP(&s->wrong, qn_read(t->queues[0], &views[OBJECTS - 1], got, &done));
  STEP(&s->wrong, qn_point_wait(&done, PATIENCE));
  for (int i = 0; i < SIZE; i++) CHECK(&s->wrong, got[i] == byte);
  STEP(&s->wrong, qn_fill(t->queues[1], &views[0], &byte, 1, NULL)); /* in flight when all is released */
  return true;
}

/* A buffer of another adapter is refused, whatever its address. */
static bool mix_sets(stress *s, const set *t) {
  qn_device other = s->devices[t->adapter == 0 ? 1 : 0];
  qn_queue queue = NULL;
  unsigned char byte = 0;
  qn_view view = test_view(t->buffers[0], 0, QN_WHOLE);
  STEP(&s->wrong, qn_queue_create(other, NULL, &queue));
  qn_status status = qn_fill(queue, &view, &byte, 1, NULL); /* INVALID_HANDLE when its runtime is another, too */
  if (status != QN_ERROR_INVALID_ARGUMENT && status != QN_ERROR_INVALID_HANDLE)
    return property_note(&s->wrong, "a buffer of another adapter on a queue", qn_error_text());
  STEP(&s->wrong, qn_release(queue));
  return true;
}

/* In any order. */
static bool drop_set(stress *s, set *t, property_random *random) {
  const void *handles[2 * OBJECTS + 1] = {t->device};
  memcpy(&handles[1], t->queues, sizeof t->queues);
  memcpy(&handles[1 + OBJECTS], t->buffers, sizeof t->buffers);
  for (uint32_t left = 2 * OBJECTS + 1; left > 0; left--) {
    uint64_t i = property_pick(random, left);
    STEP(&s->wrong, qn_release(handles[i]));
    handles[i] = handles[left - 1];
  }
  if (t->runtime) STEP(&s->wrong, qn_runtime_close(t->runtime, PATIENCE));
  return true;
}

static bool run_round(stress *s, property_random *random) {
  set t = {0};
  return open_set(s, &t, random) && fill_set(s, &t, random) && use_set(s, &t, random) &&
         (property_pick(random, 4) != 0 || mix_sets(s, &t)) && drop_set(s, &t, random);
}

static void *work(void *given) {
  stress *s = given;
  for (uint64_t round = atomic_fetch_add(&s->next, 1); round < s->rounds && !atomic_load(&s->wrong.is_set);
       round = atomic_fetch_add(&s->next, 1)) {
    property_random random = {round};
    (void)run_round(s, &random);
  }
  return NULL;
}

static void open_devices(stress *s) {
  const qn_runtime_options options = {.struct_size = sizeof options,
                                      .adapter_path = QUERN_BINARY_DIR "/tests/property/adapters:" QUERN_BINARY_DIR};
  OK(qn_runtime_open(&options, &s->runtime));
  for (int i = 0; i < (PROPERTY_TSAN ? OURS : DEVICES); i++) {
    qn_status status = qn_device_open(s->runtime, selectors[i], &s->devices[i]);
    if (status == QN_ERROR_NOT_FOUND) printf("without %s: %s\n", selectors[i], qn_error_text());
    assert_true(status == QN_OK || i >= OURS);
  }
}

static const null_control *control_of(qn_device device) {
  uint64_t address = 0;
  OK(qn_native_handle(device, NULL_CONTROL, &address));
  return (const null_control *)(uintptr_t)address;
}

static void test_L2_no_adapter_ever_gets_anothers_object(void **state) {
  (void)state;
  static stress s = {.addresses.lock = PTHREAD_MUTEX_INITIALIZER};
  pthread_t threads[THREADS];
  char text[256];
  s.rounds = test_rounds("sets of objects of all adapters made and dropped", 2500, 60000);
  open_devices(&s);
  const null_control controls[2] = {*control_of(s.devices[0]), *control_of(s.devices[1])};
  assert_true(controls[0].violation != controls[1].violation); /* they are two libraries */
  for (int i = 0; i < THREADS; i++) assert_int_equal(pthread_create(&threads[i], NULL, work, &s), 0);
  for (int i = 0; i < THREADS; i++) pthread_join(threads[i], NULL);
  property_right(&s.wrong);
  for (int i = 0; i < DEVICES; i++) OK(qn_release(s.devices[i]));
  OK(qn_runtime_close(s.runtime, PATIENCE));
  for (int i = 0; i < 2; i++)
    if (controls[i].violation(0, text, sizeof text)) fail_msg("%s: %s", selectors[i], text);
  printf("measured: native addresses that passed from one null to the other: %llu\n",
         (unsigned long long)s.addresses.passed);
  assert_in_range(s.addresses.passed, 1000, UINT64_MAX);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_L2_no_adapter_ever_gets_anothers_object)};
  setenv("QUERN_NULL", "check=1,heap=" QUERN_BINARY_DIR "/tests/property/adapters/libnull-heap.so", 1);
  setenv("RUSTICL_ENABLE", "llvmpipe", 0); /* a second OpenCL platform, where Mesa's is installed */
  return cmocka_run_group_tests(tests, NULL, NULL);
}

/* bench_pool - what a buffer's memory costs: qn_buffer_create + qn_release beside malloc, mimalloc and posix_memalign.
 *
 * The peers give out host memory and know of no queues and no handles; they are here as a scale. Nobody touches the memory. */
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"

/* Turns are short, so that what else the machine does seldom falls into one. */
#define TURNS 101
#define ROUNDS 2000
#define SIZE 4096
#define CROSS 128
#define RANDOM_STEPS 4000
#define RANDOM_LIVE 400
#define MOST_THREADS 8

/* ---- Peers --------------------------------------------------------------------------------------- */

typedef struct allocator {
  const char *name;
  void *(*allocate)(size_t size);
  void (*release)(void *pointer);
} allocator;

static void *aligned(size_t size) {
  void *pointer = NULL;
  return posix_memalign(&pointer, 128, size) == 0 ? pointer : NULL;
}

enum { MALLOC, MEMALIGN, MIMALLOC, PEERS };
static allocator peers[PEERS] = {{"malloc", malloc, free}, {"posix_memalign", aligned, free}, {"mimalloc", NULL, NULL}};

static void load_mimalloc(void) {
  void *library = dlopen("libmimalloc.so.2", RTLD_NOW | RTLD_LOCAL);
  if (!library) {
    printf("mimalloc: not there (%s)\n", dlerror());
    return;
  }
  *(void **)&peers[MIMALLOC].allocate = dlsym(library, "mi_malloc");
  *(void **)&peers[MIMALLOC].release = dlsym(library, "mi_free");
}

/* ---- Both sides ---------------------------------------------------------------------------------- */

typedef struct setting {
  qn_device device;
  qn_queue queue, other;
  const allocator *peer;
  uint32_t threads;
  uint32_t *script; /* of random sizes: even, a slot to release; odd, a slot to fill; then the size */
} setting;

static qn_buffer create(const setting *s, qn_queue queue, uint64_t size) {
  qn_buffer_options o = QN_INIT(qn_buffer_options);
  qn_buffer buffer = NULL;
  o.size_bytes = size;
  o.queue = queue;
  bench_check(qn_buffer_create(s->device, &o, &buffer), "qn_buffer_create");
  return buffer;
}
static void release(qn_buffer buffer) { bench_check(qn_release(buffer), "qn_release"); }

/* ---- The same queue, with so many free blocks ------------------------------------------------------ */

static double same_quern(void *context) {
  const setting *s = context;
  uint64_t start = bench_now_ns();
  for (int i = 0; i < ROUNDS; i++) release(create(s, s->queue, SIZE));
  return (double)(bench_now_ns() - start) / ROUNDS;
}
static double same_peer(void *context) {
  const setting *s = context;
  uint64_t start = bench_now_ns();
  for (int i = 0; i < ROUNDS; i++) {
    void *volatile pointer = s->peer->allocate(SIZE); /* volatile: else the compiler takes both calls out */
    s->peer->release(pointer);
  }
  return (double)(bench_now_ns() - start) / ROUNDS;
}

static void fill_pool(const setting *s, uint32_t blocks) {
  qn_buffer *buffers = malloc(blocks * sizeof *buffers);
  if (!buffers) bench_fail("no memory");
  for (uint32_t i = 0; i < blocks; i++) buffers[i] = create(s, s->queue, SIZE);
  for (uint32_t i = 0; i < blocks; i++) release(buffers[i]);
  free(buffers);
}

/* ---- Across queues: what one queue used and has completed serves the other ------------------------- */

static void use(const setting *s, qn_queue queue, qn_buffer *buffers) {
  for (int i = 0; i < CROSS; i++) {
    qn_view view = {.size_bytes = 64};
    view.buffer = buffers[i];
    bench_check(qn_fill(queue, &view, "x", 1, NULL), "qn_fill");
  }
  bench_check(qn_queue_finish(queue, QN_FOREVER), "qn_queue_finish");
  (void)s;
}

static double cross_quern(void *context) {
  setting *s = context;
  qn_buffer buffers[CROSS];
  uint64_t spent = 0;
  for (int turn = 0; turn < 8; turn++) {
    qn_queue queue = turn % 2 ? s->other : s->queue;
    uint64_t start = bench_now_ns();
    for (int i = 0; i < CROSS; i++) buffers[i] = create(s, queue, 3 * SIZE);
    spent += bench_now_ns() - start;
    use(s, queue, buffers);
    start = bench_now_ns();
    for (int i = 0; i < CROSS; i++) release(buffers[i]);
    spent += bench_now_ns() - start;
  }
  return (double)spent / (8 * CROSS);
}
static double many_peer(void *context) {
  const setting *s = context;
  void *pointers[CROSS];
  uint64_t start = bench_now_ns();
  for (int turn = 0; turn < 8; turn++) {
    for (int i = 0; i < CROSS; i++) pointers[i] = s->peer->allocate(3 * SIZE);
    for (int i = 0; i < CROSS; i++) s->peer->release(pointers[i]);
  }
  return (double)(bench_now_ns() - start) / (8 * CROSS);
}

/* ---- Random sizes, in the manner of RMM's random_allocations --------------------------------------- */

/* Slots are filled and emptied at random; sizes go from 256 bytes to 1 MiB, as many of each magnitude. */
static uint32_t *make_script(void) {
  uint32_t *script = malloc(2 * RANDOM_STEPS * sizeof *script);
  if (!script) bench_fail("no memory");
  srand(1);
  for (int i = 0; i < RANDOM_STEPS; i++) {
    uint32_t magnitude = (uint32_t)rand() % 12;
    script[2 * i] = (uint32_t)rand() % RANDOM_LIVE;
    script[2 * i + 1] = (256u << magnitude) + (uint32_t)rand() % (256u << magnitude);
  }
  return script;
}

static double random_quern(void *context) {
  const setting *s = context;
  static qn_buffer slots[RANDOM_LIVE];
  uint64_t start = bench_now_ns();
  for (int i = 0; i < RANDOM_STEPS; i++) {
    qn_buffer *slot = &slots[s->script[2 * i]];
    if (*slot) {
      release(*slot);
      *slot = NULL;
    } else {
      *slot = create(s, s->queue, s->script[2 * i + 1]);
    }
  }
  double ns = (double)(bench_now_ns() - start) / (RANDOM_STEPS / 2);
  for (int i = 0; i < RANDOM_LIVE; i++) {
    if (slots[i]) release(slots[i]);
    slots[i] = NULL;
  }
  return ns;
}
static double random_peer(void *context) {
  const setting *s = context;
  static void *slots[RANDOM_LIVE];
  uint64_t start = bench_now_ns();
  for (int i = 0; i < RANDOM_STEPS; i++) {
    void **slot = &slots[s->script[2 * i]];
    if (*slot) {
      s->peer->release(*slot);
      *slot = NULL;
    } else {
      *slot = s->peer->allocate(s->script[2 * i + 1]);
    }
  }
  double ns = (double)(bench_now_ns() - start) / (RANDOM_STEPS / 2);
  for (int i = 0; i < RANDOM_LIVE; i++) {
    s->peer->release(slots[i]);
    slots[i] = NULL;
  }
  return ns;
}

/* ---- Threads, each with a queue of its own ---------------------------------------------------------- */

typedef struct worker {
  setting s;
  double (*turn)(void *);
  double ns;
} worker;

static void *work(void *given) {
  worker *w = given;
  w->ns = w->turn(&w->s);
  return NULL;
}

static double with_threads(const setting *s, double (*turn)(void *)) {
  pthread_t threads[MOST_THREADS];
  worker workers[MOST_THREADS];
  double sum = 0;
  for (uint32_t i = 0; i < s->threads; i++) {
    workers[i] = (worker){.s = *s, .turn = turn};
    bench_check(qn_queue_create(s->device, NULL, &workers[i].s.queue), "qn_queue_create");
  }
  for (uint32_t i = 0; i < s->threads; i++)
    if (pthread_create(&threads[i], NULL, work, &workers[i]) != 0) bench_fail("no thread");
  for (uint32_t i = 0; i < s->threads; i++) pthread_join(threads[i], NULL);
  for (uint32_t i = 0; i < s->threads; i++) {
    sum += workers[i].ns;
    bench_check(qn_release(workers[i].s.queue), "qn_release");
  }
  return sum / s->threads;
}
static double threads_quern(void *context) { return with_threads(context, same_quern); }
static double threads_peer(void *context) { return with_threads(context, same_peer); }

/* ---- Measuring ------------------------------------------------------------------------------------- */

/* Beside each peer; the limit is for Quern alone. Returns Quern's time beside the first of them. */
static double measure(setting *s, const bench_options *options, const char *name, bench_turn quern, bench_turn peer,
                      double limit_ns) {
  double first = 0;
  uint32_t turns = options->turns ? options->turns : TURNS;
  for (int i = 0; i < PEERS; i++) {
    char line[96];
    double ours = 0, theirs = 0;
    snprintf(line, sizeof line, "%s/%s", name, peers[i].name);
    if (!peers[i].allocate || !bench_wanted(options, line)) continue;
    s->peer = &peers[i];
    bench_alternate(quern, peer, s, turns, &ours, &theirs);
    bench_report_cost(line, ours, theirs, 0);
    if (first == 0) first = ours;
  }
  if (first > 0 && limit_ns > 0) bench_report_time(name, "create and release", first, limit_ns);
  return first;
}

static void measure_same(setting *s, const bench_options *options) {
  static const uint32_t counts[] = {1, 1000, 100000};
  double ns[3] = {0, 0, 0};
  for (int i = 0; i < 3; i++) {
    char name[64];
    snprintf(name, sizeof name, "same-queue/%u-free", counts[i]);
    fill_pool(s, counts[i]);
    ns[i] = measure(s, options, name, same_quern, same_peer, 100);
  }
  if (ns[0] > 0 && ns[2] > 0) bench_report_cost("same-queue/100000-over-1", ns[2], ns[0], 1.5);
}

static void open_device(qn_runtime *out_runtime, setting *s) {
  qn_device_info info = QN_INIT(qn_device_info);
  bench_check(qn_runtime_open(NULL, out_runtime), "qn_runtime_open");
  bench_check(qn_device_open(*out_runtime, NULL, &s->device), "qn_device_open");
  bench_check(qn_device_query(s->device, &info), "qn_device_query");
  bench_check(qn_queue_create(s->device, NULL, &s->queue), "qn_queue_create");
  bench_check(qn_queue_create(s->device, NULL, &s->other), "qn_queue_create");
  printf("quern: %s, %s\n", info.selector, info.name);
}

int main(int count, char **arguments) {
  bench_options options = bench_read_options(count, arguments, "cost of a buffer's memory beside host allocators");
  setting s = {.script = make_script()};
  qn_runtime runtime = NULL;
  load_mimalloc();
  open_device(&runtime, &s);
  measure_same(&s, &options);
  measure(&s, &options, "cross-queue", cross_quern, many_peer, 0);
  measure(&s, &options, "random-sizes", random_quern, random_peer, 0);
  s.threads = 2;
  measure(&s, &options, "threads/2", threads_quern, threads_peer, 0);
  bench_check(qn_runtime_close(runtime, QN_FOREVER), "qn_runtime_close");
  free(s.script);
  return bench_exit_status();
}

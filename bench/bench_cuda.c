/* bench_cuda - what Quern adds to the CUDA driver: launches, waits, memory and transfers beside the driver's own calls, of the same
 * kernels, in the same context. The thread has no context of its own, as in a program that knows nothing of CUDA; with --current it
 * has the device's. With QUERN_CUDA_MARKS=words the queue's marks are words and not events. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"
#include "cuda.h"

#define ROUNDS 400 /* launches a turn: less than the driver takes before a call blocks */
#define TURNS 31
#define LIMIT_NS UINT64_C(5000000000)

enum { MOST = 32 };
static const uint32_t counts[] = {0, 1, 4, 8, 16, 32};
enum { COUNTS = sizeof counts / sizeof *counts };

typedef struct world {
  cuda c;
  qn_runtime runtime;
  qn_device device;
  qn_queue queue;
} world;

/* ---- Launches ----------------------------------------------------------------------------------- */

/* One kernel on both sides; its parameters alternate: a buffer, a value. */
typedef struct launch {
  world *w;
  uint32_t count;
  qn_kernel kernel;
  qn_argument arguments[MOST];
  cu_function function;
  uint64_t words[MOST];
  unsigned char range[120]; /* the entry's hidden parameter: adapter.h */
  void *pointers[MOST + 1];
} launch;

static char *kernel_source(void) {
  static char text[8192];
  char *at = text, *end = text + sizeof text;
  for (uint32_t k = 0; k < COUNTS; k++) {
    at += snprintf(at, (size_t)(end - at), "kernel void k%u(", counts[k]);
    for (uint32_t i = 0; i < counts[k]; i++)
      at += snprintf(at, (size_t)(end - at), "%s%s a%u", i ? ", " : "", i % 2 ? "int" : "global int *", i);
    at += snprintf(at, (size_t)(end - at), ") {}\n");
  }
  return text;
}

static qn_buffer make_buffer(world *w, uint32_t memory, uint64_t bytes) {
  qn_buffer_options options = QN_INIT(qn_buffer_options);
  qn_buffer made;
  options.memory = memory;
  options.size_bytes = bytes;
  bench_check(qn_buffer_create(w->device, &options, &made), "qn_buffer_create");
  return made;
}
static uint64_t address_of(qn_buffer buffer) {
  uint64_t address = 0;
  bench_check(qn_native_handle(buffer, 0, &address), "qn_native_handle");
  return address;
}

static void make_launch(launch *l, world *w, qn_program program, uint32_t count) {
  char name[16];
  uint64_t function = 0;
  *l = (launch){.w = w, .count = count};
  snprintf(name, sizeof name, "k%u", count);
  bench_check(qn_kernel_get(program, name, &l->kernel), name);
  bench_check(qn_native_handle(l->kernel, 0, &function), "qn_native_handle");
  l->function = (cu_function)(uintptr_t)function;
  for (uint32_t i = 0; i < count; i++) {
    l->arguments[i] = qn_arg_i32(0);
    l->pointers[i] = &l->words[i];
    if (i % 2) continue;
    qn_buffer buffer = make_buffer(w, QN_MEMORY_DEVICE, 4096);
    l->arguments[i] = qn_arg_buffer(buffer);
    l->words[i] = address_of(buffer);
  }
  const uint32_t items[4] = {64, 1, 1, 0}; /* 64 work-items, even */
  memcpy(l->range + 72, items, sizeof items);
  l->pointers[count] = l->range;
}

static void launch_quern(launch *l, int32_t step, qn_point *done) {
  const qn_range range = {.struct_size = sizeof range, .dimensions = 1, .global = {64}, .local = {64}};
  if (l->count > 1) l->arguments[1] = qn_arg_i32(step);
  bench_check(qn_launch(l->w->queue, l->kernel, &range, l->arguments, l->count, done), "qn_launch");
}
static void launch_peer(launch *l, int32_t step) {
  l->words[1] = (uint64_t)step;
  cuda_check(l->w->c.cu.LaunchKernel(l->function, 1, 1, 1, 64, 1, 1, 0, l->w->c.stream, l->pointers, NULL),
             "cuLaunchKernel");
}
static void wait_peer(const world *w) { cuda_check(w->c.cu.StreamSynchronize(w->c.stream), "cuStreamSynchronize"); }

/* The host's time for a launch: the wait behind all is not in it. */
static double host_quern(void *given) {
  launch *l = given;
  qn_point done;
  uint64_t start = bench_now_ns();
  for (int32_t i = 0; i < ROUNDS; i++) launch_quern(l, i, &done);
  double ns = (double)(bench_now_ns() - start) / ROUNDS;
  bench_check(qn_point_wait(&done, QN_FOREVER), "qn_point_wait");
  return ns;
}
static double host_peer(void *given) {
  launch *l = given;
  cuda_enter(&l->w->c);
  uint64_t start = bench_now_ns();
  for (int32_t i = 0; i < ROUNDS; i++) launch_peer(l, i);
  double ns = (double)(bench_now_ns() - start) / ROUNDS;
  wait_peer(l->w);
  cuda_leave(&l->w->c);
  return ns;
}

/* The median of single launches, each with its wait. */
static double waited_with_limit(launch *l, uint64_t limit_ns) {
  static bench_samples samples;
  samples.count = 0;
  for (int32_t i = 0; i < ROUNDS; i++) {
    qn_point done;
    uint64_t start = bench_now_ns();
    launch_quern(l, i, &done);
    bench_check(qn_point_wait(&done, limit_ns), "qn_point_wait");
    bench_add(&samples, (double)(bench_now_ns() - start));
  }
  return bench_median(&samples);
}
static double waited_quern(void *given) { return waited_with_limit(given, QN_FOREVER); }
static double limited_quern(void *given) { return waited_with_limit(given, LIMIT_NS); }
static double waited_peer(void *given) {
  static bench_samples samples;
  launch *l = given;
  samples.count = 0;
  cuda_enter(&l->w->c);
  for (int32_t i = 0; i < ROUNDS; i++) {
    uint64_t start = bench_now_ns();
    launch_peer(l, i);
    wait_peer(l->w);
    bench_add(&samples, (double)(bench_now_ns() - start));
  }
  cuda_leave(&l->w->c);
  return bench_median(&samples);
}

static const struct {
  const char *name;
  bench_turn quern, peer;
  double budget;
} launches[] = {{"launch", host_quern, host_peer, 1.10},
                {"launch+wait", waited_quern, waited_peer, 1.10},
                /* The driver has no wait with a limit: beside the one without. */
                {"launch+wait-with-limit", limited_quern, waited_peer, 1.10}};

static uint32_t turns_of(const bench_options *options) { return options->turns ? options->turns : TURNS; }

static void measure_launches(world *w, const bench_options *options) {
  qn_program_options given = QN_INIT(qn_program_options);
  qn_program program;
  given.source = kernel_source();
  bench_check(qn_program_build(w->device, &given, &program), "qn_program_build");
  for (uint32_t k = 0; k < COUNTS; k++) {
    static launch l;
    make_launch(&l, w, program, counts[k]);
    for (size_t i = 0; i < sizeof launches / sizeof *launches; i++) {
      char line[64];
      double ours, theirs;
      snprintf(line, sizeof line, "%s/%u-arguments", launches[i].name, l.count);
      if (!bench_wanted(options, line)) continue;
      bench_alternate(launches[i].quern, launches[i].peer, &l, turns_of(options), &ours, &theirs);
      bench_report_cost(line, ours, theirs, launches[i].budget);
    }
  }
}

/* ---- Memory ------------------------------------------------------------------------------------- */

typedef struct allocation {
  world *w;
  uint64_t bytes;
} allocation;

static double allocate_quern(void *given) {
  const allocation *a = given;
  qn_buffer_options options = QN_INIT(qn_buffer_options);
  options.size_bytes = a->bytes;
  options.queue = a->w->queue;
  uint64_t start = bench_now_ns();
  for (int i = 0; i < ROUNDS; i++) {
    qn_buffer buffer;
    bench_check(qn_buffer_create(a->w->device, &options, &buffer), "qn_buffer_create");
    bench_check(qn_release(buffer), "qn_release");
  }
  return (double)(bench_now_ns() - start) / ROUNDS;
}
static double allocate_peer(void *given) {
  const allocation *a = given;
  const cuda *c = &a->w->c;
  cuda_enter(c);
  uint64_t start = bench_now_ns();
  for (int i = 0; i < ROUNDS; i++) {
    cu_pointer pointer = 0;
    cuda_check(c->more.MemAllocAsync(&pointer, a->bytes, c->stream), "cuMemAllocAsync");
    cuda_check(c->more.MemFreeAsync(pointer, c->stream), "cuMemFreeAsync");
  }
  double ns = (double)(bench_now_ns() - start) / ROUNDS;
  wait_peer(a->w);
  cuda_leave(c);
  return ns;
}

static void measure_memory(world *w, const bench_options *options) {
  static const struct {
    const char *name;
    uint64_t bytes;
  } sizes[] = {{"allocate+release/4-KiB", 4096}, {"allocate+release/1-MiB", 1 << 20}};
  for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
    allocation a = {w, sizes[i].bytes};
    double ours, theirs;
    if (!bench_wanted(options, sizes[i].name)) continue;
    bench_alternate(allocate_quern, allocate_peer, &a, turns_of(options), &ours, &theirs);
    bench_report_cost(sizes[i].name, ours, theirs, 0.15);
  }
}

/* ---- Transfers ---------------------------------------------------------------------------------- */

typedef struct transfer {
  world *w;
  uint64_t bytes;
  uint32_t rounds;
  qn_buffer device, other, pinned;
  unsigned char *pageable;
} transfer;

static void wait_quern(qn_status status, const qn_point *done) {
  bench_check(status, "transfer");
  bench_check(qn_point_wait(done, QN_FOREVER), "qn_point_wait");
}

#define COPY(target, source) t->w->c.cu.MemcpyAsync(target, source, t->bytes, t->w->c.stream)

/* X(name, budget, Quern's call, the peer's call): each is followed by a wait. Beside pageable memory stands the driver's copy that
 * returns when it is done. */
#define TRANSFERS(X)                                                                         \
  X(pinned_write, 0.95, qn_copy(t->w->queue, &device, &pinned, &done), COPY(device, pinned)) \
  X(pinned_read, 0.95, qn_copy(t->w->queue, &pinned, &device, &done), COPY(pinned, device))  \
  X(pageable_write, 0.9, qn_write(t->w->queue, &device, t->pageable, &done),                 \
    t->w->c.more.MemcpyHtoD_v2(device, t->pageable, t->bytes))                               \
  X(pageable_read, 0.9, qn_read(t->w->queue, &device, t->pageable, &done),                   \
    t->w->c.more.MemcpyDtoH_v2(t->pageable, device, t->bytes))                               \
  X(device_copy, 0.95, qn_copy(t->w->queue, &other, &device, &done), COPY(other, device))    \
  X(fill_4, 0.95, qn_fill(t->w->queue, &device, pattern, 4, &done),                          \
    t->w->c.cu.MemsetD32Async(device, 0x01020304, t->bytes / 4, t->w->c.stream))             \
  X(fill_16, 0, qn_fill(t->w->queue, &device, pattern, 16, &done),                           \
    t->w->c.cu.MemsetD32Async(device, 0x01020304, t->bytes / 4, t->w->c.stream))

#define DEFINE_TURNS(name, budget, ours, theirs)                                                                   \
  static double quern_##name(void *given) {                                                                        \
    const transfer *t = given;                                                                                     \
    const qn_view device = {t->device, 0, QN_WHOLE}, other = {t->other, 0, QN_WHOLE};                              \
    const qn_view pinned = {t->pinned, 0, QN_WHOLE};                                                               \
    const uint32_t pattern[4] = {0x01020304, 2, 3, 4};                                                             \
    qn_point done;                                                                                                 \
    (void)device, (void)other, (void)pinned, (void)pattern;                                                        \
    uint64_t start = bench_now_ns();                                                                               \
    for (uint32_t i = 0; i < t->rounds; i++) {                                                                     \
      qn_status status = (ours);                                                                                   \
      wait_quern(status, &done);                                                                                   \
    }                                                                                                              \
    return (double)(bench_now_ns() - start) / t->rounds;                                                           \
  }                                                                                                                \
  static double peer_##name(void *given) {                                                                         \
    const transfer *t = given;                                                                                     \
    const cu_pointer device = address_of(t->device), other = address_of(t->other), pinned = address_of(t->pinned); \
    (void)device, (void)other, (void)pinned;                                                                       \
    cuda_enter(&t->w->c);                                                                                          \
    uint64_t start = bench_now_ns();                                                                               \
    for (uint32_t i = 0; i < t->rounds; i++) {                                                                     \
      cuda_check((theirs), #name);                                                                                 \
      wait_peer(t->w);                                                                                             \
    }                                                                                                              \
    double ns = (double)(bench_now_ns() - start) / t->rounds;                                                      \
    cuda_leave(&t->w->c);                                                                                          \
    return ns;                                                                                                     \
  }
TRANSFERS(DEFINE_TURNS)

static const struct {
  const char *name;
  double budget;
  bench_turn quern, peer;
} transfers[] = {
#define X(name, budget, ours, theirs) {#name, budget, quern_##name, peer_##name},
    TRANSFERS(X)
#undef X
};

static void measure_transfer(transfer *t, const char *size, const bench_options *options) {
  t->device = make_buffer(t->w, QN_MEMORY_DEVICE, t->bytes);
  t->other = make_buffer(t->w, QN_MEMORY_DEVICE, t->bytes);
  t->pinned = make_buffer(t->w, QN_MEMORY_HOST, t->bytes);
  t->pageable = malloc(t->bytes);
  if (!t->pageable) bench_fail("no memory");
  memset(t->pageable, 1, t->bytes);
  for (size_t i = 0; i < sizeof transfers / sizeof *transfers; i++) {
    char line[64];
    double ours, theirs;
    snprintf(line, sizeof line, "%s/%s", transfers[i].name, size);
    if (!bench_wanted(options, line)) continue;
    bench_alternate(transfers[i].quern, transfers[i].peer, t, turns_of(options) / 2 + 1, &ours, &theirs);
    /* A budget is for rates: small transfers are told without one. */
    bench_report_speed(line, ours, theirs, t->bytes < 1 << 20 ? 0 : transfers[i].budget);
    printf("%-26s       %8.1f GB/s, peer %.1f\n", "", (double)t->bytes / ours, (double)t->bytes / theirs);
  }
  qn_release(t->device);
  qn_release(t->other);
  qn_release(t->pinned);
  free(t->pageable);
}

static void measure_transfers(world *w, const bench_options *options) {
  static const struct {
    const char *name;
    uint64_t bytes;
    uint32_t rounds;
  } sizes[] = {{"4-KiB", 4096, 200},
               {"64-KiB", 64 << 10, 100},
               {"1-MiB", 1 << 20, 20},
               {"16-MiB", 16 << 20, 4},
               {"256-MiB", 256 << 20, 1}};
  for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
    transfer t = {.w = w, .bytes = sizes[i].bytes, .rounds = sizes[i].rounds};
    measure_transfer(&t, sizes[i].name, options);
  }
}

/* ---- What a call around the driver's costs ------------------------------------------------------- */

static double ask_current(void *given) {
  const world *w = given;
  uint64_t start = bench_now_ns();
  for (int i = 0; i < ROUNDS; i++) {
    cu_context now;
    cuda_check(w->c.cu.CtxGetCurrent(&now), "cuCtxGetCurrent");
  }
  return (double)(bench_now_ns() - start) / ROUNDS;
}
static double push_and_pop(void *given) {
  const world *w = given;
  cu_context now;
  cuda_check(w->c.cu.CtxGetCurrent(&now), "cuCtxGetCurrent");
  uint64_t start = bench_now_ns();
  for (int i = 0; i < ROUNDS; i++) {
    cuda_check(w->c.cu.CtxPushCurrent_v2(now), "cuCtxPushCurrent");
    cuda_check(w->c.cu.CtxPopCurrent_v2(&now), "cuCtxPopCurrent");
  }
  return (double)(bench_now_ns() - start) / ROUNDS;
}
static double record_event(void *given) {
  const world *w = given;
  cu_event event;
  cuda_check(w->c.cu.EventCreate(&event, CU_EVENT_NO_TIMING), "cuEventCreate");
  uint64_t start = bench_now_ns();
  for (int i = 0; i < ROUNDS; i++) cuda_check(w->c.cu.EventRecord(event, w->c.stream), "cuEventRecord");
  double ns = (double)(bench_now_ns() - start) / ROUNDS;
  wait_peer(w);
  cuda_check(w->c.cu.EventDestroy_v2(event), "cuEventDestroy");
  return ns;
}
static double write_word(void *given) {
  const world *w = given;
  void *host = NULL;
  cuda_check(w->c.cu.MemHostAlloc(&host, 4096, CU_HOST_PORTABLE | CU_HOST_DEVICE_MAP), "cuMemHostAlloc");
  uint64_t start = bench_now_ns();
  for (int i = 0; i < ROUNDS; i++)
    cuda_check(w->c.cu.StreamWriteValue64_v2(w->c.stream, (cu_pointer)host, (uint64_t)i, 0), "cuStreamWriteValue64");
  double ns = (double)(bench_now_ns() - start) / ROUNDS;
  wait_peer(w);
  cuda_check(w->c.cu.MemFreeHost(host), "cuMemFreeHost");
  return ns;
}
static double query_stream(void *given) {
  const world *w = given;
  uint64_t start = bench_now_ns();
  for (int i = 0; i < ROUNDS; i++) cuda_check(w->c.cu.StreamQuery(w->c.stream), "cuStreamQuery");
  return (double)(bench_now_ns() - start) / ROUNDS;
}

static void measure_calls(world *w, const bench_options *options) {
  static const struct {
    const char *name;
    bench_turn turn;
  } calls[] = {{"cuCtxGetCurrent", ask_current},
               {"cuCtxPushCurrent + cuCtxPopCurrent", push_and_pop},
               {"cuEventRecord", record_event},
               {"cuStreamWriteValue64", write_word},
               {"cuStreamQuery", query_stream}};
  for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
    static bench_samples samples;
    if (!bench_wanted(options, "driver")) continue;
    if (calls[i].turn == write_word && !w->c.cu.StreamWriteValue64_v2) continue;
    samples.count = 0;
    cuda_enter(&w->c);
    for (uint32_t k = 0; k < turns_of(options); k++) bench_add(&samples, calls[i].turn(w));
    cuda_leave(&w->c);
    printf("driver: %-36s %8.3f us\n", calls[i].name, bench_median(&samples) / 1000);
  }
}

/* ---- Opening ------------------------------------------------------------------------------------ */

static bool open_world(world *w) {
  qn_device_info info = QN_INIT(qn_device_info);
  bench_check(qn_runtime_open(NULL, &w->runtime), "qn_runtime_open");
  if (qn_device_open(w->runtime, "cuda:0", &w->device) < 0) {
    fprintf(stderr, "%s\n", qn_error_text());
    return false;
  }
  bench_check(qn_device_query(w->device, &info), "qn_device_query");
  bench_check(qn_queue_create(w->device, NULL, &w->queue), "qn_queue_create");
  const char *marks = getenv("QUERN_CUDA_MARKS");
  printf("quern: cuda:0 %s, marks: %s\npeer:  %s\n", info.name, marks ? marks : "default", info.driver);
  return cuda_open(&w->c, w->device);
}

static bool take_flag(int *count, char **arguments, const char *flag) {
  bool found = false;
  int kept = 0;
  for (int i = 0; i < *count; i++) {
    bool is_flag = strcmp(arguments[i], flag) == 0;
    found = found || is_flag;
    if (!is_flag) arguments[kept++] = arguments[i];
  }
  *count = kept;
  return found;
}

int main(int count, char **arguments) {
  bool current = take_flag(&count, arguments, "--current");
  bench_options options = bench_read_options(count, arguments, "what Quern adds to the CUDA driver");
  static world w;
  if (!open_world(&w)) return BENCH_NO_PEER;
  if (current) cuda_enter(&w.c);
  measure_calls(&w, &options);
  measure_launches(&w, &options);
  measure_memory(&w, &options);
  measure_transfers(&w, &options);
  return bench_exit_status();
}

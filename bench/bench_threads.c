/* bench_threads - what a launch costs when many threads launch at once: each on a queue of its own, and all on one. The kernel is
 * empty, each thread launches and then waits once. A line's numbers are time divided by all launches; beside the ratio to the
 * peer's stands each side's throughput against its own with one thread. */
#include <pthread.h>
#include <stdio.h>

#include "kernel.h"

enum { MOST_THREADS = 32, LAUNCHES = 8000 /* of all threads together, a turn */, TURNS = 11 };

static const char source[] = "kernel void nothing() {}\n";

typedef struct crowd {
  bench_quern *quern;
  opencl *cl;
  qn_kernel kernel;
  qn_queue queues[MOST_THREADS];
  cl_kernel cl_kernels[MOST_THREADS];
  cl_command_queue cl_queues[MOST_THREADS];
  uint32_t threads;
  bool is_shared; /* all launch on the first queue */
  pthread_barrier_t start;
} crowd;

typedef struct member {
  crowd *crowd;
  uint32_t number;
  uint64_t began_ns, ended_ns;
} member;

/* ---- The two sides ------------------------------------------------------------------------------ */

static void launch_quern(const crowd *c, uint32_t number, uint32_t count) {
  qn_queue queue = c->queues[c->is_shared ? 0 : number];
  const qn_range range = {.struct_size = sizeof range, .dimensions = 1, .global = {64}, .local = {64}};
  qn_point done = {0, 0};
  for (uint32_t i = 0; i < count; i++) bench_check(qn_launch(queue, c->kernel, &range, NULL, 0, &done), "qn_launch");
  bench_check(qn_point_wait(&done, QN_FOREVER), "qn_point_wait");
}

static void launch_peer(const crowd *c, uint32_t number, uint32_t count) {
  cl_command_queue queue = c->cl_queues[c->is_shared ? 0 : number];
  size_t global = 64, local = 64;
  for (uint32_t i = 0; i < count; i++)
    opencl_check(c->cl->EnqueueNDRangeKernel(queue, c->cl_kernels[number], 1, NULL, &global, &local, 0, NULL, NULL),
                 "clEnqueueNDRangeKernel");
  opencl_check(c->cl->Finish(queue), "clFinish");
}

static void *run_quern(void *given) {
  member *m = given;
  pthread_barrier_wait(&m->crowd->start);
  m->began_ns = bench_now_ns();
  launch_quern(m->crowd, m->number, LAUNCHES / m->crowd->threads);
  m->ended_ns = bench_now_ns();
  return NULL;
}

static void *run_peer(void *given) {
  member *m = given;
  pthread_barrier_wait(&m->crowd->start);
  m->began_ns = bench_now_ns();
  launch_peer(m->crowd, m->number, LAUNCHES / m->crowd->threads);
  m->ended_ns = bench_now_ns();
  return NULL;
}

/* ---- Turns -------------------------------------------------------------------------------------- */

/* From the first thread's beginning to the last one's end, divided by all launches. */
static double turn(crowd *c, void *(*run)(void *)) {
  pthread_t threads[MOST_THREADS];
  member members[MOST_THREADS];
  uint64_t began = UINT64_MAX, ended = 0;
  pthread_barrier_init(&c->start, NULL, c->threads);
  for (uint32_t i = 0; i < c->threads; i++) {
    members[i] = (member){.crowd = c, .number = i};
    if (pthread_create(&threads[i], NULL, run, &members[i]) != 0) bench_fail("a thread can't be started");
  }
  for (uint32_t i = 0; i < c->threads; i++) {
    pthread_join(threads[i], NULL);
    if (members[i].began_ns < began) began = members[i].began_ns;
    if (members[i].ended_ns > ended) ended = members[i].ended_ns;
  }
  pthread_barrier_destroy(&c->start);
  return (double)(ended - began) / (LAUNCHES / c->threads * c->threads);
}

static double turn_quern(void *context) { return turn(context, run_quern); }
static double turn_peer(void *context) { return turn(context, run_peer); }

/* ---- Measuring ---------------------------------------------------------------------------------- */

typedef struct cost {
  double quern, peer;
} cost;

static cost measure(crowd *c, const bench_options *options, const char *which, const cost *alone) {
  char name[64];
  cost now = {0, 0};
  snprintf(name, sizeof name, "%s/%u-threads", which, c->threads);
  if (!bench_wanted(options, name)) return *alone;
  bench_alternate(turn_quern, turn_peer, c, options->turns ? options->turns : TURNS, &now.quern, &now.peer);
  bench_report_cost(name, now.quern, now.peer, 0.5);
  if (c->threads > 1 && alone->quern > 0)
    printf("%-26s throughput against one thread's: quern %.2f peer %.2f\n", "", alone->quern / now.quern,
           alone->peer / now.peer);
  return c->threads == 1 ? now : *alone;
}

static void measure_all(crowd *c, const bench_options *options, bool is_shared) {
  static const uint32_t threads[] = {1, 2, 8, 32};
  cost alone = {0, 0};
  c->is_shared = is_shared;
  for (size_t i = 0; i < sizeof threads / sizeof *threads; i++) {
    c->threads = threads[i];
    alone = measure(c, options, is_shared ? "one-queue" : "own-queues", &alone);
  }
}

static void open_crowd(crowd *c) {
  cl_int status = CL_SUCCESS;
  c->kernel = bench_quern_build(c->quern, source, "bench_threads", "", "nothing");
  for (uint32_t i = 0; i < MOST_THREADS; i++) {
    bench_check(qn_queue_create(c->quern->device, NULL, &c->queues[i]), "qn_queue_create");
    c->cl_queues[i] = c->cl->CreateCommandQueue(c->cl->context, c->cl->device, 0, &status);
    opencl_check(status, "clCreateCommandQueue");
    c->cl_kernels[i] = opencl_build(c->cl, source, "", "nothing");
  }
}

int main(int count, char **arguments) {
  bench_options options = bench_read_options(count, arguments, "cost of launches from many threads beside OpenCL's");
  static bench_quern quern;
  static opencl cl;
  if (!opencl_open(&cl)) return BENCH_NO_PEER;
  bench_quern_open(&quern);
  printf("quern: %s\npeer:  %s\n", quern.name, cl.name);
  static crowd c;
  c.quern = &quern;
  c.cl = &cl;
  open_crowd(&c);
  measure_all(&c, &options, false);
  measure_all(&c, &options, true);
  bench_quern_close(&quern);
  return bench_exit_status();
}

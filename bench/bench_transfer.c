/* bench_transfer - copies, fills, reads and writes beside OpenCL's, large and small. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernel.h"

#define LARGE (UINT64_C(64) << 20)
#define SMALL UINT64_C(4096)
#define TURNS 15

typedef struct transfer {
  bench_quern *quern;
  opencl *cl;
  uint64_t bytes;
  uint32_t rounds; /* a turn */
  qn_buffer a, b;
  cl_mem cl_a, cl_b;
  char *host;
} transfer;

static void wait_quern(transfer *t, qn_status status, const qn_point *done) {
  (void)t;
  bench_check(status, "transfer");
  bench_check(qn_point_wait(done, QN_FOREVER), "qn_point_wait");
}
static void wait_peer(transfer *t, cl_int status) {
  opencl_check(status, "transfer");
  opencl_check(t->cl->Finish(t->cl->queue), "clFinish");
}

/* X(name, quern's call, the peer's call): each is followed by a wait. */
#define TRANSFERS(X)                                                                                 \
  X(copy, qn_copy(t->quern->queue, &vb, &va, &done),                                                 \
    t->cl->EnqueueCopyBuffer(t->cl->queue, t->cl_a, t->cl_b, 0, 0, t->bytes, 0, NULL, NULL))         \
  X(fill, qn_fill(t->quern->queue, &va, &pattern, 4, &done),                                         \
    t->cl->EnqueueFillBuffer(t->cl->queue, t->cl_a, &pattern, 4, 0, t->bytes, 0, NULL, NULL))        \
  X(write, qn_write(t->quern->queue, &va, t->host, &done),                                           \
    t->cl->EnqueueWriteBuffer(t->cl->queue, t->cl_a, CL_FALSE, 0, t->bytes, t->host, 0, NULL, NULL)) \
  X(read, qn_read(t->quern->queue, &va, t->host, &done),                                             \
    t->cl->EnqueueReadBuffer(t->cl->queue, t->cl_a, CL_FALSE, 0, t->bytes, t->host, 0, NULL, NULL))

#define DEFINE_TURNS(name, ours, theirs)                             \
  static double quern_##name(void *context) {                        \
    transfer *t = context;                                           \
    qn_view va = {t->a, 0, QN_WHOLE}, vb = {t->b, 0, QN_WHOLE};      \
    uint32_t pattern = 0x01020304;                                   \
    qn_point done;                                                   \
    (void)va, (void)vb, (void)pattern;                               \
    uint64_t start = bench_now_ns();                                 \
    for (uint32_t i = 0; i < t->rounds; i++) {                       \
      qn_status status = (ours);                                     \
      wait_quern(t, status, &done);                                  \
    }                                                                \
    return (double)(bench_now_ns() - start) / t->rounds;             \
  }                                                                  \
  static double peer_##name(void *context) {                         \
    transfer *t = context;                                           \
    uint32_t pattern = 0x01020304;                                   \
    (void)pattern;                                                   \
    uint64_t start = bench_now_ns();                                 \
    for (uint32_t i = 0; i < t->rounds; i++) wait_peer(t, (theirs)); \
    return (double)(bench_now_ns() - start) / t->rounds;             \
  }
TRANSFERS(DEFINE_TURNS)

static const struct {
  const char *name;
  bench_turn quern, peer;
} transfers[] = {
#define X(name, ours, theirs) {#name, quern_##name, peer_##name},
    TRANSFERS(X)
#undef X
};

static void open_transfer(transfer *t) {
  qn_buffer_options options = QN_INIT(qn_buffer_options);
  cl_int status;
  options.size_bytes = t->bytes;
  bench_check(qn_buffer_create(t->quern->device, &options, &t->a), "qn_buffer_create");
  bench_check(qn_buffer_create(t->quern->device, &options, &t->b), "qn_buffer_create");
  t->cl_a = t->cl->CreateBuffer(t->cl->context, CL_MEM_READ_WRITE, t->bytes, NULL, &status);
  opencl_check(status, "clCreateBuffer");
  t->cl_b = t->cl->CreateBuffer(t->cl->context, CL_MEM_READ_WRITE, t->bytes, NULL, &status);
  opencl_check(status, "clCreateBuffer");
  t->host = malloc(t->bytes);
  if (!t->host) bench_fail("no memory");
  memset(t->host, 1, t->bytes);
  /* Both buffers' pages are there before anything is measured. */
  quern_write(t), quern_copy(t), peer_write(t), peer_copy(t);
}

static void close_transfer(transfer *t) {
  qn_release(t->a);
  qn_release(t->b);
  t->cl->ReleaseMemObject(t->cl_a);
  t->cl->ReleaseMemObject(t->cl_b);
  free(t->host);
}

static void measure(transfer t, const char *size, const bench_options *options) {
  open_transfer(&t);
  for (size_t i = 0; i < sizeof transfers / sizeof *transfers; i++) {
    char name[64];
    double ours, theirs;
    snprintf(name, sizeof name, "%s/%s", transfers[i].name, size);
    if (!bench_wanted(options, name)) continue;
    bench_alternate(transfers[i].quern, transfers[i].peer, &t, options->turns ? options->turns : TURNS, &ours, &theirs);
    bench_report_speed(name, ours, theirs, 1.0);
    if (t.bytes == LARGE) printf("%-26s       %8.1f GB/s moved\n", "", (double)t.bytes / ours);
  }
  close_transfer(&t);
}

int main(int count, char **arguments) {
  bench_options options = bench_read_options(count, arguments, "copies, fills, reads and writes beside OpenCL's");
  static bench_quern quern;
  static opencl cl;
  if (!opencl_open(&cl)) return BENCH_NO_PEER;
  bench_quern_open(&quern);
  printf("quern: %s\npeer:  %s\n", quern.name, cl.name);
  transfer t = {.quern = &quern, .cl = &cl, .bytes = LARGE, .rounds = 1};
  measure(t, "64-MiB", &options);
  t.bytes = SMALL;
  t.rounds = 1000;
  measure(t, "4-KiB", &options);
  bench_quern_close(&quern);
  return bench_exit_status();
}

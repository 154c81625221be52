/* bench_handle - what it costs to check a handle: a pin and its unpin. Links the library's objects, for both are inside it. */
#include <pthread.h>
#include <stdio.h>

#include "base/handle.h"
#include "bench.h"

#define TURNS 101
#define ROUNDS 10000

static const void *handle;

static double pin(void *context) {
  uint64_t start = bench_now_ns();
  for (int i = 0; i < ROUNDS; i++) {
    void *object = NULL;
    bench_check(qn_handle_pin(handle, QN_KIND_BUFFER, "buffer", &object), "qn_handle_pin");
    qn_handle_unpin(handle);
  }
  (void)context;
  return (double)(bench_now_ns() - start) / ROUNDS;
}

static double lock(void *context) {
  static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
  uint64_t start = bench_now_ns();
  for (int i = 0; i < ROUNDS; i++) {
    pthread_mutex_lock(&mutex);
    pthread_mutex_unlock(&mutex);
  }
  (void)context;
  return (double)(bench_now_ns() - start) / ROUNDS;
}

int main(int count, char **arguments) {
  bench_options options = bench_read_options(count, arguments, "cost of checking a handle beside a mutex");
  static int object;
  double ours = 0, theirs = 0;
  bench_check(qn_handle_create(QN_KIND_BUFFER, 1, &object, &handle), "qn_handle_create");
  bench_alternate(pin, lock, NULL, options.turns ? options.turns : TURNS, &ours, &theirs);
  bench_report_cost("handle/pin-unpin", ours, theirs, 0);
  bench_report_time("handle/pin-unpin", "pin and unpin", ours, 10);
  return bench_exit_status();
}

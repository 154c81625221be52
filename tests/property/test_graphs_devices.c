/* labels: llvm */
/* P6 on devices that run kernels: random graphs give what a serial run gives. */
#include "graph.h"

static graph_options any_options(property_random *random, bool launches) {
  return (graph_options){.queues = 2 + (uint32_t)property_pick(random, 6),
                         .buffers = 3 + (uint32_t)property_pick(random, 6),
                         .steps = 150,
                         .sizes = 1u << (4 + property_pick(random, 12)),
                         .launches = launches,
                         .queues_come_and_go = property_chance(random, 2),
                         .buffers_come_and_go = property_chance(random, 2),
                         .is_short = property_chance(random, 2),
                         .is_hasty = property_chance(random, 2)};
}

static void run_graphs(const char *selector, uint64_t in_short, uint64_t in_long, uint32_t largest) {
  char what[64];
  property_device d = property_open(selector, "seed=0");
  if (!d.device) return;
  bool launches = property_can_launch(&d);
  snprintf(what, sizeof what, "random graphs on %s", selector);
  PROPERTY_EACH_SEED(seed, what, in_short, in_long) {
    property_random random = {seed};
    graph_options options = any_options(&random, launches);
    if (options.sizes > largest) options.sizes = largest;
    graph_run(&d, seed, &options);
  }
  property_close(&d);
}

static void test_P6_random_graphs_on_the_processor(void **state) {
  (void)state;
  run_graphs("cpu", 200, 10000, UINT32_MAX);
}
static void test_P6_random_graphs_on_the_interpreter(void **state) {
  (void)state;
  run_graphs("check", 20, 500, 256);
}
static void test_P6_random_graphs_on_opencl(void **state) {
  (void)state;
  run_graphs("opencl", 10, 1000, UINT32_MAX);
}

static void test_P6_random_graphs_on_cuda(void **state) {
  (void)state;
  run_graphs("cuda", 200, 10000, UINT32_MAX);
}

/* ---- Threads ------------------------------------------------------------------------------------ */

static void test_P6_threads_with_random_graphs_share_queues(void **state) {
  (void)state;
  const graph_options options = {.queues = 5,
                                 .buffers = 4,
                                 .steps = 100,
                                 .sizes = 2000,
                                 .launches = true,
                                 .buffers_come_and_go = true,
                                 .is_short = true};
  property_device d = property_open("cpu", "seed=0");
  PROPERTY_EACH_SEED(seed, "random graphs of threads on cpu", 20, 1000) graph_run_threads(&d, seed, &options);
  property_close(&d);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      PROPERTY_TEST(test_P6_random_graphs_on_the_processor),
      PROPERTY_TEST(test_P6_random_graphs_on_the_interpreter),
      PROPERTY_TEST(test_P6_random_graphs_on_opencl),
      PROPERTY_TEST(test_P6_random_graphs_on_cuda),
      PROPERTY_TEST(test_P6_threads_with_random_graphs_share_queues),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

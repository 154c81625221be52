/* labels: threads */
/* P6 on the simulated device: random graphs of launches, copies, fills, writes and reads give what a serial run gives, each access
 * has been put after those that it must come after, and no wait is recorded twice. */
#include "graph.h"

static graph_options any_options(property_random *random) {
  return (graph_options){.queues = 1 + (uint32_t)property_pick(random, 8),
                         .buffers = 3 + (uint32_t)property_pick(random, 8),
                         .steps = 150,
                         .sizes = 1u << (4 + property_pick(random, 7)),
                         .launches = true,
                         .is_hasty = property_chance(random, 2)};
}

static void test_P6_random_graphs_run_as_if_in_order(void **state) {
  (void)state;
  PROPERTY_EACH_SEED(seed, "random graphs on null", 200, 10000) {
    property_random random = {seed};
    property_device d = property_open("null", "seed=%llu,kernels=1", (unsigned long long)seed);
    const graph_options options = any_options(&random);
    graph_run(&d, seed, &options);
    assert_int_equal(property_counts(&d).waits_doubled, 0);
    property_close(&d);
  }
}

/* Beyond what a queue remembers of others, waits may be doubled, and the order must still be right. */
static void test_P6_random_graphs_with_queues_and_buffers_that_come_and_go(void **state) {
  (void)state;
  PROPERTY_EACH_SEED(seed, "random graphs on null, objects come and go", 150, 10000) {
    property_random random = {seed};
    property_device d = property_open("null", "seed=%llu,kernels=1,full=50", (unsigned long long)seed);
    graph_options options = any_options(&random);
    options.queues = 2 + (uint32_t)property_pick(&random, 14);
    options.queues_come_and_go = options.buffers_come_and_go = true;
    options.is_short = property_chance(&random, 2);
    graph_run(&d, seed, &options);
    property_close(&d);
  }
}

/* ---- Threads ------------------------------------------------------------------------------------ */

/* A driver that rejects submissions leaves no hole in a timeline, and no use is noted of what it has not taken. */
static void test_L5_rejected_submissions_leave_no_hole_and_no_trace(void **state) {
  (void)state;
  PROPERTY_EACH_SEED(seed, "random graphs on null, submissions rejected", 150, 10000) {
    property_random random = {seed};
    property_device d =
        property_open("null", "seed=%llu,kernels=1,reject=8,full=20,capacity=16", (unsigned long long)seed);
    graph_options options = any_options(&random);
    options.queues_come_and_go = options.buffers_come_and_go = property_chance(&random, 2);
    options.is_refused = true;
    options.is_short = property_chance(&random, 2);
    graph_run(&d, seed, &options);
    property_close(&d);
  }
}

/* Host threads make the steps, or a thread of the device does. */
static void test_P6_threads_with_random_graphs_share_queues(void **state) {
  (void)state;
  const graph_options options = {.queues = 5,
                                 .buffers = 4,
                                 .steps = 100,
                                 .sizes = 300,
                                 .launches = true,
                                 .buffers_come_and_go = true,
                                 .is_short = true};
  PROPERTY_EACH_SEED(seed, "random graphs of threads on null", 20, 2000) {
    property_device d =
        property_open("null", "seed=%llu,kernels=1,host=%d,delay_ns=3000", (unsigned long long)seed, (int)(seed % 2));
    graph_run_threads(&d, seed, &options);
    property_close(&d);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      PROPERTY_TEST(test_P6_random_graphs_run_as_if_in_order),
      PROPERTY_TEST(test_P6_random_graphs_with_queues_and_buffers_that_come_and_go),
      PROPERTY_TEST(test_L5_rejected_submissions_leave_no_hole_and_no_trace),
      PROPERTY_TEST(test_P6_threads_with_random_graphs_share_queues),
  };
  property_watch();
  return cmocka_run_group_tests(tests, NULL, NULL);
}

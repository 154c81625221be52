/* The pool, rule by rule, in a world of queues that run as far as a test lets them. */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
/* cmocka asks for some of the above. */
#include <cmocka.h>

#include "base/os/clock.h"
#include "pool/size_class.h"
#include "support/failing.h"
#include "support/pool_world.h"

enum { KB = 1024, MB = 1024 * KB, SIZE = 4 * KB };

static world_queue *queue(int i) { return &world.queues[i]; }

/* ---- P1: in this order --------------------------------------------------------------------------- */

static void test_P1_a_queue_gets_its_own_memory_back_while_it_is_in_use(void **state) {
  (void)state;
  world_open(64 * MB, 2);
  qn_pool_block *block = world_take(queue(0), SIZE);
  qn_adapter_memory *memory = block->memory;
  world_write(queue(0), block);
  qn_pool_release(block);
  block = world_take(queue(0), SIZE);
  assert_ptr_equal(block->memory, memory);
  assert_int_equal(world_statistics().from_own_queue, 1);
  assert_int_equal(block->uses.writer.value, 1); /* P6 orders what comes, also on another queue */
  qn_point point = world_write(queue(1), block);
  assert_int_equal(queue(1)->commands[point.value].wait_count, 1);
  qn_pool_release(block);
  qn_pool_block *other = world_take(queue(0), SIZE); /* it is the other queue's now */
  assert_ptr_not_equal(other->memory, memory);
  qn_pool_release(other);
  world_close();
}

static void test_P1_own_comes_before_known_before_complete_before_new(void **state) {
  (void)state;
  world_open(64 * MB, 4);
  qn_pool_block *own = world_take(queue(0), SIZE), *known = world_take(queue(1), SIZE),
                *complete = world_take(queue(2), SIZE), *hung = world_take(queue(3), SIZE);
  world_write(queue(0), own);
  const qn_point wait = world_write(queue(1), known);
  world_write(queue(2), complete);
  world_write(queue(3), hung);
  world_submit(queue(0), &wait, 1);
  world_run(queue(2), 1);
  qn_pool_release(hung);
  qn_pool_release(complete);
  qn_pool_release(known);
  qn_pool_release(own);
  qn_pool_block *got[4];
  for (int i = 0; i < 4; i++) got[i] = world_take(queue(0), SIZE);
  assert_ptr_equal(got[0], own);
  assert_ptr_equal(got[1], known);
  assert_ptr_equal(got[2], complete);
  assert_ptr_not_equal(got[3], hung);
  qn_pool_statistics s = world_statistics();
  assert_int_equal(s.from_own_queue, 1);
  assert_int_equal(s.from[QN_POOL_FROM_KNOWN], 1);
  assert_int_equal(s.from[QN_POOL_FROM_COMPLETE], 1);
  assert_int_equal(s.from[QN_POOL_FROM_NEW], 5);
  assert_int_equal(got[2]->uses.writer.value, 0); /* nothing to wait for */
  assert_int_equal(got[1]->uses.writer.value, wait.value);
  for (int i = 0; i < 4; i++) qn_pool_release(got[i]);
  world_close();
}

static void test_P1_the_device_waits_only_when_the_limit_is_reached(void **state) {
  (void)state;
  world_open(64 * MB, 3);
  const qn_pool_options options = {.limit_bytes = 2 * SIZE, .keep_bytes = 8 * MB, .wait_timeout_ns = 1};
  assert_int_equal(qn_pool_configure(&world.pool, &options), QN_OK);
  qn_pool_block *far = world_take(queue(1), SIZE), *near = world_take(queue(2), SIZE);
  world_submit(queue(1), NULL, 0);
  world_submit(queue(1), NULL, 0);
  world_write(queue(1), far);
  world_write(queue(2), near);
  qn_pool_release(far);
  qn_pool_release(near);
  qn_pool_block *block = world_take(queue(0), SIZE);
  assert_ptr_equal(block, near); /* fewer values are before it */
  assert_int_equal(block->uses.writer.queue, queue(2)->id);
  assert_int_equal(world.waits, 0); /* the host waits for nothing */
  qn_point point = world_write(queue(0), block);
  assert_int_equal(queue(0)->commands[point.value].wait_count, 1);
  assert_int_equal(world_statistics().from[QN_POOL_FROM_DEVICE_WAIT], 1);
  qn_pool_release(block);
  world_close();
}

static void test_P1_complete_blocks_of_other_sizes_make_room(void **state) {
  (void)state;
  world_open(64 * MB, 1);
  const qn_pool_options options = {.limit_bytes = 8 * SIZE, .keep_bytes = 8 * MB, .wait_timeout_ns = 1};
  assert_int_equal(qn_pool_configure(&world.pool, &options), QN_OK);
  qn_pool_block *blocks[8];
  for (int i = 0; i < 8; i++) blocks[i] = world_take(queue(0), SIZE);
  for (int i = 0; i < 8; i++) qn_pool_release(blocks[i]);
  qn_pool_block *large = world_take(queue(0), 3 * SIZE);
  assert_int_equal(world.destructions, 3); /* and no more than that */
  assert_int_equal(world_statistics().from[QN_POOL_FROM_HOST_WAIT], 0);
  qn_pool_release(large);
  world_close();
}

static void finish_all(const qn_point *point) {
  (void)point;
  for (int i = 0; i < WORLD_QUEUES; i++)
    if (world.queues[i].is_live) world_run(&world.queues[i], UINT64_MAX);
}

/* PyTorch's report 189504: after its wait the allocator asked only the driver, and a block that fitted lay in the pool. */
static void test_P1_after_a_host_wait_the_pool_is_asked_again(void **state) {
  (void)state;
  world_open(64 * MB, 1);
  const qn_pool_options options = {.limit_bytes = SIZE, .keep_bytes = 8 * MB, .wait_timeout_ns = QN_FOREVER};
  assert_int_equal(qn_pool_configure(&world.pool, &options), QN_OK);
  qn_pool_block *block = NULL;
  assert_int_equal(world_try_take(queue(0), QN_MEMORY_SHARED, SIZE, &block), QN_OK);
  qn_adapter_memory *memory = block->memory;
  world_write(queue(0), block);
  qn_pool_release(block);
  world.on_wait = finish_all;
  /* The host may write there at once: work in flight matters. */
  assert_int_equal(world_try_take(queue(0), QN_MEMORY_SHARED, SIZE, &block), QN_OK);
  assert_ptr_equal(block->memory, memory);
  assert_int_equal(world.waits, 1);
  assert_int_equal(world_statistics().from[QN_POOL_FROM_HOST_WAIT], 1);
  /* And what is complete by then makes room for another size. */
  world_write(queue(0), block);
  qn_pool_release(block);
  assert_int_equal(world_try_take(queue(0), QN_MEMORY_SHARED, SIZE / 2, &block), QN_OK);
  assert_int_equal(world.waits, 2);
  qn_pool_release(block);
  world_close();
}

static void test_P1_a_lack_of_memory_is_told_within_the_time_limit(void **state) {
  (void)state;
  world_open(64 * MB, 1);
  const qn_pool_options options = {.limit_bytes = SIZE, .keep_bytes = 8 * MB, .wait_timeout_ns = 5000000};
  assert_int_equal(qn_pool_configure(&world.pool, &options), QN_OK);
  qn_pool_block *block = NULL, *none = NULL;
  assert_int_equal(world_try_take(queue(0), QN_MEMORY_SHARED, SIZE, &block), QN_OK);
  assert_int_equal(world_try_take(queue(0), QN_MEMORY_DEVICE, SIZE, &none), QN_ERROR_OUT_OF_MEMORY); /* used: no wait */
  assert_non_null(strstr(qn_error_text(), "4096 used"));
  assert_int_equal(world.waits, 0);
  world_write(queue(0), block);
  qn_pool_release(block);
  assert_int_equal(world_try_take(queue(0), QN_MEMORY_SHARED, SIZE, &none), QN_ERROR_OUT_OF_MEMORY); /* hangs */
  assert_true(world.waits > 0);
  assert_int_equal(world_try_take(queue(0), QN_MEMORY_DEVICE, 2 * SIZE, &none), QN_ERROR_OUT_OF_MEMORY);
  assert_non_null(strstr(qn_error_text(), "may take 4096 bytes"));
  world.may_wait = QN_ERROR_WOULD_BLOCK;
  assert_int_equal(world_try_take(queue(0), QN_MEMORY_SHARED, SIZE, &none), QN_ERROR_WOULD_BLOCK);
  assert_null(none);
  assert_int_equal(world_statistics().out_of_memory, 3);
  world_close();
}

/* PyTorch's pull request 71745: quick use of a, long use of b, b is freed first, and a must not wait behind it. */
static void test_P1_no_block_is_held_back_by_one_that_was_released_before_it(void **state) {
  (void)state;
  enum { BLOCKS = 64 };
  qn_pool_block *blocks[BLOCKS];
  world_open(64 * MB, 2);
  for (int order = 0; order < 3; order++) {
    uint32_t shuffled[BLOCKS];
    for (int i = 0; i < BLOCKS; i++) blocks[i] = world_take(queue(0), SIZE);
    for (int i = 0; i < BLOCKS; i++) world_write(queue(0), blocks[i]);
    for (uint32_t i = 0; i < BLOCKS; i++) shuffled[i] = order == 0 ? i : order == 1 ? BLOCKS - 1 - i : i * 37 % BLOCKS;
    for (int i = 0; i < BLOCKS; i++) qn_pool_release(blocks[shuffled[i]]);
    uint64_t before = world.creations;
    for (int i = 0; i < BLOCKS; i++) {
      world_run(queue(0), 1); /* one more value is complete: exactly that block can be had */
      qn_pool_block *block = world_take(queue(1), SIZE);
      assert_ptr_equal(block, blocks[i]);
    }
    assert_int_equal(world.creations, before);
    for (int i = 0; i < BLOCKS; i++) qn_pool_release(blocks[i]);
    qn_pool_trim(&world.pool, 0);
  }
  world_close();
}

static void test_P1_a_block_that_several_queues_use_waits_for_all_of_them(void **state) {
  (void)state;
  world_open(64 * MB, 4);
  qn_pool_block *block = world_take(queue(0), SIZE);
  world_write(queue(0), block);
  for (int i = 1; i < 4; i++) world_read(queue(i), block);
  qn_pool_release(block);
  for (int i = 0; i < 4; i++) {
    qn_pool_block *other = world_take(queue(3), SIZE); /* it isn't queue 3's own, though it used it last */
    assert_ptr_not_equal(other, block);
    qn_pool_release(other);
    assert_int_equal(qn_pool_trim(&world.pool, 0), SIZE);
    world_run(queue(i), UINT64_MAX);
    world_check();
  }
  assert_ptr_equal(world_take(queue(1), SIZE), block);
  qn_pool_release(block);
  world_close();
}

static void test_P1_whoever_waits_for_the_readers_may_have_the_block(void **state) {
  (void)state;
  world_open(64 * MB, 4);
  qn_pool_block *block = world_take(queue(0), SIZE);
  world_write(queue(0), block);
  const qn_point one = world_read(queue(1), block), two = world_read(queue(2), block);
  qn_pool_release(block);
  world_submit(queue(3), &one, 1);
  qn_pool_block *other = world_take(queue(3), SIZE);
  assert_ptr_not_equal(other, block); /* one of two */
  world_submit(queue(3), &two, 1);
  assert_ptr_equal(world_take(queue(3), SIZE), block);
  assert_int_equal(world_statistics().from[QN_POOL_FROM_KNOWN], 1);
  qn_pool_release(block);
  qn_pool_release(other);
  world_close();
}

static void test_P1_forgetting_withholds_and_is_never_wrong(void **state) {
  (void)state;
  world_open(64 * MB, 2);
  qn_pool_block *block = world_take(queue(1), SIZE);
  const qn_point point = world_write(queue(1), block);
  world_submit(queue(0), &point, 1);
  qn_pool_release(block);
  world.known_limit = 0;
  qn_pool_block *other = world_take(queue(0), SIZE);
  assert_ptr_not_equal(other, block);
  world.known_limit = QN_POOL_KNOWN;
  assert_ptr_equal(world_take(queue(0), SIZE), block);
  qn_pool_release(block);
  qn_pool_release(other);
  world_close();
}

/* ---- P1 and P5: limit, pressure ------------------------------------------------------------------ */

static qn_pool_block *ballast;
static uint32_t answers;
static qn_status status_inside, configured_inside;

static uint32_t give_ballast(void *user, uint64_t wanted_bytes) {
  qn_pool_block *none = NULL;
  const qn_pool_options options = {.limit_bytes = QN_WHOLE};
  assert_ptr_equal(user, &ballast);
  assert_true(wanted_bytes >= SIZE);
  answers++;
  status_inside = world_try_take(queue(0), QN_MEMORY_DEVICE, SIZE, &none); /* does not ask again */
  configured_inside = qn_pool_configure(&world.pool, &options);
  if (!ballast) return 0;
  qn_pool_release(ballast);
  ballast = NULL;
  return 1;
}

static void test_P1_the_pressure_callback_is_asked_before_the_host_waits(void **state) {
  (void)state;
  world_open(64 * MB, 1);
  const qn_pool_options options = {
      .limit_bytes = SIZE, .keep_bytes = 8 * MB, .wait_timeout_ns = 1, .pressure = give_ballast, .user = &ballast};
  answers = 0;
  ballast = world_take(queue(0), SIZE);
  assert_int_equal(qn_pool_configure(&world.pool, &options), QN_OK);
  qn_pool_block *block = world_take(queue(0), SIZE);
  assert_int_equal(answers, 1);
  assert_int_equal(status_inside, QN_ERROR_OUT_OF_MEMORY);
  assert_int_equal(configured_inside, QN_ERROR_WOULD_BLOCK);
  assert_int_equal(world.waits, 0);
  qn_pool_block *none = NULL;
  assert_int_equal(world_try_take(queue(0), QN_MEMORY_DEVICE, SIZE, &none), QN_ERROR_OUT_OF_MEMORY);
  assert_int_equal(answers, 2);
  assert_int_equal(world_statistics().pressure_calls, 2);
  qn_pool_release(block);
  world_close();
}

static void test_P5_a_lower_limit_gives_back_what_is_free(void **state) {
  (void)state;
  world_open(64 * MB, 2);
  qn_pool_block *blocks[8], *host = NULL;
  for (int i = 0; i < 8; i++) blocks[i] = world_take(queue(0), SIZE);
  assert_int_equal(world_try_take(NULL, QN_MEMORY_HOST, 8 * SIZE, &host), QN_OK); /* not what the limit is for */
  for (int i = 2; i < 8; i++) qn_pool_release(blocks[i]);
  const qn_pool_options options = {.limit_bytes = 3 * SIZE, .keep_bytes = 8 * MB, .wait_timeout_ns = 1};
  assert_int_equal(qn_pool_configure(&world.pool, &options), QN_OK);
  qn_pool_statistics s = world_statistics();
  assert_int_equal(s.limited, 3 * SIZE);
  assert_int_equal(s.reserved, 11 * SIZE);
  assert_int_equal(s.peak, 16 * SIZE);
  for (int i = 0; i < 2; i++) qn_pool_release(blocks[i]);
  qn_pool_release(host);
  world_close();
}

static void test_P5_trimming_keeps_what_it_is_told_to(void **state) {
  (void)state;
  world_open(64 * MB, 1);
  qn_pool_block *blocks[10], *busy = world_take(queue(0), SIZE);
  for (int i = 0; i < 10; i++) blocks[i] = world_take(queue(0), SIZE);
  world_write(queue(0), busy);
  qn_pool_release(busy);
  for (int i = 0; i < 10; i++) qn_pool_release(blocks[i]);
  assert_int_equal(qn_pool_trim(&world.pool, 4 * SIZE), 7 * SIZE);
  qn_pool_statistics s = world_statistics();
  assert_int_equal(s.cached, 3 * SIZE);
  assert_int_equal(s.pending, SIZE);
  world.refuses = true;
  assert_int_equal(qn_pool_trim(&world.pool, 0), 3 * SIZE);
  assert_int_equal(world_refusals, 3);
  assert_int_equal(world_statistics().driver_refusals, 3);
  world.refuses = false;
  world_run(queue(0), 1);
  assert_int_equal(world_drain(), 0);
  assert_int_equal(world.taken, 0);
  world_close();
}

static void test_P5_what_nobody_needs_goes_back_after_a_second(void **state) {
  (void)state;
  enum { SECOND = 1000000000 };
  world_open(64 * MB, 1);
  const qn_pool_options options = {.limit_bytes = QN_WHOLE, .keep_bytes = 2 * SIZE, .wait_timeout_ns = 1};
  assert_int_equal(qn_pool_configure(&world.pool, &options), QN_OK);
  qn_pool_block *blocks[10];
  for (int i = 0; i < 10; i++) blocks[i] = world_take(queue(0), SIZE);
  for (int i = 0; i < 8; i++) qn_pool_release(blocks[i]);
  assert_true(qn_pool_wants_tidying(&world.pool));
  assert_true(qn_pool_tidy(&world.pool, 1));
  for (int i = 0; i < 3; i++) blocks[i] = world_take(queue(0), SIZE); /* five are free at the least */
  assert_true(qn_pool_tidy(&world.pool, SECOND / 2));
  for (int i = 0; i < 3; i++) qn_pool_release(blocks[i]);
  assert_int_equal(world.destructions, 0);
  assert_true(qn_pool_tidy(&world.pool, SECOND + 1));
  assert_int_equal(world.destructions, 3); /* five less the two that are kept */
  assert_true(qn_pool_tidy(&world.pool, 2 * (uint64_t)SECOND + 1));
  assert_int_equal(world_statistics().cached, 2 * SIZE);
  assert_false(qn_pool_tidy(&world.pool, 3 * (uint64_t)SECOND));
  for (int i = 8; i < 10; i++) qn_pool_release(blocks[i]);
  world_close();
}

static void test_P5_the_snapshot_lists_each_block(void **state) {
  (void)state;
  qn_bytes text = {0};
  world_open(64 * MB, 2);
  qn_pool_block *used = world_take(queue(0), SIZE), *busy = world_take(queue(1), 100 * KB), *host = NULL;
  assert_int_equal(world_try_take(NULL, QN_MEMORY_HOST, SIZE, &host), QN_OK);
  const qn_point point = world_write(queue(1), busy);
  qn_pool_release(busy);
  qn_pool_release(host);
  qn_pool_snapshot(&world.pool, &text);
  assert_false(text.failed);
  char wanted[300];
  snprintf(
      wanted, sizeof wanted,
      "{\"size\": 106496, \"kind\": \"device\", \"state\": \"pending\", \"queue\": %llu, \"point\": {\"queue\": %llu, "
      "\"value\": %llu}}",
      (unsigned long long)point.queue, (unsigned long long)point.queue, (unsigned long long)point.value);
  assert_non_null(strstr(text.data, wanted));
  assert_non_null(strstr(text.data, "\"kind\": \"host\", \"state\": \"cached\", \"queue\": 0, \"point\": null"));
  assert_non_null(strstr(text.data, "\"kind\": \"device\", \"state\": \"used\", \"queue\": 0, \"point\": null"));
  qn_bytes_free(&text);
  qn_pool_release(used);
  world_close();
}

/* ---- P2: the cost of a queue's own -------------------------------------------------------------- */

/* Looks and calls of the adapter for `rounds` of take, use and release, with so many blocks free. */
static void cost_with(int free_blocks, uint64_t *out_visits, uint64_t *out_calls) {
  enum { ROUNDS = 1000 };
  qn_pool_block **blocks = calloc((size_t)free_blocks, sizeof *blocks);
  world_open(UINT64_C(1) << 40, 3);
  for (int i = 0; i < free_blocks; i++) blocks[i] = world_take(queue(0), SIZE);
  for (int i = 0; i < free_blocks; i++) {
    if (i % 100 == 0) world_write(queue(i % 3), blocks[i]);
    qn_pool_release(blocks[i]);
  }
  qn_pool_query(&world.pool, &(qn_pool_statistics){0}); /* takes up what was released */
  qn_pool_release(world_take(queue(0), SIZE));
  qn_pool_statistics before = {0}, after = {0};
  qn_pool_query(&world.pool, &before);
  world.adapter_calls = world.progress_calls = 0;
  for (int i = 0; i < ROUNDS; i++) {
    qn_pool_block *block = world_take(queue(0), SIZE);
    if (i % 2) world_write(queue(0), block);
    qn_pool_release(block);
  }
  *out_calls = world.adapter_calls + world.progress_calls;
  qn_pool_query(&world.pool, &after);
  assert_int_equal(after.from_own_queue - before.from_own_queue, ROUNDS);
  *out_visits = after.visits - before.visits;
  world_close();
  free(blocks);
}

static void test_P2_a_queues_own_memory_costs_the_same_at_any_number_of_free_blocks(void **state) {
  (void)state;
  const int counts[] = {1, 1000, 100000};
  for (int i = 0; i < 3; i++) {
    uint64_t visits = 0, calls = 0;
    cost_with(counts[i], &visits, &calls);
    printf("measured: %d free blocks: 1000 rounds looked at %llu blocks and made %llu calls\n", counts[i],
           (unsigned long long)visits, (unsigned long long)calls);
    assert_int_equal(calls, 0);
    assert_true(visits <= 2 * 1000 + 20); /* one to put, one to take */
  }
}

static void test_P2_releases_in_any_order_are_never_searched(void **state) {
  (void)state;
  enum { BLOCKS = 2000 };
  static qn_pool_block *blocks[BLOCKS];
  world_open(UINT64_C(1) << 40, 2);
  for (int i = 0; i < BLOCKS; i++) blocks[i] = world_take(queue(0), SIZE);
  for (int i = 0; i < BLOCKS; i++) world_write(queue(0), blocks[i]);
  uint64_t before = world_statistics().visits;
  for (int i = 0; i < BLOCKS; i++) qn_pool_release(blocks[i * 1237 % BLOCKS]);
  for (int i = 0; i < BLOCKS; i++) blocks[i] = world_take(queue(0), SIZE);
  uint64_t visits = world_statistics().visits - before;
  printf("measured: %d blocks out of order: %llu looks\n", BLOCKS, (unsigned long long)visits);
  assert_true(visits < (uint64_t)BLOCKS * 2 * 11); /* n log n */
  for (int i = 0; i < BLOCKS; i++) qn_pool_release(blocks[i]);
  world_close();
}

/* ---- Blocks that another thread has in its hands ------------------------------------------------- */

static _Atomic uint32_t has_begun, may_go_on;
static bool was_done;

static void look_while_it_moves(void) {
  uint64_t left = 0;
  world.on_settle = NULL;
  was_done = qn_pool_drain(&world.pool, &left);
  assert_int_equal(left, 0);
}

static void test_P3_a_pool_is_not_drained_while_a_block_is_on_its_way(void **state) {
  (void)state;
  world_open(64 * MB, 1);
  qn_pool_block *block = world_take(queue(0), SIZE);
  block->needs_settling = true;
  world.on_settle = look_while_it_moves;
  was_done = true;
  qn_pool_release(block);
  assert_int_equal(qn_pool_trim(&world.pool, 0), SIZE);
  assert_null(world.on_settle); /* it was looked */
  assert_false(was_done);
  assert_int_equal(world_drain(), 0);
  assert_int_equal(world.taken, 0);
  world_close();
}

static void move_slowly(void) {
  atomic_store(&has_begun, 1);
  while (!atomic_load(&may_go_on)) qn_clock_sleep(10000);
  qn_clock_sleep(2000000);
}

static void *take_up_what_was_released(void *given) {
  (void)given;
  (void)!qn_pool_trim(&world.pool, QN_WHOLE);
  return NULL;
}

static void test_P1_memory_is_not_short_while_a_block_is_on_its_way(void **state) {
  (void)state;
  world_open(64 * MB, 1);
  qn_pool_options o = world.pool.options;
  o.limit_bytes = SIZE;
  o.wait_timeout_ns = 1;
  assert_int_equal(qn_pool_configure(&world.pool, &o), QN_OK);
  qn_pool_block *block = world_take(queue(0), SIZE), *again = NULL;
  block->needs_settling = true;
  world.on_settle = move_slowly;
  atomic_store(&has_begun, 0);
  atomic_store(&may_go_on, 0);
  qn_pool_release(block);
  pthread_t mover;
  assert_int_equal(pthread_create(&mover, NULL, take_up_what_was_released, NULL), 0);
  while (!atomic_load(&has_begun)) qn_clock_sleep(10000);
  atomic_store(&may_go_on, 1);
  qn_status status = world_try_take(queue(0), QN_MEMORY_DEVICE, SIZE, &again);
  pthread_join(mover, NULL);
  world.on_settle = NULL;
  assert_int_equal(status, QN_OK);
  qn_pool_release(again);
  world_close();
}

/* ---- P3: sums and quarantine --------------------------------------------------------------------- */

static void test_P3_a_block_whose_work_failed_is_never_used_again(void **state) {
  (void)state;
  world_open(64 * MB, 3);
  qn_pool_block *before = world_take(queue(0), SIZE), *failed = world_take(queue(0), SIZE),
                *late = world_take(queue(0), SIZE), *read = world_take(queue(1), SIZE);
  world_write(queue(0), before);
  world_run(queue(0), 1);
  world_write(queue(0), failed);
  world_write(queue(0), late);
  world_write(queue(1), read);
  world_run(queue(1), 1);
  world_read(queue(0), read);
  qn_pool_release(before);
  qn_pool_release(failed);
  qn_pool_release(read);
  queue(0)->failed_first = 2;
  world_run(queue(0), UINT64_MAX);
  qn_pool_release(late);
  qn_pool_block *got[4];
  for (int i = 0; i < 4; i++) got[i] = world_take(queue(i % 3), SIZE);
  for (int i = 0; i < 4; i++) {
    assert_ptr_not_equal(got[i], failed);
    assert_ptr_not_equal(got[i], late);
    assert_ptr_not_equal(got[i], read);
  }
  qn_pool_statistics s = world_statistics();
  assert_int_equal(s.quarantined, 3 * SIZE);
  world_check();
  for (int i = 0; i < 4; i++) qn_pool_release(got[i]);
  assert_int_equal(qn_pool_trim(&world.pool, 0), 4 * SIZE);
  assert_int_equal(world_drain(), 0);
  assert_int_equal(world_statistics().reserved, 3 * SIZE); /* the queue is there, and so may be its work */
  world_retire(0);
  assert_int_equal(world_statistics().quarantined, 3 * SIZE);
  world_submit(queue(2), NULL, 0); /* what it works on may be older than the failure */
  assert_int_equal(world_drain(), 0);
  assert_int_equal(world_statistics().reserved, 3 * SIZE);
  world_run(queue(2), 1);
  assert_int_equal(world_drain(), 0);
  assert_int_equal(world_statistics().reserved, 0);
  world_close();
}

static void test_P3_sums_hold_whatever_the_driver_does(void **state) {
  (void)state;
  world_open(64 * KB, 1);
  qn_pool_block *block = NULL, *second = NULL;
  assert_int_equal(world_try_take(queue(0), QN_MEMORY_DEVICE, 40 * KB, &block), QN_OK);
  assert_int_equal(block->class_, QN_POOL_CLASSES); /* more than a sixteenth: exact and not kept */
  const qn_pool_options options = {.limit_bytes = QN_WHOLE, .keep_bytes = 8 * MB, .wait_timeout_ns = 1};
  assert_int_equal(qn_pool_configure(&world.pool, &options), QN_OK);
  assert_int_equal(world_try_take(queue(0), QN_MEMORY_DEVICE, 40 * KB, &second), QN_ERROR_OUT_OF_MEMORY);
  assert_non_null(strstr(qn_error_text(), "the world's device is full"));
  world_check();
  world.refuses = true;
  qn_pool_destroy(&world.pool, block);
  world.refuses = false;
  world_check();
  assert_int_equal(world_statistics().reserved, 0);
  world_close();
}

static void test_P3_a_full_driver_gets_all_that_is_free(void **state) {
  (void)state;
  world_open(64 * KB, 1);
  const qn_pool_options options = {.limit_bytes = QN_WHOLE, .keep_bytes = 8 * MB, .wait_timeout_ns = 1};
  assert_int_equal(qn_pool_configure(&world.pool, &options), QN_OK);
  qn_pool_block *blocks[15];
  for (int i = 0; i < 15; i++) blocks[i] = world_take(queue(0), SIZE);
  for (int i = 0; i < 15; i++) qn_pool_release(blocks[i]);
  qn_pool_block *large = world_take(queue(0), 20 * KB);
  assert_int_equal(world.destructions, 15);
  qn_pool_destroy(&world.pool, large);
  world_close();
}

/* ---- P4: memory reaches everybody ---------------------------------------------------------------- */

static void test_P4_blocks_of_queues_that_are_gone_reach_everybody(void **state) {
  (void)state;
  enum { ROUNDS = 300 };
  world_open(64 * MB, 4);
  qn_pool_block *mine = world_take(queue(3), SIZE);
  for (int i = 0; i < ROUNDS; i++) {
    qn_pool_block *early = world_take(queue(0), SIZE), *late = world_take(queue(0), SIZE);
    world_write(queue(0), early);
    world_write(queue(0), late);
    qn_pool_release(early);
    world_run(queue(0), UINT64_MAX);
    world_retire(0);
    qn_pool_release(late); /* its home is the lane of a queue that is gone */
    world_open_queue(0);
    qn_pool_block *next = world_take(queue(1), SIZE), *more = world_take(queue(2), SIZE);
    assert_int_equal(next->uses.writer.value, 0);
    qn_pool_release(next);
    qn_pool_release(more);
    world_check();
  }
  assert_int_equal(world.creations, 3); /* it all went round */
  qn_pool_release(mine);
  world_close();
}

static void test_P4_idle_queues_blocks_reach_everybody(void **state) {
  (void)state;
  world_open(64 * MB, 3);
  qn_pool_block *blocks[50];
  for (int i = 0; i < 50; i++) blocks[i] = world_take(queue(0), SIZE);
  for (int i = 0; i < 50; i++) world_write(queue(0), blocks[i]);
  for (int i = 0; i < 50; i++) qn_pool_release(blocks[i]);
  world_run(queue(0), UINT64_MAX);
  for (int i = 0; i < 50; i++) blocks[i] = world_take(queue(1 + i % 2), SIZE);
  assert_int_equal(world.creations, 50);
  for (int i = 0; i < 50; i++) qn_pool_release(blocks[i]);
  world_close();
}

static void test_P4_a_hung_queue_holds_back_only_its_own(void **state) {
  (void)state;
  world_open(64 * MB, 3);
  qn_pool_block *hung = world_take(queue(0), SIZE), *well = world_take(queue(1), SIZE);
  world_write(queue(0), hung);
  world_write(queue(1), well);
  world_run(queue(1), 1);
  qn_pool_release(hung);
  qn_pool_release(well);
  assert_ptr_equal(world_take(queue(2), SIZE), well);
  qn_pool_release(well);
  assert_int_equal(qn_pool_trim(&world.pool, 0), SIZE);
  assert_int_equal(world_drain(), SIZE);
  world_close();
}

/* ---- Sizes, wraps, lack of memory ----------------------------------------------------------------- */

static void at_most_an_eighth_is_lost(void **state) {
  (void)state;
  uint32_t last_class = 0;
  for (uint64_t size = 1; size < UINT64_C(1) << 40; size += size / 7 + 1) {
    uint64_t whole = 0, again = 0;
    uint32_t class_ = qn_pool_class_of(size, &whole);
    assert_true(whole >= size && class_ < QN_POOL_CLASSES && class_ >= last_class);
    if (whole - size > 255 && whole - size > size / 8) fail_msg("%llu bytes lost", (unsigned long long)(whole - size));
    assert_int_equal(qn_pool_class_of(whole, &again), class_);
    assert_int_equal(again, whole);
    assert_int_not_equal(qn_pool_class_of(whole + 1, &again), class_);
    last_class = class_;
  }
  uint64_t whole = 0;
  assert_int_equal(qn_pool_class_of(UINT64_MAX, &whole), QN_POOL_CLASSES);
  assert_int_equal(qn_pool_class_of(UINT64_C(1) << 50, &whole), QN_POOL_CLASSES);
  assert_int_equal(whole, UINT64_C(1) << 50);
}

static void wrapped_memory_is_counted_apart(void **state) {
  (void)state;
  char bytes[64];
  world_open(64 * MB, 1);
  const qn_pool_request request = {.kind = QN_MEMORY_WRAP, .size_bytes = sizeof bytes, .host_pointer = bytes};
  qn_pool_block *block = NULL;
  assert_int_equal(qn_pool_take(&world.pool, &request, &block), QN_OK);
  qn_pool_statistics s = world_statistics();
  assert_int_equal(s.reserved, 0);
  assert_int_equal(s.wrapped, sizeof bytes);
  assert_int_equal(qn_pool_check(&world.pool), QN_OK);
  qn_pool_destroy(&world.pool, block);
  assert_int_equal(world_statistics().wrapped, 0);
  world_close();
}

static void each_allocation_may_fail(void **state) {
  (void)state;
  uint64_t failures = 0;
  FAILING_EACH(n) {
    const qn_adapter_device_info info = {.memory_bytes = MB, .allocation_alignment = 256};
    qn_bytes text = {0};
    failing_pause();
    world_open(MB, 1);
    failing_start(n, false);
    qn_pool_block *block = NULL;
    qn_status status = world_try_take(queue(0), QN_MEMORY_DEVICE, SIZE, &block);
    if (status == QN_OK) qn_pool_snapshot(&world.pool, &text);
    failing_pause();
    (void)info;
    failures += status != QN_OK || text.failed;
    assert_true(status == QN_OK || status == QN_ERROR_OUT_OF_HOST_MEMORY);
    if (block) qn_pool_release(block);
    qn_bytes_free(&text);
    world_close();
  }
  assert_true(failures >= 3);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_P1_a_queue_gets_its_own_memory_back_while_it_is_in_use),
      cmocka_unit_test(test_P1_own_comes_before_known_before_complete_before_new),
      cmocka_unit_test(test_P1_the_device_waits_only_when_the_limit_is_reached),
      cmocka_unit_test(test_P1_complete_blocks_of_other_sizes_make_room),
      cmocka_unit_test(test_P1_after_a_host_wait_the_pool_is_asked_again),
      cmocka_unit_test(test_P1_a_lack_of_memory_is_told_within_the_time_limit),
      cmocka_unit_test(test_P1_no_block_is_held_back_by_one_that_was_released_before_it),
      cmocka_unit_test(test_P1_a_block_that_several_queues_use_waits_for_all_of_them),
      cmocka_unit_test(test_P1_whoever_waits_for_the_readers_may_have_the_block),
      cmocka_unit_test(test_P1_forgetting_withholds_and_is_never_wrong),
      cmocka_unit_test(test_P1_the_pressure_callback_is_asked_before_the_host_waits),
      cmocka_unit_test(test_P5_a_lower_limit_gives_back_what_is_free),
      cmocka_unit_test(test_P5_trimming_keeps_what_it_is_told_to),
      cmocka_unit_test(test_P5_what_nobody_needs_goes_back_after_a_second),
      cmocka_unit_test(test_P5_the_snapshot_lists_each_block),
      cmocka_unit_test(test_P2_a_queues_own_memory_costs_the_same_at_any_number_of_free_blocks),
      cmocka_unit_test(test_P2_releases_in_any_order_are_never_searched),
      cmocka_unit_test(test_P3_a_pool_is_not_drained_while_a_block_is_on_its_way),
      cmocka_unit_test(test_P1_memory_is_not_short_while_a_block_is_on_its_way),
      cmocka_unit_test(test_P3_a_block_whose_work_failed_is_never_used_again),
      cmocka_unit_test(test_P3_sums_hold_whatever_the_driver_does),
      cmocka_unit_test(test_P3_a_full_driver_gets_all_that_is_free),
      cmocka_unit_test(test_P4_blocks_of_queues_that_are_gone_reach_everybody),
      cmocka_unit_test(test_P4_idle_queues_blocks_reach_everybody),
      cmocka_unit_test(test_P4_a_hung_queue_holds_back_only_its_own),
      cmocka_unit_test(at_most_an_eighth_is_lost),
      cmocka_unit_test(wrapped_memory_is_counted_apart),
      cmocka_unit_test(each_allocation_may_fail),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

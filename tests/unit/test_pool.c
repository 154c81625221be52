/* The pool of device memory, over an adapter that counts. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
/* cmocka asks for some of the above. */
#include <cmocka.h>
#include <stdbool.h>
#include <stdio.h>

#include "base/os/clock.h"
#include "base/status.h"
#include "pool/pool.h"

struct qn_adapter_memory {
  uint64_t size;
  uint32_t kind;
};

static uint64_t taken, limit, creations;
static bool refuses;

static qn_status memory_create(qn_adapter_device *device, const qn_adapter_memory_request *request,
                               qn_adapter_memory **out_memory, qn_adapter_memory_info *out_info) {
  (void)device;
  if (taken + request->size_bytes > limit) QN_FAIL(QN_ERROR_OUT_OF_MEMORY, "the device is full");
  *out_memory = malloc(sizeof **out_memory);
  **out_memory = (qn_adapter_memory){request->size_bytes, request->memory};
  out_info->size_bytes = request->size_bytes;
  taken += request->size_bytes;
  creations++;
  return QN_OK;
}

static qn_status memory_destroy(qn_adapter_device *device, qn_adapter_memory *memory) {
  (void)device;
  taken -= memory->size;
  free(memory);
  return refuses ? qn_error_set(QN_ERROR_DEVICE, "refused") : QN_OK;
}

static const qn_adapter_table table = {
    .struct_size = sizeof table, .memory_create = memory_create, .memory_destroy = memory_destroy};

static void open_pool(qn_pool *pool, uint64_t device_bytes) {
  const qn_adapter_device_info info = {.memory_bytes = device_bytes, .allocation_alignment = 256};
  limit = device_bytes;
  taken = creations = 0;
  refuses = false;
  qn_pool_init(pool, &table, NULL, &info);
}

static void assert_sums(qn_pool *pool) {
  qn_pool_statistics s;
  qn_pool_query(pool, &s);
  assert_int_equal(s.reserved, s.used + s.cached);
  assert_int_equal(s.reserved, taken);
}

static qn_pool_block *take(qn_pool *pool, uint32_t kind, uint64_t size) {
  qn_pool_block *block = NULL;
  if (qn_pool_take(pool, kind, size, NULL, &block) != QN_OK) fail_msg("%s", qn_error_text());
  assert_true(block->memory->size >= size);
  assert_int_equal(block->memory->kind, kind);
  return block;
}

static void test_P3_sums_hold_over_a_random_history(void **state) {
  (void)state;
  enum { MOST = 200, STEPS = 20000 };
  qn_pool pool;
  qn_pool_block *held[MOST];
  int count = 0;
  open_pool(&pool, UINT64_C(1) << 30);
  srand(2);
  for (int step = 0; step < STEPS; step++) {
    if (rand() % 2 && count < MOST) {
      uint64_t size = 1 + (uint64_t)rand() % (rand() % 2 ? 5000 : 3000000);
      held[count++] = take(&pool, (uint32_t)rand() % 3, size);
    } else if (count > 0) {
      int at = rand() % count;
      assert_int_equal(qn_pool_give(&pool, held[at]), QN_OK);
      held[at] = held[--count];
    }
    if (rand() % 1000 == 0) assert_int_equal(qn_pool_trim(&pool), QN_OK);
    assert_sums(&pool);
  }
  while (count > 0) assert_int_equal(qn_pool_give(&pool, held[--count]), QN_OK);
  assert_int_equal(qn_pool_trim(&pool), QN_OK);
  assert_int_equal(taken, 0);
}

static void a_block_given_back_serves_the_next_of_its_size(void **state) {
  (void)state;
  qn_pool pool;
  open_pool(&pool, UINT64_C(1) << 32);
  qn_pool_block *first = take(&pool, QN_MEMORY_DEVICE, 100000);
  qn_adapter_memory *memory = first->memory;
  assert_int_equal(qn_pool_give(&pool, first), QN_OK);
  qn_pool_block *host = take(&pool, QN_MEMORY_HOST, 100000);
  assert_ptr_not_equal(host->memory, memory); /* of another kind */
  qn_pool_block *second = take(&pool, QN_MEMORY_DEVICE, 99000);
  assert_ptr_equal(second->memory, memory);
  assert_int_equal(creations, 2);
  assert_int_equal(qn_pool_give(&pool, second), QN_OK);
  assert_int_equal(qn_pool_give(&pool, host), QN_OK);
  assert_int_equal(qn_pool_trim(&pool), QN_OK);
}

static void at_most_an_eighth_is_lost(void **state) {
  (void)state;
  qn_pool pool;
  open_pool(&pool, UINT64_C(1) << 40);
  for (uint64_t size = 1; size < UINT64_C(1) << 35; size += size / 7 + 1) {
    qn_pool_block *block = take(&pool, QN_MEMORY_DEVICE, size);
    uint64_t lost = block->memory->size - size;
    if (lost > 255 && lost > size / 8)
      fail_msg("%llu bytes lost of %llu", (unsigned long long)lost, (unsigned long long)size);
    assert_int_equal(qn_pool_give(&pool, block), QN_OK);
  }
  assert_int_equal(qn_pool_trim(&pool), QN_OK);
}

static void what_is_kept_is_bounded(void **state) {
  (void)state;
  qn_pool pool;
  qn_pool_block *blocks[64];
  open_pool(&pool, UINT64_C(1) << 30);
  for (int i = 0; i < 64; i++) blocks[i] = take(&pool, QN_MEMORY_DEVICE, 8 << 20);
  for (int i = 0; i < 64; i++) assert_int_equal(qn_pool_give(&pool, blocks[i]), QN_OK);
  qn_pool_statistics s;
  qn_pool_query(&pool, &s);
  assert_true(s.cached > 0 && s.cached <= (UINT64_C(1) << 30) / 8);
  qn_pool_block *large = take(&pool, QN_MEMORY_DEVICE, 100 << 20);
  assert_int_equal(large->memory->size, 100 << 20); /* exact: too large to be kept */
  assert_int_equal(qn_pool_give(&pool, large), QN_OK);
  assert_int_equal(qn_pool_trim(&pool), QN_OK);
  assert_int_equal(taken, 0);
}

static void a_full_device_takes_back_what_is_kept(void **state) {
  (void)state;
  qn_pool pool;
  qn_pool_block *block = NULL;
  open_pool(&pool, 64 << 20);
  assert_int_equal(qn_pool_give(&pool, take(&pool, QN_MEMORY_DEVICE, 3 << 20)), QN_OK);
  block = take(&pool, QN_MEMORY_DEVICE, 63 << 20); /* does not fit beside it */
  qn_pool_block *none = NULL;
  assert_int_equal(qn_pool_take(&pool, QN_MEMORY_DEVICE, 2 << 20, NULL, &none), QN_ERROR_OUT_OF_MEMORY);
  assert_null(none);
  assert_int_equal(qn_pool_give(&pool, block), QN_OK);
  assert_int_equal(qn_pool_give(&pool, take(&pool, QN_MEMORY_DEVICE, 1 << 20)), QN_OK);
  refuses = true;
  assert_int_equal(qn_pool_trim(&pool), QN_ERROR_DEVICE);
  assert_int_equal(taken, 0);
}

static void test_P2_taking_and_giving_costs_the_same_at_any_number_of_blocks(void **state) {
  (void)state;
  enum { MOST = 100000, ROUNDS = 20000 };
  static qn_pool_block *blocks[MOST];
  uint64_t costs[2] = {UINT64_MAX, UINT64_MAX};
  const int counts[2] = {1, MOST};
  qn_pool pool;
  open_pool(&pool, UINT64_C(1) << 40);
  for (int which = 0; which < 2; which++) {
    for (int i = 0; i < counts[which]; i++) blocks[i] = take(&pool, QN_MEMORY_DEVICE, 4096);
    for (int i = 0; i < counts[which]; i++) assert_int_equal(qn_pool_give(&pool, blocks[i]), QN_OK);
    for (int best = 0; best < 5; best++) {
      uint64_t start = qn_clock_ns();
      for (int i = 0; i < ROUNDS; i++) {
        qn_pool_block *block = NULL;
        if (qn_pool_take(&pool, QN_MEMORY_DEVICE, 4096, NULL, &block) != QN_OK) fail();
        if (qn_pool_give(&pool, block) != QN_OK) fail();
      }
      uint64_t ns = (qn_clock_ns() - start) / ROUNDS;
      if (ns < costs[which]) costs[which] = ns;
    }
  }
  printf("take + give: %llu ns with 1 free block, %llu ns with %d\n", (unsigned long long)costs[0],
         (unsigned long long)costs[1], MOST);
  assert_true(costs[1] < 10 * (costs[0] + 20));
  assert_int_equal(qn_pool_trim(&pool), QN_OK);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_P3_sums_hold_over_a_random_history),
      cmocka_unit_test(a_block_given_back_serves_the_next_of_its_size),
      cmocka_unit_test(at_most_an_eighth_is_lost),
      cmocka_unit_test(what_is_kept_is_bounded),
      cmocka_unit_test(a_full_device_takes_back_what_is_kept),
      cmocka_unit_test(test_P2_taking_and_giving_costs_the_same_at_any_number_of_blocks),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

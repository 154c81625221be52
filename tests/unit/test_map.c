/* test_map.c - the hash map, against a plain list (C2). */
#include "base/map.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "support/failing.h"

/* ---- The model: a list of pairs in no order ---- */

enum { KEYS = 400 };
typedef struct model {
  void *values[KEYS]; /* NULL: absent */
  size_t count;
} model;

static char key_texts[KEYS][16];
static int values[KEYS * 3]; /* each address is a value */

static qn_sv key(size_t i) { return qn_sv_from(key_texts[i]); }

/* Half of the keys are chosen so that they collide in small tables, at the table's end too. */
static void make_keys(void) {
  size_t made = 0;
  for (unsigned n = 0; made < KEYS; n++) {
    char text[16];
    snprintf(text, sizeof text, "key%u", n);
    unsigned home = (unsigned)qn_sv_hash(qn_sv_from(text)) & 31u;
    if (made < KEYS / 2 && home < 30) continue;
    memcpy(key_texts[made++], text, sizeof text);
  }
}

static uint64_t random_next(uint64_t *state) {
  *state ^= *state << 13;
  *state ^= *state >> 7;
  *state ^= *state << 17;
  return *state;
}

static size_t walk_count(const qn_map *map) {
  size_t count = 0;
  for (size_t i = 0; i < map->capacity; i++) count += map->entries[i].value != NULL;
  return count;
}

static void compare(const qn_map *map, const model *m) {
  assert_int_equal(map->count, m->count);
  assert_int_equal(walk_count(map), m->count);
  for (size_t i = 0; i < KEYS; i++) assert_ptr_equal(qn_map_get(map, key(i)), m->values[i]);
}

static void step(qn_map *map, model *m, uint64_t random, size_t key_count) {
  size_t k = (random >> 8) % key_count;
  void *value = &values[(random >> 32) % (sizeof values / sizeof *values)];
  switch (random % 8) {
    case 0:
    case 1:
    case 2:
      assert_true(qn_map_set(map, key(k), value));
      m->count += m->values[k] == NULL;
      m->values[k] = value;
      break;
    case 3:
    case 4:
    case 5:
      assert_ptr_equal(qn_map_remove(map, key(k)), m->values[k]);
      m->count -= m->values[k] != NULL;
      m->values[k] = NULL;
      break;
    default:
      assert_ptr_equal(qn_map_get(map, key(k)), m->values[k]);
  }
}

static void test_C2_random_orders_agree_with_a_plain_list(void **state) {
  (void)state;
  static const size_t key_counts[] = {3, 20, 40, 200, KEYS};
  for (uint64_t seed = 1; seed <= 100; seed++) {
    qn_map map = {0};
    model m = {0};
    uint64_t random = seed * UINT64_C(0x9e3779b97f4a7c15);
    for (int i = 0; i < 2000; i++) {
      step(&map, &m, random_next(&random), key_counts[seed % 5]);
      if (i % 100 == 0) compare(&map, &m);
    }
    compare(&map, &m);
    /* Closing: every entry is met once. */
    for (size_t i = 0; i < KEYS; i++) {
      assert_ptr_equal(qn_map_remove(&map, key(i)), m.values[i]);
      assert_null(qn_map_remove(&map, key(i)));
    }
    assert_int_equal(map.count, 0);
    assert_int_equal(walk_count(&map), 0);
    qn_map_free(&map);
  }
}

static void test_C2_the_count_does_not_drift_over_rehashes(void **state) {
  (void)state;
  static char texts[20000][8];
  qn_map map = {0};
  for (size_t i = 0; i < 20000; i++) {
    snprintf(texts[i], sizeof texts[i], "%zu", i);
    assert_true(qn_map_set(&map, qn_sv_from(texts[i]), &texts[i]));
    assert_int_equal(map.count, i + 1);
  }
  assert_int_equal(walk_count(&map), 20000);
  assert_true(map.count <= map.capacity / 4 * 3);
  for (size_t i = 0; i < 20000; i++) assert_ptr_equal(qn_map_get(&map, qn_sv_from(texts[i])), &texts[i]);
  qn_map_free(&map);
}

static void test_C2_removal_leaves_no_marks_that_fill_the_table(void **state) {
  (void)state;
  qn_map map = {0};
  for (int i = 0; i < 100000; i++) {
    char text[16];
    snprintf(text, sizeof text, "%d", i);
    assert_true(qn_map_set(&map, qn_sv_from(text), &values[0]));
    assert_ptr_equal(qn_map_remove(&map, qn_sv_from(text)), &values[0]);
  }
  assert_int_equal(map.capacity, 16);
  qn_map_free(&map);
}

static void test_replacing_takes_the_new_keys_bytes(void **state) {
  (void)state;
  qn_map map = {0};
  char *first = strdup("name"), *second = strdup("name");
  assert_true(qn_map_set(&map, qn_sv_from(first), &values[0]));
  assert_true(qn_map_set(&map, qn_sv_from(second), &values[1]));
  free(first);
  assert_ptr_equal(qn_map_get(&map, QN_SV("name")), &values[1]);
  assert_int_equal(map.count, 1);
  qn_map_free(&map);
  free(second);
}

static void test_keys_may_be_empty_or_hold_any_byte(void **state) {
  (void)state;
  qn_map map = {0};
  assert_null(qn_map_get(&map, QN_SV("")));
  assert_null(qn_map_remove(&map, QN_SV("")));
  assert_true(qn_map_set(&map, qn_sv_make(NULL, 0), &values[0]));
  assert_true(qn_map_set(&map, qn_sv_make("\0", 1), &values[1]));
  assert_true(qn_map_set(&map, qn_sv_make("\0\0", 2), &values[2]));
  assert_ptr_equal(qn_map_get(&map, QN_SV("")), &values[0]);
  assert_ptr_equal(qn_map_get(&map, qn_sv_make("\0", 1)), &values[1]);
  assert_ptr_equal(qn_map_get(&map, qn_sv_make("\0\0", 2)), &values[2]);
  qn_map_free(&map);
}

static void test_without_memory_nothing_changes(void **state) {
  (void)state;
  qn_map map = {0};
  failing_start(0, true);
  bool set = qn_map_set(&map, key(0), &values[0]);
  failing_stop();
  assert_false(set);
  assert_int_equal(map.count, 0);
  size_t held = 0;
  for (; held < 12; held++) assert_true(qn_map_set(&map, key(held), &values[held]));
  failing_start(0, true);
  set = qn_map_set(&map, key(held), &values[held]); /* has to grow */
  bool replaced = qn_map_set(&map, key(3), &values[100]);
  uint64_t failed = failing_stop();
  assert_false(set);
  assert_true(replaced); /* needs no memory */
  assert_int_equal(failed, 1);
  assert_int_equal(map.count, held);
  for (size_t i = 0; i < held; i++) assert_ptr_equal(qn_map_get(&map, key(i)), &values[i == 3 ? 100 : i]);
  assert_true(qn_map_set(&map, key(held), &values[held]));
  qn_map_free(&map);
}

int main(void) {
  make_keys();
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_C2_random_orders_agree_with_a_plain_list),
      cmocka_unit_test(test_C2_the_count_does_not_drift_over_rehashes),
      cmocka_unit_test(test_C2_removal_leaves_no_marks_that_fill_the_table),
      cmocka_unit_test(test_replacing_takes_the_new_keys_bytes),
      cmocka_unit_test(test_keys_may_be_empty_or_hold_any_byte),
      cmocka_unit_test(test_without_memory_nothing_changes),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

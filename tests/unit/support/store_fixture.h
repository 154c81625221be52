/* store_fixture.h - a store in the test program's directory, and keys that are made of numbers. Include cmocka's headers first. */
#ifndef QUERN_TEST_STORE_FIXTURE_H
#define QUERN_TEST_STORE_FIXTURE_H

#include <stdio.h>
#include <stdlib.h>

#include "directory.h"
#include "store/keep.h"

static qn_store store;

static inline void open_store(qn_store_mode mode, uint64_t max_bytes) {
  const qn_store_settings settings = {.directory = directory, .max_bytes = max_bytes, .mode = mode};
  assert_int_equal(qn_store_init(&store, &settings), QN_OK);
}

static inline qn_key key_of(uint64_t number) {
  qn_key_maker maker;
  qn_key key;
  qn_key_start(&maker);
  qn_key_add_u64(&maker, number);
  qn_key_end(&maker, &key);
  return key;
}

/* What the counters' file says. */
static inline int64_t counted(qn_counter counter) {
  char path[512];
  qn_counters counters;
  snprintf(path, sizeof path, "%s/v1/counters", directory);
  assert_int_equal(qn_counters_read(path, &counters), QN_OK);
  return counters.values[counter];
}

/* Stores bytes that don't pack, the same for a number each time. May be called by any thread. */
static inline bool store_random(uint64_t number, qn_entry_kind kind, size_t size) {
  char *bytes = malloc(size);
  const qn_key key = key_of(number);
  for (uint64_t i = 0, x = number * 2654435761u + 1; bytes && i < size; i++) {
    x = x * 6364136223846793005u + 1442695040888963407u;
    bytes[i] = (char)(x >> 56);
  }
  bool is_stored = bytes && qn_store_put(&store, &key, kind, "random", qn_sv_make(bytes, size));
  free(bytes);
  return is_stored;
}

#endif

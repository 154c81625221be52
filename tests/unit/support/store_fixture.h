/* store_fixture.h - a store in the test program's directory, and keys that are made of numbers. Include cmocka's headers first. */
#ifndef QUERN_TEST_STORE_FIXTURE_H
#define QUERN_TEST_STORE_FIXTURE_H

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

#endif

#include "store/key.h"

#include <string.h>

/* The hash library's functions fail only for a length of 0 or past 64, which QN_KEY_BYTES isn't. */

void qn_key_start(qn_key_maker *maker) { blake2b_init(&maker->state, QN_KEY_BYTES); }

void qn_key_add(qn_key_maker *maker, const void *data, size_t size) {
  unsigned char length[8]; /* little end first on every machine: keys are compared across them */
  for (unsigned i = 0; i < 8; i++) length[i] = (unsigned char)((uint64_t)size >> (8 * i));
  blake2b_update(&maker->state, length, sizeof length);
  if (size > 0) blake2b_update(&maker->state, data, size);
}

void qn_key_end(qn_key_maker *maker, qn_key *out_key) { blake2b_final(&maker->state, out_key->bytes, QN_KEY_BYTES); }

void qn_key_print(const qn_key *key, char *out, size_t capacity) {
  static const char digits[] = "0123456789abcdef";
  size_t at = 0;
  for (size_t i = 0; i < QN_KEY_BYTES && at + 2 < capacity; i++) {
    out[at++] = digits[key->bytes[i] >> 4];
    out[at++] = digits[key->bytes[i] & 15];
  }
  if (capacity > 0) out[at] = '\0';
}

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

static int digit_of(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

bool qn_key_read(const char *text, qn_key *out) {
  for (size_t i = 0; i < QN_KEY_BYTES; i++) {
    int high = digit_of(text[2 * i]), low = high < 0 ? -1 : digit_of(text[2 * i + 1]);
    if (low < 0) return false;
    out->bytes[i] = (unsigned char)(high << 4 | low);
  }
  return text[(size_t)QN_KEY_BYTES * 2] == '\0';
}

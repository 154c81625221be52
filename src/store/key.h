/* key.h - names for what is cached: a BLAKE2b hash of everything that shapes it (C1). */
#ifndef QUERN_STORE_KEY_H
#define QUERN_STORE_KEY_H

#include <blake2.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/string_view.h"

enum { QN_KEY_BYTES = 32 };
typedef struct qn_key {
  unsigned char bytes[QN_KEY_BYTES];
} qn_key;

/* Makes a key part by part. Each part is hashed with its length before it, so that no two lists of parts are one. */
typedef struct qn_key_maker {
  blake2b_state state;
} qn_key_maker;
void qn_key_start(qn_key_maker *maker);
void qn_key_add(qn_key_maker *maker, const void *data, size_t size);
static inline void qn_key_add_sv(qn_key_maker *maker, qn_sv text) { qn_key_add(maker, text.data, text.size); }
static inline void qn_key_add_str(qn_key_maker *maker, const char *text) { qn_key_add_sv(maker, qn_sv_from(text)); }
static inline void qn_key_add_u64(qn_key_maker *maker, uint64_t value) { qn_key_add(maker, &value, sizeof value); }
void qn_key_end(qn_key_maker *maker, qn_key *out_key);

static inline qn_sv qn_key_view(const qn_key *key) { return qn_sv_make((const char *)key->bytes, QN_KEY_BYTES); }
/* Two hexadecimal digits a byte and a NUL, as far as `capacity` goes. */
void qn_key_print(const qn_key *key, char *out, size_t capacity);
/* Reads a whole key's hexadecimal digits. False: it is none. */
bool qn_key_read(const char *text, qn_key *out);

#endif

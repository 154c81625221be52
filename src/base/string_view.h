/* string_view.h - a pointer and a length; owns nothing. */
#ifndef QUERN_BASE_STRING_VIEW_H
#define QUERN_BASE_STRING_VIEW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

typedef struct qn_sv {
  const char *data;
  size_t size;
} qn_sv;

#define QN_SV(literal) ((qn_sv){(literal), sizeof(literal) - 1})
#define QN_SV_ARG(sv) (int)(sv).size, (sv).data /* for "%.*s" */

static inline qn_sv qn_sv_from(const char *text) { return (qn_sv){text, text ? strlen(text) : 0}; }
static inline qn_sv qn_sv_make(const char *data, size_t size) { return (qn_sv){data, size}; }
static inline bool qn_sv_equal(qn_sv a, qn_sv b) {
  return a.size == b.size && (a.size == 0 || memcmp(a.data, b.data, a.size) == 0);
}
static inline bool qn_sv_is(qn_sv a, const char *text) { return qn_sv_equal(a, qn_sv_from(text)); }
static inline bool qn_sv_starts_with(qn_sv a, qn_sv prefix) {
  return a.size >= prefix.size && (prefix.size == 0 || memcmp(a.data, prefix.data, prefix.size) == 0);
}
static inline bool qn_sv_ends_with(qn_sv a, qn_sv suffix) {
  return a.size >= suffix.size &&
         (suffix.size == 0 || memcmp(a.data + a.size - suffix.size, suffix.data, suffix.size) == 0);
}
/* Numbers, whole input or false: decimal, 0x, sign. Out of range is false. */
bool qn_sv_to_i64(qn_sv text, int64_t *out);
bool qn_sv_to_u64(qn_sv text, uint64_t *out);
bool qn_sv_to_f64(qn_sv text, double *out); /* also hexadecimal, inf, nan; too large: inf. Any locale. */
/* Edit distance, for "did you mean". */
size_t qn_sv_distance(qn_sv a, qn_sv b);
/* 64-bit hash, not for keys that leave the process. */
uint64_t qn_sv_hash(qn_sv text);

#endif

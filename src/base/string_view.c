#include "base/string_view.h"

#include <stdlib.h>

#include "base/os/text.h"

/* ---- Numbers ---- */

static int digit_value(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return 16;
}

static bool parse_magnitude(qn_sv text, uint64_t *out) {
  unsigned base = 10;
  if (text.size > 2 && text.data[0] == '0' && (text.data[1] == 'x' || text.data[1] == 'X')) {
    base = 16;
    text = qn_sv_make(text.data + 2, text.size - 2);
  }
  if (text.size == 0) return false;
  uint64_t value = 0;
  for (size_t i = 0; i < text.size; i++) {
    unsigned digit = (unsigned)digit_value(text.data[i]);
    if (digit >= base || __builtin_mul_overflow(value, base, &value) || __builtin_add_overflow(value, digit, &value))
      return false;
  }
  *out = value;
  return true;
}

static bool take_sign(qn_sv *text) {
  bool minus = text->size > 0 && text->data[0] == '-';
  if (minus || (text->size > 0 && text->data[0] == '+')) *text = qn_sv_make(text->data + 1, text->size - 1);
  return minus;
}

bool qn_sv_to_u64(qn_sv text, uint64_t *out) { return !take_sign(&text) && parse_magnitude(text, out); }

bool qn_sv_to_i64(qn_sv text, int64_t *out) {
  uint64_t magnitude;
  bool minus = take_sign(&text);
  if (!parse_magnitude(text, &magnitude) || magnitude > (uint64_t)INT64_MAX + minus) return false;
  *out = minus ? (int64_t)(0 - magnitude) : (int64_t)magnitude;
  return true;
}

bool qn_sv_to_f64(qn_sv text, double *out) {
  char small[128], *end;
  if (text.size == 0 || text.size == SIZE_MAX) return false;
  /* strtod skips white space in front, which is no part of a number here. */
  if (text.data[0] == ' ' || (text.data[0] >= '\t' && text.data[0] <= '\r')) return false;
  char *copy = text.size < sizeof small ? small : malloc(text.size + 1);
  if (!copy) return false;
  memcpy(copy, text.data, text.size);
  copy[text.size] = 0;
  double value = qn_text_to_double(copy, &end);
  bool whole = end == copy + text.size;
  if (whole) *out = value;
  if (copy != small) free(copy);
  return whole;
}

/* ---- Edit distance ---- */

enum { LONGEST_COMPARED = 64 };

static size_t least(size_t a, size_t b) { return a < b ? a : b; }

/* Insert, delete, change, and swap two neighbours, each counted once (optimal string alignment). Names longer than the
 * limit are as far apart as can be: they are no typing mistakes, and the cost stays bounded. */
size_t qn_sv_distance(qn_sv a, qn_sv b) {
  if (a.size > LONGEST_COMPARED || b.size > LONGEST_COMPARED)
    return qn_sv_equal(a, b) ? 0 : (a.size > b.size ? a.size : b.size);
  size_t rows[3][LONGEST_COMPARED + 1];
  size_t *before = rows[0], *last = rows[1], *row = rows[2];
  for (size_t j = 0; j <= b.size; j++) last[j] = j;
  for (size_t i = 1; i <= a.size; i++) {
    row[0] = i;
    for (size_t j = 1; j <= b.size; j++) {
      bool same = a.data[i - 1] == b.data[j - 1];
      row[j] = least(least(last[j] + 1, row[j - 1] + 1), last[j - 1] + !same);
      if (i > 1 && j > 1 && a.data[i - 1] == b.data[j - 2] && a.data[i - 2] == b.data[j - 1])
        row[j] = least(row[j], before[j - 2] + 1);
    }
    size_t *spare = before;
    before = last;
    last = row;
    row = spare;
  }
  return last[b.size];
}

/* ---- Hash ---- */

static uint64_t mix(uint64_t h) {
  h ^= h >> 32;
  h *= UINT64_C(0xd6e8feb86659fd93);
  h ^= h >> 29;
  return h;
}

/* Eight bytes a step, then a strong last mix, so that the low bits (a table's index) depend on every byte. */
uint64_t qn_sv_hash(qn_sv text) {
  uint64_t h = UINT64_C(0x9e3779b97f4a7c15) ^ text.size;
  const char *at = text.data;
  size_t left = text.size;
  for (; left >= 8; at += 8, left -= 8) {
    uint64_t word;
    memcpy(&word, at, 8);
    h = mix(h ^ word) * UINT64_C(0xff51afd7ed558ccd);
  }
  if (left > 0) {
    uint64_t word = 0;
    memcpy(&word, at, left);
    h = mix(h ^ word) * UINT64_C(0xff51afd7ed558ccd);
  }
  h = mix(h);
  return h ^ (h >> 32);
}

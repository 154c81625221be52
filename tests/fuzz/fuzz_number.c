/* fuzz_number.c - numbers in text: what is taken must mean what C says. */
#include <errno.h>
#include <string.h>

#include "base/string_view.h"
#include "harness.h"

void fuzz_one(const char *text, size_t size) {
  qn_sv view = qn_sv_make(text, size);
  int64_t i;
  uint64_t u;
  double d;
  if (qn_sv_to_i64(view, &i)) {
    char *end;
    errno = 0;
    /* Base 10 unless 0x: C's base 0 would read 010 as 8. */
    const char *digits = text + (*text == '-' || *text == '+');
    int base = digits[0] == '0' && (digits[1] == 'x' || digits[1] == 'X') ? 16 : 10;
    FUZZ_CHECK(strtoll(text, &end, base) == i && errno == 0 && end == text + size);
  }
  if (qn_sv_to_u64(view, &u)) FUZZ_CHECK(!memchr(text, '-', size) && (u > INT64_MAX || qn_sv_to_i64(view, &i)));
  if (qn_sv_to_f64(view, &d)) FUZZ_CHECK(strlen(text) == size && size > 0);
  FUZZ_CHECK(qn_sv_distance(view, view) == 0);
}

#include "compiler/target/text/writer.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

bool text_wants_brackets(text_level inner, text_level outer, bool is_right) {
  if (outer == TEXT_ANY) return false;
  if (inner >= TEXT_UNARY) return inner < outer;
  if (inner == outer) return is_right || outer == TEXT_CHOICE || outer == TEXT_COMPARE || outer == TEXT_SHIFT;
  if (outer == TEXT_ADD) return inner != TEXT_MUL;
  if (outer == TEXT_COMPARE) return inner != TEXT_ADD && inner != TEXT_MUL;
  return outer != TEXT_CHOICE || inner < TEXT_COMPARE;
}

static void reverse(char *from, char *end) {
  for (; from + 1 < end; from++) {
    char c = *from;
    *from = *--end;
    *end = c;
  }
}

void text_move(qn_bytes *out, size_t from, size_t to) {
  if (out->failed) return;
  reverse(out->data + to, out->data + from);
  reverse(out->data + from, out->data + out->size);
  reverse(out->data + to, out->data + out->size);
}

void text_wrap(qn_bytes *out, size_t start, const char *before, const char *after) {
  size_t end = out->size;
  qn_bytes_append_str(out, before);
  text_move(out, end, start);
  qn_bytes_append_str(out, after);
}

void text_indent(qn_bytes *out, uint32_t depth) {
  static const char blanks[] = "                                                                ";
  size_t size = 2 * (size_t)depth;
  for (; size > sizeof blanks - 1; size -= sizeof blanks - 1) qn_bytes_append(out, blanks, sizeof blanks - 1);
  qn_bytes_append(out, blanks, size);
}

void text_put_part(qn_bytes *out, const qn_bytes *part) {
  if (!part->size) return;
  qn_bytes_append_char(out, '\n');
  qn_bytes_append_sv(out, qn_bytes_view(part));
}

/* Digits of a number that has few: 0 when it has more than 9 or a large exponent. A float or double with that few decimal
 * digits is exactly what they say. */
static size_t short_form(double value, qn_bytes *out) {
  size_t start = out->size;
  double size = fabs(value);
  if (size != 0 && (size < 1e-4 || size >= 1e9)) return 0;
  qn_bytes_printf(out, "%.25g", value);
  size_t digits = 0, length = out->size - start;
  for (size_t i = start; i < out->size; i++) digits += out->data[i] >= '0' && out->data[i] <= '9';
  if (digits <= 10 && !out->failed) return length;
  out->size = start;
  return 0;
}

void text_number(qn_bytes *out, double value) {
  size_t start = out->size, length = short_form(value, out);
  if (!length) {
    qn_bytes_printf(out, "%a", value);
    return;
  }
  if (!memchr(out->data + start, '.', length)) qn_bytes_append_str(out, ".0");
}

#include "base/os/text.h"

#include <locale.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/os/thread.h"

static qn_once once;
static locale_t c_locale;

/* The C library keeps this one statically: nothing to free. */
static void make_locale(void) { c_locale = newlocale(LC_ALL_MASK, "C", (locale_t)0); }

int qn_text_format(char *buffer, size_t capacity, const char *format, va_list args) {
  qn_once_run(&once, make_locale);
  locale_t before = c_locale ? uselocale(c_locale) : (locale_t)0;
  int length = vsnprintf(buffer, capacity, format, args);
  if (before) uselocale(before);
  return length;
}

float qn_text_to_float(const char *text, char **end) {
  qn_once_run(&once, make_locale);
  return c_locale ? strtof_l(text, end, c_locale) : strtof(text, end);
}

double qn_text_to_double(const char *text, char **end) {
  qn_once_run(&once, make_locale);
  return c_locale ? strtod_l(text, end, c_locale) : strtod(text, end);
}

/* text.h - numbers as text in the C locale, whatever the program has set: text that a machine reads again (IR, JSON,
 * keys) must not get a decimal comma. */
#ifndef QUERN_BASE_OS_TEXT_H
#define QUERN_BASE_OS_TEXT_H

#include <stdarg.h>
#include <stddef.h>

/* As vsnprintf. */
int qn_text_format(char *buffer, size_t capacity, const char *format, va_list args);
/* As strtof and strtod. */
float qn_text_to_float(const char *text, char **end);
double qn_text_to_double(const char *text, char **end);

#endif

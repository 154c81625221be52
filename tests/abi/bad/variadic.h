/* expect: A1: f: is variadic */
#include <stdint.h>

int32_t f(const char *format, ...);

/* expect: A1: f: parameter 1 'int' */
#include <stdint.h>

int32_t f(int a);

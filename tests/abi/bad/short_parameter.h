/* expect: A1: f: parameter 1 'uint16_t' */
/* expect: A3: f: lowers differently */
#include <stdint.h>

int32_t f(uint16_t a);

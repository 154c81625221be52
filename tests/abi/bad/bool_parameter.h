/* expect: A3: f: lowers differently */
/* expect: A1: f: parameter 1 '_Bool' */
#include <stdint.h>

#include <stdbool.h>
int32_t f(bool a);

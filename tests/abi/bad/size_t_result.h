/* expect: A1: f: result 'size_t' */
/* expect: A3: f: lowers differently */
#include <stdint.h>

#include <stddef.h>
size_t f(void *a);

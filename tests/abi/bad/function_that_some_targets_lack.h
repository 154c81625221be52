/* expect: A3: f: lowers differently */
#include <stdint.h>

#ifndef _WIN32
int32_t f(void *a);
#endif

/* expect: A1: cb: parameter 1 'unsigned long' */
/* expect: A3: cb: lowers differently */
#include <stdint.h>

typedef void (*cb)(unsigned long a);

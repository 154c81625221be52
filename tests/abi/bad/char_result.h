/* expect: A3: f: lowers differently */
/* expect: A1: f: result 'char' */
#include <stdint.h>

char f(void);

/* expect: A1: f: parameter 1 'float' */
#include <stdint.h>

void f(float a);

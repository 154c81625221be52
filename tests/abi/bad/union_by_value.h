/* expect: A1: f: parameter 1 'u' */
/* expect: A3: f: lowers differently */
/* expect: A2: u: a union outside a struct */
#include <stdint.h>

typedef union u {
  uint64_t a;
  double b;
} u;
void f(u a);

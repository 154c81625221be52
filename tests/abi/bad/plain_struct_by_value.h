/* expect: A1: f: parameter 1 'qn_point' */
/* expect: A3: f: lowers differently */
#include <stdint.h>

typedef struct qn_point {
  uint64_t queue, value;
} qn_point;
void f(qn_point a);

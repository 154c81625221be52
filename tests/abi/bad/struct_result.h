/* expect: A1: f: result 'qn_point' */
/* expect: A3: f: lowers differently */
#include <stdint.h>

typedef struct qn_point {
  uint64_t queue, value;
} qn_point;
qn_point f(void);

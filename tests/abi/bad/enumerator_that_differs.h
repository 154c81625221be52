/* expect: A3: EXTRA: 1 on x86_64-linux-gnu, None here */
/* expect: A3: B: 2 on x86_64-linux-gnu, 1 here */
#include <stdint.h>

enum {
  A,
#ifdef __linux__
  EXTRA,
#endif
  B
};

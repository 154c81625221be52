/* suites.c - the suites, in the order in which they run: what the later ones build on comes first. */
#include "cts.h"

#define CTS_SUITES(X) \
  X(discovery)        \
  X(memory)           \
  X(copies)           \
  X(launches)         \
  X(arguments)        \
  X(order)            \
  X(cross_queue)      \
  X(points)           \
  X(time_limits)      \
  X(lifetime)         \
  X(pool) X(threads) X(programs) X(program_cache) X(reflection) X(math) X(failure) X(loss) X(callbacks) X(timed)

#define CTS_X(name) extern const cts_suite cts_suite_##name;
CTS_SUITES(CTS_X)
#undef CTS_X

#define CTS_X(name) &cts_suite_##name,
const cts_suite *const cts_suites[] = {CTS_SUITES(CTS_X) NULL};
#undef CTS_X

/* support.h - what property tests share: seeds, and the simulated device with its control. */
#ifndef QUERN_TEST_PROPERTY_SUPPORT_H
#define QUERN_TEST_PROPERTY_SUPPORT_H

#include <stdbool.h>

#include "adapters/null/control.h"
#include "api/support.h"
#include "support/rounds.h"

/* ---- Seeds -------------------------------------------------------------------------------------- */

/* Runs the body once for each seed from 1 on: so many in the short tier, in the long one; or only QUERN_SEED. When a check
 * fails, the process crashes or a sanitizer ends it, the seed is printed, with what runs it again.
 *   PROPERTY_EACH_SEED(seed, "random graphs on null", 200, 20000) { ... } */
#define PROPERTY_EACH_SEED(seed, what, in_short, in_long) \
  for (uint64_t seed = property_begin(what, in_short, in_long); property_goes_on(seed); seed = property_next(seed))
uint64_t property_begin(const char *what, uint64_t in_short, uint64_t in_long);
bool property_goes_on(uint64_t seed);
uint64_t property_next(uint64_t seed);

/* Tears a test down: prints the seed when it failed. */
int property_tell(void **state);
#define PROPERTY_TEST(function) cmocka_unit_test_teardown(function, property_tell)

/* A stream of numbers; a test has one for each thing that it chooses. */
typedef struct property_random {
  uint64_t state;
} property_random;
uint64_t property_pick(property_random *random, uint64_t below);
static inline bool property_chance(property_random *random, uint64_t n) { return property_pick(random, n) == 0; }

/* ---- Devices ------------------------------------------------------------------------------------ */

/* To be called first in main: the adapter `null` then watches the core's calls. */
void property_watch(void);

typedef struct property_device {
  qn_runtime runtime;
  qn_device device;
  const null_control *control; /* NULL: not the simulated device */
  bool is_mixing;              /* launches mix their arguments: adapters/null/sim/mix.h */
} property_device;

/* Opens the device; `settings` are for the simulated one (printf's). Not there: `device` is NULL and a line is printed. */
property_device property_open(const char *selector, const char *settings, ...) __attribute__((format(printf, 2, 3)));
/* Closes it, and there must have been no violation. */
void property_close(property_device *d);
null_counts property_counts(const property_device *d);
/* Fails with the text of the first violation when there is one. */
void property_no_violation(const property_device *d);

static inline uint64_t property_id(qn_queue queue) {
  qn_point last = {0, 0};
  OK(qn_queue_last(queue, &last));
  return last.queue;
}

#endif

/* support.h - what property tests share: seeds, and the simulated device with its control. */
#ifndef QUERN_TEST_PROPERTY_SUPPORT_H
#define QUERN_TEST_PROPERTY_SUPPORT_H

#include <stdatomic.h>
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

/* Whether the thread sanitizer watches: it can't see into drivers that load a compiler of their own. */
#if defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define PROPERTY_TSAN 1
#endif
#elif defined(__SANITIZE_THREAD__)
#define PROPERTY_TSAN 1
#endif
#ifndef PROPERTY_TSAN
#define PROPERTY_TSAN 0
#endif

typedef struct property_device {
  qn_runtime runtime;
  qn_device device;
  const null_control *control; /* NULL: not the simulated device */
  bool is_mixing;              /* launches mix their arguments: adapters/null/sim/mix.h */
} property_device;

/* Opens the device; `settings` are for the simulated one (printf's). Not there: `device` is NULL and a line is printed. */
property_device property_open(const char *selector, const char *settings, ...) __attribute__((format(printf, 2, 3)));
/* Whether it runs kernels; a line is printed when this library makes no code for it. */
bool property_can_launch(const property_device *d);
/* Closes it, and there must have been no violation. */
void property_close(property_device *d);
null_counts property_counts(const property_device *d);
/* Fails with the text of the first violation when there is one. */
void property_no_violation(const property_device *d);

/* ---- Threads ------------------------------------------------------------------------------------ */

/* The first thing that went wrong on some thread: cmocka's checks work on the test's own thread alone. */
typedef struct property_wrong {
  _Atomic uint32_t is_set; /* others may end early */
  char text[640];
} property_wrong;
/* Notes it and returns false. */
bool property_note(property_wrong *wrong, const char *what, const char *text);
/* In a function that returns false when something went wrong. */
#define STEP(wrong, call)                                                     \
  do {                                                                        \
    if ((call) != QN_OK) return property_note(wrong, #call, qn_error_text()); \
  } while (0)
#define CHECK(wrong, condition)                                            \
  do {                                                                     \
    if (!(condition)) return property_note(wrong, #condition, "is false"); \
  } while (0)
/* On the test's thread: fails when something was noted. */
void property_right(const property_wrong *wrong);

static inline uint64_t property_id(qn_queue queue) {
  qn_point last = {0, 0};
  OK(qn_queue_last(queue, &last));
  return last.queue;
}

#endif

#include "support.h"

#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

/* ---- Seeds -------------------------------------------------------------------------------------- */

static struct {
  char what[64]; /* "": nothing */
  uint64_t seed, last;
} running;

extern void __sanitizer_set_death_callback(void (*callback)(void)) __attribute__((weak));

static void tell(void) {
  char text[256];
  if (running.what[0] == '\0') return;
  int length = snprintf(text, sizeof text, "%s: failed with seed %llu; QUERN_SEED=%llu runs it again\n", running.what,
                        (unsigned long long)running.seed, (unsigned long long)running.seed);
  if (write(2, text, (size_t)length) < 0) return;
}

int property_tell(void **state) {
  (void)state;
  tell();
  running.what[0] = '\0';
  return 0;
}

uint64_t property_begin(const char *what, uint64_t in_short, uint64_t in_long) {
  static bool is_registered;
  const char *given = getenv("QUERN_SEED");
  if (!is_registered) is_registered = atexit(tell) == 0; /* a check that fails on another thread ends the process */
  if (__sanitizer_set_death_callback) __sanitizer_set_death_callback(tell);
  snprintf(running.what, sizeof running.what, "%s", what);
  running.seed = given ? strtoull(given, NULL, 0) : 1;
  running.last = given ? running.seed : test_rounds(what, in_short, in_long);
  return running.seed;
}

bool property_goes_on(uint64_t seed) {
  if (seed <= running.last) return true;
  running.what[0] = '\0';
  return false;
}

uint64_t property_next(uint64_t seed) { return running.seed = seed + 1; }

uint64_t property_pick(property_random *random, uint64_t below) {
  uint64_t z = random->state += UINT64_C(0x9e3779b97f4a7c15);
  z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
  z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
  return (z ^ z >> 31) % below;
}

/* ---- Devices ------------------------------------------------------------------------------------ */

void property_watch(void) { setenv("QUERN_NULL", "", 1); }

property_device property_open(const char *selector, const char *settings, ...) {
  property_device d = {0};
  char text[256];
  uint64_t address = 0;
  va_list args;
  va_start(args, settings);
  vsnprintf(text, sizeof text, settings, args);
  va_end(args);
  setenv("QUERN_NULL", text, 1);
  OK(qn_runtime_open(NULL, &d.runtime));
  qn_status status = qn_device_open(d.runtime, selector, &d.device);
  if (status == QN_ERROR_NOT_FOUND) {
    printf("skipped: device %s: %s\n", selector, qn_error_text());
    OK(qn_runtime_close(d.runtime, PATIENCE));
    return (property_device){0};
  }
  OK(status);
  if (strcmp(selector, "null") != 0) return d;
  OK(qn_native_handle(d.device, NULL_CONTROL, &address));
  d.control = (const null_control *)(uintptr_t)address;
  d.is_mixing = strstr(text, "kernels=1") != NULL;
  d.control->forget_violations();
  return d;
}

bool property_can_launch(const property_device *d) {
  qn_program_options o = QN_INIT(qn_program_options);
  qn_program program = NULL;
  o.source = "kernel void nothing(global int *x) {}";
  qn_status status = qn_program_build(d->device, &o, &program);
  bool has_none = status == QN_ERROR_UNSUPPORTED || status == QN_ERROR_NOT_FOUND; /* of kernels, or a code generator */
  if (has_none) printf("without launches: %s\n", qn_error_text());
  if (has_none) return false;
  OK(status);
  OK(qn_release(program));
  return true;
}

null_counts property_counts(const property_device *d) {
  null_counts counts;
  d->control->count(d->control->device, &counts);
  return counts;
}

void property_no_violation(const property_device *d) {
  char text[256] = "";
  if (d->control && d->control->violation(0, text, sizeof text))
    fail_msg("%llu violations: %s", (unsigned long long)property_counts(d).violations, text);
}

void property_close(property_device *d) {
  int32_t (*violation)(uint32_t, char *, uint64_t) = d->control ? d->control->violation : NULL;
  char text[256] = "";
  property_no_violation(d);
  OK(qn_runtime_close(d->runtime, PATIENCE));
  if (violation && violation(0, text, sizeof text)) fail_msg("while closing: %s", text); /* the library stays loaded */
  *d = (property_device){0};
}

/* ---- Threads ------------------------------------------------------------------------------------ */

bool property_note(property_wrong *wrong, const char *what, const char *text) {
  static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
  pthread_mutex_lock(&lock);
  if (!atomic_load(&wrong->is_set)) snprintf(wrong->text, sizeof wrong->text, "%s: %s", what, text);
  atomic_store(&wrong->is_set, 1);
  pthread_mutex_unlock(&lock);
  return false;
}

void property_right(const property_wrong *wrong) {
  if (atomic_load(&wrong->is_set)) fail_msg("%s", wrong->text);
}

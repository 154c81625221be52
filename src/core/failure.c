#include "core/failure.h"

#include <stdio.h>
#include <string.h>

#include "base/status.h"
#include "core/timeline.h"

/* ---- The text ----------------------------------------------------------------------------------- */

enum { CANDIDATES = 16 };

typedef struct description {
  core_failure *failure;
  size_t size;
  const core_timeline *failed;
  uint32_t candidates;
} description;

static void append(description *d, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void append(description *d, const char *format, ...) {
  size_t room = sizeof d->failure->text - d->size;
  va_list args;
  va_start(args, format);
  int length = vsnprintf(d->failure->text + d->size, room, format, args);
  va_end(args);
  if (length > 0) d->size += (size_t)length < room ? (size_t)length : room - 1;
}

static void append_candidate(description *d, core_timeline *t, uint64_t value) {
  const char *kernel = core_recent_kernel(&t->recent, value);
  if (!kernel) return;
  if (d->candidates < CANDIDATES)
    append(d, "%s '%s' (queue %llu, value %llu)", d->candidates ? "," : "; candidate kernels:", kernel,
           (unsigned long long)core_timeline_number(t), (unsigned long long)value);
  d->candidates++;
}

/* The first value that isn't known to be done; 0: all that was submitted is. What is told as complete together with a
 * failure may have failed. */
static uint64_t first_incomplete(core_timeline *t) {
  uint64_t completed = 0;
  if (t->table->queue_completed(t->queue, &completed) == QN_OK) core_timeline_raise(t, completed);
  completed = atomic_load(&t->completed);
  return completed < atomic_load(&t->submitted) ? completed + 1 : 0;
}

static void visit_candidate(void *user, core_timeline *other) {
  description *d = user;
  if (other != d->failed) append_candidate(d, other, first_incomplete(other));
}

static bool is_wide(const core_failure_domain *domain) {
  return domain->kind == QN_FAILURE_CONTEXT || domain->kind == QN_FAILURE_DEVICE;
}

/* What an adapter tells may name the kernel first, as this does. */
static const char *behind_kernel(const char *text, const char *kernel) {
  char prefix[128];
  int length = snprintf(prefix, sizeof prefix, "kernel '%s': ", kernel);
  bool is_there = length > 0 && (size_t)length < sizeof prefix && strncmp(text, prefix, (size_t)length) == 0;
  return is_there ? text + length : text;
}

static void describe(core_timeline *t, uint64_t value, const char *told, core_failure *failure) {
  description d = {.failure = failure, .failed = t};
  const char *text = told[0] != '\0' ? told : qn_status_name(failure->status);
  const char *kernel = core_recent_kernel(&t->recent, value);
  append(&d, "queue %llu failed at value %llu", (unsigned long long)core_timeline_number(t), (unsigned long long)value);
  bool is_named = !is_wide(t->domain) && kernel;
  if (is_named) append(&d, ", kernel '%s'", kernel);
  append(&d, ": %s", is_named ? behind_kernel(text, kernel) : text);
  if (!is_wide(t->domain)) return;
  append_candidate(&d, t, value);
  core_timeline_visit(t->device, visit_candidate, &d);
  if (d.candidates > CANDIDATES) append(&d, ", and %u more", d.candidates - CANDIDATES);
}

/* ---- Recording ---------------------------------------------------------------------------------- */

/* What the adapter tells of a failure. Returns the first value that failed. */
static uint64_t ask(core_timeline *t, qn_status status, core_failure *out) {
  qn_adapter_progress progress = {.struct_size = sizeof progress};
  qn_status asked = t->table->queue_progress(t->queue, &progress);
  bool told = asked >= 0 && progress.failed_first != 0 && progress.cause < 0;
  progress.text[sizeof progress.text - 1] = '\0';
  out->status = told ? progress.cause : status;
  out->driver_code = progress.driver_code;
  uint64_t value = told ? progress.failed_first : atomic_load(&t->completed) + 1;
  describe(t, value, progress.text, out);
  return value;
}

static bool has_failed(const core_timeline *t) { return atomic_load(&t->failed_first) != 0; }

/* Under the domain's lock, which every recording takes. */
static void keep(core_timeline *t, const core_failure *failure, uint64_t value) {
  t->failure = *failure;
  atomic_store(&t->failed_first, value);
}

static void visit_to_fail(void *user, core_timeline *other) {
  core_failure_domain *domain = user;
  if (has_failed(other)) return;
  uint64_t value = first_incomplete(other);
  keep(other, &domain->first, value ? value : atomic_load(&other->submitted) + 1);
}

void core_failure_record(core_timeline *timeline, qn_status status) {
  core_failure_domain *domain = timeline->domain;
  qn_mutex_lock(&domain->lock);
  if (!has_failed(timeline)) {
    core_failure failure;
    uint64_t value = ask(timeline, status, &failure);
    keep(timeline, &failure, value);
    if (failure.status == QN_ERROR_DEVICE_LOST && domain->lost.status == QN_OK) domain->lost = failure;
    if (is_wide(domain)) {
      if (domain->first.status == QN_OK) domain->first = failure;
      core_timeline_visit(timeline->device, visit_to_fail, domain);
    }
    if (is_wide(domain) || domain->lost.status != QN_OK) atomic_store(&domain->concerns_memory, true);
  }
  qn_mutex_unlock(&domain->lock);
}

/* ---- Telling ------------------------------------------------------------------------------------ */

qn_status core_failure_status(const core_failure *failure) {
  if (failure->status == QN_OK) return QN_OK;
  return qn_error_set_driver(failure->status, failure->driver_code, "%s", failure->text);
}

qn_status core_failure_of_domain(core_failure_domain *domain) {
  if (!is_wide(domain)) return QN_OK;
  qn_mutex_lock(&domain->lock);
  const core_failure first = domain->first;
  qn_mutex_unlock(&domain->lock);
  return core_failure_status(&first);
}

qn_status core_failure_of_memory(core_failure_domain *domain) {
  if (!atomic_load(&domain->concerns_memory)) return QN_OK;
  qn_mutex_lock(&domain->lock);
  const core_failure first = domain->first.status != QN_OK ? domain->first : domain->lost;
  qn_mutex_unlock(&domain->lock);
  return core_failure_status(&first);
}

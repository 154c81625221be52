/* failure.h - how a queue fails, and what fails with it (L7).
 *
 * An adapter declares its failure domain. A queue that fails by itself keeps its cause. In the domain of a context or device
 * (each open device has one context) all queues of the device fail with the first one's cause: what each had not completed,
 * and all that comes. The text names the kernels that may be to blame: those at each queue's first incomplete point.
 */
#ifndef QUERN_CORE_FAILURE_H
#define QUERN_CORE_FAILURE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/os/thread.h"
#include "quern/adapter.h"

struct core_timeline;

typedef struct core_failure {
  qn_status status; /* QN_OK: none */
  int64_t driver_code;
  char text[1536];
} core_failure;

/* Of one device. */
typedef struct core_failure_domain {
  uint32_t kind;                /* QN_FAILURE_... */
  qn_mutex lock;                /* one failure at a time */
  core_failure first;           /* where the domain is wider than a queue */
  core_failure lost;            /* the first that says that the device is lost, whatever the domain */
  _Atomic bool concerns_memory; /* one of the two is set: read without the lock */
} core_failure_domain;

/* The adapter has told that the queue failed, with `status`: asks for the cause, once, and keeps it. By one who pins the
 * queue or counts as a user. */
void core_failure_record(struct core_timeline *timeline, qn_status status);

/* The failure as the calling thread's error; QN_OK when there is none. */
QN_MUST_USE qn_status core_failure_status(const core_failure *failure);

/* Whether the whole domain has failed; then its first cause. */
QN_MUST_USE qn_status core_failure_of_domain(core_failure_domain *domain);

/* For what touches memory without a queue: whether the domain has failed, or the device is lost. */
QN_MUST_USE qn_status core_failure_of_memory(core_failure_domain *domain);

#endif

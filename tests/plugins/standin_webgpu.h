/* standin_webgpu.h - a library with the webgpu.h of Dawn in May 2025, without a GPU: it keeps buffers in the host's memory, checks each
 * field that is passed by value, in calls and back in what callbacks were given, and counts its objects. It runs two kernels: the one
 * of the adapter's trial, and `triple` of the tests. */
#ifndef QUERN_TESTS_PLUGINS_STANDIN_WEBGPU_H
#define QUERN_TESTS_PLUGINS_STANDIN_WEBGPU_H

#include <stdint.h>

/* What the next submission does. */
enum { STANDIN_WORKS = 0, STANDIN_TELLS_AN_ERROR = 1, STANDIN_LOSES_THE_DEVICE = 2 };

typedef struct standin_state {
  uint32_t violations;     /* fields that came wrong */
  uint32_t objects;        /* alive */
  uint32_t events;         /* callbacks that have not been made */
  uint32_t calls_by_value; /* of functions that take or give a struct by value */
  uint32_t dispatches, submissions, pipelines, groups;
  uint32_t next_submission; /* set by the test */
  uint32_t takes_us;        /* set by the test: so long until an event comes */
  uint32_t
      lags_us; /* set by the test: so much later a thread that waits for one goes on, unless it is the first thread */
  uint32_t destroys_us; /* set by the test: so long it takes to destroy a device */
  char first_violation[256];
} standin_state;

/* The status of a process in which work was submitted, a device destroyed or an instance released after the library's destructor began. */
enum { STANDIN_CALLED_TOO_LATE = 99 };

/* Exported as `standin_state_get`. */
typedef standin_state *(*standin_state_get_fn)(void);

#endif

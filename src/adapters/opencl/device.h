/* device.h - an open device: one context, and a queue of the adapter's own for maps. */
#ifndef QUERN_ADAPTERS_OPENCL_DEVICE_H
#define QUERN_ADAPTERS_OPENCL_DEVICE_H

#include <pthread.h>
#include <stdatomic.h>

#include "compiles.h"
#include "opencl.h"

struct qn_adapter_device {
  const qn_adapter_host *host;
  const ocl_functions *cl;
  const ocl_found *found; /* the instance's */
  cl_context context;
  cl_command_queue service;     /* for maps and unmaps */
  pthread_mutex_t service_lock; /* held while one of these is enqueued, not while it is waited for (memory.c) */

  /* Memory is known by numbers that never come back, for a driver gives out addresses again: arguments that a cl_kernel
   * already has are found unchanged by them. 0 is the null pointer. */
  _Atomic uint64_t last_memory;
  _Atomic uint32_t last_queue;

  ocl_compiles compiles;

  _Atomic uint32_t is_lost; /* the context is of no use any longer */
  pthread_mutex_t order;    /* held by who takes the locks of several queues (order.h) */
  pthread_mutex_t lock;     /* the rest */
  ocl_failure first;        /* of any queue */
  ocl_failure loss;         /* of the device; set before is_lost */
  char words[256];          /* what the driver told last about an error, through the context's callback */
};

/* The device's first cause; becomes `failure` when nothing failed before. `failure` becomes that cause when what it tells
 * is only that something else failed. */
void ocl_device_note_failure(qn_adapter_device *device, ocl_failure *failure);
/* Every call on a lost device fails with the cause of that. */
qn_status ocl_device_check(qn_adapter_device *device);
void ocl_device_loss(qn_adapter_device *device, ocl_failure *out_failure);
/* The context is gone: all that waits on the device learns it. */
void ocl_device_lose(qn_adapter_device *device, cl_int code, const char *what);
/* Looks at a driver's refusal, whether it means that. */
void ocl_device_judge(qn_adapter_device *device, cl_int code, const char *what);

qn_status ocl_device_open(qn_adapter_instance *instance, uint32_t index, qn_adapter_device **out_device);
qn_status ocl_device_close(qn_adapter_device *device);

/* ---- Waiting for an event (wait.c) -------------------------------------------------------------- */

#define OCL_SPIN_NS \
  UINT64_C(30000) /* a wait with a limit only looks for so long: to sleep and wake takes about as long */

/* A cl_event's state in one word: 0 complete, above 0 not yet, below 0 the error. */
cl_int ocl_event_state(const qn_adapter_device *device, cl_event event);

/* The event's end wakes those who wait with a limit. Once an event. */
void ocl_event_ring(const qn_adapter_device *device, cl_event event);

/* Waits until the event is complete or failed; its commands are flushed. QN_NOT_READY when `deadline` has passed (UINT64_MAX:
 * never) or the device is lost. *out_state is the event's. */
qn_status ocl_event_wait(qn_adapter_device *device, cl_event event, uint64_t deadline, cl_int *out_state);

uint64_t ocl_now(void);
/* How long to sleep before looking again, for who has waited so long already; less than a second. */
uint64_t ocl_pause_after(uint64_t waited_ns);
/* Now and a time limit from now; UINT64_MAX: for ever. */
uint64_t ocl_deadline(uint64_t timeout_ns);

#endif

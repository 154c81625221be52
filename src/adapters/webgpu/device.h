/* device.h - an open device. WebGPU has one queue a device, so all queues of Quern's are timelines over one stream (stream.h). */
#ifndef QUERN_ADAPTERS_WEBGPU_DEVICE_H
#define QUERN_ADAPTERS_WEBGPU_DEVICE_H

#include <pthread.h>
#include <stdatomic.h>

#include "bytes.h"
#include "memory.h"
#include "queue.h"
#include "staging.h"
#include "stream.h"
#include "webgpu.h"

enum { WG_FUSED_UNKNOWN = 0, WG_FUSED_NO = 1, WG_FUSED_YES = 2 };

struct qn_adapter_device {
  const qn_adapter_host *host;
  const wgl_shim *shim;
  wgl_functions *f;
  const qn_adapter_instance *instance;
  const wg_found *found; /* the instance's */
  wgl_device *native;
  wgl_queue *queue;
  wgl_watch watch;

  /* Memory is known by numbers that never come back: bind groups are found by them. */
  _Atomic uint64_t last_memory;

  pthread_mutex_t lock; /* held over each call of the library but waits, and guards the rest */
  wg_stream stream;
  qn_adapter_queue service; /* for maps, and what is tried out */
  wg_staging staging;
  wg_bytes bytes;
  struct qn_adapter_memory tile; /* what large fills copy; no buffer until it is needed */
  wgl_buffer *nothing[2];        /* what null pointers have bound, by whether it is written; NULL until it is needed */
  uint32_t fused;                /* WG_FUSED_... */
  wg_failure failure;            /* the first; set before has_failed */
  _Atomic uint32_t has_failed, is_lost;
  _Atomic uint32_t closing; /* WG_CLOSING_... */

  pthread_mutex_t ear; /* a leaf: what the library tells, from any thread, at any time */
  wg_failure heard;
  _Atomic uint32_t has_heard;

  wg_pump pump;
};

/* The table's. */
qn_status wg_device_open(qn_adapter_instance *instance, uint32_t index, qn_adapter_device **out_device);
qn_status wg_device_close(qn_adapter_device *device);

/* Every call on a device that has failed says why. */
qn_status wg_device_check(qn_adapter_device *device);
/* Under the lock. What was heard becomes the device's failure: everything in flight fails. */
void wg_device_listen(qn_adapter_device *device);
void wg_device_fail(qn_adapter_device *device, const wg_failure *failure);

/* Between the two, under the lock, errors are the caller's. `end` fills in the failure and returns its status. */
void wg_scope_begin(qn_adapter_device *device);
qn_status wg_scope_end(qn_adapter_device *device, wg_failure *failure, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* A buffer, by the library's rules: a multiple of 4 bytes. Under the lock. */
qn_status wg_buffer_create(qn_adapter_device *device, uint32_t usage, uint64_t size, wgl_buffer **out,
                           wg_failure *failure);

/* ---- Time (clock.c) ----------------------------------------------------------------------------- */

uint64_t wg_now(void);
/* Now and a time limit from now; UINT64_MAX: for ever. */
uint64_t wg_deadline(uint64_t timeout_ns);
/* The lock is held while a pipeline is made, which takes its time: no wait takes longer for that than it may. */
bool wg_lock_before(pthread_mutex_t *lock, uint64_t deadline);

#endif

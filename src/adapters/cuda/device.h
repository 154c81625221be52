/* device.h - an open device: the GPU's primary context, retained once, which other users of CUDA in the process share. */
#ifndef QUERN_ADAPTERS_CUDA_DEVICE_H
#define QUERN_ADAPTERS_CUDA_DEVICE_H

#include <pthread.h>
#include <stdatomic.h>

#include "cuda.h"

struct cu_span;
struct cu_word_page;
struct cu_stager;

struct qn_adapter_device {
  const qn_adapter_host *host;
  const cu_functions *cu;
  const cu_found *found; /* the instance's */
  cu_context context;
  cu_stream service; /* for maps */

  _Atomic uint32_t is_lost;   /* the context is of no use any longer */
  _Atomic uint64_t peers;     /* bit: the device of that id is reached directly, or not at all; asked once */
  pthread_mutex_t lock;       /* the rest */
  cu_failure loss;            /* set before is_lost */
  struct cu_span *spans;      /* wrapped memory (wrap.c) */
  struct cu_word_page *pages; /* of queues' words (words.c) */
  struct cu_stager *orphans;  /* of queues that ended after the loss: the driver may still look into them (staging.c) */
  cu_event clock;             /* the event that times count from (clock.c) */
  uint64_t clock_ns;
};

/* ---- The current context ------------------------------------------------------------------------ */

/* The driver works on the context that is current in the calling thread, and that is the caller's: ours is put on its stack
 * around the driver's calls, unless it is there already. */
static inline bool cu_enter(const qn_adapter_device *device) {
  cu_context now = NULL;
  if (device->cu->CtxGetCurrent(&now) == CU_SUCCESS && now == device->context) return false;
  return device->cu->CtxPushCurrent_v2(device->context) == CU_SUCCESS;
}
static inline void cu_leave(const qn_adapter_device *device, bool entered) {
  cu_context ours;
  if (entered) (void)device->cu->CtxPopCurrent_v2(&ours);
}

/* ---- Loss --------------------------------------------------------------------------------------- */

/* Every call on a lost device fails with the cause of that. */
qn_status cu_device_check(qn_adapter_device *device);
static inline bool cu_device_is_lost(const qn_adapter_device *device) {
  return atomic_load_explicit(&device->is_lost, memory_order_acquire) != 0;
}
void cu_device_loss(qn_adapter_device *device, cu_failure *out_failure);
/* The context is gone: all that waits on the device learns it. */
void cu_device_lose(qn_adapter_device *device, cu_result code, const char *what);
/* Looks at a driver's refusal, whether it means that. */
void cu_device_judge(qn_adapter_device *device, cu_result code, const char *what);

/* ---- Life --------------------------------------------------------------------------------------- */

qn_status cu_device_open(qn_adapter_instance *instance, uint32_t index, qn_adapter_device **out_device);
qn_status cu_device_close(qn_adapter_device *device);

/* ---- Time (clock.c) ----------------------------------------------------------------------------- */

/* The clock runs from the first timed queue on. Entered. */
cu_result cu_clock_start(qn_adapter_device *device);
/* When two events of a device were reached, in nanoseconds of its clock; 0: the driver doesn't tell. Both are complete. The
 * clock may keep `*end`, and gives another event instead. Entered. */
void cu_clock_read(qn_adapter_device *device, cu_event begin, cu_event *end, uint64_t *out_begin, uint64_t *out_end);

uint64_t cu_now(void);
/* Now and a time limit from now; UINT64_MAX: for ever. */
uint64_t cu_deadline(uint64_t timeout_ns);

#endif

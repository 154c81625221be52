/* wait.c - waiting for an event, with a time limit, which OpenCL doesn't have.
 *
 * A wait without a limit is clWaitForEvents: nothing is faster. One with a limit sleeps until a bell is rung, which the event's
 * callback does. But drivers call callbacks late, or not at all, and hang when a callback does more than ring (PoCL #506,
 * chipStar #1090, compute-runtime #869): so whoever sleeps looks at the event now and then as well, at intervals that grow with the
 * time already waited. Without any callback an answer is late by a small part of the wait.
 *
 * There is one bell for all, in memory that never goes: a callback may come at any time. */
#include <pthread.h>
#include <time.h>

#include "device.h"

#define SHORTEST_PAUSE_NS UINT64_C(100000)
#define LONGEST_PAUSE_NS UINT64_C(1000000)
enum { PART = 16 }; /* a pause is this part of the time waited */

uint64_t ocl_now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

uint64_t ocl_deadline(uint64_t timeout_ns) {
  uint64_t now = ocl_now();
  return timeout_ns > UINT64_MAX - now ? UINT64_MAX : now + timeout_ns;
}

cl_int ocl_event_state(const qn_adapter_device *device, cl_event event) {
  cl_int state = CL_QUEUED;
  cl_int code = device->cl->GetEventInfo(event, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof state, &state, NULL);
  return code == CL_SUCCESS ? state : code;
}

/* ---- The bell ----------------------------------------------------------------------------------- */

static pthread_mutex_t bell_lock = PTHREAD_MUTEX_INITIALIZER; /* nothing of the driver is called under it */
static pthread_cond_t bell = PTHREAD_COND_INITIALIZER;
static uint64_t bell_rings;

static void CL_CALLBACK ring(cl_event event, cl_int state, void *user) {
  (void)event;
  (void)state;
  (void)user;
  pthread_mutex_lock(&bell_lock);
  bell_rings++;
  pthread_cond_broadcast(&bell);
  pthread_mutex_unlock(&bell_lock);
}

void ocl_event_ring(const qn_adapter_device *device, cl_event event) {
  /* When the driver refuses, looking now and then is all there is. */
  (void)device->cl->SetEventCallback(event, CL_COMPLETE, ring, NULL);
}

static uint64_t rings_so_far(void) {
  pthread_mutex_lock(&bell_lock);
  uint64_t rings = bell_rings;
  pthread_mutex_unlock(&bell_lock);
  return rings;
}

/* Until it has rung more than `heard` times, or for `ns`. The clock may be set meanwhile: the pause is short, and the deadline is
 * another clock's. */
static void sleep_until_it_rings(uint64_t heard, uint64_t ns) {
  struct timespec until;
  clock_gettime(CLOCK_REALTIME, &until);
  uint64_t sum = (uint64_t)until.tv_nsec + ns;
  until.tv_sec += (time_t)(sum / 1000000000u);
  until.tv_nsec = (long)(sum % 1000000000u);
  pthread_mutex_lock(&bell_lock);
  int late = 0;
  while (bell_rings == heard && late == 0) late = pthread_cond_timedwait(&bell, &bell_lock, &until);
  pthread_mutex_unlock(&bell_lock);
}

/* ---- Waits -------------------------------------------------------------------------------------- */

uint64_t ocl_pause_after(uint64_t waited) {
  uint64_t pause = waited / PART;
  if (pause < SHORTEST_PAUSE_NS) return SHORTEST_PAUSE_NS;
  return pause < LONGEST_PAUSE_NS ? pause : LONGEST_PAUSE_NS;
}

static qn_status wait_with_limit(const qn_adapter_device *device, cl_event event, uint64_t deadline,
                                 cl_int *out_state) {
  uint64_t start = ocl_now(), heard = rings_so_far();
  for (;;) {
    *out_state = ocl_event_state(device, event);
    if (*out_state <= 0) return QN_OK;
    uint64_t now = ocl_now(), pause = ocl_pause_after(now - start);
    if (now >= deadline || atomic_load_explicit(&device->is_lost, memory_order_relaxed)) return QN_NOT_READY;
    if (now - start < OCL_SPIN_NS) continue;
    sleep_until_it_rings(heard, pause < deadline - now ? pause : deadline - now);
    heard = rings_so_far();
  }
}

static qn_status wait_for_ever(qn_adapter_device *device, cl_event event, cl_int *out_state) {
  cl_int code = device->cl->WaitForEvents(1, &event);
  *out_state = ocl_event_state(device, event);
  if (*out_state <= 0) return QN_OK;
  if (code == CL_SUCCESS) return wait_with_limit(device, event, UINT64_MAX, out_state); /* it said so too early */
  ocl_device_lose(device, code, "a command can't be waited for");                       /* nor will it ever end */
  return QN_NOT_READY;
}

qn_status ocl_event_wait(qn_adapter_device *device, cl_event event, uint64_t deadline, cl_int *out_state) {
  *out_state = ocl_event_state(device, event);
  if (*out_state <= 0) return QN_OK;
  if (deadline == UINT64_MAX) return wait_for_ever(device, event, out_state);
  return wait_with_limit(device, event, deadline, out_state);
}

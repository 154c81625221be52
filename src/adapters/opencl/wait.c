/* wait.c - waiting for an event with a time limit, which OpenCL doesn't have.
 *
 * A wait without a limit ends in clWaitForEvents. One with a limit asks again and again: first without a pause, for most
 * waits are short, then with pauses that grow with the time already waited, so that the answer is late by a small part of
 * it. Event callbacks would wake us in time, but drivers call them late, from inside of their own locks, or not at all
 * (PoCL #506, chipStar #1090, compute-runtime #869); a wait must not hang on that. docs/decisions/opencl-waits.md. */
#include <time.h>

#include "device.h"

#define SPIN_NS UINT64_C(20000)
#define SHORTEST_PAUSE_NS UINT64_C(5000)
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

static void relax(void) {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  __asm__ volatile("yield");
#endif
}

static void pause_for(uint64_t ns) {
  const struct timespec t = {(time_t)(ns / 1000000000u), (long)(ns % 1000000000u)};
  nanosleep(&t, NULL);
}

/* Whether the event came to an end before `until`. */
static bool spin(const qn_adapter_device *device, cl_event event, uint64_t until, cl_int *out_state) {
  do {
    *out_state = ocl_event_state(device, event);
    if (*out_state <= 0) return true;
    for (int i = 0; i < 8; i++) relax();
  } while (ocl_now() < until);
  return false;
}

static qn_status poll(const qn_adapter_device *device, cl_event event, uint64_t start, uint64_t deadline,
                      cl_int *out_state) {
  for (;;) {
    *out_state = ocl_event_state(device, event);
    if (*out_state <= 0) return QN_OK;
    uint64_t now = ocl_now();
    if (now >= deadline || atomic_load_explicit(&device->is_lost, memory_order_relaxed)) return QN_NOT_READY;
    uint64_t pause = (now - start) / PART;
    if (pause < SHORTEST_PAUSE_NS) pause = SHORTEST_PAUSE_NS;
    if (pause > LONGEST_PAUSE_NS) pause = LONGEST_PAUSE_NS;
    pause_for(pause < deadline - now ? pause : deadline - now);
  }
}

qn_status ocl_event_wait(qn_adapter_device *device, cl_event event, uint64_t deadline, cl_int *out_state) {
  uint64_t start = ocl_now(), until = start + SPIN_NS;
  if (spin(device, event, until < deadline ? until : deadline, out_state)) return QN_OK;
  if (deadline != UINT64_MAX) return poll(device, event, start, deadline, out_state);
  cl_int code = device->cl->WaitForEvents(1, &event);
  if (code == CL_SUCCESS) return poll(device, event, start, deadline, out_state);
  *out_state = ocl_event_state(device, event);
  if (*out_state <= 0) return QN_OK;
  ocl_device_lose(device, code, "a command can't be waited for"); /* nor will it ever end */
  return QN_NOT_READY;
}

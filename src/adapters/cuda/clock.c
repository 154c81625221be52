/* clock.c - one clock for all queues of a device.
 *
 * The driver tells no times, only how long it was from one event to another, as a float of milliseconds: after a minute it has lost
 * its microseconds. So times count from an event that is never far away: the latest one that was read takes its place when it is. */
#include <math.h>

#include "device.h"

/* A clock's zero is none: a time of 0 means that there is none. */
#define FIRST_NS UINT64_C(1000000000000)
#define FAR_MS 250.0f /* the float's step is 15 ns there */

cu_result cu_clock_start(qn_adapter_device *device) {
  cu_result code = CU_SUCCESS;
  pthread_mutex_lock(&device->lock);
  if (!device->clock) {
    code = device->cu->EventCreate(&device->clock, CU_EVENT_TIMED);
    if (code == CU_SUCCESS) code = device->cu->EventRecord(device->clock, device->service);
    if (code == CU_SUCCESS) code = device->cu->StreamSynchronize(device->service);
    if (code != CU_SUCCESS && device->clock) {
      (void)device->cu->EventDestroy_v2(device->clock);
      device->clock = NULL;
    }
    device->clock_ns = FIRST_NS;
  }
  pthread_mutex_unlock(&device->lock);
  return code;
}

/* Under the device's lock. */
static uint64_t time_of(const qn_adapter_device *device, cu_event event, float *out_ms) {
  if (device->cu->EventElapsedTime(out_ms, device->clock, event) != CU_SUCCESS) return 0;
  return device->clock_ns + (uint64_t)llround((double)*out_ms * 1e6);
}

void cu_clock_read(qn_adapter_device *device, cu_event begin, cu_event *end, uint64_t *out_begin, uint64_t *out_end) {
  float ms = 0;
  pthread_mutex_lock(&device->lock);
  *out_end = time_of(device, *end, &ms);
  if (*out_end != 0 && ms > FAR_MS) {
    cu_event old = device->clock;
    device->clock = *end;
    device->clock_ns = *out_end;
    *end = old;
  }
  *out_begin = time_of(device, begin, &ms);
  pthread_mutex_unlock(&device->lock);
}

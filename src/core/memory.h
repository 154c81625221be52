/* memory.h - a device's pool: what it asks of timelines and buffers, and how it keeps the device.
 *
 * Buffers that are pooled do not hold their device, which would be one counter that all threads share. The pool does, from
 * the device's opening on. When the device's handle is gone, an object of the pool's own, the guard, goes to the device's
 * reaper; it ends when no buffer lives any longer, and drops that hold.
 */
#ifndef QUERN_CORE_MEMORY_H
#define QUERN_CORE_MEMORY_H

#include <stdbool.h>
#include <stdint.h>

#include "core/device.h"

struct core_buffer;

/* Opens the device's pool. Errors: OUT_OF_HOST_MEMORY. */
QN_MUST_USE qn_status core_memory_open(core_device *device);
/* The device's last hold but its handle's: begins with it. */
void core_memory_guard(core_device *device);

/* What the reaper's thread does now and then: core_tidy_fn. */
bool core_memory_tidy(void *device);
/* Waits until the driver holds no free block. What it refused stays in device->memory_refusal. Errors: TIMEOUT. */
QN_MUST_USE qn_status core_memory_drain(core_device *device, uint64_t timeout_ns);
/* Gives what the driver refused to take back since the last call, and forgets it: an error, or QN_OK. */
QN_MUST_USE qn_status core_memory_refusal(core_device *device);
/* Gives up the maps of a buffer that is being released. */
void core_memory_unmap(core_device *device, struct core_buffer *buffer);

#endif

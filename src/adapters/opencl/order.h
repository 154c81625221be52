/* order.h - waits for other queues of the device.
 *
 * While a queue is well the driver keeps them: a command's event is complete after those in its wait list. Once something has
 * failed it doesn't: what comes behind is ended at once, whatever else it would have waited for. adapter.h forbids to tell of
 * that before its time, so a queue remembers the waits of what is in flight, and after a failure tells no value from a wait on
 * before what that was for.
 *
 * Locks: a queue's own; a thread that takes a second one, for a source that has failed, holds the device's `order` first, so that
 * no two do so at a time. Elsewhere a second one is only tried for. */
#ifndef QUERN_ADAPTERS_OPENCL_ORDER_H
#define QUERN_ADAPTERS_OPENCL_ORDER_H

#include "queue.h"

enum { OCL_MOST_WAITS = 16 };

/* Gathered for the next command. */
typedef struct ocl_waits {
  cl_event events[OCL_MOST_WAITS];
  cl_uint count;
} ocl_waits;

void ocl_waits_release(const ocl_functions *cl, ocl_waits *waits);

/* ---- What a queue remembers, under its lock ----------------------------------------------------- */

/* Room for so many more. False: no memory. */
bool ocl_order_reserve(qn_adapter_queue *queue, uint32_t count);
/* The command with `value` waits for the source. Nothing to remember when that is past. There is room. */
void ocl_order_note(qn_adapter_queue *queue, uint64_t value, qn_adapter_queue *source, uint64_t source_value);
/* The values from `value` on have not been given out after all. */
void ocl_order_forget(qn_adapter_queue *queue, uint64_t value);
/* How far the queue may tell that it is complete, when the driver has ended all up to `reached`. */
uint64_t ocl_order_limit(qn_adapter_queue *queue, uint64_t reached);

/* ---- Under no lock ------------------------------------------------------------------------------ */

/* Adds the events that stand for the source's value; none when it is complete, done or failed. Should they be too many, some are
 * given to `queue` at once. */
qn_status ocl_order_gather(qn_adapter_queue *queue, qn_adapter_queue *source, uint64_t value, ocl_waits *waits,
                           ocl_failure *failure);

#endif

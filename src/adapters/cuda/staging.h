/* staging.h - transfers to and from the host's pageable memory, which the device doesn't reach: through pinned pieces.
 *
 * A queue that does such transfers has a ring of pieces and a second stream. On the second stream the driver calls back, in the
 * stream's order, to copy between a piece and the caller's memory; on the queue's own one the device copies between the piece and
 * its memory. Events link them, so that a piece is copied by the host while the device copies the one before. Nothing waits on the host. */
#ifndef QUERN_ADAPTERS_CUDA_STAGING_H
#define QUERN_ADAPTERS_CUDA_STAGING_H

#include "queue.h"

typedef struct cu_stager cu_stager;

/* Under the queue's lock, entered. *out_taken counts what the driver took. */
qn_status cu_stage_write(qn_adapter_queue *queue, cu_pointer target, const void *source, uint64_t size,
                         uint32_t *out_taken, cu_failure *failure);
qn_status cu_stage_read(qn_adapter_queue *queue, void *target, cu_pointer source, uint64_t size, uint32_t *out_taken,
                        cu_failure *failure);

/* Of a lost device: no callback touches the caller's memory from here on. NULL is allowed. */
void cu_stager_stop(cu_stager *stager);
/* Nothing of it is in flight, or the device is lost; then the device keeps it until its context is gone. Entered. */
cu_result cu_stager_free(qn_adapter_device *device, cu_stager *stager);
void cu_stagers_free_orphans(qn_adapter_device *device);

#endif

#ifndef QUERN_ADAPTERS_CUDA_TRANSFER_H
#define QUERN_ADAPTERS_CUDA_TRANSFER_H

#include "queue.h"

/* Gives a copy, fill, write or read to the queue's stream. *out_taken counts what the driver took, also of one that fails. Under the
 * queue's lock, entered. */
qn_status cu_transfer(qn_adapter_queue *queue, const qn_adapter_command *command, uint32_t *out_taken,
                      cu_failure *failure);

#endif

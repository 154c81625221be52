/* transfer.h - copies, fills, writes and reads. WebGPU has them at multiples of 4 bytes, and no copy within one buffer: the rest is
 * done by small kernels (bytes.h). */
#ifndef QUERN_ADAPTERS_WEBGPU_TRANSFER_H
#define QUERN_ADAPTERS_WEBGPU_TRANSFER_H

#include "webgpu.h"

/* Records it. Under the device's lock; nothing of it is recorded when it fails. */
qn_status wg_transfer(qn_adapter_device *device, const qn_adapter_command *command, wg_failure *failure);

#endif

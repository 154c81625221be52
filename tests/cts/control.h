/* control.h - devices that can be told to hold, fail and lose work. The simulated device behind the adapter `null` can
 * (src/adapters/null/control.h, the one header here that isn't public); the device `check` can fail a launch. */
#ifndef QUERN_CTS_CONTROL_H
#define QUERN_CTS_CONTROL_H

#include "adapters/null/control.h"
#include "cts.h"

/* The control of a device, or NULL. */
const null_control *cts_control_of(qn_device device, const qn_device_info *info);
/* The same for a test that can't do without: it fails with QN_ERROR_UNSUPPORTED. */
const null_control *cts_control(cts *c, qn_device device);

/* CTS_NEEDS_CONTROL and CTS_NEEDS_FAULTS of a device. */
uint64_t cts_control_features(qn_device device, const qn_device_info *info);

/* A device of a runtime of its own, since all of it may fail. It has the test's selector. */
qn_device cts_fragile_device(cts *c, qn_runtime *out_runtime);

/* Gives the queue of a device a command that fails; its point. */
qn_point cts_fault(cts *c, qn_device device, qn_queue queue);

/* Lets a held queue go after a while, or at the test's end. */
void cts_go_later(cts *c, const null_control *control, uint64_t queue, uint64_t ns);

#endif

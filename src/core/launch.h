/* launch.h - launching, within a call. */
#ifndef QUERN_CORE_LAUNCH_H
#define QUERN_CORE_LAUNCH_H

#include <stdint.h>

#include "quern/quern.h"

/* qn_launch without the gate (exit.h). */
QN_MUST_USE qn_status core_launch(qn_queue queue, qn_kernel kernel, const qn_range *range, const qn_argument *arguments,
                                  uint32_t count, qn_point *out_point);

#endif

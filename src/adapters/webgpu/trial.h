/* trial.h - a library is tried out, call by call, before anything is asked of it in earnest.
 *
 * A struct that has other fields than the adapter believes makes a library read or write what isn't meant, and a callback that
 * has one parameter more writes where it must not. Names don't tell. So the whole way from an instance to a kernel's result is
 * gone once in a child process (quern-probe beside the adapter), and only when each answer there was the right one are the same
 * calls made in this process. */
#ifndef QUERN_ADAPTERS_WEBGPU_TRIAL_H
#define QUERN_ADAPTERS_WEBGPU_TRIAL_H

#include "webgpu.h"

/* What the child process is told by: the number of a descriptor for its answer. */
#define WG_TRIAL_VARIABLE "QUERN_WEBGPU_TRIAL"

/* In the child: goes the way with an instance's library and writes the answer. */
qn_status wg_trial_answer(const qn_adapter_instance *instance, const char *descriptor);
/* Whether the library has passed, in this process's memory or by a child. Errors: NOT_FOUND, with what happened there. */
qn_status wg_trial_pass(const qn_adapter_instance *instance);

#endif

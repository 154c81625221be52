/* child.h - the adapter in another process, with the same library, for a trial. */
#ifndef QUERN_ADAPTERS_WEBGPU_CHILD_H
#define QUERN_ADAPTERS_WEBGPU_CHILD_H

#include "webgpu.h"

enum { WG_CHILD_ANSWER = 512 };
#define WG_CHILD_WORKS "works"

/* Runs quern-probe, which stands beside the adapter. A library that has passed once in this process, and is the same file, isn't
 * tried again. QN_OK: it works. Else `answer` says what the child said, or how it ended. */
qn_status wg_child_try(const char *library, char answer[WG_CHILD_ANSWER]);

#endif

/* event.h - a descriptor that becomes readable, for the event loops of callers. */
#ifndef QUERN_BASE_OS_EVENT_H
#define QUERN_BASE_OS_EVENT_H

#include <stdint.h>

#include "quern/quern.h"

/* Two descriptors of one event: signalling one makes the other readable, and each is closed by itself, so that the reader may
 * close its own at any time. Closed in programs that are started. Errors: LIMIT, UNSUPPORTED. */
QN_MUST_USE qn_status qn_event_open(int32_t *out_reader, int32_t *out_signaller);
/* Never waits. */
void qn_event_signal(int32_t signaller);
void qn_event_close(int32_t descriptor);

#endif

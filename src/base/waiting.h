/* waiting.h - a call that waits for another process says so after a moment, to who looks on. */
#ifndef QUERN_BASE_WAITING_H
#define QUERN_BASE_WAITING_H

#include <stdbool.h>
#include <stdint.h>

/* How long a wait may be without a word. */
#define QN_WAITING_QUIET_NS UINT64_C(1000000000)

/* Whether this thread's waits are told on standard error, a terminal; else QUERN_LOG=cache alone tells them. Gives what was
 * before, to be put back. */
bool qn_waiting_is_shown(bool shown);
/* One line: "waiting for process 1234 (quern), which builds into 'out'". */
void qn_waiting_tell(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif

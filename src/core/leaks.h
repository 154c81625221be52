/* leaks.h - QUERN_CHECK=leaks: what was not released when its runtime closes, with the place where it was made.
 *
 * Every object carries its place (base/place.h) from the moment its handle is made. A leak is a live handle at the closing:
 * what only children or work in flight still hold is none.
 */
#ifndef QUERN_CORE_LEAKS_H
#define QUERN_CORE_LEAKS_H

#include <stdint.h>

/* Looks at a runtime whose handles are about to be revoked. Writes what is left to the log, and keeps it for
 * qn_leak_report. Does nothing when the check is off. */
void core_leaks_find(uint32_t owner);

#endif

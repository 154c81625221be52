/* adapter_probe.h - tries a library out in a child process before this one loads it (A5). */
#ifndef QUERN_CORE_ADAPTER_PROBE_H
#define QUERN_CORE_ADAPTER_PROBE_H

#include "quern/quern.h"

/* Loads the library in a child, opens an instance and counts the devices there. QN_ERROR_ABI: the child crashed or did not
 * end; the text says how, and the library must not be loaded. Anything else: loading it here is safe and says more. */
QN_MUST_USE qn_status core_adapter_probe(const char *path);

#endif

/* check_adapter.h - the device `check`: the interpreter as an adapter, built into the library. Its programs are IR text;
 * kernels run exactly and slowly, and an access out of bounds is an error with the kernel's line. */
#ifndef QUERN_CORE_CHECK_ADAPTER_H
#define QUERN_CORE_CHECK_ADAPTER_H

#include "quern/adapter.h"

extern const qn_adapter_table core_check_table;

#endif

/* adapter_table.h - whether a library's table is one that we can use: asked by quern-probe, and by the loader where nothing was tried out. */
#ifndef QUERN_CORE_ADAPTER_TABLE_H
#define QUERN_CORE_ADAPTER_TABLE_H

#include <stdbool.h>
#include <stddef.h>

#include "quern/adapter.h"

/* Reads no more of the table than its version and size promise. When it can't be used `text` says why. `name` is that of the
 * library's file, between libquern-adapter- and .so. */
bool core_adapter_table_is_usable(const qn_adapter_table *table, const char *name, char *text, size_t size);

#endif

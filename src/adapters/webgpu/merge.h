/* merge.h - the text for launches whose arguments share a block. WebGPU refuses a buffer that is bound twice when one of the
 * bindings may write. In the text for such launches the declaration of one is taken out and the other's name is put in its place. */
#ifndef QUERN_ADAPTERS_WEBGPU_MERGE_H
#define QUERN_ADAPTERS_WEBGPU_MERGE_H

#include "record.h"

/* holders[i]: the parameter whose binding i uses; itself: its own. The text is freed by the caller. NULL: no memory. */
char *wg_merge(const wg_text *text, const wg_entry *entry, const uint32_t *holders, uint64_t *out_size);

#endif

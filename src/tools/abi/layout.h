/* layout.h - the text form of interfaces: kept as golden layouts, and how the processes that read inputs hand them over.
 *
 *   quern-abi layout 1
 *   targets x86_64-linux i386-linux
 *   struct point
 *     size 16
 *     align 8 @x86_64-linux
 *     align 4 @i386-linux
 *     field queue 0 8 fixed uint64_t
 *   function point_get
 *     lowered "i32 (ptr)"
 *     result fixed 4 int32_t
 *     parameter out pointer 8 "point *" @x86_64-linux
 *     parameter out pointer 4 "point *" @i386-linux
 *
 * An item starts at the line's begin, what it consists of is indented. A line that not every target has ends with the
 * targets that have it. With places each line also says where it was declared: # FILE LINE. docs/abi.md has the words.
 */
#ifndef QUERN_TOOLS_ABI_LAYOUT_H
#define QUERN_TOOLS_ABI_LAYOUT_H

#include "interface.h"

void layout_write(pool_text *out, const abi_set *set, bool places);

/* Whether a file that begins so is one. */
bool layout_is(const char *data, size_t size);
/* Reads one. False: *out_error says which line and what is wrong with it. */
bool layout_read(const char *text, abi_set *out, const char **out_error);

#endif

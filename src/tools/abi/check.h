/* check.h - the rules: what each finds in an interface. */
#ifndef QUERN_TOOLS_ABI_CHECK_H
#define QUERN_TOOLS_ABI_CHECK_H

#include "violation.h"

/* `fixed_width`: int and long long are violations too, because only int32_t and its kin say how wide they are. */

/* A1: what functions and callbacks take and give. */
void check_calls(violations *out, const abi_set *set, bool fixed_width);
/* A2: what structs consist of, on each target. */
void check_records(violations *out, const abi_set *set, bool fixed_width);
/* A3: what differs between the targets. */
void check_targets(violations *out, const abi_set *set);
/* Growth: what a program that was compiled with `old` finds changed in `set`. Targets that both have are compared; false:
 * there is none. */
bool check_growth(violations *out, const abi_set *set, const abi_set *old);

/* A pointer's field with its upper half behind it: how many fields it takes (1 or 2), and how many bytes. */
size_t check_slot(const abi_record *record, size_t field, uint64_t *out_bytes);

#endif

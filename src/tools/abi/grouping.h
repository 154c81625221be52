/* grouping.h - which targets say the same of something. */
#ifndef QUERN_TOOLS_ABI_GROUPING_H
#define QUERN_TOOLS_ABI_GROUPING_H

#include "interface.h"

typedef struct grouping {
  struct group {
    const char *text;
    abi_target_set on;
  } *items; /* in the order of their first targets */
  size_t count, capacity;
} grouping;

void grouping_add(grouping *g, const char *text, size_t target);
/* "TEXT on x86-64 Linux and i386 Linux; TEXT on wasm32" */
const char *grouping_text(const grouping *g, const abi_set *set);

#endif

/* grouping.c - which targets say the same of something. */
#include "grouping.h"

#include <string.h>

void grouping_add(grouping *g, const char *text, size_t target) {
  size_t i = 0;
  while (i < g->count && strcmp(g->items[i].text, text) != 0) i++;
  if (i == g->count) *POOL_PUSH(g) = (struct group){text, 0};
  g->items[i].on |= UINT64_C(1) << target;
}

const char *grouping_text(const grouping *g, const abi_set *set) {
  pool_text text = {0};
  for (size_t i = 0; i < g->count; i++)
    pool_add(&text, "%s%s on %s", i ? "; " : "", g->items[i].text,
             abi_target_list(set->targets, set->count, g->items[i].on));
  return text.data ? text.data : "";
}

/* allow.h - the list of violations that are allowed, each entry with its reason.
 *
 *   # a comment
 *   KIND SUBJECT REASON
 *   struct-by-value wgpu* called by one shim file alone, which is compiled for the real target
 *
 * KIND is a kind's name, a rule's (A1) or *; SUBJECT a violation's, where * stands for any text.
 */
#ifndef QUERN_TOOLS_ABI_ALLOW_H
#define QUERN_TOOLS_ABI_ALLOW_H

#include "violation.h"

typedef struct allow_entry {
  const char *path, *kind, *subject, *reason;
  unsigned line;
  size_t matched;
} allow_entry;

typedef struct allow_list {
  allow_entry *items;
  size_t count, capacity;
} allow_list;

/* Adds a file's entries. False: *out_error says in lines what is wrong. */
bool allow_read(const char *path, allow_list *out, const char **out_error);
/* Marks what is allowed, and counts what each entry matched. */
void allow_apply(allow_list *list, violations *all);

#endif

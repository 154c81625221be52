/* names.h - identifiers of a text that is written for another compiler: from the names that the source has, legal there,
 * and each one thing. */
#ifndef QUERN_COMPILER_TARGET_TEXT_NAMES_H
#define QUERN_COMPILER_TARGET_TEXT_NAMES_H

#include <stdbool.h>

#include "base/arena.h"
#include "base/map.h"

typedef struct text_names {
  qn_arena *arena;
  bool (*is_reserved)(qn_sv name); /* a word of the language, or something that it has built in */
  const char *prefix;              /* of what the emitter adds itself; no name of the source begins so */
  qn_map module, function;
  bool failed; /* out of memory: names are wrong from then on */
} text_names;

void text_names_init(text_names *names, qn_arena *arena, bool (*is_reserved)(qn_sv name), const char *prefix);
void text_names_free(text_names *names);
/* A new name in the module, visible in all its functions: `wish`, or with a number behind it. */
const char *text_name_global(text_names *names, const char *wish);
/* The same for what the emitter adds: the prefix stands in front. */
const char *text_name_own(text_names *names, const char *wish);
/* Names of one function, which are not those of the module either. text_names_leave forgets them. */
const char *text_name_local(text_names *names, const char *wish);
void text_names_leave(text_names *names);

#endif

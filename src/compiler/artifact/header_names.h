/* header_names.h - names that a C header may use: unlike every word that a C or C++ compiler, a standard header or quern.h may
 * have a meaning for, and unlike each other. The choice depends on the names alone. */
#ifndef QUERN_COMPILER_ARTIFACT_HEADER_NAMES_H
#define QUERN_COMPILER_ARTIFACT_HEADER_NAMES_H

#include <stdbool.h>

#include "base/arena.h"
#include "base/map.h"

/* Names of one scope. */
typedef struct header_names {
  qn_arena *arena; /* the names' memory */
  qn_map taken;
  bool failed; /* no memory; names are then "" */
} header_names;

void header_names_free(header_names *names);

/* Whether a name means something else already: a keyword, a macro, a type, or what begins as those do. */
bool header_name_is_reserved(const char *name);
/* Takes a name that is to be kept as it is: false when it can't be, being reserved, taken, or no identifier of C. */
bool header_names_keep(header_names *names, const char *name);
/* Takes a name whatever it is: of what stands in the scope already. */
void header_names_take(header_names *names, const char *name);
/* Takes `wanted`, made an identifier, with as many underscores behind it as make it free. In the arena. */
const char *header_names_choose(header_names *names, const char *wanted);

#endif

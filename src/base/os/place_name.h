/* place_name.h - names of the files that a transaction makes beside its outputs (replace.h). A name carries a random number and
 * a check of it, so that no file that somebody else has named is ever taken for one of these. */
#ifndef QUERN_BASE_OS_PLACE_NAME_H
#define QUERN_BASE_OS_PLACE_NAME_H

#include <stdbool.h>

enum { QN_PLACE_NAME = 64 };

typedef enum qn_place_use {
  QN_PLACE_TEMPORARY, /* of no use when its transaction is dead */
  QN_PLACE_UNDO       /* what a file held that was about to be overwritten: for the next transaction */
} qn_place_use;

/* A name that nobody uses. */
void qn_place_name_make(qn_place_use use, char out[QN_PLACE_NAME]);
/* Whether a name was made so. */
bool qn_place_name_is(const char *name, qn_place_use use);

#endif

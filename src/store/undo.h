/* undo.h - a file that can't be replaced but can be written (a mount point) is overwritten under a record of what it held.
 *
 * The record lies beside it, on the disk before the first byte is changed, until the transaction is over. A process that is
 * killed leaves the file torn and the record whole; the next transaction in the directory puts the old bytes back. It does so only
 * when every byte is what the dead one left, so that nothing of anybody's later work is lost. */
#ifndef QUERN_STORE_UNDO_H
#define QUERN_STORE_UNDO_H

#include "base/os/replace.h"
#include "base/string_view.h"

/* Writes the record of a file that will be overwritten with `bytes`. Errors: IO, OUT_OF_HOST_MEMORY; nothing is left. */
QN_MUST_USE qn_status qn_undo_record(const qn_place *place, const char *name, qn_sv bytes,
                                     char out_record[QN_PLACE_NAME]);
/* Puts the old bytes back. Errors: IO, DATA, OUT_OF_HOST_MEMORY; the record stays then, for the next transaction. */
QN_MUST_USE qn_status qn_undo_restore(const qn_place *place, const char *record);
/* Puts back what dead transactions left torn, and removes their records and their temporary files. Returns whether records stay: of a file that isn't
 * there now, because it isn't mounted, say. */
bool qn_undo_recover(const qn_place *place);
/* Removes records of a file that has been written whole since. */
void qn_undo_forget(const qn_place *place, const char *name);

#endif

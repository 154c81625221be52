/* dl.h - libraries loaded at run time. Symbols of one library are not seen by others. */
#ifndef QUERN_BASE_OS_DL_H
#define QUERN_BASE_OS_DL_H

#include "quern/quern.h"

typedef struct qn_library qn_library; /* the system's own handle */

/* Opens by path, or by name as the system searches. Every symbol is bound now, so that a missing one is an error here.
 * Errors: NOT_FOUND with the system's words. */
QN_MUST_USE qn_status qn_library_open(const char *path, qn_library **out_library);
/* Errors: NOT_FOUND, the symbol and the library named. `path` is for the text. */
QN_MUST_USE qn_status qn_library_symbol(qn_library *library, const char *path, const char *name, void **out_address);
/* What the program itself, or a library that it is linked with, exports; NULL: nothing of this name. */
void *qn_program_symbol(const char *name);
/* NULL is allowed. */
void qn_library_close(qn_library *library);

/* A function of a library: void * and function pointers convert both ways on every system that has libraries, but ISO C
 * says so only for objects.  QN_LIBRARY_FUNCTION(lib, path, "name", &pointer) */
#define QN_LIBRARY_FUNCTION(library, path, name, out_function) \
  qn_library_symbol((library), (path), (name), (void **)(void *)(out_function))

#endif

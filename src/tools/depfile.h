/* depfile.h - what --depfile asks for. A file is replaced together with the outputs, where a link leads; to a device, a pipe or a
 * file that the command was given open (/dev/stdout) it is sent when they are in their places. */
#ifndef QUERN_TOOLS_DEPFILE_H
#define QUERN_TOOLS_DEPFILE_H

#include "build.h"

typedef struct depfile {
  char *text;
  size_t size;
  char *place, *directory; /* of the file; NULL: none is asked for, or it is sent */
  const char *name;        /* in the directory */
  int stream;              /* where it is sent; -1: nowhere */
} depfile;

/* Whether a makefile can say the names. */
tool_status depfile_check(const build_options *o);
/* The text, and its place, which is looked at or opened. To be freed in any case. */
tool_status depfile_make(const build_options *o, const build_job *jobs, size_t count, depfile *d);
/* After the outputs. */
tool_status depfile_send(const build_options *o, const depfile *d);
void depfile_free(depfile *d);

#endif

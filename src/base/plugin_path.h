/* plugin_path.h - where this build's plug-ins may be: adapters, libquern-llvm.so, quern-probe. */
#ifndef QUERN_BASE_PLUGIN_PATH_H
#define QUERN_BASE_PLUGIN_PATH_H

#include "base/arena.h"
#include "quern/quern.h"

enum { QN_PLUGIN_PLACES = 4 };

/* Directories in the order of the search: the library's own; `quern` in it (an installed library); `../lib/quern` (an
 * installed program that holds libquern.a); where the build installs. Some may not exist. Errors: OUT_OF_HOST_MEMORY. */
QN_MUST_USE qn_status qn_plugin_places(qn_arena *arena, const char *out_places[QN_PLUGIN_PLACES]);

/* The path of the first that has a file of this name: the directories of QUERN_ADAPTER_PATH, then the places. Errors: NOT_FOUND, the text naming the places; OUT_OF_HOST_MEMORY. */
QN_MUST_USE qn_status qn_plugin_find(qn_arena *arena, const char *name, const char **out_path);

#endif

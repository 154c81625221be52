#include "base/plugin_path.h"

#include <string.h>

#include "base/os/environment.h"
#include "base/os/files.h"
#include "base/status.h"
#include "config.h"

static qn_status no_memory(void) {
  return qn_error_set(QN_ERROR_OUT_OF_HOST_MEMORY, "no memory for the places of plug-ins");
}

qn_status qn_plugin_places(qn_arena *arena, const char *out_places[QN_PLUGIN_PLACES]) {
  static const char *const beside[QN_PLUGIN_PLACES - 1] = {"", "/quern", "/../lib/quern"};
  const char *own = NULL;
  qn_status status = qn_path_of_library(arena, &own);
  if (status == QN_ERROR_OUT_OF_HOST_MEMORY) return status;
  if (!own) own = QN_CONFIG_PLUGIN_DIRECTORY; /* no /proc: the installed place is all that is left */
  for (int i = 0; i < QN_PLUGIN_PLACES - 1; i++) {
    out_places[i] = qn_arena_printf(arena, "%s%s", own, beside[i]);
    if (!out_places[i]) return no_memory();
  }
  out_places[QN_PLUGIN_PLACES - 1] = QN_CONFIG_PLUGIN_DIRECTORY;
  return QN_OK;
}

/* In one directory; *out_path stays when the file isn't there. */
static qn_status look_in(qn_arena *arena, qn_sv directory, const char *name, const char **out_path) {
  char *path = qn_path_join(arena, directory, qn_sv_from(name));
  if (!path) return no_memory();
  if (qn_file_exists(path)) *out_path = path;
  return QN_OK;
}

static qn_status look_in_environment(qn_arena *arena, const char *name, const char **out_path) {
  const char *at = qn_environment("QUERN_ADAPTER_PATH");
  while (at && *at && !*out_path) {
    size_t length = strcspn(at, ":");
    if (length) QN_TRY(look_in(arena, qn_sv_make(at, length), name, out_path));
    at += length + (at[length] == ':');
  }
  return QN_OK;
}

qn_status qn_plugin_find(qn_arena *arena, const char *name, const char **out_path) {
  const char *places[QN_PLUGIN_PLACES], *found = NULL;
  QN_TRY(look_in_environment(arena, name, &found));
  QN_TRY(qn_plugin_places(arena, places));
  for (int i = 0; i < QN_PLUGIN_PLACES && !found; i++) QN_TRY(look_in(arena, qn_sv_from(places[i]), name, &found));
  if (!found)
    QN_FAIL(QN_ERROR_NOT_FOUND, "there is no %s in QUERN_ADAPTER_PATH, %s, %s, %s, %s", name, places[0], places[1],
            places[2], places[3]);
  *out_path = found;
  return QN_OK;
}

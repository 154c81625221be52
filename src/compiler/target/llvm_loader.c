/* llvm_loader.c - libquern-llvm.so: loaded by the first call that must generate code, and kept until the process ends.
 * See docs/cpu-code.md for where it is looked for. */
#include <string.h>

#include "base/arena.h"
#include "base/log.h"
#include "base/os/dl.h"
#include "base/os/environment.h"
#include "base/os/files.h"
#include "base/os/thread.h"
#include "base/status.h"
#include "build_id.h"
#include "compiler/target/llvm/plugin.h"
#include "config.h"

#define LIBRARY "libquern-llvm.so"

/* The table is set once, under the lock. A failure is not kept: the file may come. */
static struct {
  qn_mutex lock;
  const qn_llvm_table *table;
} loader;

static qn_status check(const qn_llvm_table *table, const char *path) {
  if (table->struct_size != sizeof *table)
    QN_FAIL(QN_ERROR_NOT_FOUND, "%s is of another build of Quern: its table has %u bytes, not %zu", path,
            table->struct_size, sizeof *table);
  if (strcmp(table->build_id, QN_BUILD_ID) != 0)
    QN_FAIL(QN_ERROR_NOT_FOUND, "%s is of another build of Quern (%s; this one is %s): install both from one build",
            path, table->build_id, QN_BUILD_ID);
  return QN_OK;
}

static qn_status open_path(const char *path, const qn_llvm_table **out) {
  qn_library *library = NULL;
  qn_llvm_entry_fn entry = NULL;
  QN_TRY(qn_library_open(path, &library));
  qn_status status = QN_LIBRARY_FUNCTION(library, path, QN_LLVM_ENTRY_NAME, &entry);
  if (status >= 0) status = check(entry(), path);
  if (status < 0) {
    qn_library_close(library);
    return status;
  }
  *out = entry();
  QN_LOG(COMPILE, "loaded %s with LLVM %s", path, (*out)->llvm_version);
  return QN_OK;
}

/* In the order of the search; NULL ends it. */
static void list_paths(qn_arena *arena, const char *paths[4]) {
  const char *own = NULL, *places[4] = {NULL, NULL, NULL, QN_CONFIG_PLUGIN_DIRECTORY};
  size_t count = 0;
  if (qn_path_of_library(arena, &own) >= 0) {
    places[0] = own;
    places[1] = qn_arena_printf(arena, "%s/quern", own);
    places[2] = qn_arena_printf(arena, "%s/../lib/quern", own);
  }
  for (size_t i = 0; i < 4; i++)
    if (places[i]) paths[count++] = qn_arena_printf(arena, "%s/" LIBRARY, places[i]);
  if (count < 4) paths[count] = NULL;
}

/* The first file that is there decides, good or not. */
static qn_status search(qn_arena *arena, const qn_llvm_table **out) {
  const char *paths[4] = {NULL, NULL, NULL, NULL};
  list_paths(arena, paths);
  for (size_t i = 0; i < 4 && paths[i]; i++)
    if (qn_file_exists(paths[i])) return open_path(paths[i], out);
  QN_FAIL(QN_ERROR_NOT_FOUND,
          "the code generator " LIBRARY
          " is not there; looked for %s%s%s%s%s%s%s. Install it, or set QUERN_LLVM_LIBRARY to its path",
          paths[0] ? paths[0] : "", paths[1] ? ", " : "", paths[1] ? paths[1] : "", paths[2] ? ", " : "",
          paths[2] ? paths[2] : "", paths[3] ? ", " : "", paths[3] ? paths[3] : "");
}

static qn_status load(const qn_llvm_table **out) {
  const char *named = qn_environment("QUERN_LLVM_LIBRARY");
  if (named) {
    qn_status status = open_path(named, out);
    if (status < 0) qn_error_prefix("QUERN_LLVM_LIBRARY: ");
    return status;
  }
  qn_arena arena;
  qn_arena_init(&arena, 0);
  qn_status status = search(&arena, out);
  qn_arena_free(&arena);
  return status;
}

static qn_status get_table(const qn_llvm_table **out) {
  qn_mutex_lock(&loader.lock);
  qn_status status = loader.table ? QN_OK : load(&loader.table);
  *out = loader.table;
  qn_mutex_unlock(&loader.lock);
  return status;
}

qn_status qn_target_llvm(ir_module *m, const qn_target_options *options, qn_bytes *out) {
  const qn_llvm_table *table = NULL;
  qn_llvm_result result;
  QN_TRY(get_table(&table));
  qn_status status = table->emit(m, options, &result);
  if (status < 0)
    status = qn_error_set(status, "%s", result.error);
  else
    qn_bytes_append(out, result.code.data, result.code.size);
  if (status >= 0 && out->failed) status = qn_error_set(QN_ERROR_OUT_OF_HOST_MEMORY, "out of memory for the code");
  result.release(&result);
  return status;
}

/* llvm_loader.c - libquern-llvm.so: loaded by the first call that must generate code, and kept until the process ends.
 * See docs/cpu-code.md for where it is looked for. */
#include <string.h>

#include "base/arena.h"
#include "base/log.h"
#include "base/os/dl.h"
#include "base/os/environment.h"
#include "base/os/thread.h"
#include "base/plugin_path.h"
#include "base/status.h"
#include "build_id.h"
#include "compiler/target/llvm/plugin.h"

#define LIBRARY "libquern-llvm.so"
#ifndef QN_LLVM_ID
#define QN_LLVM_ID "" /* built without LLVM */
#endif

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

/* The first file that is there decides, good or not. */
static qn_status search(qn_arena *arena, const qn_llvm_table **out) {
  const char *path = NULL;
  qn_status status = qn_plugin_find(arena, LIBRARY, &path);
  if (status == QN_ERROR_NOT_FOUND)
    return qn_error_set(status, "no code generator: %s. Install it, or set QUERN_LLVM_LIBRARY to its path",
                        qn_error_text());
  return status < 0 ? status : open_path(path, out);
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

const char *qn_target_llvm_id(void) { return QN_LLVM_ID; }

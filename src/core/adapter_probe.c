#include "core/adapter_probe.h"

#include <string.h>

#include "base/arena.h"
#include "base/log.h"
#include "base/os/files.h"
#include "base/os/process.h"
#include "base/plugin_path.h"
#include "base/status.h"

#define PROBE "quern-probe"
enum { SAYS_WHY = 10 }; /* the program's exit status for an adapter that fails in an orderly way */

/* Starting a driver takes a second or two at worst. */
#define PATIENCE_NS UINT64_C(20000000000)

/* Beside the adapter (QUERN_ADAPTER_PATH may name another installation's), else with the other plug-ins. */
static qn_status find_probe(qn_arena *arena, const char *adapter, const char **out_path) {
  *out_path = qn_path_join(arena, qn_path_directory(qn_sv_from(adapter)), QN_SV(PROBE));
  if (*out_path && qn_file_exists(*out_path)) return QN_OK;
  return qn_plugin_find(arena, PROBE, out_path);
}

static qn_status judge(const char *path, const qn_process_end *end) {
  if (end->timed_out)
    QN_FAIL(QN_ERROR_ABI, "it did not finish loading in %llu seconds when it was tried out in a process of its own",
            (unsigned long long)(PATIENCE_NS / 1000000000u));
  if (end->signal != 0)
    QN_FAIL(QN_ERROR_ABI, "it crashed with signal %d (%s) when it was tried out in a process of its own", end->signal,
            end->signal_name);
  if (end->exit_status != 0 && end->exit_status != SAYS_WHY)
    QN_FAIL(QN_ERROR_ABI, "it ended the process that tried it out, with exit status %d", end->exit_status);
  QN_LOG(ADAPTER, "tried out %s: exit status %d", path, end->exit_status);
  return QN_OK;
}

static qn_status probe(qn_arena *arena, const char *path) {
  const char *program = NULL;
  if (find_probe(arena, path, &program) < 0) {
    QN_LOG(ADAPTER, "%s is loaded without trying it out: %s", path, qn_error_text());
    return QN_OK;
  }
  const char *const arguments[] = {program, path, NULL};
  qn_process_end end = {0};
  QN_TRY(qn_process_run(arguments, PATIENCE_NS, &end));
  return judge(path, &end);
}

qn_status core_adapter_probe(const char *path) {
  qn_arena arena;
  qn_arena_init(&arena, 0);
  qn_status status = probe(&arena, path);
  qn_arena_free(&arena);
  return status;
}

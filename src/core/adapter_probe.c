#include "core/adapter_probe.h"

#include <stdbool.h>

#include "base/arena.h"
#include "base/log.h"
#include "base/os/environment.h"
#include "base/os/files.h"
#include "base/os/process.h"
#include "base/plugin_path.h"
#include "base/status.h"
#include "base/string_view.h"
#include "core/probe/word.h"

#define PROBE "quern-probe"
/* Starting a driver takes a second or two at worst. */
enum { PATIENCE_SECONDS = 20, MOST_SECONDS = 3600 };

static uint64_t patience_seconds(void) {
  uint64_t seconds = 0;
  const char *text = qn_environment("QUERN_ADAPTER_PATIENCE");
  bool is_number = text && qn_sv_to_u64(qn_sv_from(text), &seconds) && seconds > 0 && seconds <= MOST_SECONDS;
  if (text && !is_number) QN_LOG(ADAPTER, "QUERN_ADAPTER_PATIENCE is '%s'; it is seconds, 1 to %d", text, MOST_SECONDS);
  return is_number ? seconds : PATIENCE_SECONDS;
}

/* Beside the adapter (QUERN_ADAPTER_PATH may name another installation's), else with the other plug-ins. */
static qn_status find_probe(qn_arena *arena, const char *adapter, const char **out_path) {
  *out_path = qn_path_join(arena, qn_path_directory(qn_sv_from(adapter)), QN_SV(PROBE));
  if (*out_path && qn_file_exists(*out_path)) return QN_OK;
  return qn_plugin_find(arena, PROBE, out_path);
}

/* The program says how it went when it has come to its end; a library that crashed, hung or ended the process has kept it
 * from that. */
static qn_status judge(const char *path, const qn_process_end *end, uint64_t seconds) {
  if (end->word == PROBE_REFUSED) QN_FAIL(QN_ERROR_ABI, "%s", end->text);
  if (end->word >= 0) {
    QN_LOG(ADAPTER, "tried out %s: %s", path, end->word == PROBE_WORKS ? "it works" : "it says why it doesn't work");
    return QN_OK;
  }
  if (end->timed_out)
    QN_FAIL(QN_ERROR_ABI, "it did not finish loading in %llu seconds when it was tried out in a process of its own",
            (unsigned long long)seconds);
  if (end->signal != 0)
    QN_FAIL(QN_ERROR_ABI, "it crashed with signal %d (%s) when it was tried out in a process of its own", end->signal,
            end->signal_name);
  if (end->is_known)
    QN_FAIL(QN_ERROR_ABI, "it ended the process that tried it out, with exit status %d", end->exit_status);
  QN_FAIL(QN_ERROR_ABI,
          "the process that tried it out ended early; how is not known, for this program ignores SIGCHLD or "
          "waits for any child");
}

static qn_status probe(qn_arena *arena, const char *path) {
  const char *program = NULL;
  if (find_probe(arena, path, &program) < 0) {
    QN_LOG(ADAPTER, "%s is loaded without trying it out: %s", path, qn_error_text());
    return QN_OK;
  }
  const char *const arguments[] = {program, path, NULL};
  qn_process_end end = {0};
  uint64_t seconds = patience_seconds();
  QN_TRY(qn_process_run(arguments, seconds * UINT64_C(1000000000), &end));
  return judge(path, &end, seconds);
}

qn_status core_adapter_probe(const char *path) {
  qn_arena arena;
  qn_arena_init(&arena, 0);
  qn_status status = probe(&arena, path);
  qn_arena_free(&arena);
  return status;
}

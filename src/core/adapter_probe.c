#include "core/adapter_probe.h"

#include <stdio.h>

#include "base/arena.h"
#include "base/log.h"
#include "base/os/files.h"
#include "base/os/process.h"
#include "base/status.h"
#include "config.h"

#define PROBE "quern-probe"
enum { SAYS_WHY = 10 }; /* the program's exit status for an adapter that fails in an orderly way */

/* Starting a driver takes a second or two at worst. */
#define PATIENCE_NS UINT64_C(20000000000)

static const char *find_probe(qn_arena *arena) {
  const char *own = NULL;
  const char *places[3] = {NULL, NULL, QN_CONFIG_PLUGIN_DIRECTORY "/" PROBE};
  if (qn_path_of_library(arena, &own) >= 0) {
    places[0] = qn_arena_printf(arena, "%s/" PROBE, own);
    places[1] = qn_arena_printf(arena, "%s/quern/" PROBE, own);
  }
  for (int i = 0; i < 3; i++)
    if (places[i] && qn_file_exists(places[i])) return places[i];
  return NULL;
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
  const char *program = find_probe(arena);
  if (!program) {
    QN_LOG(ADAPTER, PROBE " is not there; %s is loaded without trying it out", path);
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

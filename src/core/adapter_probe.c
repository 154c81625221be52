#include "core/adapter_probe.h"

#include <string.h>

#include "base/arena.h"
#include "base/log.h"
#include "base/os/environment.h"
#include "base/os/files.h"
#include "base/os/process.h"
#include "base/status.h"
#include "config.h"

#define PROBE "quern-probe"
enum { SAYS_WHY = 10 }; /* the program's exit status for an adapter that fails in an orderly way */

/* Starting a driver takes a second or two at worst. */
#define PATIENCE_NS UINT64_C(20000000000)

/* The program in a directory, or NULL. */
static const char *probe_in(qn_arena *arena, qn_sv directory) {
  const char *path = directory.size > 0 ? qn_path_join(arena, directory, QN_SV(PROBE)) : NULL;
  return path && qn_file_exists(path) ? path : NULL;
}

/* Where QUERN_ADAPTER_PATH looks for adapters: a program that is linked statically has nothing beside it. */
static const char *probe_on_path(qn_arena *arena) {
  const char *at = qn_environment("QUERN_ADAPTER_PATH");
  const char *found = NULL;
  while (at && *at && !found) {
    size_t size = strcspn(at, ":");
    found = probe_in(arena, qn_sv_make(at, size));
    at += size;
    at += *at == ':';
  }
  return found;
}

static const char *find_probe(qn_arena *arena, const char *library) {
  const char *own = NULL, *found = NULL;
  if (qn_path_of_library(arena, &own) >= 0) {
    const char *below = qn_arena_printf(arena, "%s/quern", own);
    found = probe_in(arena, qn_sv_from(own));
    if (!found && below) found = probe_in(arena, qn_sv_from(below));
  }
  if (!found) found = probe_in(arena, qn_path_directory(qn_sv_from(library)));
  if (!found) found = probe_on_path(arena);
  return found ? found : probe_in(arena, QN_SV(QN_CONFIG_PLUGIN_DIRECTORY));
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
  const char *program = find_probe(arena, path);
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

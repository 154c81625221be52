#include "helpers.h"

#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cts.h"

extern char **environ;

/* ---- In the process of the helper ------------------------------------------------------------------ */

typedef struct session {
  qn_runtime runtime;
  qn_device device;
  qn_queue queue;
  qn_buffer buffer;
} session;

static qn_status open_session(session *s, const char *selector) {
  qn_buffer_options options = QN_INIT(qn_buffer_options);
  options.size_bytes = 16 << 20;
  *s = (session){0};
  qn_status status = qn_runtime_open(NULL, &s->runtime);
  if (status == QN_OK) status = qn_device_open(s->runtime, selector, &s->device);
  if (status == QN_OK) status = qn_queue_create(s->device, NULL, &s->queue);
  if (status == QN_OK) status = qn_buffer_create(s->device, &options, &s->buffer);
  return status;
}

/* Fills in flight. */
static qn_status keep_busy(const session *s) {
  const qn_view view = cts_view(s->buffer, 0, QN_WHOLE);
  qn_status status = QN_OK;
  for (int i = 0; i < 20 && status == QN_OK; i++) status = qn_fill(s->queue, &view, "x", 1, NULL);
  return status;
}

/* main returns; nothing was closed and the work is in flight. */
static qn_status exit_with_work(const char *selector) {
  session s;
  qn_status status = open_session(&s, selector);
  return status == QN_OK ? keep_busy(&s) : status;
}

static qn_status exit_after_close(const char *selector) {
  session s;
  qn_status status = open_session(&s, selector);
  if (status == QN_OK) status = keep_busy(&s);
  return status == QN_OK ? qn_runtime_close(s.runtime, CTS_PATIENCE) : status;
}

static session at_exit_session;
static void release_at_exit(void) {
  (void)qn_release(at_exit_session.buffer);
  (void)qn_release(at_exit_session.queue);
  (void)qn_release(at_exit_session.device);
  (void)qn_runtime_close(at_exit_session.runtime, CTS_SECOND);
}

/* A handler of the program's own, registered first and so run last, releases and closes. */
static qn_status release_in_exit_handler(const char *selector) {
  atexit(release_at_exit);
  qn_status status = open_session(&at_exit_session, selector);
  return status == QN_OK ? keep_busy(&at_exit_session) : status;
}

static const struct helper {
  const char *name;
  qn_status (*run)(const char *selector);
} helpers[] = {{"exit-with-work", exit_with_work},
               {"exit-after-close", exit_after_close},
               {"release-in-exit-handler", release_in_exit_handler}};

int cts_helper_main(const cts_options *options) {
  for (size_t i = 0; i < sizeof helpers / sizeof *helpers; i++) {
    if (strcmp(helpers[i].name, options->helper) != 0) continue;
    qn_status status = helpers[i].run(options->devices);
    if (status < 0) fprintf(stderr, "%s: %s: %s\n", options->helper, qn_status_name(status), qn_error_text());
    return status < 0 ? CTS_EXIT_FAILED : CTS_EXIT_OK;
  }
  fprintf(stderr, "quern-cts: there is no helper '%s'\n", options->helper);
  return CTS_EXIT_USAGE;
}

/* ---- In the test ----------------------------------------------------------------------------------- */

int cts_run_helper(cts *c, const char *helper) {
  char *arguments[] = {(char *)(uintptr_t)"quern-cts", (char *)(uintptr_t)"--helper",  (char *)(uintptr_t)helper,
                       (char *)(uintptr_t)"-d",        (char *)(uintptr_t)c->selector, NULL};
  pid_t pid = 0;
  int status = 0;
  if (posix_spawn(&pid, "/proc/self/exe", NULL, NULL, arguments, environ) != 0)
    cts_fail_format(CTS_HERE, strerror(errno), "a process for the helper '%s'", helper);
  while (waitpid(pid, &status, 0) < 0 && errno == EINTR) continue;
  return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

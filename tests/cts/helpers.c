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

/* Builds a program, runs it, and tells where it came from: 10 + `cached` of qn_program_info. */
static qn_status tell_where_from(const char *selector) {
  session s;
  qn_program program = NULL;
  qn_kernel kernel = NULL;
  uint32_t out = 0;
  qn_program_info info = QN_INIT(qn_program_info);
  qn_program_options options = QN_INIT(qn_program_options);
  options.source = "kernel void get(global uint *out) { out[0] = 4711 + (uint)get_global_id(0); }";
  qn_status status = open_session(&s, selector);
  const qn_view view = cts_view(s.buffer, 0, sizeof out);
  if (status == QN_OK) status = qn_program_build(s.device, &options, &program);
  if (status == QN_OK) status = qn_program_query(program, &info);
  if (status == QN_OK) status = qn_kernel_get(program, "get", &kernel);
  if (status == QN_OK) status = qn_launch(s.queue, kernel, QN_RANGE_1D(1), QN_ARGS(s.buffer), NULL);
  if (status == QN_OK) status = qn_read(s.queue, &view, &out, NULL);
  if (status == QN_OK) status = qn_queue_finish(s.queue, CTS_PATIENCE);
  if (status == QN_OK) status = qn_runtime_close(s.runtime, CTS_PATIENCE);
  if (status < 0) return status;
  return out == 4711 ? 10 + (qn_status)info.cached : CTS_EXIT_FAILED;
}

/* What `run` gives below zero is an error, else the exit status. */
static const struct helper {
  const char *name;
  qn_status (*run)(const char *selector);
} helpers[] = {{"tell-where-from", tell_where_from},
               {"exit-with-work", exit_with_work},
               {"exit-after-close", exit_after_close},
               {"release-in-exit-handler", release_in_exit_handler}};

int cts_helper_main(const cts_options *options) {
  for (size_t i = 0; i < sizeof helpers / sizeof *helpers; i++) {
    if (strcmp(helpers[i].name, options->helper) != 0) continue;
    qn_status status = helpers[i].run(options->devices);
    if (status < 0) fprintf(stderr, "%s: %s: %s\n", options->helper, qn_status_name(status), qn_error_text());
    return status < 0 ? CTS_EXIT_FAILED : status;
  }
  fprintf(stderr, "quern-cts: there is no helper '%s'\n", options->helper);
  return CTS_EXIT_USAGE;
}

/* ---- In the test ----------------------------------------------------------------------------------- */

/* A copy of the environment with other variables in front, for free(). The strings are shared. */
static char **environment_with(const char *const variables[2]) {
  size_t count = 0, used = 0;
  while (environ[count]) count++;
  char **copy = calloc(count + 3, sizeof *copy);
  if (!copy) return NULL;
  for (int i = 0; i < 2; i++)
    if (variables[i]) copy[used++] = (char *)(uintptr_t)variables[i];
  for (size_t n = 0; n < count; n++) {
    bool is_replaced = false;
    for (int i = 0; i < 2; i++) {
      size_t length = variables[i] ? strcspn(variables[i], "=") + 1 : 0;
      is_replaced = is_replaced || (length && strncmp(environ[n], variables[i], length) == 0);
    }
    if (!is_replaced) copy[used++] = environ[n];
  }
  return copy;
}

int cts_run_helper(cts *c, const char *helper, const char *const variables[2]) {
  static const char *const none[2] = {NULL, NULL};
  const char *arguments[] = {"quern-cts", "--helper", helper, "-d", c->selector, NULL};
  pid_t pid = 0;
  int status = 0;
  char **environment = environment_with(variables ? variables : none);
  int failed = environment
                   ? posix_spawn(&pid, "/proc/self/exe", NULL, NULL, (char *const *)(uintptr_t)arguments, environment)
                   : ENOMEM;
  free(environment);
  if (failed) cts_fail_format(CTS_HERE, strerror(failed), "a process for the helper '%s'", helper);
  while (waitpid(pid, &status, 0) < 0 && errno == EINTR) continue;
  return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

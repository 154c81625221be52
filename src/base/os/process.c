#include "base/os/process.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/os/clock.h"
#include "base/status.h"

extern char **environ;

static int spawn_with(pid_t *out_pid, const char *const *arguments, posix_spawn_file_actions_t *actions,
                      posix_spawnattr_t *attributes) {
  for (int fd = 0; fd < 3; fd++) {
    int error = posix_spawn_file_actions_addopen(actions, fd, "/dev/null", O_RDWR, 0);
    if (error != 0) return error;
  }
  int error = posix_spawn_file_actions_addclosefrom_np(actions, 3);
  if (error != 0) return error;
  sigset_t none;
  sigemptyset(&none);
  posix_spawnattr_setsigmask(attributes, &none);
  posix_spawnattr_setflags(attributes, POSIX_SPAWN_SETSIGMASK);
  return posix_spawn(out_pid, arguments[0], actions, attributes, (char *const *)(uintptr_t)arguments, environ);
}

static int spawn(pid_t *out_pid, const char *const *arguments) {
  posix_spawn_file_actions_t actions;
  posix_spawnattr_t attributes;
  int error = posix_spawn_file_actions_init(&actions);
  if (error != 0) return error;
  error = posix_spawnattr_init(&attributes);
  if (error == 0) {
    error = spawn_with(out_pid, arguments, &actions, &attributes);
    posix_spawnattr_destroy(&attributes);
  }
  posix_spawn_file_actions_destroy(&actions);
  return error;
}

/* Waits for this child alone: the program's other children and its SIGCHLD handler are its own business. */
static qn_status wait_for_end(pid_t pid, uint64_t timeout_ns, int *out_status, bool *out_timed_out) {
  uint64_t deadline = qn_clock_deadline(timeout_ns);
  uint64_t pause = 50000;
  for (;;) {
    pid_t ended = waitpid(pid, out_status, WNOHANG);
    if (ended == pid) return QN_OK;
    if (ended < 0 && errno != EINTR)
      QN_FAIL(QN_ERROR_INTERNAL, "the end of a child process can't be waited for: %s", strerrordesc_np(errno));
    if (qn_clock_left(deadline) == 0 && !*out_timed_out) {
      *out_timed_out = true;
      kill(pid, SIGKILL);
    }
    qn_clock_sleep(pause);
    if (pause < 2000000) pause += pause / 4;
  }
}

qn_status qn_process_run(const char *const *arguments, uint64_t timeout_ns, qn_process_end *out_end) {
  pid_t pid = 0;
  int status = 0;
  qn_process_end end = {0};
  int error = spawn(&pid, arguments);
  if (error != 0) QN_FAIL(QN_ERROR_NOT_FOUND, "'%s' can't be started: %s", arguments[0], strerrordesc_np(error));
  QN_TRY(wait_for_end(pid, timeout_ns, &status, &end.timed_out));
  if (WIFSIGNALED(status)) {
    end.signal = WTERMSIG(status);
    end.signal_name = sigdescr_np(end.signal);
  } else {
    end.exit_status = WEXITSTATUS(status);
  }
  *out_end = end;
  return QN_OK;
}

uint32_t qn_process_user(void) { return (uint32_t)geteuid(); }

uint64_t qn_process_id(void) { return (uint64_t)getpid(); }

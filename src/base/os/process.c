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

/* `word` becomes descriptor QN_PROCESS_WORD; it is none of the first four. */
static int set_descriptors(posix_spawn_file_actions_t *actions, int word) {
  for (int fd = 0; fd < QN_PROCESS_WORD; fd++) {
    int error = posix_spawn_file_actions_addopen(actions, fd, "/dev/null", O_RDWR, 0);
    if (error != 0) return error;
  }
  int error = posix_spawn_file_actions_adddup2(actions, word, QN_PROCESS_WORD);
  return error != 0 ? error : posix_spawn_file_actions_addclosefrom_np(actions, QN_PROCESS_WORD + 1);
}

static int spawn_with(pid_t *out_pid, const char *const *arguments, int word, posix_spawn_file_actions_t *actions,
                      posix_spawnattr_t *attributes) {
  int error = set_descriptors(actions, word);
  if (error != 0) return error;
  sigset_t none;
  sigemptyset(&none);
  posix_spawnattr_setsigmask(attributes, &none);
  posix_spawnattr_setflags(attributes, POSIX_SPAWN_SETSIGMASK);
  return posix_spawn(out_pid, arguments[0], actions, attributes, (char *const *)(uintptr_t)arguments, environ);
}

static int spawn(pid_t *out_pid, const char *const *arguments, int word) {
  posix_spawn_file_actions_t actions;
  posix_spawnattr_t attributes;
  int error = posix_spawn_file_actions_init(&actions);
  if (error != 0) return error;
  error = posix_spawnattr_init(&attributes);
  if (error == 0) {
    error = spawn_with(out_pid, arguments, word, &actions, &attributes);
    posix_spawnattr_destroy(&attributes);
  }
  posix_spawn_file_actions_destroy(&actions);
  return error;
}

/* Waits for this child alone: the program's other children and its SIGCHLD handler are its own business. */
static void wait_for_end(pid_t pid, uint64_t timeout_ns, qn_process_end *end) {
  uint64_t deadline = qn_clock_deadline(timeout_ns);
  uint64_t pause = 50000;
  for (;;) {
    int status = 0;
    pid_t ended = waitpid(pid, &status, WNOHANG);
    if (ended < 0 && errno != EINTR) return; /* its end is not to be had */
    if (ended == pid) {
      end->is_known = true;
      if (WIFSIGNALED(status)) end->signal = WTERMSIG(status);
      if (WIFEXITED(status)) end->exit_status = WEXITSTATUS(status);
      return;
    }
    if (qn_clock_left(deadline) == 0 && !end->timed_out) {
      end->timed_out = true;
      kill(pid, SIGKILL);
    }
    qn_clock_sleep(pause);
    if (pause < 2000000) pause += pause / 4;
  }
}

/* What has been written; it never waits: another process may have the other end open still. */
static qn_status read_word(int reader, qn_process_end *end) {
  unsigned char said[sizeof end->text];
  ssize_t got = read(reader, said, sizeof said);
  if (got > 0) {
    end->word = said[0];
    memcpy(end->text, said + 1, (size_t)got - 1); /* the rest is zero */
  }
  if (got < 0 && errno != EAGAIN)
    QN_FAIL(QN_ERROR_IO, "the word of a child process can't be read: %s", strerrordesc_np(errno));
  return QN_OK;
}

/* A pipe whose writing end is not among the first four descriptors. */
static qn_status open_pipe(int ends[2]) {
  if (pipe2(ends, O_CLOEXEC | O_NONBLOCK) != 0)
    QN_FAIL(QN_ERROR_LIMIT, "no pipe to a child process can be made: %s", strerrordesc_np(errno));
  int high = fcntl(ends[1], F_DUPFD_CLOEXEC, QN_PROCESS_WORD + 1);
  if (high < 0) {
    int error = errno;
    close(ends[0]);
    close(ends[1]);
    QN_FAIL(QN_ERROR_LIMIT, "no pipe to a child process can be made: %s", strerrordesc_np(error));
  }
  close(ends[1]);
  ends[1] = high;
  return QN_OK;
}

qn_status qn_process_run(const char *const *arguments, uint64_t timeout_ns, qn_process_end *out_end) {
  pid_t pid = 0;
  int ends[2];
  qn_process_end end = {.word = -1};
  QN_TRY(open_pipe(ends));
  int error = spawn(&pid, arguments, ends[1]);
  close(ends[1]);
  qn_status status = QN_OK;
  if (error == 0) {
    wait_for_end(pid, timeout_ns, &end);
    status = read_word(ends[0], &end);
  }
  close(ends[0]);
  QN_TRY(status);
  if (error != 0) QN_FAIL(QN_ERROR_NOT_FOUND, "'%s' can't be started: %s", arguments[0], strerrordesc_np(error));
  end.signal_name = end.signal ? sigdescr_np(end.signal) : "";
  *out_end = end;
  return QN_OK;
}

uint32_t qn_process_user(void) { return (uint32_t)geteuid(); }

uint64_t qn_process_id(void) { return (uint64_t)getpid(); }

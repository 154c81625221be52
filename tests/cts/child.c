#include "child.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cts.h"

extern char **environ;

enum { REPORT_FD = 3, LIVE_FD = 4, FIRST_FD = 10 };
static const char self[] = "/proc/self/exe";

/* ---- Starting ------------------------------------------------------------------------------------ */

/* Out of the way of the numbers that the child gets. */
static int move_up(int fd) {
  if (fd < 0) return fd;
  int up = fcntl(fd, F_DUPFD_CLOEXEC, FIRST_FD);
  close(fd);
  return up;
}

static int anonymous_file(const char *name, off_t size) {
  int fd = move_up(memfd_create(name, MFD_CLOEXEC));
  if (fd >= 0 && size > 0 && ftruncate(fd, size) != 0) {
    close(fd);
    return -1;
  }
  return fd;
}

static bool spawn(cts_child *child, char *const *arguments, int write_end) {
  posix_spawn_file_actions_t actions;
  if (posix_spawn_file_actions_init(&actions) != 0) return false;
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&actions, child->output, STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&actions, child->output, STDERR_FILENO);
  posix_spawn_file_actions_adddup2(&actions, write_end, REPORT_FD);
  posix_spawn_file_actions_adddup2(&actions, child->live_fd, LIVE_FD);
  int failed = posix_spawn(&child->pid, self, &actions, NULL, arguments, environ);
  posix_spawn_file_actions_destroy(&actions);
  if (failed) child->pid = 0;
  return failed == 0;
}

bool cts_child_start(cts_child *child, const char *const *given, uint64_t timeout_ns) {
  enum { MOST = 256 };
  const char *arguments[MOST] = {"quern-cts", "--report=3", "--live=4"};
  int ends[2] = {-1, -1};
  size_t count = 3;
  for (; *given && count + 1 < MOST; given++) arguments[count++] = *given;
  *child = (cts_child){.pipe = -1, .live = MAP_FAILED, .timeout_ns = timeout_ns};
  child->output = anonymous_file("output", 0);
  child->live_fd = anonymous_file("live", (off_t)sizeof *child->live);
  if (child->live_fd >= 0)
    child->live = mmap(NULL, sizeof *child->live, PROT_READ | PROT_WRITE, MAP_SHARED, child->live_fd, 0);
  bool done = child->output >= 0 && child->live != MAP_FAILED && pipe2(ends, O_CLOEXEC) == 0;
  if (done) {
    ends[1] = move_up(ends[1]);
    child->pipe = ends[0];
    done = ends[1] >= 0 && spawn(child, (char *const *)(uintptr_t)arguments, ends[1]);
    if (ends[1] >= 0) close(ends[1]);
  }
  child->deadline_ns = cts_now_ns() + timeout_ns;
  if (!done) cts_child_free(child);
  return done;
}

void cts_child_free(cts_child *child) {
  if (child->pipe >= 0) close(child->pipe);
  if (child->output >= 0) close(child->output);
  if (child->live_fd >= 0) close(child->live_fd);
  if (child->live != MAP_FAILED) munmap(child->live, sizeof *child->live);
  *child = (cts_child){.pipe = -1, .output = -1, .live_fd = -1, .live = MAP_FAILED};
}

/* ---- Watching ------------------------------------------------------------------------------------ */

void cts_signal_text(int number, char *out, size_t size) {
  static const struct {
    int number;
    const char *name;
  } names[] = {{SIGSEGV, "SIGSEGV"}, {SIGBUS, "SIGBUS"},   {SIGILL, "SIGILL"},   {SIGFPE, "SIGFPE"},
               {SIGABRT, "SIGABRT"}, {SIGTRAP, "SIGTRAP"}, {SIGKILL, "SIGKILL"}, {SIGTERM, "SIGTERM"},
               {SIGINT, "SIGINT"},   {SIGPIPE, "SIGPIPE"}};
  const char *name = "a signal";
  for (size_t i = 0; i < sizeof names / sizeof *names; i++)
    if (names[i].number == number) name = names[i].name;
  snprintf(out, size, "%s (%s)", name, strsignal(number));
}

static void take_ending(cts_child *child, cts_ending *out) {
  int status = 0;
  while (waitpid(child->pid, &status, 0) < 0 && errno == EINTR) continue;
  *out = (cts_ending){.status = -1, .is_hung = child->is_hung, .line = atomic_load(&child->live->line)};
  if (child->is_hung) {
    snprintf(out->text, sizeof out->text, "no end within %.0f s", (double)child->timeout_ns * 1e-9);
  } else if (WIFSIGNALED(status)) {
    cts_signal_text(WTERMSIG(status), out->text, sizeof out->text);
  } else {
    out->status = WEXITSTATUS(status);
    snprintf(out->text, sizeof out->text, "exit status %d", out->status);
  }
}

/* True when a record is whole. */
static bool take_bytes(cts_child *child, bool *out_ended) {
  char *at = (char *)&child->record + child->have;
  ssize_t got = read(child->pipe, at, sizeof child->record - child->have);
  if (got < 0) {
    if (errno != EINTR) *out_ended = true;
    return false;
  }
  if (got == 0) *out_ended = true;
  child->have += (size_t)got;
  if (child->have < sizeof child->record) return false;
  child->have = 0;
  return true;
}

/* Kills those that are past their time; milliseconds until the next one is. */
static int kill_late(cts_child *children, uint32_t count) {
  uint64_t now = cts_now_ns(), left = CTS_SECOND;
  for (uint32_t i = 0; i < count; i++) {
    cts_child *child = &children[i];
    if (child->pid == 0 || child->is_hung) continue;
    if (child->deadline_ns <= now) {
      child->is_hung = true;
      kill(child->pid, SIGKILL);
    } else if (child->deadline_ns - now < left) {
      left = child->deadline_ns - now;
    }
  }
  return (int)(left / CTS_MILLISECOND) + 1;
}

int cts_children_next(cts_child *children, uint32_t count, cts_report *out_report, bool *out_ended,
                      cts_ending *out_ending) {
  enum { MOST = 256 };
  struct pollfd polled[MOST];
  *out_ended = false;
  for (;;) {
    bool any = false;
    for (uint32_t i = 0; i < count; i++) {
      polled[i] = (struct pollfd){.fd = children[i].pid ? children[i].pipe : -1, .events = POLLIN};
      any = any || children[i].pid;
    }
    if (!any) return -1;
    if (poll(polled, count, kill_late(children, count)) <= 0) continue;
    for (uint32_t i = 0; i < count; i++) {
      cts_child *child = &children[i];
      if (polled[i].revents == 0) continue;
      if (take_bytes(child, out_ended)) {
        *out_report = child->record;
        child->deadline_ns = cts_now_ns() + child->timeout_ns;
        return (int)i;
      }
      if (*out_ended) {
        take_ending(child, out_ending);
        child->pid = 0;
        return (int)i;
      }
    }
  }
}

char *cts_child_output(const cts_child *child, uint64_t from, size_t most) {
  off_t end = lseek(child->output, 0, SEEK_END);
  if (end <= 0 || (uint64_t)end <= from) return NULL;
  uint64_t size = (uint64_t)end - from;
  size_t length = size < most ? (size_t)size : most;
  char *text = malloc(length + 1);
  if (!text) return NULL;
  ssize_t got = pread(child->output, text, length, end - (off_t)length);
  text[got > 0 ? got : 0] = 0;
  return text;
}

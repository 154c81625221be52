/* child.c - reading in a process of its own. */
#include "child.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../tool.h"

#if defined(__SANITIZE_ADDRESS__)
#define HAS_SHADOW 1 /* of the sanitizer: address space without memory behind it */
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define HAS_SHADOW 1
#endif
#endif

static bool write_all(int fd, const char *data, size_t size) {
  while (size) {
    ssize_t wrote = write(fd, data, size);
    if (wrote < 0 && errno == EINTR) continue;
    if (wrote <= 0) return false;
    data += wrote;
    size -= (size_t)wrote;
  }
  return true;
}

/* Time and memory; the compiler that it starts inherits them. */
static void set_limits(unsigned seconds) {
  struct rlimit time = {seconds, seconds + 1}, core = {0, 0};
  setrlimit(RLIMIT_CPU, &time);
  setrlimit(RLIMIT_CORE, &core);
#ifndef HAS_SHADOW
  uint64_t bytes = tool_machine_memory();
  struct rlimit memory = {bytes, bytes};
  setrlimit(RLIMIT_AS, &memory);
#endif
  signal(SIGALRM, SIG_DFL);
  alarm(seconds);
}

enum { DONE = 0, REFUSED = 3 };

child child_start(child_work *work, const void *argument, unsigned seconds) {
  child c = {.file = memfd_create("quern-abi", MFD_CLOEXEC)};
  fflush(NULL);
  pid_t process = c.file >= 0 ? fork() : -1;
  if (process < 0) {
    c.error = pool_format("a process to read it in: %s", strerror(errno));
    if (c.file >= 0) close(c.file);
    c.file = -1;
    return c;
  }
  if (process == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    set_limits(seconds);
    pool_text out = {0};
    bool done = work(argument, &out);
    if (!write_all(c.file, out.data ? out.data : "", out.length)) _exit(1);
    _exit(done ? DONE : REFUSED);
  }
  c.process = process;
  return c;
}

static const char *ending(int status, unsigned seconds) {
  if (WIFEXITED(status)) return "memory or the process that reads it failed";
  int number = WTERMSIG(status);
  if (number == SIGALRM || number == SIGXCPU || (number == SIGKILL && seconds))
    return pool_format("reading took more than %u s, or was ended (--timeout SECONDS allows more)", seconds);
  return pool_format("reading crashed (%s): the file is damaged, or libclang or libdw has a fault", strsignal(number));
}

bool child_finish(child *c, unsigned seconds, const char **out_text) {
  int status = 0;
  struct stat st;
  if (!c->process) return *out_text = c->error, false;
  while (waitpid(c->process, &status, 0) < 0)
    if (errno != EINTR) break;
  bool told = WIFEXITED(status) && (WEXITSTATUS(status) == DONE || WEXITSTATUS(status) == REFUSED);
  char *text = told && fstat(c->file, &st) == 0 ? pool_alloc((size_t)st.st_size + 1) : NULL;
  for (off_t at = 0; text && at < st.st_size;) {
    ssize_t got = pread(c->file, text + at, (size_t)(st.st_size - at), at);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) break;
    at += got;
  }
  close(c->file);
  *out_text = text ? text : ending(status, seconds);
  return text && WEXITSTATUS(status) == DONE;
}

#include "child.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "trial.h"

extern char **environ;

/* quern-probe has an answer of its own for the core, which nobody wants here. */
enum { PATIENCE_MS = 30000, ANSWERS_ON = 9, OTHER_ANSWERS_ON = 3 };

/* ---- What has passed ---------------------------------------------------------------------------- */

typedef struct verdict {
  dev_t device;
  ino_t inode;
  struct timespec changed;
  bool has_passed;
} verdict;

static pthread_mutex_t verdict_lock = PTHREAD_MUTEX_INITIALIZER;
static verdict last; /* plain data: nothing to destroy */

static bool is_last(const struct stat *file) {
  return last.has_passed && last.device == file->st_dev && last.inode == file->st_ino &&
         last.changed.tv_sec == file->st_mtim.tv_sec && last.changed.tv_nsec == file->st_mtim.tv_nsec;
}

/* ---- A process ---------------------------------------------------------------------------------- */

/* Beside the file that this code is in. False: there is none. */
static bool find_probe(char probe[512], char adapter[512]) {
  Dl_info info;
  if (!dladdr((void *)(uintptr_t)wg_child_try, &info) || !info.dli_fname) return false;
  if (snprintf(adapter, 512, "%s", info.dli_fname) >= 512) return false;
  const char *slash = strrchr(adapter, '/');
  int size = slash ? (int)(slash - adapter) : 1;
  if (snprintf(probe, 512, "%.*s/quern-probe", size, slash ? adapter : ".") >= 512) return false;
  return access(probe, X_OK) == 0;
}

/* The environment with two more variables; NULL: no memory. Its array is freed by the caller. */
static char **environment_with(char *first, char *second) {
  size_t count = 0, kept = 0;
  while (environ && environ[count]) count++;
  char **out = calloc(count + 3, sizeof *out);
  if (!out) return NULL;
  size_t first_name = (size_t)(strchr(first, '=') - first) + 1,
         second_name = (size_t)(strchr(second, '=') - second) + 1;
  for (size_t i = 0; i < count; i++)
    if (strncmp(environ[i], first, first_name) != 0 && strncmp(environ[i], second, second_name) != 0)
      out[kept++] = environ[i];
  out[kept++] = first;
  out[kept] = second;
  return out;
}

static int start(char *probe, char *adapter, char *library_variable, int answers_to, pid_t *out_pid) {
  char variable[64];
  char *const arguments[] = {probe, adapter, NULL};
  posix_spawn_file_actions_t actions;
  (void)snprintf(variable, sizeof variable, "%s=%d", WG_TRIAL_VARIABLE, ANSWERS_ON);
  char **environment = environment_with(variable, library_variable);
  if (!environment) return ENOMEM;
  int wrong = posix_spawn_file_actions_init(&actions);
  if (wrong == 0) {
    wrong = posix_spawn_file_actions_adddup2(&actions, answers_to, ANSWERS_ON);
    if (wrong == 0) wrong = posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0);
    if (wrong == 0) wrong = posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0);
    if (wrong == 0) wrong = posix_spawn_file_actions_addopen(&actions, OTHER_ANSWERS_ON, "/dev/null", O_WRONLY, 0);
    if (wrong == 0) wrong = posix_spawn(out_pid, probe, &actions, NULL, arguments, environment);
    (void)posix_spawn_file_actions_destroy(&actions);
  }
  free(environment);
  return wrong;
}

/* Up to the end, or the time limit: then false. */
static bool listen_to(int descriptor, char answer[WG_CHILD_ANSWER]) {
  size_t size = 0;
  struct pollfd wanted = {.fd = descriptor, .events = POLLIN};
  for (;;) {
    answer[size] = '\0';
    int ready = poll(&wanted, 1, PATIENCE_MS);
    if (ready == 0) return false;
    if (ready < 0 && errno == EINTR) continue;
    ssize_t n = ready < 0 ? 0 : read(descriptor, answer + size, WG_CHILD_ANSWER - 1 - size);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return true;
    size += (size_t)n;
  }
}

static void tell_end(pid_t pid, char answer[WG_CHILD_ANSWER]) {
  int status = 0;
  pid_t ended;
  do ended = waitpid(pid, &status, 0);
  while (ended < 0 && errno == EINTR);
  if (answer[0]) return;
  if (ended == pid && WIFSIGNALED(status))
    (void)snprintf(answer, WG_CHILD_ANSWER, "it crashed with signal %d (%s)", WTERMSIG(status),
                   strsignal(WTERMSIG(status)));
  else
    (void)snprintf(answer, WG_CHILD_ANSWER, "it ended without an answer");
}

static qn_status run(const char *library, char answer[WG_CHILD_ANSWER]) {
  char probe[512], adapter[512], variable[600];
  int ends[2];
  pid_t pid = 0;
  answer[0] = '\0';
  if (!find_probe(probe, adapter)) {
    (void)snprintf(answer, WG_CHILD_ANSWER, "nothing could be tried: quern-probe is not beside the adapter");
    return QN_ERROR_NOT_FOUND;
  }
  (void)snprintf(variable, sizeof variable, "QUERN_WEBGPU_LIBRARY=%s", library);
  int wrong = pipe2(ends, O_CLOEXEC) == 0 ? 0 : errno;
  if (wrong == 0) {
    wrong = start(probe, adapter, variable, ends[1], &pid);
    (void)close(ends[1]);
    bool is_told = wrong == 0 && listen_to(ends[0], answer);
    (void)close(ends[0]);
    if (wrong == 0 && !is_told) {
      (void)kill(pid, SIGKILL);
      (void)snprintf(answer, WG_CHILD_ANSWER, "it gave no answer in %d s", PATIENCE_MS / 1000);
    }
    if (wrong == 0) tell_end(pid, answer);
  }
  if (wrong != 0) (void)snprintf(answer, WG_CHILD_ANSWER, "nothing could be tried: %.300s: %s", probe, strerror(wrong));
  return strcmp(answer, WG_CHILD_WORKS) == 0 ? QN_OK : QN_ERROR_NOT_FOUND;
}

/* Two threads may try the same library at a time: neither waits for the other's child. */
qn_status wg_child_try(const char *library, char answer[WG_CHILD_ANSWER]) {
  struct stat file = {0};
  bool is_file = stat(library, &file) == 0;
  pthread_mutex_lock(&verdict_lock);
  bool is_known = is_file && is_last(&file);
  pthread_mutex_unlock(&verdict_lock);
  qn_status status = is_known ? QN_OK : run(library, answer);
  if (status < 0 || !is_file) return status;
  pthread_mutex_lock(&verdict_lock);
  last = (verdict){file.st_dev, file.st_ino, file.st_mtim, true};
  pthread_mutex_unlock(&verdict_lock);
  return QN_OK;
}

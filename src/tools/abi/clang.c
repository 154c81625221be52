/* clang.c - finding and running the compiler. */
#include "clang.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

void clang_add(clang_words *words, const char *word) { *POOL_PUSH(words) = word; }

static bool is_program(const char *path) {
  struct stat st;
  return stat(path, &st) == 0 && S_ISREG(st.st_mode) && access(path, X_OK) == 0;
}

static bool find_in_path(const char *name, const char **out_path) {
  const char *path = getenv("PATH");
  if (strchr(name, '/')) return *out_path = name, is_program(name);
  for (const char *at = path ? path : "/usr/bin:/bin"; *at;) {
    size_t length = strcspn(at, ":");
    *out_path = pool_format("%.*s/%s", length ? (int)length : 1, length ? at : ".", name);
    if (is_program(*out_path)) return true;
    at += length + (at[length] == ':');
  }
  return false;
}

bool clang_find(const char *wanted, const char **out_path) {
  static const char *const names[] = {"clang-19", "clang"};
  if (wanted) return find_in_path(wanted, out_path);
  for (size_t i = 0; i < sizeof names / sizeof *names; i++)
    if (find_in_path(names[i], out_path)) return true;
  return false;
}

/* A file in memory: no pipe can fill up. */
static int memory_file(const char *text) {
  int fd = memfd_create("quern-abi", MFD_CLOEXEC);
  size_t left = strlen(text);
  while (fd >= 0 && left) {
    ssize_t wrote = write(fd, text, left);
    if (wrote < 0 && errno == EINTR) continue;
    if (wrote <= 0) {
      close(fd);
      return -1;
    }
    text += wrote;
    left -= (size_t)wrote;
  }
  if (fd >= 0) lseek(fd, 0, SEEK_SET);
  return fd;
}

static const char *read_back(int fd) {
  struct stat st;
  if (fstat(fd, &st) != 0 || st.st_size < 0) return "";
  char *text = pool_alloc((size_t)st.st_size + 1);
  for (off_t at = 0; at < st.st_size;) {
    ssize_t got = pread(fd, text + at, (size_t)(st.st_size - at), at);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) break;
    at += got;
  }
  return text;
}

/* In the child: never returns. It ends with the process that waits for it. */
static void become(const char *program, char **words, const int files[3]) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  for (int i = 0; i < 3; i++)
    if (dup2(files[i], i) < 0) _exit(126);
  execv(program, words);
  _exit(127);
}

static bool run(const char *program, char **words, const int files[3], const char **out_errors) {
  int status;
  fflush(NULL);
  pid_t child = fork();
  if (child < 0) {
    *out_errors = pool_format("%s: %s", program, strerror(errno));
    return false;
  }
  if (child == 0) become(program, words, files);
  while (waitpid(child, &status, 0) < 0)
    if (errno != EINTR) return *out_errors = pool_format("%s: %s", program, strerror(errno)), false;
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return true;
  *out_errors = read_back(files[2]);
  if (WIFSIGNALED(status))
    *out_errors = pool_format("%s was ended by signal %d", program, WTERMSIG(status));
  else if (!**out_errors)
    *out_errors =
        pool_format("%s could not be run, or failed without a word (exit status %d)", program, WEXITSTATUS(status));
  return false;
}

bool clang_run(const char *program, const clang_words *arguments, const char *input, const char **out_text,
               const char **out_errors) {
  int files[3] = {memory_file(input), memory_file(""), memory_file("")};
  bool done = files[0] >= 0 && files[1] >= 0 && files[2] >= 0;
  char **words = pool_alloc((arguments->count + 2) * sizeof *words);
  words[0] = pool_copy(program, strlen(program));
  for (size_t i = 0; i < arguments->count; i++)
    words[i + 1] = pool_copy(arguments->items[i], strlen(arguments->items[i]));
  if (!done)
    *out_errors = pool_format("a file in memory: %s", strerror(errno));
  else
    done = run(program, words, files, out_errors);
  if (done) *out_text = read_back(files[1]);
  for (int i = 0; i < 3; i++)
    if (files[i] >= 0) close(files[i]);
  return done;
}

bool clang_resources(const char *program, const char **out_directory, const char **out_errors) {
  clang_words words = {0};
  const char *text;
  clang_add(&words, "-print-resource-dir");
  if (!clang_run(program, &words, "", &text, out_errors)) return false;
  *out_directory = pool_copy(text, strcspn(text, "\n"));
  *out_errors = "it prints nothing for -print-resource-dir: it is no clang";
  return **out_directory != 0;
}

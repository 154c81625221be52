#include "hidden.h"

#include <dirent.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tool.h"

#define PREFIX ".quern-run-"
enum { PREFIX_LENGTH = sizeof PREFIX - 1, DIGITS = 16, CHECK_BITS = 16 };

/* The lower bits follow from the upper ones: nobody else's file is called so. */
static uint64_t checked(uint64_t number) {
  uint64_t upper = number >> CHECK_BITS;
  return upper << CHECK_BITS | (upper * UINT64_C(0x9e3779b97f4a7c15)) >> (64 - CHECK_BITS);
}

static bool is_ours(const char *name) {
  if (strncmp(name, PREFIX, PREFIX_LENGTH) != 0) return false;
  const char *digits = name + PREFIX_LENGTH;
  if (strlen(digits) != DIGITS || strspn(digits, "0123456789abcdef") != DIGITS) return false;
  uint64_t number = strtoull(digits, NULL, 16);
  return checked(number) == number;
}

/* How much of a path names the directory: with its slash. */
static size_t directory_length(const char *place) {
  const char *slash = strrchr(place, '/');
  return slash ? (size_t)(slash - place) + 1 : 0;
}

char *hidden_name(const char *place) {
  static uint64_t turn;
  uint64_t number = 0;
  if (getrandom(&number, sizeof number, GRND_NONBLOCK) != (ssize_t)sizeof number)
    number = (uint64_t)getpid() << 32 | turn++ << CHECK_BITS;
  size_t before = directory_length(place), size = before + PREFIX_LENGTH + DIGITS + 1;
  char *path = tool_alloc(size, 1);
  snprintf(path, size, "%.*s" PREFIX "%016" PRIx64, (int)before, place, checked(number));
  return path;
}

void hidden_lock(int file) { (void)!flock(file, LOCK_SH | LOCK_NB); }

static bool is_abandoned(int directory, const char *name) {
  struct stat info;
  if (fstatat(directory, name, &info, AT_SYMLINK_NOFOLLOW) != 0 || !S_ISREG(info.st_mode)) return false;
  int file = openat(directory, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
  if (file < 0) return false; /* another user's */
  bool is_free = flock(file, LOCK_EX | LOCK_NB) == 0;
  close(file);
  return is_free;
}

void hidden_sweep(const char *place) {
  size_t length = directory_length(place);
  char *path = length ? tool_copy(place, length) : tool_copy(".", 1);
  DIR *directory = opendir(path);
  free(path);
  if (!directory) return; /* what is to be written there says why */
  int at = dirfd(directory);
  for (const struct dirent *e; at >= 0 && (e = readdir(directory)) != NULL;)
    if (is_ours(e->d_name) && is_abandoned(at, e->d_name)) unlinkat(at, e->d_name, 0);
  closedir(directory);
}

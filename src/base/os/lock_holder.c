#include "base/os/lock_holder.h"

#include <ctype.h>
#include <dirent.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Linux tells the locks of each open file of a process:
 *   /proc/PID/fdinfo/FD:  lock:	1: OFDLCK ADVISORY  WRITE -1 fe:00:1043 5 5 */
static bool is_the_lock(const char *line, uint64_t inode, uint64_t byte) {
  char kind[16];
  uint64_t at_inode, start;
  if (sscanf(line, "lock: %*d: %15s %*s %*s %*d %*x:%*x:%" SCNu64 " %" SCNu64, kind, &at_inode, &start) != 3)
    return false;
  if (at_inode != inode) return false;
  return byte == QN_LOCK_WHOLE ? strcmp(kind, "FLOCK") == 0 : strcmp(kind, "OFDLCK") == 0 && start == byte;
}

/* What the system tells of a process: a few lines. "": it is gone, or another user's. */
static void read_text(const char *path, char *out, size_t capacity) {
  int file = open(path, O_RDONLY | O_CLOEXEC);
  ssize_t size = file < 0 ? 0 : read(file, out, capacity - 1);
  out[size < 0 ? 0 : size] = '\0';
  if (file >= 0) close(file);
}

static bool file_has_lock(const char *path, uint64_t inode, uint64_t byte) {
  char text[4096];
  bool found = false;
  read_text(path, text, sizeof text);
  for (const char *line = strstr(text, "lock:"); line && !found; line = strstr(line + 1, "lock:"))
    found = is_the_lock(line, inode, byte);
  return found;
}

static bool process_has_lock(const char *process, uint64_t inode, uint64_t byte) {
  char path[600];
  bool found = false;
  snprintf(path, sizeof path, "/proc/%s/fdinfo", process);
  DIR *files = opendir(path);
  if (!files) return false;
  for (struct dirent *entry = readdir(files); entry && !found; entry = readdir(files)) {
    if (!isdigit((unsigned char)entry->d_name[0])) continue;
    snprintf(path, sizeof path, "/proc/%s/fdinfo/%s", process, entry->d_name);
    found = file_has_lock(path, inode, byte);
  }
  closedir(files);
  return found;
}

static void name_process(const char *process, char *out, size_t capacity) {
  char path[600], name[64];
  snprintf(path, sizeof path, "/proc/%s/comm", process);
  read_text(path, name, sizeof name);
  name[strcspn(name, "\n")] = '\0';
  snprintf(out, capacity, "process %s%s%s%s", process, name[0] ? " (" : "", name, name[0] ? ")" : "");
}

void qn_lock_holder(const char *path, uint64_t byte, char *out, size_t capacity) {
  struct stat info;
  snprintf(out, capacity, "another process");
  if (stat(path, &info) != 0) return;
  DIR *processes = opendir("/proc");
  if (!processes) return;
  for (struct dirent *entry = readdir(processes); entry; entry = readdir(processes)) {
    if (!isdigit((unsigned char)entry->d_name[0])) continue;
    if (!process_has_lock(entry->d_name, (uint64_t)info.st_ino, byte)) continue;
    name_process(entry->d_name, out, capacity);
    break;
  }
  closedir(processes);
}

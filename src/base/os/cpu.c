#include "base/os/cpu.h"

#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MOST_CORES = 65536, PATH_SIZE = 4096 };

static uint32_t affinity_count(void) {
  /* The mask must be as large as the kernel's, whose size is not told: double until it fits. */
  for (int cores = 1024; cores <= MOST_CORES; cores *= 2) {
    cpu_set_t *set = CPU_ALLOC((size_t)cores);
    if (!set) break;
    size_t size = CPU_ALLOC_SIZE((size_t)cores);
    int found = sched_getaffinity(0, size, set) == 0 ? CPU_COUNT_S(size, set) : 0;
    CPU_FREE(set);
    if (found > 0) return (uint32_t)found;
  }
  long online = sysconf(_SC_NPROCESSORS_ONLN);
  return online > 0 ? (uint32_t)online : 1;
}

uint32_t qn_cpu_quota_parse(const char *text) {
  char *end;
  if (*text < '0' || *text > '9') return 0; /* "max" */
  unsigned long long quota = strtoull(text, &end, 10);
  if (*end != ' ') return 0;
  unsigned long long period = strtoull(end + 1, NULL, 10);
  if (quota == 0 || period == 0) return 0;
  unsigned long long cores = quota / period + (quota % period != 0);
  return cores > MOST_CORES ? MOST_CORES : (uint32_t)cores;
}

/* A small file of the kernel's, whole and NUL-ended; false when it isn't there. */
static int read_small(const char *path, char *text, size_t capacity) {
  int file = open(path, O_RDONLY | O_CLOEXEC);
  if (file < 0) return 0;
  ssize_t size = read(file, text, capacity - 1);
  close(file);
  text[size > 0 ? size : 0] = 0;
  return size > 0;
}

/* The path of this process in hierarchy `tag` of /proc/self/cgroup ("0::" is version 2), or NULL. */
static char *group_path(char *table, const char *tag) {
  char *line = strstr(table, tag);
  if (!line || (line != table && line[-1] != '\n' && *tag == '0')) return NULL;
  char *path = line + strlen(tag);
  path[strcspn(path, "\n")] = 0;
  return path;
}

/* Version 2: a group's own limit and those of all above it hold. */
static uint32_t quota_v2(char *path) {
  uint32_t least = 0;
  for (;;) {
    char file[PATH_SIZE + 64], text[128];
    snprintf(file, sizeof file, "/sys/fs/cgroup%s/cpu.max", strcmp(path, "/") == 0 ? "" : path);
    if (read_small(file, text, sizeof text)) {
      uint32_t cores = qn_cpu_quota_parse(text);
      if (cores > 0 && (least == 0 || cores < least)) least = cores;
    }
    char *slash = strrchr(path, '/');
    if (!slash || path[0] == 0) return least;
    *slash = 0;
  }
}

/* Version 1 keeps the two numbers in two files. */
static uint32_t quota_v1(const char *path) {
  char file[PATH_SIZE + 64], quota[64], period[64], both[160];
  snprintf(file, sizeof file, "/sys/fs/cgroup/cpu%s/cpu.cfs_quota_us", path);
  if (!read_small(file, quota, sizeof quota)) {
    path = "";
    if (!read_small("/sys/fs/cgroup/cpu/cpu.cfs_quota_us", quota, sizeof quota)) return 0;
  }
  snprintf(file, sizeof file, "/sys/fs/cgroup/cpu%s/cpu.cfs_period_us", path);
  if (!read_small(file, period, sizeof period)) return 0;
  quota[strcspn(quota, "\n")] = 0;
  snprintf(both, sizeof both, "%s %s", quota, period);
  return qn_cpu_quota_parse(both);
}

static uint32_t group_quota(void) {
  char table[PATH_SIZE];
  if (!read_small("/proc/self/cgroup", table, sizeof table)) return 0;
  char *path = strstr(table, ":cpu") ? group_path(table, ":cpu,cpuacct:") : NULL;
  if (path) return quota_v1(path);
  path = group_path(table, "0::");
  return path ? quota_v2(path) : 0;
}

uint32_t qn_cpu_count(void) {
  uint32_t cores = affinity_count(), quota = group_quota();
  return quota > 0 && quota < cores ? quota : cores;
}

#include "topology.h"

#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "os.h"

static uint32_t affinity_cores(void) {
  /* The set's size must be at least the kernel's: grow until it is accepted. */
  for (int limit = 1024; limit <= 1 << 20; limit *= 4) {
    cpu_set_t *set = CPU_ALLOC(limit);
    if (!set) break;
    size_t bytes = CPU_ALLOC_SIZE(limit);
    int rc = sched_getaffinity(0, bytes, set);
    int count = rc == 0 ? CPU_COUNT_S(bytes, set) : 0;
    CPU_FREE(set);
    if (rc == 0) return count > 0 ? (uint32_t)count : 1;
    if (errno != EINVAL) break;
  }
  long count = sysconf(_SC_NPROCESSORS_ONLN);
  return count > 0 ? (uint32_t)count : 1;
}

static uint32_t divide_up(int64_t quota, int64_t period) {
  if (quota <= 0 || period <= 0) return 0;
  int64_t cores = (quota - 1) / period + 1;
  return cores > CPU_MAX_THREADS ? CPU_MAX_THREADS : (uint32_t)cores;
}

uint32_t cpu_quota_cores(const char *cpu_max) {
  char *end;
  if (strncmp(cpu_max, "max", 3) == 0) return 0;
  int64_t quota = strtoll(cpu_max, &end, 10);
  return divide_up(quota, *end == ' ' ? strtoll(end, NULL, 10) : 100000);
}

/* ---- Control groups ----------------------------------------------------------------------------- */

/* Finds this process's directory for a controller ("" for version 2) in the lines "id:controllers:path". */
static bool group_path(const char *groups, const char *controller, char *path, size_t capacity) {
  size_t wanted = strlen(controller);
  for (const char *line = groups; *line;) {
    const char *end = line + strcspn(line, "\n");
    const char *list = memchr(line, ':', (size_t)(end - line));
    const char *tail = list ? memchr(list + 1, ':', (size_t)(end - list - 1)) : NULL;
    if (tail) {
      bool found = wanted == 0 && tail == list + 1;
      for (const char *name = list + 1; wanted && name < tail && !found;) {
        size_t length = strcspn(name, ",:");
        found = length == wanted && memcmp(name, controller, wanted) == 0;
        name += length + 1;
      }
      if (found && (size_t)(end - tail) < capacity) {
        memcpy(path, tail + 1, (size_t)(end - tail - 1));
        path[end - tail - 1] = 0;
        return true;
      }
    }
    line = *end ? end + 1 : end;
  }
  return false;
}

/* Calls `visit` with a file's content in each directory from the process's own up to the root. In a container the path
 * may name a directory that isn't visible here; the root's files then hold the limits. */
static void visit_groups(const char *mount, const char *path, const char *file,
                         void (*visit)(const char *directory, const char *content, void *context), void *context) {
  char directory[1024], name[1200], content[256];
  if (snprintf(directory, sizeof directory, "%s%s", mount, strcmp(path, "/") == 0 ? "" : path) >= (int)sizeof directory)
    return;
  for (size_t root = strlen(mount);;) {
    snprintf(name, sizeof name, "%s/%s", directory, file);
    if (cpu_read_file(name, content, sizeof content)) visit(directory, content, context);
    char *slash = strrchr(directory, '/');
    if (!slash || (size_t)(slash - directory) < root) return;
    *slash = 0;
  }
}

static void take_cores(uint32_t cores, uint32_t *least) {
  if (cores > 0 && cores < *least) *least = cores;
}
static void visit_cpu_max(const char *directory, const char *content, void *context) {
  (void)directory;
  take_cores(cpu_quota_cores(content), context);
}
static void visit_cfs_quota(const char *directory, const char *content, void *context) {
  char name[1200], period[64];
  snprintf(name, sizeof name, "%s/cpu.cfs_period_us", directory);
  if (cpu_read_file(name, period, sizeof period))
    take_cores(divide_up(strtoll(content, NULL, 10), strtoll(period, NULL, 10)), context);
}
static void visit_memory(const char *directory, const char *content, void *context) {
  (void)directory;
  uint64_t *least = context, bytes = strtoull(content, NULL, 10); /* "max" reads as 0 */
  if (bytes > 0 && bytes < *least) *least = bytes;
}

/* Version 2 is mounted at the root or, beside version 1, in `unified`. */
static const char *const version2_mounts[] = {"/sys/fs/cgroup", "/sys/fs/cgroup/unified"};

uint32_t cpu_available_cores(void) {
  char groups[8192], path[1024];
  uint32_t cores = affinity_cores();
  if (!cpu_read_file("/proc/self/cgroup", groups, sizeof groups)) return cores;
  if (group_path(groups, "", path, sizeof path))
    for (int i = 0; i < 2; i++) visit_groups(version2_mounts[i], path, "cpu.max", visit_cpu_max, &cores);
  if (group_path(groups, "cpu", path, sizeof path))
    visit_groups("/sys/fs/cgroup/cpu", path, "cpu.cfs_quota_us", visit_cfs_quota, &cores);
  return cores;
}

uint64_t cpu_available_memory(void) {
  char groups[8192], path[1024];
  long pages = sysconf(_SC_PHYS_PAGES), page_bytes = sysconf(_SC_PAGESIZE);
  uint64_t bytes = pages > 0 && page_bytes > 0 ? (uint64_t)pages * (uint64_t)page_bytes : UINT64_C(1) << 30;
  if (!cpu_read_file("/proc/self/cgroup", groups, sizeof groups)) return bytes;
  if (group_path(groups, "", path, sizeof path))
    for (int i = 0; i < 2; i++) visit_groups(version2_mounts[i], path, "memory.max", visit_memory, &bytes);
  if (group_path(groups, "memory", path, sizeof path))
    visit_groups("/sys/fs/cgroup/memory", path, "memory.limit_in_bytes", visit_memory, &bytes);
  return bytes;
}

/* process.h - what this process holds: threads, descriptors, memory. Linux: /proc/self. */
#ifndef QUERN_TESTS_PROCESS_H
#define QUERN_TESTS_PROCESS_H

#include <dirent.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <unistd.h>

/* The thread sanitizer has one of its own. */
#if defined(__SANITIZE_THREAD__)
#define SANITIZER_THREADS 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define SANITIZER_THREADS 1
#endif
#endif
#ifndef SANITIZER_THREADS
#define SANITIZER_THREADS 0
#endif

static inline uint64_t count_entries(const char *directory) {
  uint64_t count = 0;
  DIR *dir = opendir(directory);
  while (dir && readdir(dir)) count++;
  if (dir) closedir(dir);
  return count > 2 ? count - 2 : 0;
}

static inline uint64_t count_threads(void) { return count_entries("/proc/self/task"); }

/* Less the one that looks. */
static inline uint64_t count_descriptors(void) { return count_entries("/proc/self/fd") - 1; }

/* Resident memory in bytes. */
static inline uint64_t resident_bytes(void) {
  unsigned long long pages = 0;
  FILE *file = fopen("/proc/self/statm", "r");
  if (!file) return 0;
  if (fscanf(file, "%*u %llu", &pages) != 1) pages = 0;
  fclose(file);
  return pages * (uint64_t)sysconf(_SC_PAGESIZE);
}

/* Whether no more than `count` are left, waited for up to a minute: what ends by itself ends. */
static inline bool falls_to(uint64_t (*counted)(void), uint64_t count) {
  for (int i = 0; i < 60000; i++) {
    if (counted() <= count) return true;
    usleep(1000);
  }
  return false;
}
static inline bool threads_fall_to(uint64_t count) { return falls_to(count_threads, count); }
static inline bool descriptors_fall_to(uint64_t count) { return falls_to(count_descriptors, count); }

#endif

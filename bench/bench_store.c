/* bench_store.c - the artifact store: how long a hit and a store take, with 1 to 16 processes at it, and in a store of many
 * entries; how long pruning takes. The store is in a temporary directory, and removed at the end.
 *
 *   bench_store [--entries N]      default 100000 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/os/clock.h"
#include "store/keep.h"

enum { BODY = 8192, SAMPLES = 2000, MOST_PROCESSES = 16 };

static char directory[64];
static qn_store store;

static void check(bool good, const char *what) {
  if (good) return;
  fprintf(stderr, "bench_store: %s\n", what);
  exit(1);
}

static qn_key key_of(uint64_t number) {
  qn_key_maker maker;
  qn_key key;
  qn_key_start(&maker);
  qn_key_add_u64(&maker, number);
  qn_key_end(&maker, &key);
  return key;
}

/* As hard to make smaller as code is: half of it is noise. */
static void make_body(unsigned char body[BODY], uint64_t seed) {
  for (size_t i = 0; i < BODY; i++) {
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    body[i] = i % 2 ? (unsigned char)(seed >> 56) : (unsigned char)(i / 64);
  }
}

static void put(uint64_t number) {
  unsigned char body[BODY];
  const qn_key key = key_of(number);
  make_body(body, number);
  check(qn_store_put(&store, &key, QN_ENTRY_PROGRAM, "bench", qn_sv_make((const char *)body, BODY)),
        "an entry can't be stored");
}

/* Entries without their fsync, so that filling takes seconds: published bytes are the same. */
static void fill(uint64_t entries) {
  for (uint64_t i = 0; i < entries; i++) {
    char path[4096], shard[4096];
    unsigned char body[64];
    qn_bytes entry = {0};
    qn_entry_info info = {.key = key_of(i), .kind = QN_ENTRY_PROGRAM};
    memset(body, (int)i, sizeof body);
    check(qn_entry_pack(&info, qn_sv_make((const char *)body, sizeof body), &entry), "no memory");
    check(qn_store_entry_path(&store, &info.key, info.kind, path, sizeof path), "the path is too long");
    FILE *to = fopen(path, "wb");
    if (!to) {
      snprintf(shard, sizeof shard, "%s", path);
      *strrchr(shard, '/') = '\0';
      char command[4200];
      snprintf(command, sizeof command, "mkdir -p %s", shard);
      check(system(command) == 0, "a directory can't be made");
      to = fopen(path, "wb");
    }
    check(to && fwrite(entry.data, 1, entry.size, to) == entry.size && fclose(to) == 0, "an entry can't be written");
    qn_bytes_free(&entry);
  }
}

static int by_value(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return x < y ? -1 : x > y;
}

static double median(double *values, size_t count) {
  qsort(values, count, sizeof *values, by_value);
  return values[count / 2];
}

static double hit(uint64_t number) {
  const qn_key key = key_of(number);
  qn_bytes out = {0};
  uint64_t start = qn_clock_ns();
  qn_store_answer answer = qn_store_get(&store, &key, QN_ENTRY_PROGRAM, "bench", &out);
  double ns = (double)(qn_clock_ns() - start);
  check(answer == QN_STORE_HIT, "an entry is missing");
  qn_bytes_free(&out);
  return ns;
}

static double store_one(uint64_t number) {
  uint64_t start = qn_clock_ns();
  put(number);
  return (double)(qn_clock_ns() - start);
}

/* `work` by so many processes at once; the median over all of them. */
static double crowd(double (*work)(uint64_t), uint64_t first, uint64_t range, int processes, int each) {
  size_t bytes = sizeof(double) * (size_t)(processes * each);
  double *samples = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  check(samples != MAP_FAILED, "no memory");
  for (int p = 0; p < processes; p++) {
    if (fork() != 0) continue;
    for (int i = 0; i < each; i++) samples[p * each + i] = work(first + (uint64_t)(p * each + i) * 7919 % range);
    _exit(0);
  }
  for (int p = 0, status; p < processes; p++) check(wait(&status) > 0 && status == 0, "a process failed");
  double result = median(samples, (size_t)(processes * each));
  munmap(samples, bytes);
  return result;
}

int main(int argc, char **argv) {
  uint64_t entries = 100000;
  if (argc == 3 && strcmp(argv[1], "--entries") == 0) entries = strtoull(argv[2], NULL, 10);
  check(argc == 1 || argc == 3, "bench_store [--entries N]");
  check(entries >= 1000, "--entries: 1000 or more");
  snprintf(directory, sizeof directory, "/tmp/quern-bench-XXXXXX");
  check(mkdtemp(directory) != NULL, "no temporary directory");
  const qn_store_settings settings = {.directory = directory};
  check(qn_store_init(&store, &settings) == QN_OK, "the store can't be opened");

  static const int processes[] = {1, 4, MOST_PROCESSES};
  for (uint64_t i = 0; i < 200; i++) put(i);
  for (int i = 0; i < 3; i++)
    printf("hit, 8 KiB, %d processes: %.1f us\n", processes[i],
           crowd(hit, 0, 200, processes[i], SAMPLES / processes[i]) / 1e3);
  for (int i = 0; i < 3; i++)
    printf("store, 8 KiB, %d processes: %.1f us\n", processes[i],
           crowd(store_one, 1000000 * (uint64_t)(i + 1), 1000000, processes[i], 160 / processes[i]) / 1e3);
  fill(entries);
  printf("hit in a store of %llu entries: %.1f us, budget 200 us\n", (unsigned long long)entries,
         crowd(hit, 200, entries - 200, 1, SAMPLES) / 1e3);
  qn_store_kept kept;
  uint64_t start = qn_clock_ns();
  check(qn_store_prune(&store, UINT64_MAX, QN_POLL, &kept) == QN_OK, "pruning failed");
  printf("prune that removes nothing, %llu entries: %.1f ms\n", (unsigned long long)kept.entries,
         (double)(qn_clock_ns() - start) / 1e6);
  start = qn_clock_ns();
  check(qn_store_prune(&store, kept.bytes / 2, QN_POLL, &kept) == QN_OK, "pruning failed");
  printf("prune that removes %llu: %.1f ms\n", (unsigned long long)kept.removed_entries,
         (double)(qn_clock_ns() - start) / 1e6);
  char command[128];
  snprintf(command, sizeof command, "rm -rf %s", directory);
  return system(command);
}

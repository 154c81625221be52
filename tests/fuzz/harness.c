#include "harness.h"

#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  char *copy = malloc(size + 1);
  if (!copy) return 0;
  if (size > 0) memcpy(copy, data, size);
  copy[size] = 0;
  fuzz_one(copy, size);
  free(copy);
  return 0;
}

#ifndef QUERN_LIBFUZZER
#include <dirent.h>
#include <sys/stat.h>

enum { LARGEST = 1 << 24 };

static int tried;

static void replay_file(const char *path) {
  FILE *file = fopen(path, "rb");
  uint8_t *data = malloc(LARGEST);
  if (!file || !data) {
    fprintf(stderr, "replay: '%s' can't be read\n", path);
    exit(2);
  }
  size_t size = fread(data, 1, LARGEST, file);
  fclose(file);
  fprintf(stderr, "replay: %s (%zu bytes)\n", path, size); /* the last line names the one that crashed */
  LLVMFuzzerTestOneInput(data, size);
  free(data);
  tried++;
}

static void replay(const char *path) {
  DIR *directory = opendir(path);
  if (!directory) {
    replay_file(path);
    return;
  }
  for (struct dirent *entry; (entry = readdir(directory));) {
    char inner[4096];
    if (entry->d_name[0] == '.') continue;
    snprintf(inner, sizeof inner, "%s/%s", path, entry->d_name);
    replay(inner);
  }
  closedir(directory);
}

/* Replays files, and directories with all that they hold. */
int main(int count, char **arguments) {
  for (int i = 1; i < count; i++) replay(arguments[i]);
  printf("%d inputs replayed\n", tried);
  return tried > 0 ? 0 : 2;
}
#endif

/* sources: src/tools/npy.c src/tools/array.c src/tools/tool.c src/tools/text.c */
/* fuzz_npy.c - the reader of .npy files. What it takes is written and read again as the same array. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "harness.h"
#include "tools/array.h"

static void write_and_read_again(const array *a) {
  char path[] = "/tmp/fuzz-npy-XXXXXX";
  array again;
  int fd = mkstemp(path);
  FUZZ_CHECK(fd >= 0);
  close(fd);
  FUZZ_CHECK(npy_write(path, path, a) == TOOL_OK);
  FUZZ_CHECK(npy_read(path, &again) == TOOL_OK);
  unlink(path);
  FUZZ_CHECK(again.type == a->type && again.axes == a->axes && again.count == a->count);
  FUZZ_CHECK(memcmp(again.shape, a->shape, a->axes * sizeof *a->shape) == 0);
  FUZZ_CHECK(memcmp(again.data, a->data, (size_t)(a->count * array_type_of(a->type)->bytes)) == 0);
  array_free(&again);
}

void fuzz_one(const char *data, size_t size) {
  array a;
  tool_command = NULL; /* what is wrong is told to nobody */
  if (npy_parse("input", data, size, &a) != TOOL_OK) return;
  write_and_read_again(&a);
  array_free(&a);
}

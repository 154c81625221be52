/* object.h - loads a relocatable x86-64 object into memory, for tests of generated code. */
#ifndef QUERN_TEST_OBJECT_H
#define QUERN_TEST_OBJECT_H

#include <stddef.h>
#include <stdint.h>

/* For functions that call what lies in an object: as in src/adapters/cpu/launch.c. */
#if defined(__clang__)
#define TEST_CALLS_GENERATED_CODE __attribute__((no_sanitize("function")))
#else
#define TEST_CALLS_GENERATED_CODE
#endif

typedef struct test_object {
  void *memory;
  size_t size;
  const char *bytes;   /* borrowed */
  uint64_t *addresses; /* of sections */
} test_object;

/* False with a line on standard error. The bytes must stay. */
int test_object_load(test_object *object, const char *bytes, size_t size);
void *test_object_symbol(const test_object *object, const char *name); /* NULL: not there */
uint64_t test_object_symbol_size(const test_object *object, const char *name);
void test_object_free(test_object *object);

#endif

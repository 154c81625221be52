/* A library with violations; what it doesn't export is nobody's business. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <wchar.h>

#define EXPORT __attribute__((visibility("default")))

typedef struct pair { /* expect: struct-size */
  uint64_t first, second;
} pair;
typedef struct options {
  uint32_t struct_size;
  uint32_t a : 3;                                          /* expect: bit-field */
  bool yes;                                                /* expect: bool-field */
  uint32_t count;                                          /* expect: padding */
  uint64_t (*measure)(pair p, int32_t (*inner)(size_t n)); /* expect: struct-by-value size-by-value padding */
  union {                                                  /* expect: union-first */
    void *pointer;
    uint64_t bits;
  } u;
  char name[8];
} options;
typedef struct unreached {
  long a;
} unreached;
typedef enum color { RED, GREEN } color;
typedef void (*callback)(void *user, float value); /* expect: float-by-value */

EXPORT int32_t takes_struct(pair p); /* declarations don't count: the definition's line does */
EXPORT int32_t takes_struct(pair p) { /* expect: struct-by-value */ return (int32_t)p.first; }
EXPORT pair gives_struct(void) { /* expect: struct-by-value */ return (pair){1, 2}; }
EXPORT _Bool gives_bool(const options *o) { /* expect: bool-by-value */ return o->yes; }
EXPORT color takes_enum(color c) { /* expect: enum-by-value */ return c; }
EXPORT int32_t takes_more(const char *format, ...) { /* expect: variadic */ return *format; }
EXPORT int32_t takes_anything() { /* expect: unprototyped */ return 0; }
EXPORT size_t takes_long(long a, uint8_t b) { /* expect: size-by-value long-by-value small-by-value */
  return (size_t)(a + b);
}
EXPORT void takes_wide(wchar_t c, double d) { /* expect: wchar-by-value float-by-value */ (void)c, (void)d; }
EXPORT int32_t takes_clean(const pair *p, uint64_t a, int32_t b, callback done, const char *const *names,
                           uint32_t ids[4]) {
  done(0, 1);
  return (int32_t)(p->first + a) + b + **names + (int32_t)ids[0];
}
int32_t hidden(unreached u, bool b) { return (int32_t)u.a + b; }
EXPORT int32_t uses(void) {
  unreached u = {1};
  return hidden(u, true);
}

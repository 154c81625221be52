/* A3: what some targets have and others don't, or have otherwise. */
#include <stdint.h>

#ifndef _WIN32
int32_t not_on_windows(void *a); /* expect: missing */
#endif
#ifdef __aarch64__
int32_t other_parameters(void *a, uint64_t b);
#else
int32_t other_parameters(void *a); /* expect: lowers-differently */
#endif
struct other_fields { /* expect: layout-differs */
  uint32_t struct_size;
  uint32_t a;
#ifdef __aarch64__
  uint64_t b;
#endif
};
#ifndef __wasm__
struct not_on_wasm { /* expect: missing */
  uint32_t struct_size;
  uint32_t a;
};
#endif
enum {
  FIRST,
#ifdef __linux__
  EXTRA, /* expect: missing */
#endif
  SECOND /* expect: value-differs */
};
enum large {                             /* expect: enum-differs */
             LARGE = 0x1234567812345678, /* expect: value-differs */
};
extern long counter; /* expect: variable-differs */
extern uint32_t steady;
#ifdef __APPLE__
static const uint32_t LIMIT = 2;
#else
static const uint32_t LIMIT = 1; /* expect: value-differs */
#endif
/* plain data */
struct aligned_by_target { /* expect: alignment-differs over-aligned */
#ifdef __linux__
  _Alignas(16)
#endif
      uint64_t a;
  uint64_t b;
};

/* targets: x86_64-linux,aarch64-linux,x86_64-windows */
/* A1, A2: what 32-bit targets lack. */
#include <stdint.h>

int32_t takes_wide(__int128 a); /* expect: wide-by-value lowers-differently */
struct wide {                   /* expect: over-aligned */
  uint32_t struct_size;
  uint32_t reserved[3];
  unsigned __int128 number; /* expect: other-field */
};

/* A2: what structs may not consist of, and where it may not stand. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <wchar.h>

struct no_size { /* expect: struct-size */
  uint64_t a;
};
struct size_of_another_type { /* expect: struct-size */
  uint64_t struct_size;
};
struct bits { /* expect: tail-padding */
  uint32_t struct_size;
  uint32_t a : 3;  /* expect: bit-field */
  uint32_t b : 29; /* expect: bit-field */
  uint32_t c;
  uint32_t d : 3; /* expect: bit-field */
};
struct boolean {
  uint32_t struct_size;
  bool a;     /* expect: bool-field */
  uint32_t b; /* expect: padding */
  uint32_t c;
};
enum color { RED };
struct enumeration {
  uint32_t struct_size;
  enum color a; /* expect: enum-field */
};
struct longs { /* expect: layout-differs size-multiple */
  uint32_t struct_size;
  uint32_t reserved;
  long a; /* expect: long-field */
};
struct sizes { /* expect: layout-differs size-multiple */
  uint32_t struct_size;
  uint32_t reserved;
  size_t a; /* expect: size-field */
};
struct wide_character { /* expect: layout-differs tail-padding */
  uint32_t struct_size;
  wchar_t a; /* expect: wchar-field */
};
struct odd_size { /* expect: size-multiple */
  uint32_t struct_size;
  uint32_t a, b;
};
struct over_aligned { /* expect: over-aligned */
  _Alignas(16) uint32_t struct_size;
  uint32_t a;
  uint64_t b;
};
struct tail { /* expect: tail-padding size-multiple layout-differs */
  uint32_t struct_size;
  uint32_t a;
  uint64_t b;
  uint32_t c;
};
struct inside { /* expect: size-multiple layout-differs */
  uint32_t struct_size;
  uint64_t b; /* expect: padding misaligned */
};
struct extended { /* expect: layout-differs over-aligned size-multiple */
  uint32_t struct_size;
  uint32_t reserved[3];
  long double number; /* expect: other-field */
};
struct shorts { /* expect: tail-padding */
  uint32_t struct_size;
  uint8_t a;
  uint16_t b; /* expect: padding */
  uint8_t c;
  uint8_t d[6];
};
/* plain data */
struct six {
  uint8_t bytes[8];
};
struct holder { /* expect: layout-differs tail-padding */
  uint32_t struct_size;
  uint8_t bytes[4];
  struct inside nested;
  uint32_t last;
};

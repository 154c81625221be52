/* A1: each kind of thing that a function may not take or give. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <wchar.h>

/* plain data */
typedef struct pair {
  uint64_t first, second;
} pair;
/* plain data */
typedef struct large {
  uint64_t words[8];
} large;
typedef union word {
  uint64_t bits;
  double real;
} word;
enum color { RED, GREEN };
typedef uint16_t id;
typedef size_t length;
typedef pair pair_again;

int32_t takes_struct(pair a);                /* expect: struct-by-value lowers-differently */
int32_t takes_struct_by_alias(pair_again a); /* expect: struct-by-value lowers-differently */
int32_t takes_large(void *p, large a);       /* expect: struct-by-value lowers-differently */
pair gives_struct(void);                     /* expect: struct-by-value lowers-differently */
int32_t takes_union(word a);                 /* expect: union-by-value lowers-differently */
int32_t takes_bool(bool a);                  /* expect: bool-by-value lowers-differently */
_Bool gives_bool(void);                      /* expect: bool-by-value lowers-differently */
int32_t takes_enum(enum color a);            /* expect: enum-by-value */
enum color gives_enum(void);                 /* expect: enum-by-value */
int32_t takes_char(char a);                  /* expect: small-by-value lowers-differently */
int32_t takes_byte(uint8_t a);               /* expect: small-by-value lowers-differently */
int32_t takes_short(id a);                   /* expect: small-by-value lowers-differently */
int16_t gives_short(void);                   /* expect: small-by-value lowers-differently */
int32_t takes_long(long a);                  /* expect: long-by-value lowers-differently */
unsigned long gives_long(void);              /* expect: long-by-value lowers-differently */
int32_t takes_off_t(off_t a);                /* expect: long-by-value lowers-differently */
int32_t takes_fast(uint_fast32_t a);         /* expect: long-by-value */
int32_t takes_size(length a);                /* expect: size-by-value lowers-differently */
ptrdiff_t gives_difference(void);            /* expect: size-by-value lowers-differently */
uintptr_t gives_address(void);               /* expect: size-by-value lowers-differently */
int32_t takes_wide_character(wchar_t a);     /* expect: wchar-by-value lowers-differently */
int32_t takes_float(float a);                /* expect: float-by-value */
double gives_double(void);                   /* expect: float-by-value */
int32_t takes_long_double(long double a);    /* expect: float-by-value lowers-differently */
int32_t takes_complex(_Complex float a);     /* expect: complex-by-value lowers-differently */
typedef int32_t vector __attribute__((vector_size(16)));
int32_t takes_vector(vector a);              /* expect: vector-by-value */
int32_t takes_atomic(_Atomic(uint32_t) a);   /* expect: other-by-value */
int32_t takes_more(const char *format, ...); /* expect: variadic */
int32_t takes_anything();                    /* expect: unprototyped */
int32_t takes_two(bool a, long b);           /* expect: bool-by-value long-by-value lowers-differently */

/* An int is as wide on each target, so it is a violation only when --fixed-width asks. */
int32_t takes_int(int a);
unsigned gives_unsigned(void);
int32_t takes_long_long(long long a);

/* The clean counterparts of ../structs.h, ../slots.h, ../unions.h and ../targets.h. */
#include <stdint.h>

#if UINTPTR_MAX > 0xffffffffu
#define SLOT(type, name) type name
#else
#define SLOT(type, name) \
  type name;             \
  uint32_t name##_upper
#endif

/* A point is plain data. */
struct point {
  uint64_t queue, value;
};
typedef struct reals {
  uint32_t struct_size;
  float single;
  double real; /* in memory it is the same everywhere */
} reals;
struct small {
  uint32_t struct_size;
  uint8_t a, b;
  uint16_t c;
};
typedef struct thing *thing;
struct slots {
  uint32_t struct_size;
  uint32_t yes; /* a bool */
  SLOT(void *, p);
  SLOT(thing, h);
  uint64_t many[3];
  char name[16];
  struct point at, all[2];
  struct {
    uint32_t x, y;
  } nested;
  union {
    uint64_t bits;
    const void *pointer;
    float real;
    struct {
      uint32_t low, high;
    } halves;
  } value;
  uint64_t last;
};
struct with_tail {
  uint32_t struct_size;
  uint32_t count;
  uint64_t items[]; /* flexible */
};
typedef struct {
  uint32_t struct_size;
  uint32_t count;
} tagless;
enum { FIRST, SECOND, NEGATIVE = -5, TOP = 0x7fffffff };
enum named { NAMED = 1 };
enum top { TOP_BIT = 0x80000000u };
extern uint32_t steady;
static const uint64_t FLAG = UINT64_C(1) << 40;

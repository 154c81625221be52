/* Each form that the rules allow. */
#include <stdint.h>

#if UINTPTR_MAX > 0xffffffffu
#define SLOT(type, name) type name
#else
#define SLOT(type, name) \
  type name;             \
  uint32_t name##_upper
#endif

typedef int32_t status;
typedef struct thing_handle *thing;
typedef void (*done)(void *user, status result, uint64_t value);
enum { FIRST = 1, SECOND = -5, THIRD };

/* plain data */
typedef struct qn_point {
  uint64_t queue, value;
} qn_point;

typedef struct options {
  uint32_t struct_size;
  uint32_t flags;
  SLOT(const char *, name);
  SLOT(thing, parent);
  SLOT(done, callback);
  char text[32];
  uint64_t sizes[3];
  qn_point point;
  qn_point points[2];
  union {
    uint64_t bits;
    const void *pointer;
    int32_t number;
  } value;
} options;

status make(const options *o, thing *out, uint64_t limit, int64_t offset, uint32_t count, int32_t code);
void drop(thing t, done callback, void *user);
uint64_t size(void);
static inline float helper(float x) { return x; }

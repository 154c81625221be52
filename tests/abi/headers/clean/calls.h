/* The clean counterparts of ../calls.h and ../callbacks.h. */
#include <stdint.h>

#if UINTPTR_MAX > 0xffffffffu
#define FUNCTION(result, name, ...) result (*name)(__VA_ARGS__)
#else
#define FUNCTION(result, name, ...) \
  result (*name)(__VA_ARGS__);      \
  uint32_t name##_upper
#endif

/* Fixed for ever: plain data. */
typedef struct pair {
  uint64_t first, second;
} pair;
enum { RED, GREEN };
typedef int32_t status;
typedef uint64_t length;

status takes_struct(const pair *a);
status gives_struct(pair *out);
status takes_union_bits(uint64_t bits);
status takes_bool(uint32_t yes);
status takes_enum(int32_t color);
status takes_character(uint32_t character);
status takes_length(length n);
status takes_difference(int64_t d);
status takes_float(const float *a);
status takes_arguments(const pair *arguments, uint32_t count);
status takes_array(uint32_t ids[4], uint32_t grid[2][2]);
status takes_nothing(void);
void gives_nothing(void);
const char *gives_text(void);

typedef void (*on_text)(const pair *message, void *user);
typedef status function(uint32_t a);
status takes_callback(on_text done, function *f, void *user);
status takes_function(status f(uint32_t a));
on_text gives_callback(void);

typedef struct table {
  uint32_t struct_size;
  uint32_t reserved;
  FUNCTION(status, log, const char *line);
  FUNCTION(void, each, status (*visit)(const pair *item), void *user);
} table;

/* What is above the interface, and no part of it. */
static inline float half(float x) { return x / 2; }
static inline pair make(uint64_t a, uint64_t b) {
  pair p = {a, b};
  return p;
}
#define HALF(x) half(x)
struct opaque;
typedef struct opaque *opaque_handle;

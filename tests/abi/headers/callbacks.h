/* A1 in function pointers: in typedefs, structs, parameters, results, arrays, and in each other. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#if UINTPTR_MAX > 0xffffffffu
#define FUNCTION(result, name, ...) result (*name)(__VA_ARGS__)
#else
#define FUNCTION(result, name, ...) \
  result (*name)(__VA_ARGS__);      \
  uint32_t name##_upper
#endif

/* plain data */
typedef struct text {
  uint64_t address, length;
} text;

typedef void (*on_text)(text message, void *user); /* expect: struct-by-value lowers-differently */
typedef int32_t function(bool a);                  /* expect: bool-by-value lowers-differently */
typedef function *function_pointer;
typedef on_text on_text_again;

void takes_callback(int32_t (*done)(long status));                      /* expect: long-by-value lowers-differently */
void takes_nested(void (*outer)(void *user, float (*inner)(double x))); /* expect: float-by-value */
int32_t (*gives_callback(void))(size_t n);                              /* expect: size-by-value lowers-differently */
void takes_pointer_to_callback(void (**list)(text t));                  /* expect: struct-by-value lowers-differently */
void takes_named(on_text a, function_pointer b);

typedef struct table {
  uint32_t struct_size;
  uint32_t reserved;
  FUNCTION(int32_t, log, const char *format, ...);               /* expect: variadic */
  FUNCTION(int16_t, level, void *self);                          /* expect: small-by-value lowers-differently */
  FUNCTION(void, each, int32_t (*visit)(text item), void *user); /* expect: struct-by-value lowers-differently */
  FUNCTION(int32_t, clean, void *self, uint64_t limit);
} table;

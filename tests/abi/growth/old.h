/* An interface as it was. */
#include <stdint.h>

/* plain data */
typedef struct point {
  uint64_t queue, value;
} point;
/* plain data */
typedef struct grows {
  uint64_t a;
} grows;
typedef struct options {
  uint32_t struct_size;
  uint32_t flags;
  uint64_t limit;
  uint64_t gone;
  uint64_t retyped;
  uint32_t narrowed[2];
  uint64_t reserved[4];
} options;
typedef struct longer {
  uint32_t struct_size;
  uint32_t a;
} longer;
typedef struct shorter {
  uint32_t struct_size;
  uint32_t a;
  uint64_t b;
} shorter;
typedef struct shifted {
  uint32_t struct_size;
  uint32_t a;
  uint64_t b;
} shifted;
typedef struct aligned {
  uint32_t struct_size;
  uint32_t a;
} aligned;
typedef struct removed_struct {
  uint32_t struct_size;
  uint32_t a;
} removed_struct;

enum color { RED = 1, GREEN = 2, BLUE = 3, BLACK = 4, ALIAS = 4 };
enum width { NARROW = 1 };

int32_t same(const options *o, uint64_t a);
int32_t changed(const options *o, uint32_t a);
int32_t removed_function(void *a);
typedef void (*callback)(void *user, uint64_t value);
typedef void (*same_callback)(void *user, uint64_t value);
extern uint32_t variable;
extern uint32_t removed_variable;

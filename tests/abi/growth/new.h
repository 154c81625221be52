/* The same interface later. */
/* expect-gone: removed */
#include <stdint.h>

/* plain data */
typedef struct point {
  uint64_t queue, value;
} point;
/* plain data */
typedef struct grows { /* expect: struct-grew */
  uint64_t a;
  uint64_t b;
} grows;
typedef struct options { /* expect: field-removed */
  uint32_t struct_size;
  uint32_t flags;
  uint64_t limit;
  uint64_t inserted;    /* expect: field-inserted */
  double retyped;       /* expect: field-changed */
  uint32_t narrowed[1]; /* expect: field-changed */
  uint32_t reserved0;
  uint64_t was_reserved;
  uint64_t reserved[3];
  uint64_t appended;
} options;
typedef struct longer {
  uint32_t struct_size;
  uint32_t a;
  uint64_t b;
} longer;
typedef struct shorter { /* expect: struct-shrank field-removed */
  uint32_t struct_size;
  uint32_t a;
} shorter;
typedef struct shifted {
  uint32_t struct_size;
  uint32_t a;
  uint64_t c; /* expect: field-inserted */
  uint64_t b; /* expect: field-changed */
} shifted;
typedef struct aligned { /* expect: alignment-changed over-aligned tail-padding */
  _Alignas(16) uint32_t struct_size;
  uint32_t a;
} aligned;

enum color { /* expect: value-removed */
             RED = 1,
             GREEN = 7, /* expect: value-changed */
             WHITE = 3, /* expect: value-reused */
             BLACK = 4,
             ALIAS = 4,
             ALIAS_TOO = 4,
             YELLOW = 5,
};
enum width { /* expect: enum-resized enum-differs */
             NARROW = 1,
             WIDE = 0x100000000 /* expect: value-differs */
};

int32_t same(const options *o, uint64_t a);
int32_t changed(const options *o, uint64_t a); /* expect: function-changed */
int32_t added(void *a);
typedef void (*callback)(void *user, uint32_t value); /* expect: function-changed */
typedef void (*same_callback)(void *user, uint64_t value);
extern uint64_t variable; /* expect: variable-changed */

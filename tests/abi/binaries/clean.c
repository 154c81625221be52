/* A library without violations. */
#include <stdint.h>

#define EXPORT __attribute__((visibility("default")))

typedef struct node {
  uint32_t struct_size;
  uint32_t count;
  struct node *next;
  int32_t (*visit)(struct node *self, uint64_t value);
  char name[16];
} node;

EXPORT int32_t walk(node *n, uint64_t value);
EXPORT int32_t walk(node *n, uint64_t value) { return n->next ? walk(n->next, value) : n->visit(n, value); }

/* expect: A2: s.a: 'enum e' has no fixed layout */
#include <stdint.h>

enum e { A, B };
typedef struct s {
  uint32_t struct_size;
  enum e a;
} s;

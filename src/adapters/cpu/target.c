#include "target.h"

#include <stdio.h>
#include <string.h>

void cpu_target_add(char *features, uint64_t capacity, const char *name, bool present) {
  uint64_t used = strlen(features), needed = strlen(name) + 2; /* sign and comma */
  if (used + needed + 1 > capacity) return;
  snprintf(features + used, capacity - used, "%s%c%s", used ? "," : "", present ? '+' : '-', name);
}

#include "plan.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool add(cts_plan *plan, cts_plan_item item) {
  if (plan->count == plan->room) {
    uint32_t room = plan->room ? plan->room * 2 : 256;
    cts_plan_item *items = realloc(plan->items, room * sizeof *items);
    if (!items) return false;
    plan->items = items;
    plan->room = room;
  }
  plan->items[plan->count++] = item;
  return true;
}

bool cts_plan_make(cts_plan *plan, const cts_options *options, uint32_t devices) {
  *plan = (cts_plan){0};
  uint64_t every = options->is_long ? 1 : options->every, number = options->seed;
  for (uint32_t device = 0; device < devices; device++, number++)
    for (const cts_suite *const *suite = cts_suites; *suite; suite++)
      for (uint32_t i = 0; i < (*suite)->count; i++) {
        const cts_test *test = &(*suite)->tests[i];
        if ((test->flags & CTS_LONG) && !options->is_long) continue;
        if (!cts_options_choose(options, (*suite)->name, test->name)) continue;
        if (number++ % every == 0 && !add(plan, (cts_plan_item){*suite, test, device})) return false;
      }
  return true;
}

void cts_plan_shuffle(cts_plan *plan, uint64_t seed) {
  for (uint32_t i = plan->count; i > 1; i--) {
    uint32_t j = (uint32_t)cts_random_of(&seed, i);
    cts_plan_item item = plan->items[j];
    plan->items[j] = plan->items[i - 1];
    plan->items[i - 1] = item;
  }
}

void cts_plan_free(cts_plan *plan) {
  free(plan->items);
  *plan = (cts_plan){0};
}

bool cts_plan_find(const char *name, cts_plan_item *out) {
  for (const cts_suite *const *suite = cts_suites; *suite; suite++)
    for (uint32_t i = 0; i < (*suite)->count; i++) {
      const cts_plan_item item = {*suite, &(*suite)->tests[i], 0};
      char full[192];
      cts_plan_name(&item, full, sizeof full);
      if (strcmp(full, name) != 0) continue;
      *out = item;
      return true;
    }
  return false;
}

void cts_plan_name(const cts_plan_item *item, char *out, uint64_t size) {
  snprintf(out, (size_t)size, "%s.%s", item->suite->name, item->test->name);
}

/* plan.h - which tests run, and in which order. */
#ifndef QUERN_CTS_PLAN_H
#define QUERN_CTS_PLAN_H

#include <stdbool.h>
#include <stdint.h>

#include "cts.h"
#include "options.h"

typedef struct cts_plan_item {
  const cts_suite *suite;
  const cts_test *test;
  uint32_t device; /* index */
} cts_plan_item;

typedef struct cts_plan {
  cts_plan_item *items;
  uint32_t count, room;
} cts_plan;

/* Every chosen test for each of so many devices, device by device; with --every N each Nth, other ones for other devices.
 * false: no memory. */
bool cts_plan_make(cts_plan *plan, const cts_options *options, uint32_t devices);
/* Brings it into an order that the seed decides. */
void cts_plan_shuffle(cts_plan *plan, uint64_t seed);
void cts_plan_free(cts_plan *plan);

/* "suite.test"; false when there is none. */
bool cts_plan_find(const char *name, cts_plan_item *out);
void cts_plan_name(const cts_plan_item *item, char *out, uint64_t size);

#endif

/* clock.c - vector clocks: what comes before what. */
#include <stdlib.h>
#include <string.h>

#include "inside.h"

/* References are counted under the device's lock. */
sim_clock *sim_clock_keep(sim_clock *clock) {
  if (clock) clock->references++;
  return clock;
}

void sim_clock_drop(sim_clock *clock) {
  if (clock && --clock->references == 0) free(clock);
}

static uint32_t count_of(const sim_clock *clock) { return clock ? clock->count : 0; }

sim_clock *sim_clock_join(const sim_clock *a, const sim_clock *b, uint32_t slot, uint64_t value) {
  uint32_t count = count_of(a) > count_of(b) ? count_of(a) : count_of(b);
  if (count <= slot) count = slot + 1;
  sim_clock *joined = malloc(sizeof *joined + count * sizeof joined->at[0]);
  if (!joined) return NULL;
  joined->references = 1;
  joined->count = count;
  for (uint32_t i = 0; i < count; i++) {
    uint64_t in_a = sim_clock_at(a, i), in_b = sim_clock_at(b, i);
    joined->at[i] = in_a > in_b ? in_a : in_b;
  }
  if (joined->at[slot] < value) joined->at[slot] = value;
  return joined;
}

bool sim_clock_raise(sim_clock **clock, uint32_t slot, uint64_t value) {
  uint32_t old = count_of(*clock);
  if (slot >= old) {
    sim_clock *grown = realloc(*clock, sizeof *grown + (slot + 1) * sizeof grown->at[0]);
    if (!grown) return false;
    memset(&grown->at[old], 0, (slot + 1 - old) * sizeof grown->at[0]);
    grown->references = 1;
    grown->count = slot + 1;
    *clock = grown;
  }
  if ((*clock)->at[slot] < value) (*clock)->at[slot] = value;
  return true;
}

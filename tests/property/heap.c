/* heap.c - the allocator that two adapters share: what the one has freed the other gets next (adapters/null/control.h). */
#include "adapters/null/sim/lifo.h"
#include "quern/quern.h"

static sim_lifo lifo = SIM_LIFO_INIT;

QN_API void *null_heap_take(uint64_t size);
QN_API void null_heap_give(void *memory, uint64_t size);

void *null_heap_take(uint64_t size) { return sim_lifo_take(&lifo, size); }
void null_heap_give(void *memory, uint64_t size) { sim_lifo_give(&lifo, memory, size); }

/* graph.h - random work on several queues and buffers, compared with a serial run (P6). */
#ifndef QUERN_TEST_PROPERTY_GRAPH_H
#define QUERN_TEST_PROPERTY_GRAPH_H

#include "support.h"

typedef struct graph_options {
  uint32_t queues;  /* 1 to 16 */
  uint32_t buffers; /* 1 to 12 */
  uint32_t steps;
  uint32_t sizes; /* of buffers, bytes, at most */
  bool launches;  /* else copies, fills, writes and reads alone */
  bool queues_come_and_go;
  bool buffers_come_and_go;
  bool
      is_short; /* of memory: the pool may take little more than the buffers need, so that blocks in use go on at once */
  bool is_hasty;   /* never waits in between */
  bool is_refused; /* the driver rejects submissions now and then; what is refused counts as not asked for */
} graph_options;

/* Runs it; fails when something differs. */
void graph_run(const property_device *d, uint64_t seed, const graph_options *options);
/* On four threads at once: each has buffers of its own, all share the queues. */
void graph_run_threads(const property_device *d, uint64_t seed, const graph_options *options);

#endif

/* record.h - a command as it stands in a queue's ring: all that it needs, arguments included. */
#ifndef QUERN_ADAPTERS_CPU_RECORD_H
#define QUERN_ADAPTERS_CPU_RECORD_H

#include "cpu.h"
#include "crew.h"
#include "program.h"

/* After QN_COMMAND_...: the rest of the ring up to its end is unused. */
enum { RECORD_SKIP = 100 };

/* A local argument's address is written into each seat's copy of the block. */
typedef struct cpu_local {
  uint64_t slot;   /* in the argument block */
  uint64_t offset; /* in the seat's memory */
} cpu_local;

typedef struct cpu_launch {
  qn_cpu_launch header; /* what the entry gets; its argument block follows the record */
  qn_adapter_kernel *kernel;
  uint64_t base[3], count[3]; /* first group, and groups to run */
  uint64_t items;             /* in a full group */
  uint64_t local_bytes, scratch_bytes;
  const cpu_local *locals; /* after the argument block */
  uint32_t local_count;
} cpu_launch;

/* Copy, write and read: source is not NULL. Fill: the pattern, repeated. */
typedef struct cpu_transfer {
  uint8_t *target;
  const uint8_t *source;
  uint64_t bytes;
  uint8_t pattern[CPU_ALIGNMENT];
} cpu_transfer;

typedef struct cpu_wait {
  qn_adapter_queue *queue;
  uint64_t generation; /* of the queue: another one now means that it is complete and gone */
  uint64_t value;
} cpu_wait;

typedef struct cpu_record {
  uint32_t kind;
  uint32_t bytes; /* in the ring, a multiple of CPU_ALIGNMENT */
  uint64_t value;
  uint64_t cells; /* pieces that may run side by side; 0: nothing to run */
  union {
    cpu_launch launch;
    cpu_transfer transfer;
    cpu_wait wait;
  };
} cpu_record;

/* Room that a command takes in the ring. Errors: INVALID_ARGUMENT, LIMIT. */
qn_status cpu_record_size(const qn_adapter_host *host, const qn_adapter_command *command, uint64_t *out_bytes);
/* Writes a record of that size. Errors: INVALID_ARGUMENT, LIMIT. */
qn_status cpu_record_write(const qn_adapter_host *host, const qn_adapter_command *command, cpu_record *record);

/* Runs cells. False: no memory for the seat's local memory and scratch; nothing was run. */
bool cpu_record_run(cpu_seat *seat, const cpu_record *record, uint64_t first, uint64_t count);
/* What a cell costs when nothing disturbs it, in ticks; 0: not known. */
uint64_t cpu_record_cost(const cpu_record *record, uint64_t ticks_per_us);
/* The most that it cost lately: cells of one kernel may differ much. 0: not known. */
uint64_t cpu_record_most(const cpu_record *record, uint64_t ticks_per_us);
/* Learns from `cells` that took `ticks`. */
void cpu_record_learn(const cpu_record *record, uint64_t cells, uint64_t ticks);

/* The parts of a launch and of a transfer. */
qn_status cpu_launch_write(const qn_adapter_host *host, const qn_launch_record *from, cpu_record *record);
uint64_t cpu_launch_size(const qn_launch_record *from);
bool cpu_launch_run(cpu_seat *seat, const cpu_launch *launch, uint64_t first, uint64_t count);
qn_status cpu_transfer_write(const qn_adapter_host *host, const qn_adapter_command *command, cpu_record *record);
void cpu_transfer_run(const cpu_transfer *transfer, uint64_t first, uint64_t count);
uint64_t cpu_transfer_cost(uint64_t ticks_per_us);

#endif

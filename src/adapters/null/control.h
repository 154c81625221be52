/* control.h - how a test steers the simulated device behind the adapter `null`. Includes nothing of Quern: the core
 * doesn't know of it.
 *
 *   uint64_t address = 0;
 *   qn_native_handle(device, NULL_CONTROL, &address);
 *   const null_control *control = (const null_control *)(uintptr_t)address;
 *   control->fail_at(control->device, point.queue, 7, 42, "smoke");
 *
 * The table lives as long as the device. Its functions may be called from any thread.
 *
 * Beside it the environment variable QUERN_NULL, read when a runtime loads the adapter, holds settings: words
 * "name=number", ',' between; docs/writing-an-adapter.md lists them. While it is set when the library is loaded, the calls of
 * the core are watched too: each object that is handed over must be one that this adapter made and has not destroyed, and the
 * core's other promises of adapter.h must hold.
 *
 * "heap=PATH" names a library with two functions, from which all memory is taken, records of the adapter's objects too:
 *   void *null_heap_take(uint64_t size);             aligned to 128; NULL: none left
 *   void null_heap_give(void *memory, uint64_t size);
 */
#ifndef NULL_CONTROL_H
#define NULL_CONTROL_H

#include <stdint.h>

#define NULL_CONTROL 1u /* `which` of qn_native_handle for a device */

enum { NULL_COPY, NULL_FILL, NULL_WRITE, NULL_READ, NULL_LAUNCH, NULL_WAIT, NULL_MARK, NULL_COMMANDS };

typedef struct null_counts {
  uint64_t steps;                       /* of the schedule */
  uint64_t submissions, rejected, full; /* calls that were taken, rejected, found the queue full */
  uint64_t commands[NULL_COMMANDS];     /* taken */
  uint64_t waits_doubled;               /* the queue had recorded a wait for that value or a later one */
  uint64_t waits_implied;               /* the value was before the command anyhow: seen complete, or through others */
  uint64_t queues, memories;            /* living */
  uint64_t memory_bytes;                /* of the living memories, without what is wrapped */
  uint64_t memories_made, addresses_again; /* and how many of them have the address freed last */
  uint64_t checked;                        /* accesses that were compared with the order asked for */
  uint64_t violations;                     /* of this library, all devices: see `violation` */
  uint64_t ring_bytes;                     /* memory that in-flight state takes, all living queues */
} null_counts;

typedef struct null_control {
  uint32_t struct_size;
  uint32_t reserved;
  void *device; /* first argument of each function */

  /* Settings as in QUERN_NULL, for this device from now on. 0; -1: a word isn't understood, or is taken earlier. */
  int32_t (*set)(void *device, const char *settings);

  /* Queues are named by the core's id (qn_point.queue); 0: all. */

  /* The queue runs nothing from `value` on, as if it hung, until it is let go. 0: also those to come. */
  void (*hold)(void *device, uint64_t queue, uint64_t value);
  void (*go)(void *device, uint64_t queue);
  /* The command with this value fails with the driver's code and words. */
  void (*fail_at)(void *device, uint64_t queue, uint64_t value, int32_t code, const char *text);
  /* The device is lost: all that is in flight fails, and so does what is asked of it from now on. */
  void (*lose)(void *device, const char *text);
  /* The next `count` submissions are rejected. */
  void (*reject)(void *device, uint64_t queue, uint32_t count);
  /* Makes up to `count` steps of the schedule; returns how many could be made. */
  uint64_t (*step)(void *device, uint64_t count);

  void (*count)(void *device, null_counts *out_counts);

  /* What was done in the wrong order: use before ready, use after free, a broken promise of the core. Of the whole
   * library, so that nothing hides; the first 64 are kept as text. False when there is no such. */
  int32_t (*violation)(uint32_t index, char *text, uint64_t capacity);
  void (*forget_violations)(void);
} null_control;

#endif

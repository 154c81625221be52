/* sim.h - the driver of a device that does not exist, as a vendor would give it: what the adapter in front of it calls.
 *
 * Streams run packets in order; a scheduler says which stream goes next. Without settings it takes packets in the order of
 * their arrival, at once. With a seed it is hostile: streams run late and out of step, completion is seen late, freed
 * addresses are given out again at once, and each access is checked against the order that was asked for. Contents are
 * really moved. It knows nothing of Quern; control.h tells how tests steer it.
 *
 * Threads: any function from any thread, but submissions to one stream one at a time.
 */
#ifndef NULL_SIM_SIM_H
#define NULL_SIM_SIM_H

#include <stdbool.h>
#include <stdint.h>

typedef struct sim_driver sim_driver;
typedef struct sim_device sim_device;
typedef struct sim_block sim_block;
typedef struct sim_stream sim_stream;

typedef int32_t sim_result;
enum {
  SIM_OK = 0,
  SIM_BUSY = 1, /* the stream is full */
  SIM_TIMEOUT = 2,
  SIM_NO_HOST_MEMORY = 3,
  SIM_NO_MEMORY = 4,
  SIM_NO_THREAD = 5,
  SIM_REJECTED = 6, /* a submission; nothing of it was taken */
  SIM_FAILED = 7,   /* a packet; everything after it on its stream fails with it */
  SIM_LOST = 8,     /* the device */
  SIM_UNTIMED = 9,  /* the stream keeps no times */
  SIM_TOO_OLD = 10, /* the stream has forgotten that value's times */
  SIM_BAD_SETTING = 11
};

/* ---- The driver --------------------------------------------------------------------------------- */

/* One line a setting: X(field, default, default with a seed, what it is). */
#define SIM_SETTINGS(X)                                                                                       \
  X(seed, 0, 0, UINT64_MAX, "of the schedule; 0: packets run in the order of their arrival")                  \
  X(host, 0, 1, 1, "1: packets run within calls of the host alone, so that one thread's run replays")         \
  X(lag, 0, 16, UINT64_MAX, "a stream that falls asleep sleeps so many steps at most")                        \
  X(late, 0, 1, 1, "1: completion is seen some steps late")                                                   \
  X(delay_ns, 0, 0, UINT64_MAX, "pause between two steps at most, when a thread of the device makes them")    \
  X(full, 0, 0, UINT64_MAX, "one of so many submissions finds its stream full")                               \
  X(reject, 0, 0, UINT64_MAX, "one of so many submissions is rejected")                                       \
  X(fail, 0, 0, UINT64_MAX, "one of so many packets fails")                                                   \
  X(no_memory, 0, 0, UINT64_MAX, "one of so many allocations fails")                                          \
  X(capacity, 1024, 64, UINT64_MAX, "packets in flight on one stream; taken when the device is opened")       \
  X(memory, 0, 0, UINT64_MAX, "bytes that the device has; 0: no limit. Taken when the driver is opened")      \
  X(domain, 1, 1, 3, "who fails together: 1 a stream, 3 the device")                                          \
  X(reuse, 0, 1, 1, "1: the address that was freed last is given out first. Taken when the driver is opened") \
  X(check, 0, 1, 1, "1: accesses are checked against the order asked for. Taken when the device is opened")   \
  X(kernels, 0, 0, 1, "1: programs are taken, and a launch mixes its arguments. Taken when the driver is opened")

typedef struct sim_settings {
#define SIM_X(field, plain, hostile, most, what) uint64_t field;
  SIM_SETTINGS(SIM_X)
#undef SIM_X
  char heap[256]; /* "heap=PATH": a library whose allocator is used (control.h) */
} sim_settings;

/* Settings are words "name=number", ',' between; a number may end with K, M or G. NULL: none. When a word isn't understood, or its value is more than it can be,
 * it is copied to `wrong`. */
sim_result sim_driver_open(const char *settings, char wrong[64], sim_driver **out_driver);
void sim_driver_close(sim_driver *driver);
const sim_settings *sim_driver_settings(const sim_driver *driver);

/* Zeroed memory of the driver's heap for the caller's own records; NULL: none left. */
void *sim_new(sim_driver *driver, uint64_t size);
void sim_delete(sim_driver *driver, void *record, uint64_t size);

/* ---- Devices and memory ------------------------------------------------------------------------- */

sim_result sim_device_open(sim_driver *driver, sim_device **out_device);
void sim_device_close(sim_device *device);
/* The control table (control.h). */
void *sim_device_control(sim_device *device);

/* `wrapped`: the caller's memory, or NULL for memory of the device. */
sim_result sim_block_create(sim_device *device, uint64_t size, void *wrapped, sim_block **out_block);
void sim_block_destroy(sim_device *device, sim_block *block);
void *sim_block_bytes(const sim_block *block);

/* ---- Streams ------------------------------------------------------------------------------------ */

enum { SIM_COPY, SIM_FILL, SIM_WRITE, SIM_READ, SIM_LAUNCH, SIM_WAIT, SIM_NOTHING };
enum { SIM_USES = 8, SIM_PATTERN = 128 };
enum { SIM_READS = 1, SIM_WRITES = 2 };

/* A range of a block that a packet uses. A copy has its target first, then its source. */
typedef struct sim_use {
  sim_block *block;
  uint64_t offset, size;
  uint32_t access;
} sim_use;

typedef struct sim_packet {
  uint32_t op;
  uint32_t use_count;
  sim_use uses[SIM_USES];
  void *host; /* write, read: used until the packet is complete */
  uint64_t pattern_size;
  unsigned char pattern[SIM_PATTERN];
  uint64_t key;       /* launch: mix.h */
  sim_stream *stream; /* wait: for that stream's value, done or failed */
  uint64_t value;
} sim_packet;

/* `name` is for texts and for control. */
sim_result sim_stream_create(sim_device *device, uint64_t name, bool is_timed, sim_stream **out_stream);
/* Only when everything on it is complete, and every wait for it. */
void sim_stream_destroy(sim_stream *stream);
/* Takes all packets or none; they get the next values of the stream, from 1 on. */
sim_result sim_stream_submit(sim_stream *stream, const sim_packet *packets, uint32_t count);
/* Sets the last value that is seen to be complete, done or failed. SIM_FAILED or SIM_LOST once a packet has failed. */
sim_result sim_stream_completed(sim_stream *stream, uint64_t *out_value);
sim_result sim_stream_wait(sim_stream *stream, uint64_t value, uint64_t timeout_ns);
/* The device's virtual time when a value's packet began and ended. SIM_BUSY: it has not run yet. */
enum { SIM_TIMES = 1 << 16 }; /* values whose times a stream remembers */
sim_result sim_stream_times(sim_stream *stream, uint64_t value, uint64_t *out_begin_ns, uint64_t *out_end_ns);

typedef struct sim_failure {
  uint64_t value; /* the first that failed; 0: none */
  sim_result result;
  int32_t code; /* of the driver's own */
  char text[256];
} sim_failure;
void sim_stream_failure(sim_stream *stream, sim_failure *out_failure);

#endif

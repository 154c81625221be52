/* stream.h - what goes to the device: one encoder that is filled, and flights that are on their way.
 *
 * A launch, copy or fill is recorded into the encoder that is open. The first WG_AHEAD after a wait or a pause are submitted (flushed)
 * at once, for the device would have to wait; then commands gather, up to WG_GATHERED, and go together: a submission costs several
 * times what a dispatch in it does. Who waits for something flushes; the pump (pump.c) flushes a moment after the device has taken
 * what was ahead, so that nothing hangs on a caller.
 *
 * WebGPU runs submissions in order, and what stands in one in order. So waits among queues of one device are for nothing, and a
 * flight's end is the end of all before it. A flight remembers in which order values of queues were recorded (steps); they are
 * told in that order.
 *
 * Everything here is under the device's lock. */
#ifndef QUERN_ADAPTERS_WEBGPU_STREAM_H
#define QUERN_ADAPTERS_WEBGPU_STREAM_H

#include <stdatomic.h>

#include "staging.h"
#include "webgpu.h"

enum {
  WG_FLIGHTS = 256,    /* the ring: room for what a batch may need beyond WG_MOST */
  WG_MOST = 48,        /* flights on their way; with more the device is full */
  WG_STEPS = 128,      /* changes from queue to queue in a flight */
  WG_AHEAD = 2,        /* flights that the device has before the pump gives it more, and that go without gathering */
  WG_GATHERED = 128,   /* commands */
  WG_BLOCKS = 1 << 18, /* bytes for argument blocks of a flight */
};

/* Threads outlive the moment in which the process begins to exit: those of the adapter, and those that wait within a call. */
enum {
  WG_RUNNING = 0,
  WG_LANDING = 1, /* the process exits: nothing more is submitted, what is recorded is forgotten */
  WG_OVER = 2,    /* drivers' destructors may run: nothing is looked at either, nobody waits */
};

/* All up to the value is told when the flight has come. */
typedef struct wg_step {
  qn_adapter_queue *queue;
  uint64_t value;
} wg_step;

/* A read: from the staging buffer to the host, when both the flight has come and the buffer is mapped. */
typedef struct wg_read {
  struct wg_read *next;
  wg_staged *staged;
  unsigned char *host;
  uint64_t skip_bytes, size_bytes;
} wg_read;

typedef struct wg_flight {
  wgl_event done;
  uint64_t number; /* rising by one */
  wg_step steps[WG_STEPS];
  uint32_t step_count;
  wg_read *reads, **last_read; /* in the order of their recording */
} wg_flight;

typedef struct wg_stream {
  wgl_encoder *encoder; /* NULL: none is open */
  wgl_pass *pass;
  const void *pipeline, *group; /* as the pass has them */
  uint32_t commands;            /* recorded since the last flush; writes count */
  uint32_t run;                 /* submissions of queues since somebody waited, or nothing came for a while */
  wgl_buffer *blocks;           /* argument blocks */
  unsigned char *block_bytes;   /* the same, before they are written */
  uint32_t blocks_used;
  wg_flight *flights; /* a ring; the one at first + count is being recorded */
  uint32_t first, count;
  uint64_t last_number, reached; /* flights submitted, and come */
  _Atomic uint32_t phase;        /* only rises */
  _Atomic uint32_t waiting;      /* threads within the library's wait */
} wg_stream;

qn_status wg_stream_open(qn_adapter_device *device, wg_failure *failure);
/* All flights have come, or the device is destroyed. */
void wg_stream_close(qn_adapter_device *device);

/* The device isn't full, and so many more flights fit into the ring. */
bool wg_stream_has_room(const qn_adapter_device *device, uint32_t flights);
/* A pass, or an encoder without one, to record a command into. NULL: the device has failed. */
wgl_pass *wg_stream_pass(qn_adapter_device *device);
wgl_encoder *wg_stream_encoder(qn_adapter_device *device);
/* Room for an argument block of the command that comes next; *out_offset is where in `blocks` it will be. May flush. NULL: it is
 * larger than there is room. */
unsigned char *wg_stream_block(qn_adapter_device *device, uint32_t size, uint32_t *out_offset);
/* One dispatch, with a bind group whose one dynamic offset is that. */
void wg_stream_dispatch(qn_adapter_device *device, wgl_pipeline *pipeline, wgl_group *group, uint32_t offset,
                        const uint32_t groups[3]);
/* Bytes of the host, at a multiple of 4 and as many; they are copied. Goes after what was recorded. */
void wg_stream_write(qn_adapter_device *device, wgl_buffer *buffer, uint64_t offset, const void *bytes, uint64_t size);
/* A read out of a staging buffer that a recorded copy fills. The record is the stream's then. */
void wg_stream_read(qn_adapter_device *device, wg_read *read);
/* A value of a queue ends here. */
void wg_stream_step(qn_adapter_device *device, qn_adapter_queue *queue, uint64_t value);
uint32_t wg_stream_phase(const qn_adapter_device *device);
/* At the end of a queue's submission: flushes unless commands should gather. */
void wg_stream_go(qn_adapter_device *device);
void wg_stream_flush(qn_adapter_device *device);

/* Looks what has come, and tells it. */
void wg_stream_look(qn_adapter_device *device);
/* The future of the first flight that brings `value` of `queue`, which isn't complete; false: it is not in any. Flushes when it
 * is being recorded. */
bool wg_stream_future(qn_adapter_device *device, const qn_adapter_queue *queue, uint64_t value, uint64_t *out_future);
/* The oldest flight's; false: there is none. */
bool wg_stream_oldest(const qn_adapter_device *device, uint64_t *out_future);
/* Every queue with something in flight fails, from its first value that is not complete. */
void wg_stream_fail(qn_adapter_device *device);

/* Under no lock: until a future has come. QN_NOT_READY: the deadline has passed. */
qn_status wg_stream_wait(qn_adapter_device *device, uint64_t future, uint64_t deadline);

/* ---- The pump (pump.c) -------------------------------------------------------------------------- */

/* A thread of the adapter's own that flushes what has gathered when the device has room for it. It sleeps while nothing gathers. */
typedef struct wg_pump {
  pthread_t thread;
  pthread_cond_t wake;
  bool is_started, is_awake, should_end;
} wg_pump;

/* Started at the first use: a program that waits for each launch has none. */
void wg_pump_wake(qn_adapter_device *device);
/* Under no lock. */
void wg_pump_end(qn_adapter_device *device);

#endif

#include "stream.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "device.h"
#include "queue.h"

static wg_flight *flight_at(const wg_stream *s, uint32_t index) { return &s->flights[(s->first + index) % WG_FLIGHTS]; }
static wg_flight *recorded(const wg_stream *s) { return flight_at(s, s->count); }

static uint32_t state_of(const wgl_event *event) { return __atomic_load_n(&event->state, __ATOMIC_ACQUIRE); }

/* ---- Life --------------------------------------------------------------------------------------- */

static void begin_flight(wg_stream *s) {
  wg_flight *flight = recorded(s);
  flight->step_count = 0;
  flight->reads = NULL;
  flight->last_read = &flight->reads;
  s->pipeline = s->group = NULL;
  s->commands = 0;
  s->blocks_used = 0;
}

qn_status wg_stream_open(qn_adapter_device *device, wg_failure *failure) {
  wg_stream *s = &device->stream;
  s->flights = calloc(WG_FLIGHTS, sizeof *s->flights);
  s->block_bytes = calloc(1, WG_BLOCKS);
  if (!s->flights || !s->block_bytes) {
    free(s->flights);
    free(s->block_bytes);
    return wg_fail(failure, QN_ERROR_OUT_OF_HOST_MEMORY, 0, "no memory for a device's work in flight");
  }
  for (int i = 0; i < WG_FLIGHTS; i++) s->flights[i].done.struct_size = sizeof s->flights[i].done;
  begin_flight(s);
  qn_status status = wg_buffer_create(device, WGL_UNIFORM | WGL_COPY_TARGET, WG_BLOCKS, &s->blocks, failure);
  if (status < 0) {
    free(s->flights);
    free(s->block_bytes);
  }
  return status;
}

static void drop_reads(wg_flight *flight) {
  for (wg_read *read = flight->reads, *next; read; read = next) {
    next = read->next;
    free(read);
  }
  flight->reads = NULL;
}

void wg_stream_close(qn_adapter_device *device) {
  wg_stream *s = &device->stream;
  for (uint32_t i = 0; i <= s->count; i++) drop_reads(flight_at(s, i));
  free(s->block_bytes);
  free(s->flights);
}

uint32_t wg_stream_phase(const qn_adapter_device *device) {
  return atomic_load_explicit(&device->stream.phase, memory_order_acquire);
}

bool wg_stream_has_room(const qn_adapter_device *device, uint32_t flights) {
  return device->stream.count < WG_MOST && device->stream.count + flights < WG_FLIGHTS;
}

/* ---- Recording ---------------------------------------------------------------------------------- */

static void end_pass(qn_adapter_device *device) {
  wg_stream *s = &device->stream;
  if (s->pass) WGL(device, pass_end, s->pass);
  s->pass = NULL;
  s->pipeline = s->group = NULL;
}

static wgl_encoder *encoder_of(qn_adapter_device *device) {
  wg_stream *s = &device->stream;
  if (!s->encoder) s->encoder = WGL(device, encoder_create, device->native);
  return s->encoder;
}

wgl_pass *wg_stream_pass(qn_adapter_device *device) {
  wg_stream *s = &device->stream;
  if (!s->pass && encoder_of(device)) s->pass = WGL(device, pass_begin, s->encoder);
  return s->pass;
}

wgl_encoder *wg_stream_encoder(qn_adapter_device *device) {
  end_pass(device);
  device->stream.commands++;
  return encoder_of(device);
}

unsigned char *wg_stream_block(qn_adapter_device *device, uint32_t size, uint32_t *out_offset) {
  wg_stream *s = &device->stream;
  uint32_t alignment = device->found->description.offset_alignment;
  uint32_t taken = (size + alignment - 1) / alignment * alignment;
  if (taken > WG_BLOCKS) return NULL;
  if (taken > WG_BLOCKS - s->blocks_used) wg_stream_flush(device);
  *out_offset = s->blocks_used;
  s->blocks_used += taken;
  return s->block_bytes + *out_offset;
}

void wg_stream_dispatch(qn_adapter_device *device, wgl_pipeline *pipeline, wgl_group *group, uint32_t offset,
                        const uint32_t groups[3]) {
  wg_stream *s = &device->stream;
  wgl_pass *pass = wg_stream_pass(device);
  if (!pass) return;
  if (s->pipeline != pipeline) WGL(device, pass_pipeline, pass, pipeline);
  s->pipeline = pipeline;
  if (group) WGL(device, pass_group, pass, group, offset == UINT32_MAX ? 0 : 1, &offset);
  WGL(device, pass_dispatch, pass, groups[0], groups[1], groups[2]);
  s->commands++;
}

void wg_stream_write(qn_adapter_device *device, wgl_buffer *buffer, uint64_t offset, const void *bytes, uint64_t size) {
  wg_stream *s = &device->stream;
  /* What is written goes before what is submitted after it: what was recorded so far must be on its way. */
  if (s->encoder) wg_stream_flush(device);
  WGL(device, queue_write, device->queue, buffer, offset, bytes, size);
  s->commands++;
}

void wg_stream_read(qn_adapter_device *device, wg_read *read) {
  wg_flight *flight = recorded(&device->stream);
  read->next = NULL;
  *flight->last_read = read;
  flight->last_read = &read->next;
}

void wg_stream_step(qn_adapter_device *device, qn_adapter_queue *queue, uint64_t value) {
  wg_stream *s = &device->stream;
  wg_flight *flight = recorded(s);
  wg_step *last = flight->step_count ? &flight->steps[flight->step_count - 1] : NULL;
  if (last && last->queue == queue) {
    last->value = value;
    return;
  }
  if (flight->step_count == WG_STEPS) {
    wg_stream_flush(device);
    flight = recorded(s);
  }
  flight->steps[flight->step_count++] = (wg_step){queue, value};
}

/* ---- Flights ------------------------------------------------------------------------------------ */

static void tell_steps(const wg_flight *flight) {
  for (uint32_t i = 0; i < flight->step_count; i++)
    atomic_store_explicit(&flight->steps[i].queue->completed, flight->steps[i].value, memory_order_release);
}

static void fail_read(qn_adapter_device *device) {
  wg_failure failure;
  (void)!wg_fail(&failure, QN_ERROR_DEVICE, WGL_ERROR_OTHER, "device '%s' can't map what was to be read",
                 device->found->info.name);
  wg_device_fail(device, &failure);
}

static void finish_read(qn_adapter_device *device, wg_read *read) {
  wg_staged *staged = read->staged;
  uint32_t state = state_of(&staged->mapped);
  if (state == WGL_DONE) {
    const unsigned char *bytes = WGL(device, buffer_mapped, staged->buffer, staged->size);
    if (bytes)
      memcpy(read->host, bytes + read->skip_bytes, (size_t)read->size_bytes);
    else
      fail_read(device);
    WGL(device, buffer_unmap, staged->buffer);
    wg_staging_give(device, staged);
  } else if (state == WGL_FAILED) {
    fail_read(device);
    wg_staging_give(device, staged);
  } /* else the device is lost and the library may yet write to the record: it stays */
  free(read);
}

static bool has_come(const qn_adapter_device *device, const wg_flight *flight) {
  if (atomic_load(&device->is_lost)) return true;
  if (state_of(&flight->done) == WGL_WAITING) return false;
  for (const wg_read *read = flight->reads; read; read = read->next)
    if (state_of(&read->staged->mapped) == WGL_WAITING) return false;
  return true;
}

static void land(qn_adapter_device *device) {
  wg_stream *s = &device->stream;
  wg_flight *flight = flight_at(s, 0);
  if (state_of(&flight->done) == WGL_FAILED && !atomic_load(&device->has_failed)) {
    wg_failure failure;
    (void)!wg_fail(&failure, QN_ERROR_DEVICE, WGL_ERROR_OTHER, "device '%s' did not do what was submitted",
                   device->found->info.name);
    wg_device_fail(device, &failure);
  }
  for (wg_read *read = flight->reads, *next; read; read = next) {
    next = read->next;
    finish_read(device, read);
  }
  flight->reads = NULL;
  tell_steps(flight);
  s->reached = flight->number;
  s->first = (s->first + 1) % WG_FLIGHTS;
  s->count--;
}

static void land_all(qn_adapter_device *device) {
  wg_device_listen(device);
  while (device->stream.count > 0 && has_come(device, flight_at(&device->stream, 0))) land(device);
}

void wg_stream_look(qn_adapter_device *device) {
  if (wg_stream_phase(device) == WG_OVER) return;
  land_all(device);
  if (device->stream.count == 0) return;
  WGL(device, poll, device->instance->native, device->native);
  land_all(device);
}

/* The ring is full: a launch of very many parts. */
static void make_room(qn_adapter_device *device) {
  while (!wg_stream_has_room(device, 1) && wg_stream_phase(device) == WG_RUNNING) {
    (void)!WGL(device, wait, device->instance->native, device->native, flight_at(&device->stream, 0)->done.future,
               UINT64_C(10000000));
    wg_stream_look(device);
  }
}

/* What is submitted to a lost device would end the process where the library is like that: so it is asked before. */
static void hear_before_submission(qn_adapter_device *device) {
  if (device->shim->ends_process) WGL(device, poll, device->instance->native, device->native);
  wg_device_listen(device);
}

/* Nothing for a device that has failed. */
static void submit(qn_adapter_device *device) {
  wg_stream *s = &device->stream;
  end_pass(device);
  if (atomic_load(&device->has_failed)) {
    if (s->encoder) WGL(device, encoder_drop, s->encoder);
    s->encoder = NULL;
    return;
  }
  if (s->blocks_used) WGL(device, queue_write, device->queue, s->blocks, 0, s->block_bytes, s->blocks_used);
  wgl_commands *commands = s->encoder ? WGL(device, encoder_finish, s->encoder) : NULL;
  s->encoder = NULL;
  if (s->commands > 0) WGL(device, queue_submit, device->queue, commands);
}

/* A lost device is asked for nothing: its flights have come. */
static void ask_for_end(qn_adapter_device *device, wg_flight *flight) {
  bool is_lost = atomic_load(&device->is_lost);
  if (is_lost)
    flight->done.state = WGL_FAILED;
  else
    WGL(device, queue_done, device->queue, &flight->done);
  for (wg_read *read = flight->reads; read; read = read->next) {
    wg_staged *staged = read->staged;
    if (is_lost)
      staged->mapped.state = WGL_FAILED;
    else
      WGL(device, buffer_map, staged->buffer, staged->size, &staged->mapped);
  }
}

void wg_stream_flush(qn_adapter_device *device) {
  wg_stream *s = &device->stream;
  wg_flight *flight = recorded(s);
  if (s->commands == 0 && flight->step_count == 0) return;
  if (wg_stream_phase(device) == WG_RUNNING && s->count > 0) make_room(device);
  if (wg_stream_phase(device) != WG_RUNNING) {
    drop_reads(flight);
    begin_flight(s);
    return;
  }
  if (s->commands == 0 && s->count == 0) { /* nothing but marks, behind nothing */
    tell_steps(flight);
    begin_flight(s);
    return;
  }
  hear_before_submission(device);
  submit(device);
  ask_for_end(device, flight);
  flight->number = ++s->last_number;
  s->count++;
  begin_flight(s);
  wg_device_listen(device);
  if (atomic_load(&device->is_lost)) land_all(device);
}

void wg_stream_go(qn_adapter_device *device) {
  wg_stream *s = &device->stream;
  bool is_first = s->run < WG_AHEAD && s->count < WG_AHEAD;
  s->run++;
  if (is_first || s->commands >= WG_GATHERED)
    wg_stream_flush(device);
  else if (s->commands > 0 || recorded(s)->step_count > 0)
    wg_pump_wake(device);
}

/* ---- Questions ---------------------------------------------------------------------------------- */

static bool brings(const wg_flight *flight, const qn_adapter_queue *queue, uint64_t value) {
  for (uint32_t i = 0; i < flight->step_count; i++)
    if (flight->steps[i].queue == queue && flight->steps[i].value >= value) return true;
  return false;
}

bool wg_stream_future(qn_adapter_device *device, const qn_adapter_queue *queue, uint64_t value, uint64_t *out_future) {
  wg_stream *s = &device->stream;
  s->run = 0;
  if (brings(recorded(s), queue, value)) wg_stream_flush(device);
  for (uint32_t i = 0; i < s->count; i++) {
    if (!brings(flight_at(s, i), queue, value)) continue;
    *out_future = flight_at(s, i)->done.future;
    return true;
  }
  return false;
}

bool wg_stream_oldest(const qn_adapter_device *device, uint64_t *out_future) {
  const wg_stream *s = &device->stream;
  if (s->count == 0) return false;
  *out_future = flight_at(s, 0)->done.future;
  return true;
}

void wg_stream_fail(qn_adapter_device *device) {
  const wg_stream *s = &device->stream;
  for (uint32_t i = 0; i <= s->count; i++) {
    const wg_flight *flight = flight_at(s, i);
    for (uint32_t k = 0; k < flight->step_count; k++) wg_queue_fail(flight->steps[k].queue);
  }
}

/* Where the library can't wait, who waits looks again soon. */
#define PAUSE_NS 20000

/* In parts, so that no thread is within a driver for long when the process exits: its destructors would run under it. */
#define PART_NS UINT64_C(20000000)

static qn_status wait_in_parts(qn_adapter_device *device, uint64_t future, uint64_t deadline) {
  qn_status status = QN_NOT_READY;
  for (uint64_t now = wg_now(); status == QN_NOT_READY && now < deadline; now = wg_now()) {
    atomic_fetch_add(&device->stream.waiting, 1);
    if (wg_stream_phase(device) != WG_OVER)
      status = WGL(device, wait, device->instance->native, device->native, future,
                   deadline - now < PART_NS ? deadline - now : PART_NS);
    atomic_fetch_sub(&device->stream.waiting, 1);
    if (wg_stream_phase(device) == WG_OVER) return QN_OK; /* who waits looks, and finds the process exiting */
  }
  return status;
}

qn_status wg_stream_wait(qn_adapter_device *device, uint64_t future, uint64_t deadline) {
  const struct timespec pause = {0, PAUSE_NS};
  uint64_t now = wg_now();
  qn_status status = QN_ERROR_UNSUPPORTED;
  if (now >= deadline) return QN_NOT_READY;
  if (device->found->description.has_locks) status = wait_in_parts(device, future, deadline);
  if (status != QN_ERROR_UNSUPPORTED) return status;
  (void)nanosleep(&pause, NULL);
  return QN_OK;
}

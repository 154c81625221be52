#include "compiles.h"

#include <stdlib.h>
#include <time.h>

#include "device.h"

/* For what compiles; and for what waits for other commands, as long as nothing compiles. */
#define PATIENCE_NS UINT64_C(10000000000)
#define QUIET_NS UINT64_C(250000000)

static bool is_needed(const qn_adapter_device *device) { return device->found->quirks->compiles_late; }

/* ---- Looking ------------------------------------------------------------------------------------ */

/* Under the lock: forgets the first ones that run. */
static void forget_running(qn_adapter_device *device) {
  ocl_compiles *c = &device->compiles;
  uint32_t gone = 0;
  while (gone < c->count && ocl_event_state(device, c->events[gone]) <= CL_RUNNING)
    device->cl->ReleaseEvent(c->events[gone++]);
  for (uint32_t i = gone; i < c->count; i++) c->events[i - gone] = c->events[i];
  c->count -= gone;
  c->ended += gone;
}

typedef struct sight {
  bool compiles; /* perhaps: the driver has all that it needs for it */
  bool waits;    /* for commands before it */
} sight;

static sight look(qn_adapter_device *device, bool at_calls) {
  ocl_compiles *c = &device->compiles;
  pthread_mutex_lock(&c->lock);
  sight s = {.compiles = at_calls && c->calls > 0};
  for (uint32_t i = 0; i < c->count; i++) {
    cl_int state = ocl_event_state(device, c->events[i]);
    s.compiles = s.compiles || state == CL_SUBMITTED;
    s.waits = s.waits || state > CL_SUBMITTED;
  }
  pthread_mutex_unlock(&c->lock);
  return s;
}

/* What waits may wait long, for a kernel that runs, and isn't compiled now; but it may be in a moment. */
static void wait_until_compiled(qn_adapter_device *device, bool at_calls) {
  uint64_t start = ocl_now(), quiet_since = start;
  for (;;) {
    const sight s = look(device, at_calls);
    uint64_t now = ocl_now();
    if (s.compiles) quiet_since = now;
    if (!s.compiles && !s.waits) return;
    if (now - start >= PATIENCE_NS || now - quiet_since >= QUIET_NS) return;
    const struct timespec pause = {0, (long)ocl_pause_after(now - start)};
    nanosleep(&pause, NULL);
  }
}

/* ---- The end of the process --------------------------------------------------------------------- */

static void end_with_process(void *user) {
  qn_adapter_device *device = user;
  pthread_mutex_lock(&device->compiles.lock);
  bool is_first = !device->compiles.is_over;
  device->compiles.is_over = true;
  pthread_mutex_unlock(&device->compiles.lock);
  if (is_first) wait_until_compiled(device, true);
}

/* When it is refused, exit is as it would be without us. */
static void tell_exit_to(qn_adapter_device *device, void (*call)(void *user)) {
  const qn_adapter_host *host = device->host;
  bool knows = host->struct_size >= offsetof(qn_adapter_host, at_exit) + sizeof(uint64_t) && host->at_exit;
  if (knows) (void)!host->at_exit(call, device);
}

void ocl_compiles_open(qn_adapter_device *device) {
  pthread_mutex_init(&device->compiles.lock, NULL);
  if (is_needed(device)) tell_exit_to(device, end_with_process);
}

void ocl_compiles_close(qn_adapter_device *device) {
  ocl_compiles *c = &device->compiles;
  if (is_needed(device)) tell_exit_to(device, NULL);
  for (uint32_t i = 0; i < c->count; i++) device->cl->ReleaseEvent(c->events[i]);
  free(c->events);
  pthread_mutex_destroy(&c->lock);
}

/* ---- Compiling ---------------------------------------------------------------------------------- */

bool ocl_compiles_begin(qn_adapter_device *device) {
  ocl_compiles *c = &device->compiles;
  if (!is_needed(device)) return true;
  pthread_mutex_lock(&c->lock);
  bool is_over = c->is_over;
  if (!is_over) c->calls++;
  pthread_mutex_unlock(&c->lock);
  return !is_over;
}

/* Without memory for it a launch is not waited for. */
static void remember(qn_adapter_device *device, cl_event event) {
  ocl_compiles *c = &device->compiles;
  if (c->count == c->capacity) {
    uint32_t capacity = c->capacity ? 2 * c->capacity : 16;
    cl_event *events = realloc(c->events, capacity * sizeof(cl_event));
    if (!events) return;
    c->events = events;
    c->capacity = capacity;
  }
  if (device->cl->RetainEvent(event) == CL_SUCCESS) c->events[c->count++] = event;
}

/* More and more seldom, for the system keeps each registration. */
static bool is_time_to_renew(uint64_t before, uint64_t after) {
  return after > before && (after & ~before) > before; /* a higher bit is set than before */
}

void ocl_compiles_end(qn_adapter_device *device, cl_event event) {
  ocl_compiles *c = &device->compiles;
  if (!is_needed(device)) return;
  pthread_mutex_lock(&c->lock);
  uint64_t before = c->ended;
  forget_running(device);
  c->calls--;
  if (event) remember(device, event);
  if (!event) c->ended++;
  bool renews = !c->is_over && is_time_to_renew(before, c->ended);
  pthread_mutex_unlock(&c->lock);
  if (renews) tell_exit_to(device, end_with_process);
}

void ocl_compiles_settle(qn_adapter_device *device) {
  ocl_compiles *c = &device->compiles;
  if (!is_needed(device) || atomic_load_explicit(&c->is_settled, memory_order_relaxed)) return;
  pthread_mutex_lock(&c->lock);
  bool has_launched = c->count > 0;
  pthread_mutex_unlock(&c->lock);
  if (!has_launched) return;
  atomic_store_explicit(&c->is_settled, 1, memory_order_relaxed);
  wait_until_compiled(device, false);
  tell_exit_to(device, end_with_process);
}

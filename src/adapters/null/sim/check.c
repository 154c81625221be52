/* check.c - the model that knows the right order.
 *
 * A packet comes after what its stream was given before it; after what its stream has recorded waits for, and all that came
 * before that; and after what the host was told is complete when it submitted the packet. Two packets that use the same bytes,
 * one of them writing, must stand in this order; that they happened to run in it is not enough. So a missing wait is found
 * whatever the schedule.
 */
#include <stdlib.h>
#include <string.h>

#include "inside.h"

static const char *const op_names[] = {"copy", "fill", "write", "read", "launch", "wait", "mark"};
const char *sim_op_name(uint32_t op) { return op_names[op]; }

static void give_up(sim_device *device) {
  if (device->is_checked) sim_violation("no memory for the model of the right order; nothing is checked any longer");
  device->is_checked = false;
}

/* ---- Clocks of packets -------------------------------------------------------------------------- */

/* Puts the stream's clock after `other` (NULL: none) and `value` at `slot`. */
static void raise_clock(sim_stream *stream, const sim_clock *other, uint32_t slot, uint64_t value) {
  sim_clock *joined = sim_clock_join(stream->clock, other, slot, value);
  if (!joined) {
    give_up(stream->device);
    return;
  }
  sim_clock_drop(stream->clock);
  stream->clock = joined;
}

static void join_host(sim_stream *stream) {
  sim_device *device = stream->device;
  if (stream->host == device->host) return;
  raise_clock(stream, device->host, stream->slot, 0);
  sim_clock_drop(stream->host);
  stream->host = sim_clock_keep(device->host);
}

/* What came before a value that is waited for. Its task may be overwritten once it is complete: the last complete one's
 * clock has at least as much. */
static const sim_clock *clock_of(const sim_stream *stream, uint64_t value) {
  bool is_kept = value + stream->device->capacity > stream->submitted;
  return sim_task_at(stream, is_kept ? value : atomic_load(&stream->seen))->clock;
}

static void join_waited(sim_stream *stream, const sim_packet *wait) {
  sim_device *device = stream->device;
  const sim_stream *other = wait->stream;
  uint64_t at = other->base + wait->value;
  bool is_double = sim_clock_at(stream->waited, other->slot) >= at;
  device->counts.waits_doubled += is_double;
  device->counts.waits_implied += !is_double && sim_clock_at(stream->clock, other->slot) >= at;
  if (!sim_clock_raise(&stream->waited, other->slot, at)) give_up(device);
  raise_clock(stream, clock_of(other, wait->value), other->slot, at);
}

/* ---- Accesses ----------------------------------------------------------------------------------- */

static bool is_before(const sim_access *a, const sim_stream *stream) {
  return a->slot == stream->slot ? a->at >= stream->base : sim_clock_at(stream->clock, a->slot) >= a->at;
}

static const char *did(uint32_t access) { return access & SIM_WRITES ? "wrote" : "read"; }

static void report(const sim_stream *stream, const sim_access *now, const sim_access *before, const sim_block *block) {
  sim_violation(
      "use before ready: queue %llu value %llu (%s) uses bytes %llu to %llu of memory %p, which queue %llu "
      "value %llu (%s) %s; no wait and nothing that the host was told puts the one after the other",
      (unsigned long long)stream->name, (unsigned long long)now->value, sim_op_name(now->op),
      (unsigned long long)now->offset, (unsigned long long)now->end, (void *)block->bytes,
      (unsigned long long)before->stream, (unsigned long long)before->value, sim_op_name(before->op),
      did(before->access));
}

/* Whether `old` needn't be kept beside `now`: whoever comes after `now` comes after it too. */
static bool is_covered(const sim_access *old, const sim_access *now) {
  bool is_inside = now->offset <= old->offset && old->end <= now->end;
  bool is_own_read = old->access == SIM_READS && old->slot == now->slot;
  return is_inside && ((now->access & SIM_WRITES) != 0 || is_own_read);
}

static bool append(sim_block *block, const sim_access *access) {
  if (block->access_count == block->access_capacity) {
    uint32_t capacity = block->access_capacity ? 2 * block->access_capacity : 8;
    sim_access *grown = realloc(block->accesses, capacity * sizeof *grown);
    if (!grown) return false;
    block->accesses = grown;
    block->access_capacity = capacity;
  }
  block->accesses[block->access_count++] = *access;
  return true;
}

static void check_use(sim_stream *stream, const sim_use *use, sim_access now) {
  sim_device *device = stream->device;
  sim_block *block = use->block;
  now.offset = use->offset;
  now.end = use->offset + use->size;
  now.access = use->access;
  if (now.end < now.offset || now.end > block->size)
    sim_violation("queue %llu value %llu (%s) uses bytes %llu to %llu of memory of %llu bytes",
                  (unsigned long long)stream->name, (unsigned long long)now.value, sim_op_name(now.op),
                  (unsigned long long)now.offset, (unsigned long long)now.end, (unsigned long long)block->size);
  uint32_t kept = 0;
  for (uint32_t i = 0; i < block->access_count; i++) {
    const sim_access old = block->accesses[i];
    if (sim_clock_at(device->host, old.slot) >= old.at) continue; /* the host knows, and so does all that comes */
    bool conflicts = old.offset < now.end && now.offset < old.end && ((old.access | now.access) & SIM_WRITES) != 0;
    bool is_ordered = is_before(&old, stream);
    if (conflicts && !is_ordered) report(stream, &now, &old, block);
    if (is_ordered && is_covered(&old, &now)) continue;
    block->accesses[kept++] = old;
  }
  block->access_count = kept;
  device->counts.checked++;
  if (!append(block, &now)) give_up(device);
}

void sim_check_submit(sim_stream *stream, uint64_t value) {
  sim_task *task = sim_task_at(stream, value);
  const sim_packet *p = &task->packet;
  join_host(stream);
  if (p->op == SIM_WAIT) join_waited(stream, p);
  sim_clock_drop(task->clock);
  task->clock = sim_clock_keep(stream->clock);
  const sim_access now = {
      .stream = stream->name, .slot = stream->slot, .op = p->op, .value = value, .at = stream->base + value};
  bool will_run = stream->failure.value == 0; /* else it only passes */
  for (uint32_t i = 0; will_run && i < p->use_count; i++) check_use(stream, &p->uses[i], now);
}

/* ---- What the host knows ------------------------------------------------------------------------ */

void sim_check_told(sim_stream *stream, uint64_t value) {
  sim_device *device = stream->device;
  if (value <= stream->told) return;
  sim_clock *joined = sim_clock_join(device->host, clock_of(stream, value), stream->slot, stream->base + value);
  if (!joined) {
    give_up(device);
    return;
  }
  sim_clock_drop(device->host);
  device->host = joined;
  stream->told = value;
}

void sim_check_destroy_block(sim_device *device, sim_block *block) {
  for (uint32_t i = 0; device->is_checked && i < block->access_count; i++) {
    const sim_access *a = &block->accesses[i];
    if (sim_clock_at(device->host, a->slot) >= a->at) continue;
    sim_violation(
        "use after free: memory %p is destroyed, which queue %llu value %llu (%s) uses; the host was not told "
        "that it is complete",
        (void *)block->bytes, (unsigned long long)a->stream, (unsigned long long)a->value, sim_op_name(a->op));
  }
  free(block->accesses);
}

/* ---- Slots -------------------------------------------------------------------------------------- */

static bool add_slot(sim_device *device) {
  uint32_t count = device->slot_count + 1;
  uint64_t *counts = realloc(device->slot_counts, count * sizeof *counts);
  if (counts) device->slot_counts = counts;
  bool *used = realloc(device->slot_used, count * sizeof *used);
  if (used) device->slot_used = used;
  if (!counts || !used) return false;
  counts[count - 1] = 0;
  used[count - 1] = false;
  device->slot_count = count;
  return true;
}

bool sim_check_create_stream(sim_stream *stream) {
  sim_device *device = stream->device;
  uint32_t slot = 0;
  while (slot < device->slot_count && device->slot_used[slot]) slot++;
  if (slot == device->slot_count && !add_slot(device)) return false;
  device->slot_used[slot] = true;
  stream->slot = slot;
  stream->base = device->slot_counts[slot];
  return true;
}

/* Waits that would look at a stream that is no more: told, and then not made. */
static void drop_waits(const sim_stream *gone) {
  for (sim_stream *s = gone->device->streams; s; s = s->next)
    for (uint64_t v = s->done + 1; v <= s->submitted; v++) {
      sim_packet *p = &sim_task_at(s, v)->packet;
      if (p->op == SIM_WAIT && p->stream == gone) p->op = SIM_NOTHING;
    }
}

void sim_check_destroy_stream(sim_stream *stream) {
  sim_device *device = stream->device;
  if (atomic_load(&stream->seen) < stream->submitted)
    sim_violation("queue %llu is destroyed while value %llu is in flight", (unsigned long long)stream->name,
                  (unsigned long long)atomic_load(&stream->seen) + 1);
  else if (stream->told < stream->submitted)
    sim_violation("queue %llu is destroyed though the host was told of its values up to %llu alone, and it has %llu",
                  (unsigned long long)stream->name, (unsigned long long)stream->told,
                  (unsigned long long)stream->submitted);
  if (stream->waiters > 0) {
    sim_violation("queue %llu is destroyed while %u recorded waits for it have not run",
                  (unsigned long long)stream->name, stream->waiters);
    drop_waits(stream);
  }
  sim_check_told(stream, stream->submitted);
  device->slot_counts[stream->slot] = stream->base + stream->submitted;
  device->slot_used[stream->slot] = false;
  for (uint64_t i = 0; i < device->capacity; i++) sim_clock_drop(stream->ring[i].clock);
  sim_clock_drop(stream->clock);
  sim_clock_drop(stream->host);
  free(stream->waited);
}

#include "record.h"

#include "queue.h"

qn_status cpu_record_size(const qn_adapter_host *host, const qn_adapter_command *c, uint64_t *out_bytes) {
  uint64_t bytes = sizeof(cpu_record);
  if (c->kind == QN_COMMAND_LAUNCH) {
    if (!c->launch || !c->launch->kernel)
      return cpu_error(host, QN_ERROR_INVALID_ARGUMENT, 0, "cpu: a launch without a kernel");
    bytes = cpu_launch_size(c->launch);
  }
  *out_bytes = cpu_align(bytes, CPU_ALIGNMENT);
  return QN_OK;
}

static qn_status write_wait(const qn_adapter_host *host, const qn_adapter_command *c, cpu_record *r) {
  if (!c->wait_queue) return cpu_error(host, QN_ERROR_INVALID_ARGUMENT, 0, "cpu: a wait without a queue");
  r->wait = (cpu_wait){c->wait_queue, cpu_queue_generation(c->wait_queue), c->wait_value};
  return QN_OK;
}

qn_status cpu_record_write(const qn_adapter_host *host, const qn_adapter_command *c, cpu_record *r) {
  r->kind = c->kind;
  r->value = c->value;
  r->cells = 0;
  switch (c->kind) {
    case QN_COMMAND_LAUNCH:
      return cpu_launch_write(host, c->launch, r);
    case QN_COMMAND_COPY:
    case QN_COMMAND_FILL:
    case QN_COMMAND_WRITE:
    case QN_COMMAND_READ:
      return cpu_transfer_write(host, c, r);
    case QN_COMMAND_WAIT:
      return write_wait(host, c, r);
    case QN_COMMAND_MARK:
      return QN_OK;
    default:
      return cpu_error(host, QN_ERROR_UNSUPPORTED, 0, "cpu: command kind %u is unknown", c->kind);
  }
}

bool cpu_record_run(cpu_seat *seat, const cpu_record *r, uint64_t first, uint64_t count) {
  if (r->kind == QN_COMMAND_LAUNCH) return cpu_launch_run(seat, &r->launch, first, count);
  cpu_transfer_run(&r->transfer, first, count);
  return true;
}

uint64_t cpu_record_cost(const cpu_record *r, uint64_t ticks_per_us) {
  if (r->kind != QN_COMMAND_LAUNCH) return cpu_transfer_cost(ticks_per_us);
  uint64_t cost = atomic_load_explicit(&r->launch.kernel->item_cost, memory_order_relaxed);
  return cost ? cost * r->launch.items / COST_SCALE + 1 : 0;
}

uint64_t cpu_record_most(const cpu_record *r, uint64_t ticks_per_us) {
  if (r->kind != QN_COMMAND_LAUNCH) return cpu_transfer_cost(ticks_per_us);
  uint64_t cost = atomic_load_explicit(&r->launch.kernel->item_most, memory_order_relaxed);
  return cost ? cost * r->launch.items / COST_SCALE + 1 : 0;
}

/* A higher one is believed at once and forgotten slowly. Threads that learn at one time must not lose the higher one. */
static void learn_most(_Atomic uint64_t *known, uint64_t cost) {
  uint64_t old = atomic_load_explicit(known, memory_order_relaxed), now;
  do {
    now = cost < old ? old - (old - cost) / 16 : cost;
  } while (now != old &&
           !atomic_compare_exchange_weak_explicit(known, &old, now, memory_order_relaxed, memory_order_relaxed));
}

/* A lower cost is believed at once; a higher one by a quarter, since a thread that lost its core looks slow. */
void cpu_record_learn(const cpu_record *r, uint64_t cells, uint64_t ticks) {
  if (r->kind != QN_COMMAND_LAUNCH || ticks > UINT64_MAX / COST_SCALE) return;
  _Atomic uint64_t *known = &r->launch.kernel->item_cost;
  uint64_t cost = ticks * COST_SCALE / (cells * r->launch.items) + 1;
  learn_most(&r->launch.kernel->item_most, cost);
  uint64_t old = atomic_load_explicit(known, memory_order_relaxed);
  if (old && cost > old) cost = old + (cost - old + 3) / 4;
  if (cost != old) atomic_store_explicit(known, cost, memory_order_relaxed);
}

/* exit.c - see webgpu.h. */
#include <time.h>

#include "device.h"

#define PATIENCE_NS UINT64_C(10000000000)

void wg_exit_tell(const qn_adapter_host *host, void (*call)(void *user), void *user) {
  bool knows = host->struct_size >= offsetof(qn_adapter_host, at_exit) + sizeof(uint64_t) && host->at_exit;
  if (knows) (void)!host->at_exit(call, user);
}

/* Of the process. Whoever closes marks it first and asks then; who exits does it the other way round. */
static _Atomic uint32_t has_begun;

bool wg_exit_allows_closing(_Atomic uint32_t *closing) {
  atomic_store(closing, WG_CLOSING_RUNS);
  if (!atomic_load(&has_begun)) return true;
  atomic_store(closing, WG_CLOSING_DONE);
  return false;
}

void wg_exit_begin(const _Atomic uint32_t *closing) {
  atomic_store(&has_begun, 1);
  const struct timespec pause = {0, 200000};
  uint64_t deadline = wg_deadline(PATIENCE_NS);
  while (atomic_load(closing) == WG_CLOSING_RUNS && wg_now() < deadline) (void)nanosleep(&pause, NULL);
}

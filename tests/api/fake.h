/* fake.h - the control block of the test adapter `fake`: qn_native_handle(device, 0) gives its address. */
#ifndef QUERN_TEST_FAKE_H
#define QUERN_TEST_FAKE_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>

#include "quern/quern.h"

typedef struct fake_control {
  /* Commands run only while they are allowed: each queue up to `allowed`, those of `open_queue` without limit. */
  _Atomic uint64_t allowed;
  _Atomic uint64_t fail_at;    /* a queue's value that fails, of `fail_queue` (0: of any) */
  _Atomic uint64_t fail_queue; /* ids */
  _Atomic uint64_t open_queue;
  _Atomic uint32_t reject_submits; /* so many submissions are rejected */
  _Atomic uint32_t capacity;       /* of each queue, commands; 0: no limit */
  _Atomic uint32_t refuse_destroy; /* memory_destroy fails */
  _Atomic uint32_t no_memory;      /* memory_create fails */
  _Atomic uint32_t block_destroy;  /* memory_destroy does not return while it is set */
  _Atomic uint32_t block_open;     /* device_open does not return while it is set */
  _Atomic uint32_t blocked;        /* it is in there */
  _Atomic uint32_t closed_over;    /* instances that were closed while a device of theirs was open */
  _Atomic uint32_t watch;          /* count calls of `watched` */
  pthread_t watched;
  _Atomic uint32_t watched_calls;
  _Atomic uint32_t memories, queues, devices; /* living */
  _Atomic uint32_t waits;                     /* commands QN_COMMAND_WAIT taken */
} fake_control;

#endif

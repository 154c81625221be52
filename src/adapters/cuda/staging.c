#include "staging.h"

#include <sched.h>
#include <stdlib.h>
#include <string.h>

/* A transfer is cut into as many parts as there are pieces at least, so that host and device both have something to do, but not into
 * crumbs: a callback costs some microseconds. A part of 1 MiB stays in the processor's cache, which the device reads and writes; only a
 * large transfer has larger ones, for the driver takes about a thousand calls before one blocks. */
enum {
  PIECES = 4,
  PIECE_BYTES = 4 << 20,
  SMALLEST_PART = 256 << 10,
  USUAL_PART = 1 << 20,
  MOST_PARTS = 256 /* of usual size */
};

/* A piece of pinned memory. */
typedef struct piece {
  unsigned char *host;
  cu_event ready; /* the host, or the device, has filled it */
  cu_event free;  /* it was emptied, and can be filled again */
  bool is_used;
} piece;

/* What one callback copies. */
typedef struct copy {
  struct transfer *transfer;
  void *target;
  const void *source;
  size_t size;
} copy;

/* The callbacks of one transfer; dropped by a later one when all have been. */
typedef struct transfer {
  struct transfer *next;
  cu_stager *stager;
  uint32_t count; /* that the driver took */
  _Atomic uint32_t done;
  copy copies[];
} transfer;

struct cu_stager {
  cu_stager *next; /* of a device's orphans */
  cu_stream stream;
  _Atomic uint32_t is_stopped;
  _Atomic uint32_t inside; /* callbacks that copy just now */
  piece pieces[PIECES];
  uint32_t next_piece;
  transfer *transfers;
};

/* ---- Callbacks ---------------------------------------------------------------------------------- */

/* On a thread of the driver; it may call nothing of it. */
static void run_copy(void *user) {
  const copy *c = user;
  transfer *t = c->transfer;
  cu_stager *stager = t->stager;
  atomic_fetch_add(&stager->inside, 1);
  if (!atomic_load(&stager->is_stopped)) memcpy(c->target, c->source, c->size);
  atomic_fetch_add(&t->done, 1); /* it may be gone from here on */
  atomic_fetch_sub(&stager->inside, 1);
}

void cu_stager_stop(cu_stager *stager) {
  if (!stager) return;
  atomic_store(&stager->is_stopped, 1);
  while (atomic_load(&stager->inside) > 0) sched_yield(); /* for as long as a piece takes */
}

/* ---- Life --------------------------------------------------------------------------------------- */

static void keep_first(cu_result *first, cu_result code) {
  if (*first == CU_SUCCESS) *first = code;
}

static cu_result drop(const qn_adapter_device *device, cu_stager *stager) {
  const cu_functions *cu = device->cu;
  cu_result code = CU_SUCCESS;
  for (int i = 0; i < PIECES; i++) {
    const piece *p = &stager->pieces[i];
    if (p->ready) keep_first(&code, cu->EventDestroy_v2(p->ready));
    if (p->free) keep_first(&code, cu->EventDestroy_v2(p->free));
    if (p->host) keep_first(&code, cu->MemFreeHost(p->host));
  }
  if (stager->stream) keep_first(&code, cu->StreamDestroy_v2(stager->stream));
  return code;
}

static void free_transfers(cu_stager *stager, bool all) {
  for (transfer **link = &stager->transfers; *link;) {
    transfer *t = *link;
    if (all || atomic_load(&t->done) == t->count) {
      *link = t->next;
      free(t);
    } else {
      link = &t->next;
    }
  }
}

static void free_stager(cu_stager *stager) {
  free_transfers(stager, true);
  free(stager);
}

cu_result cu_stager_free(qn_adapter_device *device, cu_stager *stager) {
  if (!stager) return CU_SUCCESS;
  cu_result code = drop(device, stager);
  if (!cu_device_is_lost(device)) {
    free_stager(stager);
    return code;
  }
  pthread_mutex_lock(&device->lock);
  stager->next = device->orphans;
  device->orphans = stager;
  pthread_mutex_unlock(&device->lock);
  return code;
}

void cu_stagers_free_orphans(qn_adapter_device *device) {
  while (device->orphans) {
    cu_stager *stager = device->orphans;
    device->orphans = stager->next;
    free_stager(stager);
  }
}

static cu_result make(qn_adapter_queue *queue) {
  if (queue->stager) return CU_SUCCESS;
  cu_stager *stager = calloc(1, sizeof *stager);
  if (!stager) return CU_OUT_OF_MEMORY;
  cu_result code = queue->device->cu->StreamCreate(&stager->stream, CU_STREAM_NON_BLOCKING_FLAG);
  if (code != CU_SUCCESS) {
    free(stager);
    return code;
  }
  queue->stager = stager;
  return CU_SUCCESS;
}

static cu_result make_piece(const cu_functions *cu, piece *p) {
  cu_result code = CU_SUCCESS;
  void *host = NULL;
  if (!p->ready) code = cu->EventCreate(&p->ready, CU_EVENT_NO_TIMING);
  if (code == CU_SUCCESS && !p->free) code = cu->EventCreate(&p->free, CU_EVENT_NO_TIMING);
  if (code == CU_SUCCESS && !p->host) {
    code = cu->MemHostAlloc(&host, PIECE_BYTES, CU_HOST_PORTABLE);
    if (code == CU_SUCCESS) p->host = host;
  }
  return code;
}

static cu_result next_piece(qn_adapter_queue *queue, piece **out) {
  cu_stager *stager = queue->stager;
  *out = &stager->pieces[stager->next_piece];
  cu_result code = make_piece(queue->device->cu, *out);
  if (code == CU_SUCCESS) stager->next_piece = (stager->next_piece + 1) % PIECES;
  return code;
}

/* ---- Transfers ---------------------------------------------------------------------------------- */

/* The streams are `fills` and `empties` of the piece; each does its part when the other has done the one before. */
static cu_result wait_until_free(const cu_functions *cu, const piece *p, cu_stream fills) {
  return p->is_used ? cu->StreamWaitEvent(fills, p->free, 0) : CU_SUCCESS;
}
static cu_result hand_over(const cu_functions *cu, const piece *p, cu_stream fills, cu_stream empties) {
  cu_result code = cu->EventRecord(p->ready, fills);
  return code == CU_SUCCESS ? cu->StreamWaitEvent(empties, p->ready, 0) : code;
}
static cu_result set_free(const cu_functions *cu, piece *p, cu_stream empties) {
  cu_result code = cu->EventRecord(p->free, empties);
  if (code == CU_SUCCESS) p->is_used = true;
  return code;
}

static cu_result call_back(const cu_functions *cu, transfer *t, void *target, const void *source, uint64_t size) {
  copy *c = &t->copies[t->count];
  *c = (copy){t, target, source, (size_t)size};
  t->count++; /* before the driver may call */
  cu_result code = cu->LaunchHostFunc(t->stager->stream, run_copy, c);
  if (code != CU_SUCCESS) t->count--;
  return code;
}

static cu_result write_piece(qn_adapter_queue *queue, transfer *t, cu_pointer target, const void *source,
                             uint64_t size) {
  piece *p = NULL;
  const cu_functions *cu = queue->device->cu;
  cu_stream hosts = t->stager->stream;
  cu_result code = next_piece(queue, &p);
  if (code == CU_SUCCESS) code = wait_until_free(cu, p, hosts);
  if (code == CU_SUCCESS) code = call_back(cu, t, p->host, source, size);
  if (code == CU_SUCCESS) code = hand_over(cu, p, hosts, queue->stream);
  if (code == CU_SUCCESS) code = cu->MemcpyAsync(target, (cu_pointer)p->host, (size_t)size, queue->stream);
  return code == CU_SUCCESS ? set_free(cu, p, queue->stream) : code;
}

static cu_result read_piece(qn_adapter_queue *queue, transfer *t, void *target, cu_pointer source, uint64_t size,
                            piece **out) {
  const cu_functions *cu = queue->device->cu;
  cu_stream hosts = t->stager->stream;
  cu_result code = next_piece(queue, out);
  piece *p = *out;
  if (code == CU_SUCCESS) code = wait_until_free(cu, p, queue->stream);
  if (code == CU_SUCCESS) code = cu->MemcpyAsync((cu_pointer)p->host, source, (size_t)size, queue->stream);
  if (code == CU_SUCCESS) code = hand_over(cu, p, queue->stream, hosts);
  if (code == CU_SUCCESS) code = call_back(cu, t, target, p->host, size);
  return code == CU_SUCCESS ? set_free(cu, p, hosts) : code;
}

static uint64_t part_of(uint64_t size) {
  uint64_t part = (size / PIECES + SMALLEST_PART - 1) / SMALLEST_PART * SMALLEST_PART;
  if (part < SMALLEST_PART) part = SMALLEST_PART;
  if (part > USUAL_PART) part = USUAL_PART;
  return size <= (uint64_t)MOST_PARTS * USUAL_PART ? part : PIECE_BYTES;
}
static uint64_t smaller(uint64_t a, uint64_t b) { return a < b ? a : b; }

/* NULL: no memory, or no stream. */
static transfer *begin(qn_adapter_queue *queue, uint64_t size, cu_result *out_code) {
  uint64_t copies = size / part_of(size) + 1;
  transfer *t = NULL;
  *out_code = make(queue);
  if (*out_code != CU_SUCCESS) return NULL;
  *out_code = CU_OUT_OF_MEMORY;
  free_transfers(queue->stager, false);
  if (copies < SIZE_MAX / sizeof(copy) / 2) t = calloc(1, sizeof *t + (size_t)copies * sizeof(copy));
  if (!t) return NULL;
  t->stager = queue->stager;
  t->next = queue->stager->transfers;
  queue->stager->transfers = t;
  *out_code = CU_SUCCESS;
  return t;
}

/* A callback of a transfer that was refused in its middle is not ordered with the queue: it must be over before the caller
 * learns of the failure, and frees what it copies. */
static qn_status end(qn_adapter_queue *queue, cu_result code, const char *what, uint64_t size, cu_failure *failure) {
  if (code == CU_SUCCESS) return QN_OK;
  if (queue->stager) (void)queue->device->cu->StreamSynchronize(queue->stager->stream);
  return cu_fail(failure, cu_status_of(code), code, "%s of %llu bytes", what, (unsigned long long)size);
}

qn_status cu_stage_write(qn_adapter_queue *queue, cu_pointer target, const void *source, uint64_t size,
                         uint32_t *out_taken, cu_failure *failure) {
  const unsigned char *from = source;
  cu_result code = CU_SUCCESS;
  uint64_t part = part_of(size);
  transfer *t = begin(queue, size, &code);
  for (uint64_t done = 0; done < size && code == CU_SUCCESS; done += part) {
    ++*out_taken;
    code = write_piece(queue, t, target + (cu_pointer)done, from + done, smaller(part, size - done));
  }
  return end(queue, code, "write", size, failure);
}

qn_status cu_stage_read(qn_adapter_queue *queue, void *target, cu_pointer source, uint64_t size, uint32_t *out_taken,
                        cu_failure *failure) {
  unsigned char *to = target;
  piece *last = NULL;
  cu_result code = CU_SUCCESS;
  uint64_t part = part_of(size);
  transfer *t = begin(queue, size, &code);
  for (uint64_t done = 0; done < size && code == CU_SUCCESS; done += part) {
    ++*out_taken;
    code = read_piece(queue, t, to + done, source + (cu_pointer)done, smaller(part, size - done), &last);
  }
  /* The read is over when the host has copied the last piece. */
  if (code == CU_SUCCESS && last) code = queue->device->cu->StreamWaitEvent(queue->stream, last->free, 0);
  return end(queue, code, "read", size, failure);
}

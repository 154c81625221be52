/* quern.h - the runtime's public API.
 *
 * Quern runs compute kernels written in OpenCL C on whatever a machine has.
 *
 * Shape of the interface
 *   - Functions take and give pointers and 32- or 64-bit integers only. No aggregate, float, enum or
 *     bool crosses the boundary by value, so one binary interface serves every caller (docs/abi.md).
 *   - A handle is a checked name, not an address. A stale, forged or wrong-kind handle, and one of another
 *     runtime, is QN_ERROR_INVALID_HANDLE with a text, in release builds too.
 *   - Structs that may grow start with `struct_size`; set it with QN_INIT(type) or sizeof. A field that a
 *     caller's older struct lacks takes its default, which is always zero. A non-zero tail that this
 *     library doesn't know is QN_ERROR_UNSUPPORTED. Points, views and arguments are plain data of fixed
 *     size and carry none (docs/decisions/plain-data.md).
 *   - Times are nanoseconds, sizes and offsets are bytes, global and local sizes are work-items.
 *   - Every function may be called from any thread at any time unless it says otherwise.
 *   - A function that fails changes nothing that its caller can see: outputs keep their old values.
 *   - A function that returns QN_OK leaves the calling thread's error text as it was.
 *
 * Costs
 *   The last words of a function's comment say what a call takes at most, on its own thread: locks, allocations, system calls, driver calls (of the adapter;
 *   what a driver does inside of one is not counted). What is not named is none; "any" promises nothing. In parentheses: when.
 *   "otherwise": when it is not so. "first call": of the process, or for the object. "failure": a call that is refused; when it is
 *   not said, nothing. A lock that others hold, and a text of more than 1,023 bytes, cost more. tests/costs counts.
 *
 * Objects and who keeps whom alive
 *   runtime <- device <- {queue, buffer, program <- kernel}. Each child holds its parent; every order of
 *   release is right. An object that work in flight uses lives on until that work is complete.
 */
#ifndef QUERN_QUERN_H
#define QUERN_QUERN_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define QN_VERSION_MAJOR 0u
#define QN_VERSION_MINOR 1u
#define QN_VERSION_PATCH 0u

#if defined(__GNUC__)
#define QN_API __attribute__((visibility("default")))
#define QN_MUST_USE __attribute__((warn_unused_result))
#else
#define QN_API
#define QN_MUST_USE
#endif

/* A pointer, handle or function pointer inside a struct stands in an 8-byte slot everywhere; on 32-bit
 * machines the upper half is an explicit field that must be zero. */
#if UINTPTR_MAX > 0xffffffffu
#define QN_SLOT(type, name) type name
#else
#define QN_SLOT(type, name) \
  type name;                \
  uint32_t name##_upper
#endif
/* A function pointer in a struct: QN_FUNCTION(result, name, parameters...). */
#if UINTPTR_MAX > 0xffffffffu
#define QN_FUNCTION(result, name, ...) result (*name)(__VA_ARGS__)
#else
#define QN_FUNCTION(result, name, ...) \
  result (*name)(__VA_ARGS__);         \
  uint32_t name##_upper
#endif

/* ---- Status ------------------------------------------------------------------------------------- */

typedef int32_t qn_status;

/* X(name, value, text): zero is success, errors are negative, values never change. */
#define QN_STATUS_LIST(X)                                                            \
  X(QN_OK, 0, "success")                                                             \
  X(QN_NOT_READY, 1, "not complete yet")                                             \
  X(QN_ERROR_INVALID_ARGUMENT, -1, "invalid argument")                               \
  X(QN_ERROR_INVALID_HANDLE, -2, "invalid handle")                                   \
  X(QN_ERROR_OUT_OF_MEMORY, -3, "out of device memory")                              \
  X(QN_ERROR_OUT_OF_HOST_MEMORY, -4, "out of host memory")                           \
  X(QN_ERROR_NOT_FOUND, -5, "not found")                                             \
  X(QN_ERROR_UNSUPPORTED, -6, "not supported by this device or library")             \
  X(QN_ERROR_COMPILE, -7, "the program does not compile")                            \
  X(QN_ERROR_TIMEOUT, -8, "time limit reached")                                      \
  X(QN_ERROR_WOULD_BLOCK, -9, "the call would block here")                           \
  X(QN_ERROR_DEVICE_LOST, -10, "device lost")                                        \
  X(QN_ERROR_DEVICE, -11, "the device or its driver reported an error")              \
  X(QN_ERROR_IO, -12, "input or output failed")                                      \
  X(QN_ERROR_FORKED, -13, "the runtime was opened before fork and is unusable here") \
  X(QN_ERROR_CLOSED, -14, "the process is exiting or the runtime is closed")         \
  X(QN_ERROR_LIMIT, -15, "a limit was exceeded")                                     \
  X(QN_ERROR_ABI, -16, "binary interface mismatch")                                  \
  X(QN_ERROR_DATA, -17, "damaged or malformed data")                                 \
  X(QN_ERROR_INTERNAL, -18, "internal error")

enum {
#define QN_X(name, value, text) name = (value),
  QN_STATUS_LIST(QN_X)
#undef QN_X
};

/* Time limits: QN_POLL never waits, QN_FOREVER has no limit. */
#define QN_POLL UINT64_C(0)
#define QN_FOREVER UINT64_MAX

/* The version as (major << 22) | (minor << 12) | patch. Cost: nothing. */
QN_API uint32_t qn_version(void);

/* The identifier of a status, "QN_ERROR_TIMEOUT" for example; never NULL. Static storage. Cost: nothing. */
QN_API const char *qn_status_name(qn_status status);

/* The text of the calling thread's last error: what, where, the sizes and the driver's own words, and
 * what to do. Never NULL; "" when there was none. Valid until the thread's next failing call. Cost: nothing. */
QN_API const char *qn_error_text(void);

/* The driver's own code of the calling thread's last error, 0 when no driver was involved.
 * Cost: nothing. */
QN_API int64_t qn_error_driver_code(void);

/* ---- Handles ------------------------------------------------------------------------------------ */

typedef struct qn_runtime_handle *qn_runtime;
typedef struct qn_device_handle *qn_device;
typedef struct qn_queue_handle *qn_queue;
typedef struct qn_buffer_handle *qn_buffer;
typedef struct qn_program_handle *qn_program;
typedef struct qn_kernel_handle *qn_kernel;

enum {
  QN_KIND_NONE = 0,
  QN_KIND_RUNTIME = 1,
  QN_KIND_DEVICE = 2,
  QN_KIND_QUEUE = 3,
  QN_KIND_BUFFER = 4,
  QN_KIND_PROGRAM = 5,
  QN_KIND_KERNEL = 6
};

/* Adds one to the count of any handle. Errors: INVALID_HANDLE, LIMIT. Cost: nothing. */
QN_API qn_status qn_retain(const void *handle);

/* Takes one from the count of any handle; at zero the handle is stale at once and the object is freed
 * later by its device's reaper. Never waits, locks, allocates or calls a driver: a garbage collector may
 * call it from any thread, in any order. NULL is allowed and does nothing. In a forked child and after
 * exit has begun it does nothing. Errors: INVALID_HANDLE. Cost: system calls 1 (the last count may wake the reaper). */
QN_API qn_status qn_release(const void *handle);

/* The kind of a live handle. Errors: INVALID_HANDLE. Cost: nothing. */
QN_API QN_MUST_USE qn_status qn_handle_kind(const void *handle, uint32_t *out_kind);

/* ---- Runtime, adapters, devices ----------------------------------------------------------------- */

typedef struct qn_runtime_options {
  uint32_t struct_size;
  uint32_t reserved;
  QN_SLOT(const char *, adapter_path); /* directories, ':' between; NULL: QUERN_ADAPTER_PATH, then beside the library */
  QN_SLOT(const char *, adapters);     /* names, ',' between; NULL: QUERN_ADAPTERS, then all */
} qn_runtime_options;

/* Opens a runtime. `options` may be NULL. Loads no adapter yet. The caller owns one count of the result.
 * Errors: INVALID_ARGUMENT, OUT_OF_HOST_MEMORY, FORKED, CLOSED.
 * Cost: locks 3, allocations 1; first call: any. */
QN_API QN_MUST_USE qn_status qn_runtime_open(const qn_runtime_options *options, qn_runtime *out_runtime);

/* Closes a runtime: waits for work in flight (up to `timeout_ns` each device), frees every object and
 * makes all of its handles stale, whoever still holds counts of them. Reports the first thing that a
 * driver refused, or that the trace could not be written (IO). A second close is INVALID_HANDLE. Must not be called from a callback. Cost: any. */
QN_API qn_status qn_runtime_close(qn_runtime runtime, uint64_t timeout_ns);

typedef struct qn_adapter_info {
  uint32_t struct_size;
  uint32_t loaded;  /* 1 when usable */
  char name[32];    /* "cpu" */
  char path[512];   /* the library, "" for a built-in */
  char reason[512]; /* why it is not usable, "" when it is */
} qn_adapter_info;

/* The adapters that were found; loads those that the options or the environment allow. Cost: locks 1; first call: any. */
QN_API QN_MUST_USE qn_status qn_adapter_count(qn_runtime runtime, uint32_t *out_count);
/* Errors: NOT_FOUND when index is past the end. Cost: locks 1; first call: any. */
QN_API QN_MUST_USE qn_status qn_adapter_describe(qn_runtime runtime, uint32_t index, qn_adapter_info *out_info);

enum {
  QN_DEVICE_CPU = 1,
  QN_DEVICE_GPU = 2,
  QN_DEVICE_CHECK = 3,     /* the interpreter */
  QN_DEVICE_SIMULATED = 4, /* runs no kernels */
  QN_DEVICE_OTHER = 5
};

/* Feature bits of a device. */
#define QN_FEATURE_KERNELS (UINT64_C(1) << 0)
#define QN_FEATURE_DOUBLE (UINT64_C(1) << 1)
#define QN_FEATURE_HALF (UINT64_C(1) << 2)
#define QN_FEATURE_INT64_ATOMICS (UINT64_C(1) << 3)
#define QN_FEATURE_SHARED_MEMORY (UINT64_C(1) << 4)
#define QN_FEATURE_WRAP_HOST (UINT64_C(1) << 5)
#define QN_FEATURE_TIMED_QUEUES (UINT64_C(1) << 6)

typedef struct qn_device_info {
  uint32_t struct_size;
  uint32_t type;     /* QN_DEVICE_... */
  char selector[64]; /* "cpu:0" */
  char name[128];    /* the hardware */
  char adapter[32];  /* "cpu" */
  char driver[128];  /* driver and version */
  uint64_t features; /* QN_FEATURE_... */
  uint64_t memory_bytes;
  uint64_t max_allocation_bytes;
  uint64_t local_memory_bytes; /* of one work-group */
  uint64_t max_local_size[3];
  uint64_t max_group_items;
  uint32_t compute_units;
  uint32_t address_bits;     /* 32 or 64 */
  uint32_t buffer_alignment; /* bytes; the offset of a kernel's buffer argument is a multiple of it */
  uint32_t sub_group_size;   /* 0 when it has none */
} qn_device_info;

/* Devices of every adapter, in a stable order. Loads adapters. Cost: locks 1; first call: any. */
QN_API QN_MUST_USE qn_status qn_device_count(qn_runtime runtime, uint32_t *out_count);
QN_API QN_MUST_USE qn_status qn_device_describe(qn_runtime runtime, uint32_t index, qn_device_info *out_info);

/* Opens a device. Selector: "cpu", "cuda:1", "best", "check"; NULL: QUERN_DEVICE, then "cpu". Loads only
 * the adapter that it names. Errors: NOT_FOUND (the text lists what there is), DEVICE, ABI. Cost: any. */
QN_API QN_MUST_USE qn_status qn_device_open(qn_runtime runtime, const char *selector, qn_device *out_device);
/* Cost: nothing. */
QN_API QN_MUST_USE qn_status qn_device_query(qn_device device, qn_device_info *out_info);

/* Returns when the driver holds nothing of ours for this device but what lives. Errors: TIMEOUT, and the
 * first thing that the driver refused. Cost: any. */
QN_API QN_MUST_USE qn_status qn_device_drain(qn_device device, uint64_t timeout_ns);

typedef struct qn_device_statistics {
  uint32_t struct_size;
  uint32_t queues, buffers, programs, kernels;          /* living objects */
  uint32_t awaiting_release;                            /* released, not yet freed */
  uint64_t memory_used, memory_cached, memory_reserved; /* bytes; cached: all that is free; qn_memory_statistics */
  uint64_t launches, copies, fills;                     /* since the device was opened */
  uint64_t programs_compiled, program_cache_hits;
  uint32_t cached_programs; /* loaded programs that are in use or kept for the next who asks; counted anew */
  uint32_t reserved;
} qn_device_statistics;
/* Cost: locks any (one a queue, and some). */
QN_API QN_MUST_USE qn_status qn_device_statistics_get(qn_device device, qn_device_statistics *out_statistics);

/* ---- Leaks -------------------------------------------------------------------------------------- */

/* With QUERN_CHECK=leaks in the environment, closing a runtime tells what had not been released: kind, count, and the place
 * where it was made. That is the place told by QN_HERE, else the call stack. It goes to standard error, and here: `*out_count`
 * is the number of objects that closed runtimes of this process had left since the last call of this function, `text` gets a
 * line for each kind and place, cut to `capacity` bytes with the NUL (NULL with a capacity of 0: no text).
 * Errors: UNSUPPORTED when QUERN_CHECK=leaks is not set, INVALID_ARGUMENT. Cost: locks 1; first call: any. */
QN_API QN_MUST_USE qn_status qn_leak_report(char *text, uint64_t capacity, uint64_t *out_count);

/* Tells the place of the next call of this thread that makes an object; `file` must stay until that call returns. For
 * bindings; in C and C++ write QN_HERE(qn_buffer_create(...)), or define QN_PLACES before this header is included, and each
 * call that makes an object tells its place. Cost: nothing. */
QN_API void qn_here(const char *file, uint32_t line);

/* ---- Points and queues -------------------------------------------------------------------------- */

/* A place on a queue's timeline. Plain data: nothing to create, retain or release, and valid for ever:
 * queue ids are never reused in a process. {0, 0} is complete. */
typedef struct qn_point {
  uint64_t queue;
  uint64_t value;
} qn_point;

#define QN_QUEUE_TIMED (UINT64_C(1) << 0) /* points get device times */

typedef struct qn_queue_options {
  uint32_t struct_size;
  uint32_t reserved;
  uint64_t flags;             /* QN_QUEUE_... */
  uint64_t submit_timeout_ns; /* how long a launch may wait when the queue is full; 0: no limit */
} qn_queue_options;

/* An in-order stream. `options` may be NULL. Cost: locks 8, allocations 2, driver calls 1; otherwise: any (it also destroys what
 * is due of what was released). */
QN_API QN_MUST_USE qn_status qn_queue_create(qn_device device, const qn_queue_options *options, qn_queue *out_queue);

/* The queue's last point given out; {id, 0} when nothing was submitted. Cost: nothing. */
QN_API QN_MUST_USE qn_status qn_queue_last(qn_queue queue, qn_point *out_point);

/* Makes later work of `queue` wait, on the device, for other queues' points. Cost: locks 1 (they are known to be complete);
 * otherwise: locks 1, driver calls any. */
QN_API QN_MUST_USE qn_status qn_queue_wait(qn_queue queue, const qn_point *points, uint32_t count);

/* Waits on the host for all that was submitted. Errors: TIMEOUT, or the cause of the first failure. Cost: nothing
 * (it is known to be complete); otherwise: driver calls any. */
QN_API QN_MUST_USE qn_status qn_queue_finish(qn_queue queue, uint64_t timeout_ns);

/* Waits on the host for a point; QN_POLL gives QN_NOT_READY instead of waiting. The thread that waits
 * helps a CPU device. Errors: TIMEOUT; INVALID_ARGUMENT for a value not given out yet; a failure's cause. Cost:
 * nothing (it is known to be complete); otherwise: driver calls any. */
QN_API QN_MUST_USE qn_status qn_point_wait(const qn_point *point, uint64_t timeout_ns);

/* Device nanoseconds from the completion of a to that of b, negative when b was first; both of timed queues of one device, which
 * live. Device times or an error, never the host's. QN_NOT_READY while not both are complete, which sets no text. Errors: INVALID_ARGUMENT (two devices, a
 * queue that is gone, value 0 or one not given out), UNSUPPORTED (a queue that was not made with QN_QUEUE_TIMED), NOT_FOUND (a
 * queue remembers the times of its last 65,535 values at least), the cause of a point that failed. Cost: driver calls 4. */
QN_API QN_MUST_USE qn_status qn_point_elapsed(const qn_point *a, const qn_point *b, int64_t *out_ns);

/* ---- Callbacks at a point ----------------------------------------------------------------------- */

/* What qn_queue_call calls. `status` is that of the point: QN_OK, the cause of its failure (qn_error_text has its words),
 * or QN_ERROR_CLOSED when the runtime was closed and the point was not complete within the close's time limit. */
typedef void (*qn_call_fn)(void *user, qn_status status);

/* Calls `function` once when a point of this queue is complete or has failed; `point` NULL: the queue's last one. Exactly
 * once when this returns QN_OK, not at all when it fails; the exit of the process calls nothing any longer.
 *
 * Callbacks run on a thread of the library, one a queue, which the queue's first call starts; never inside qn_queue_call, and
 * one after the other in the order of their points (those of one point in the order of the calls). The queue lives until they
 * have returned, whoever has released it. A callback may call everything but qn_runtime_close: release what it likes, make
 * objects, launch, ask for more callbacks. What would have to wait there is QN_ERROR_WOULD_BLOCK instead: waiting for a point
 * that is not complete, a launch on a full queue, a map of a busy buffer, a drain, closing.
 * Errors: INVALID_HANDLE, INVALID_ARGUMENT (a point of another queue, or not given out), OUT_OF_HOST_MEMORY, LIMIT (no
 * thread). Cost: locks 1, allocations 1, system calls 1 (the thread is woken); first call: any (a queue's starts the thread). */
QN_API QN_MUST_USE qn_status qn_queue_call(qn_queue queue, const qn_point *point, qn_call_fn function, void *user);

/* For event loops: a descriptor that becomes readable when a point of this queue (NULL: its last) is complete or has failed,
 * or its runtime was closed; qn_point_wait with QN_POLL then tells which. The caller closes it, at any time. On Linux an
 * eventfd. Errors: as qn_queue_call, UNSUPPORTED where the system has none.
 * Cost: locks 1, allocations 1, system calls 3; first call: any. */
QN_API QN_MUST_USE qn_status qn_queue_descriptor(qn_queue queue, const qn_point *point, int32_t *out_descriptor);

/* ---- Buffers ------------------------------------------------------------------------------------ */

enum {
  QN_MEMORY_DEVICE = 0, /* fastest for kernels; the host reaches it by copies or map */
  QN_MEMORY_HOST = 1,   /* host memory that the device reaches */
  QN_MEMORY_SHARED = 2, /* one address for both; coherent between points */
  QN_MEMORY_WRAP = 3    /* the caller's memory; must outlive the buffer's last point */
};

#define QN_BUFFER_UNTRACKED (UINT64_C(1) << 0) /* the caller orders its uses between queues */

typedef struct qn_buffer_options {
  uint32_t struct_size;
  uint32_t memory;               /* QN_MEMORY_... */
  uint64_t size_bytes;           /* 1 or more */
  uint64_t flags;                /* QN_BUFFER_... */
  QN_SLOT(void *, host_pointer); /* QN_MEMORY_WRAP only */
  QN_SLOT(qn_queue, queue);      /* who will use it first, a queue of the device; NULL: any. Borrowed for the call */
  uint64_t wait_timeout_ns;      /* how long to wait for memory at most; 0: the device's limit, qn_memory_configure */
} qn_buffer_options;

/* Contents start undefined. Where the memory comes from: "Device memory", below. With `queue`, memory that this queue
 * used last comes back at once, also while its work is in flight; should another queue use the buffer first all the
 * same, that costs a wait on the device, tracked or not, and never a race with what used the memory before.
 * Errors: INVALID_ARGUMENT, INVALID_HANDLE, OUT_OF_MEMORY, LIMIT, UNSUPPORTED.
 * Cost: locks 1 (the queue that is named has a free block of the size); first call: any; otherwise: any (what is due of what
 * was released is destroyed too). */
QN_API QN_MUST_USE qn_status qn_buffer_create(qn_device device, const qn_buffer_options *options,
                                              qn_buffer *out_buffer);

typedef struct qn_buffer_info {
  uint32_t struct_size;
  uint32_t memory;
  uint64_t size_bytes;
  uint64_t flags;
  QN_SLOT(void *, host_pointer); /* where the host may read and write at any quiet moment; NULL: nowhere */
} qn_buffer_info;
/* Cost: nothing. */
QN_API QN_MUST_USE qn_status qn_buffer_query(qn_buffer buffer, qn_buffer_info *out_info);

/* A range of a buffer. Plain data. size_bytes == QN_WHOLE: to the end. */
typedef struct qn_view {
  QN_SLOT(qn_buffer, buffer);
  uint64_t offset_bytes;
  uint64_t size_bytes;
} qn_view;
#define QN_WHOLE UINT64_MAX

enum { QN_MAP_READ = 1, QN_MAP_WRITE = 2 };

/* Gives the host an address of a view once the buffer's work is complete. Device work must not use the
 * view until the unmap. Maps nest; each takes one unmap. A view of no bytes is mapped as well.
 * Errors: TIMEOUT, INVALID_ARGUMENT, UNSUPPORTED.
 * Cost: locks 2, allocations 1 (the work is complete, and memory always mapped); otherwise: locks 2, allocations 1, driver calls any. */
QN_API QN_MUST_USE qn_status qn_buffer_map(const qn_view *view, uint32_t access, uint64_t timeout_ns,
                                           void **out_pointer);
/* Cost: locks 1 (memory is always mapped); otherwise: locks 1, driver calls 1. */
QN_API QN_MUST_USE qn_status qn_buffer_unmap(qn_buffer buffer, void *pointer);

/* Copies, fills, writes and reads are asynchronous and ordered like launches. `out_point` may be NULL.
 * Host memory given to qn_write and qn_read must stay valid until the point is complete. Copies take views
 * of equal size that do not overlap, on one device. A fill's pattern has 1, 2, 4, 8, 16, 32, 64 or 128
 * bytes and divides the view's size. Size 0 does nothing and still gives a point.
 * Cost: locks 1, driver calls 1 (this queue used the buffers last); otherwise: locks any, driver calls any. */
QN_API QN_MUST_USE qn_status qn_copy(qn_queue queue, const qn_view *target, const qn_view *source, qn_point *out_point);
QN_API QN_MUST_USE qn_status qn_fill(qn_queue queue, const qn_view *target, const void *pattern, uint32_t pattern_bytes,
                                     qn_point *out_point);
QN_API QN_MUST_USE qn_status qn_write(qn_queue queue, const qn_view *target, const void *source, qn_point *out_point);
QN_API QN_MUST_USE qn_status qn_read(qn_queue queue, const qn_view *source, void *target, qn_point *out_point);

/* ---- Device memory ------------------------------------------------------------------------------- */

/* Each device keeps released memory for its next buffers: its pool. A buffer's block goes back when the buffer is
 * released, with the points that used it last, whether they are complete or not. A buffer for queue S gets, in this
 * order, the first there is of:
 *   1. own queue    a block whose last points are all on S
 *   2. known        one whose last points S already waits for, directly or through other queues
 *   3. complete     one whose last points are complete
 *   4. new          new memory of the driver, within the limit
 *   5. device wait  one whose last points are pending: who uses the buffer first waits for them on the device
 *   6. host wait    complete blocks of other sizes are given back to the driver, the pressure callback is asked, and
 *                   last the host waits for pending points, with a limit; after each of these 3 and 4 are tried again
 *   7. QN_ERROR_OUT_OF_MEMORY
 * A buffer that names no queue begins at 3. So does one of QN_MEMORY_HOST or _SHARED, and it never takes 5: the host may
 * write there at once. A block whose last point failed is quarantined: never used again, and freed with its device, or by
 * qn_device_drain once the failed queue is gone and no other has work in flight. Wrapped memory is never pooled, nor are buffers of more than a sixteenth of
 * the device's memory: they go back to the driver when their work is complete, or are quarantined like others. */

typedef struct qn_memory_options {
  uint32_t struct_size;
  uint32_t reserved;
  uint64_t limit_bytes; /* of QN_MEMORY_DEVICE and _SHARED together, kept or used; 0: what the device has, less some
                             * headroom for the driver; QN_WHOLE: none */
  uint64_t keep_bytes;  /* how much free memory is kept, about; 0: an eighth of the device's. 1: none is kept long */
  uint64_t wait_timeout_ns; /* host wait of step 6; 0: 10 seconds; 1: none in effect */
  /* Asked when memory is short, before the host waits: gives back what the program can do without (releases buffers).
   * Non-zero: something was released, try again. Called on the thread that creates the buffer, under no lock; it may call
   * every function but qn_memory_configure and qn_runtime_close, and is not asked anew from within itself. NULL: none. */
  QN_FUNCTION(uint32_t, pressure, void *user, uint64_t wanted_bytes);
  QN_SLOT(void *, user);
} qn_memory_options;

/* Sets all of the options; NULL: the defaults. Memory above a new limit is given back as far as it is free and complete.
 * Returns when no thread is inside the old callback any longer. Errors: INVALID_ARGUMENT, UNSUPPORTED, WOULD_BLOCK inside
 * the callback. Cost: any. */
QN_API QN_MUST_USE qn_status qn_memory_configure(qn_device device, const qn_memory_options *options);

/* Gives free memory whose work is complete back to the driver until `keep_bytes` of free memory are left, or none that
 * can go. `out_freed_bytes` may be NULL. Errors: the first thing that the driver refused. Cost: any. */
QN_API QN_MUST_USE qn_status qn_memory_trim(qn_device device, uint64_t keep_bytes, uint64_t *out_freed_bytes);

/* At any moment without calls in flight: reserved = used + cached + pending + quarantined. Sizes are those of blocks:
 * steps of 256 bytes up to 2 KiB, above that up to an eighth larger than what was asked for. */
typedef struct qn_memory_statistics {
  uint32_t struct_size;
  uint32_t reserved;
  uint64_t used_bytes;        /* of buffers, also released ones that nobody has collected yet */
  uint64_t cached_bytes;      /* free, work complete */
  uint64_t pending_bytes;     /* released, work in flight; also what goes back to the driver afterwards */
  uint64_t quarantined_bytes; /* free, work failed */
  uint64_t reserved_bytes;    /* taken from the driver */
  uint64_t limit_bytes;       /* QN_WHOLE: none */
  uint64_t limited_bytes;     /* the part of reserved_bytes that the limit is for */
  uint64_t peak_reserved_bytes;
  uint64_t wrapped_bytes; /* the caller's memory, not in the sums */
  /* Since the device was opened. Each buffer that was made was obtained in one of six ways; from_host_wait are those of 3
   * and 4 for which the host had waited. */
  uint64_t driver_allocations, driver_frees, driver_refusals;
  uint64_t from_own_queue, from_known, from_complete, from_new, from_device_wait, from_host_wait;
  uint64_t pressure_calls;
  uint64_t out_of_memory; /* buffers that were refused for want of memory */
} qn_memory_statistics;
/* Cost: locks any (one a queue, and some). */
QN_API QN_MUST_USE qn_status qn_memory_statistics_get(qn_device device, qn_memory_statistics *out_statistics);

/* The pool as JSON, ends with NUL: {"device": "cpu:0", "reserved": N, "used": N, "cached": N, "pending": N,
 * "quarantined": N, "limit": N or null, "blocks": [{"size": N, "kind": "device"|"host"|"shared", "state":
 * "used"|"cached"|"pending"|"quarantined", "queue": ID or 0, "point": {"queue": ID, "value": N} or null}, ...]}.
 * "queue" is the queue that used the block last, "point" what a pending or quarantined block waits or waited for; both as
 * in qn_point. A block may also have "place": where its buffer was made.
 * *out_needed is always set to the bytes that the text needs. When `capacity` is less, nothing is written and the result
 * is QN_OK all the same: ask first with capacity 0 and buffer NULL, then with some room to spare. Cost: locks any, allocations any. */
QN_API QN_MUST_USE qn_status qn_memory_snapshot(qn_device device, char *buffer, uint64_t capacity,
                                                uint64_t *out_needed);

/* ---- Programs and kernels ----------------------------------------------------------------------- */

typedef struct qn_program_options {
  uint32_t struct_size;
  uint32_t reserved;
  QN_SLOT(const char *, source);    /* OpenCL C */
  uint64_t source_bytes;            /* 0: `source` ends with NUL */
  QN_SLOT(const char *, file_name); /* for diagnostics and relative includes; NULL: "<source>" */
  QN_SLOT(const char *, options);   /* "-D N=4 -I dir -cl-fast-relaxed-math", quoted as a shell does; NULL: none */
} qn_program_options;

/* Compiles for one device. On QN_ERROR_COMPILE the error text is the diagnostics. Cost: any. */
QN_API QN_MUST_USE qn_status qn_program_build(qn_device device, const qn_program_options *options,
                                              qn_program *out_program);

/* Loads an image (`quern build`, quern_build.h): code that was made for the device's kind, or else code made now from the IR
 * that the image holds. The bytes are borrowed for the call. Errors: INVALID_ARGUMENT, DATA when the bytes are no image or are
 * damaged, UNSUPPORTED when nothing in it suits the device (the text lists what it holds). Cost: any. */
QN_API QN_MUST_USE qn_status qn_program_load(qn_device device, const void *image, uint64_t image_bytes,
                                             qn_program *out_program);

typedef struct qn_program_info {
  uint32_t struct_size;
  uint32_t kernel_count;
  uint64_t compile_ns; /* host time of the build */
  uint64_t log_bytes;  /* length of the warnings, without the NUL */
  uint32_t cached;     /* 0: compiled, 1: found in memory, 2: found on disk */
  uint32_t reserved;
} qn_program_info;
/* Cost: nothing. */
QN_API QN_MUST_USE qn_status qn_program_query(qn_program program, qn_program_info *out_info);
/* Copies the warnings, cut to `capacity` bytes with the NUL. Cost: nothing. */
QN_API QN_MUST_USE qn_status qn_program_log(qn_program program, char *buffer, uint64_t capacity);
/* Copies the name of kernel `index` in the order of the source. Cost: nothing. */
QN_API QN_MUST_USE qn_status qn_program_kernel_name(qn_program program, uint32_t index, char *buffer,
                                                    uint64_t capacity);

/* Errors: NOT_FOUND (the text lists the kernels that there are). Cost: locks 3, allocations 1, driver calls 1; first call: any;
 * otherwise: any (it also destroys what is due of what was released). */
QN_API QN_MUST_USE qn_status qn_kernel_get(qn_program program, const char *name, qn_kernel *out_kernel);

typedef struct qn_kernel_info {
  uint32_t struct_size;
  uint32_t argument_count;
  char name[256];
  uint64_t required_local[3]; /* reqd_work_group_size, else zeros */
  uint64_t hinted_local[3];   /* work_group_size_hint, else zeros */
  uint64_t max_group_items;
  uint64_t static_local_bytes;
  uint64_t private_bytes_per_item;
  /* 0 to 3: no identifier of a dimension from this on is asked for, by the kernel or by a function of its source. A range may
   * have more dimensions; their work-items then do the same. */
  uint32_t asked_dimensions;
  uint32_t reserved;
} qn_kernel_info;
/* Cost: nothing. */
QN_API QN_MUST_USE qn_status qn_kernel_query(qn_kernel kernel, qn_kernel_info *out_info);

enum {
  QN_ARGUMENT_VALUE = 1,
  QN_ARGUMENT_BUFFER = 2, /* a __global or __constant pointer */
  QN_ARGUMENT_LOCAL = 3,
  QN_ARGUMENT_IMAGE = 4,
  QN_ARGUMENT_SAMPLER = 5
};

enum {
  QN_TYPE_NONE = 0, /* bytes: a struct or union */
  QN_TYPE_I8 = 1,
  QN_TYPE_U8 = 2,
  QN_TYPE_I16 = 3,
  QN_TYPE_U16 = 4,
  QN_TYPE_I32 = 5,
  QN_TYPE_U32 = 6,
  QN_TYPE_I64 = 7,
  QN_TYPE_U64 = 8,
  QN_TYPE_F16 = 9,
  QN_TYPE_F32 = 10,
  QN_TYPE_F64 = 11
};

enum { QN_ACCESS_READ = 1, QN_ACCESS_WRITE = 2 };

enum { QN_SPACE_PRIVATE = 0, QN_SPACE_GLOBAL = 1, QN_SPACE_CONSTANT = 2, QN_SPACE_LOCAL = 3 };

typedef struct qn_argument_info {
  uint32_t struct_size;
  uint32_t kind;          /* QN_ARGUMENT_... */
  uint32_t element_type;  /* QN_TYPE_... of the value, or of what the pointer points to */
  uint32_t vector_width;  /* 1, 2, 3, 4, 8, 16 */
  uint32_t element_bytes; /* size of the value or pointee in memory: a float3 has 16; 1 for void */
  uint32_t element_align;
  uint32_t access;        /* QN_ACCESS_... bits that the kernel may do */
  uint32_t address_space; /* QN_SPACE_... */
  uint32_t is_const;
  uint32_t is_restrict;
  uint32_t is_volatile;
  uint32_t reserved;
  char name[128];
  char type_name[128]; /* as in the source: "float4*" */
} qn_argument_info;
/* Cost: nothing. */
QN_API QN_MUST_USE qn_status qn_kernel_argument(qn_kernel kernel, uint32_t index, qn_argument_info *out_info);

/* ---- Launch ------------------------------------------------------------------------------------- */

typedef struct qn_range {
  uint32_t struct_size;
  uint32_t dimensions; /* 1, 2 or 3 */
  uint64_t global[3];  /* work-items; a zero makes a launch without work */
  uint64_t local[3];   /* all zero: the runtime chooses; else each must divide its global size */
  uint64_t offset[3];
} qn_range;

/* One argument, 32 bytes, plain data. Use the makers below.
 *   QN_ARGUMENT_VALUE: size_bytes of value; at most 8 in value.bits (little end first), else at
 *                      *value.pointer. QN_TYPE_NONE is taken as bytes and must have the exact size; an
 *                      integer of another width than the kernel's is accepted when its value fits.
 *   QN_ARGUMENT_BUFFER: value.pointer is a qn_buffer (NULL: a null pointer); offset and size as in a view.
 *   QN_ARGUMENT_LOCAL: size_bytes of local memory. */
typedef struct qn_argument {
  uint32_t kind; /* QN_ARGUMENT_... */
  uint32_t type; /* QN_TYPE_... */
  union {
    uint64_t bits;
    const void *pointer;
  } value;
  uint64_t offset_bytes;
  uint64_t size_bytes;
} qn_argument;

/* Launches a kernel. Stateless and asynchronous: arguments are copied before it returns. `out_point` may
 * be NULL. Errors: INVALID_ARGUMENT (the text names the argument), INVALID_HANDLE, LIMIT, TIMEOUT or
 * WOULD_BLOCK when the queue is full, DEVICE_LOST, or the first cause of a queue that has failed.
 * Cost: locks 1, driver calls 1 (this queue used the buffers last, and is not full); first call: locks 2, driver calls 1 (of a
 * kernel on a queue); otherwise: locks any, driver calls any. */
QN_API QN_MUST_USE qn_status qn_launch(qn_queue queue, qn_kernel kernel, const qn_range *range,
                                       const qn_argument *arguments, uint32_t count, qn_point *out_point);

/* Launches kernel `index` of an image, as the typed functions of its C header do. The first launch of an image on a queue
 * loads it; the queue keeps what it loaded. The image is known by the hash in it. Errors: those of qn_program_load and
 * qn_launch, NOT_FOUND when the image has no such kernel. Cost: as qn_launch; first call: any. */
QN_API QN_MUST_USE qn_status qn_launch_image(qn_queue queue, const void *image, uint64_t image_bytes, uint32_t index,
                                             const qn_range *range, const qn_argument *arguments, uint32_t count,
                                             qn_point *out_point);

/* ---- Native handles ----------------------------------------------------------------------------- */

/* The vendor's own object behind a device, queue, buffer, program or kernel (an address for cpu memory,
 * a CUstream, a cl_mem, ...), `which` 0 being the main one. Borrowed: lives as long as the handle. A new buffer's memory may
 * still be in use by what had it before: use it past Quern only after a command of the buffer's own, or when it was mapped.
 * Errors: UNSUPPORTED. Cost: driver calls 1. */
QN_API QN_MUST_USE qn_status qn_native_handle(const void *handle, uint32_t which, uint64_t *out_native);

#ifdef __cplusplus
}
#endif

/* ---- Conveniences: inline, not part of the binary interface ------------------------------------- */

/* Zeroes a struct and sets its size:  qn_queue_options o = QN_INIT(qn_queue_options);  then set fields. */
#ifdef __cplusplus
template <class T>
static inline T qn_init_() {
  T t = T();
  t.struct_size = (uint32_t)sizeof(T);
  return t;
}
#define QN_INIT(type) qn_init_<type>()
#else
#define QN_INIT(type) {.struct_size = (uint32_t)sizeof(type)}
#endif

/* A call that makes an object, with its place for QUERN_CHECK=leaks:  status = QN_HERE(qn_queue_create(d, NULL, &q)); */
#define QN_HERE(call) (qn_here(__FILE__, (uint32_t)__LINE__), (call))
#ifdef QN_PLACES
#define qn_runtime_open(...) QN_HERE(qn_runtime_open(__VA_ARGS__))
#define qn_device_open(...) QN_HERE(qn_device_open(__VA_ARGS__))
#define qn_queue_create(...) QN_HERE(qn_queue_create(__VA_ARGS__))
#define qn_buffer_create(...) QN_HERE(qn_buffer_create(__VA_ARGS__))
#define qn_program_build(...) QN_HERE(qn_program_build(__VA_ARGS__))
#define qn_kernel_get(...) QN_HERE(qn_kernel_get(__VA_ARGS__))
#endif

static inline qn_argument qn_arg_scalar_(uint32_t type, uint64_t bits, uint64_t size_bytes) {
  qn_argument a = {QN_ARGUMENT_VALUE, type, {0}, 0, 0};
  a.value.bits = bits;
  a.size_bytes = size_bytes;
  return a;
}
static inline qn_argument qn_arg_i8(int8_t v) { return qn_arg_scalar_(QN_TYPE_I8, (uint8_t)v, 1); }
static inline qn_argument qn_arg_u8(uint8_t v) { return qn_arg_scalar_(QN_TYPE_U8, v, 1); }
static inline qn_argument qn_arg_i16(int16_t v) { return qn_arg_scalar_(QN_TYPE_I16, (uint16_t)v, 2); }
static inline qn_argument qn_arg_u16(uint16_t v) { return qn_arg_scalar_(QN_TYPE_U16, v, 2); }
static inline qn_argument qn_arg_i32(int32_t v) { return qn_arg_scalar_(QN_TYPE_I32, (uint32_t)v, 4); }
static inline qn_argument qn_arg_u32(uint32_t v) { return qn_arg_scalar_(QN_TYPE_U32, v, 4); }
static inline qn_argument qn_arg_i64(int64_t v) { return qn_arg_scalar_(QN_TYPE_I64, (uint64_t)v, 8); }
static inline qn_argument qn_arg_u64(uint64_t v) { return qn_arg_scalar_(QN_TYPE_U64, v, 8); }
static inline qn_argument qn_arg_f32(float v) {
  union {
    float f;
    uint32_t u;
  } b;
  b.f = v;
  return qn_arg_scalar_(QN_TYPE_F32, b.u, 4);
}
static inline qn_argument qn_arg_f64(double v) {
  union {
    double f;
    uint64_t u;
  } b;
  b.f = v;
  return qn_arg_scalar_(QN_TYPE_F64, b.u, 8);
}
static inline qn_argument qn_arg_view(const qn_view *view) {
  qn_argument a = {QN_ARGUMENT_BUFFER, 0, {0}, 0, 0};
  a.value.pointer = (const void *)view->buffer;
  a.offset_bytes = view->offset_bytes;
  a.size_bytes = view->size_bytes;
  return a;
}
static inline qn_argument qn_arg_buffer(qn_buffer buffer) {
  qn_argument a = {QN_ARGUMENT_BUFFER, 0, {0}, 0, QN_WHOLE};
  a.value.pointer = (const void *)buffer;
  return a;
}
/* Local memory for a __local pointer. */
static inline qn_argument qn_arg_local(uint64_t size_bytes) {
  qn_argument a = {QN_ARGUMENT_LOCAL, 0, {0}, 0, 0};
  a.size_bytes = size_bytes;
  return a;
}
/* A value of any type, a vector or struct, in OpenCL's layout; copied by the launch. */
static inline qn_argument qn_arg_bytes(const void *bytes, uint64_t size_bytes) {
  qn_argument a = {QN_ARGUMENT_VALUE, QN_TYPE_NONE, {0}, 0, 0};
  if (size_bytes <= 8) {
    const unsigned char *from = (const unsigned char *)bytes;
    for (uint64_t i = 0; i < size_bytes; i++) a.value.bits |= (uint64_t)from[i] << (8 * i);
  } else {
    a.value.pointer = bytes;
  }
  a.size_bytes = size_bytes;
  return a;
}
static inline qn_argument qn_arg_self_(qn_argument a) { return a; }

/* A range for a call:  qn_launch(q, k, QN_RANGE_2D(w, h), QN_ARGS(src, dst, w, h), &done);
 * QN_ARGS takes buffers, pointers to views, numbers and qn_arg_...() values: up to 32. */
#ifdef __cplusplus
struct qn_range_ {
  qn_range r;
  qn_range_(uint32_t dimensions, uint64_t x, uint64_t y, uint64_t z) {
    r = qn_range();
    r.struct_size = (uint32_t)sizeof(qn_range);
    r.dimensions = dimensions;
    r.global[0] = x;
    r.global[1] = y;
    r.global[2] = z;
  }
  operator const qn_range *() const { return &r; }
};
#define QN_RANGE_1D(x) qn_range_(1, (x), 1, 1)
#define QN_RANGE_2D(x, y) qn_range_(2, (x), (y), 1)
#define QN_RANGE_3D(x, y, z) qn_range_(3, (x), (y), (z))
static inline qn_argument qn_arg_(int8_t v) { return qn_arg_i8(v); }
static inline qn_argument qn_arg_(uint8_t v) { return qn_arg_u8(v); }
static inline qn_argument qn_arg_(int16_t v) { return qn_arg_i16(v); }
static inline qn_argument qn_arg_(uint16_t v) { return qn_arg_u16(v); }
static inline qn_argument qn_arg_(int v) { return qn_arg_i32(v); }
static inline qn_argument qn_arg_(unsigned v) { return qn_arg_u32(v); }
static inline qn_argument qn_arg_(long v) { return sizeof v == 8 ? qn_arg_i64(v) : qn_arg_i32((int32_t)v); }
static inline qn_argument qn_arg_(unsigned long v) { return sizeof v == 8 ? qn_arg_u64(v) : qn_arg_u32((uint32_t)v); }
static inline qn_argument qn_arg_(long long v) { return qn_arg_i64(v); }
static inline qn_argument qn_arg_(unsigned long long v) { return qn_arg_u64(v); }
static inline qn_argument qn_arg_(float v) { return qn_arg_f32(v); }
static inline qn_argument qn_arg_(double v) { return qn_arg_f64(v); }
static inline qn_argument qn_arg_(qn_buffer v) { return qn_arg_buffer(v); }
static inline qn_argument qn_arg_(const qn_view *v) { return qn_arg_view(v); }
static inline qn_argument qn_arg_(const qn_argument &v) { return v; }
template <uint32_t N>
struct qn_args_ {
  qn_argument a[N];
  operator const qn_argument *() const { return a; }
};
#define QN_ARG_(x) qn_arg_(x)
#define QN_ARGS(...) qn_args_<QN_COUNT_(__VA_ARGS__)>{{QN_EACH_(__VA_ARGS__)}}, QN_COUNT_(__VA_ARGS__)
#else
#define QN_RANGE_(d, x, y, z) \
  (&(const qn_range){         \
      (uint32_t)sizeof(qn_range), (d), {(uint64_t)(x), (uint64_t)(y), (uint64_t)(z)}, {0, 0, 0}, {0, 0, 0}})
#define QN_RANGE_1D(x) QN_RANGE_(1, x, 1, 1)
#define QN_RANGE_2D(x, y) QN_RANGE_(2, x, y, 1)
#define QN_RANGE_3D(x, y, z) QN_RANGE_(3, x, y, z)
static inline qn_argument qn_arg_long_(long v) { return sizeof v == 8 ? qn_arg_i64(v) : qn_arg_i32((int32_t)v); }
static inline qn_argument qn_arg_ulong_(unsigned long v) {
  return sizeof v == 8 ? qn_arg_u64(v) : qn_arg_u32((uint32_t)v);
}
#define QN_ARG_(x)                    \
  _Generic((x),                       \
      signed char: qn_arg_i8,         \
      unsigned char: qn_arg_u8,       \
      short: qn_arg_i16,              \
      unsigned short: qn_arg_u16,     \
      int: qn_arg_i32,                \
      unsigned: qn_arg_u32,           \
      long: qn_arg_long_,             \
      unsigned long: qn_arg_ulong_,   \
      long long: qn_arg_i64,          \
      unsigned long long: qn_arg_u64, \
      float: qn_arg_f32,              \
      double: qn_arg_f64,             \
      qn_buffer: qn_arg_buffer,       \
      qn_view *: qn_arg_view,         \
      const qn_view *: qn_arg_view,   \
      qn_argument: qn_arg_self_)(x)
#define QN_ARGS(...) (const qn_argument[]){QN_EACH_(__VA_ARGS__)}, QN_COUNT_(__VA_ARGS__)
#endif

#define QN_COUNT_(...)                                                                                             \
  QN_COUNT_PICK_(__VA_ARGS__, 32u, 31u, 30u, 29u, 28u, 27u, 26u, 25u, 24u, 23u, 22u, 21u, 20u, 19u, 18u, 17u, 16u, \
                 15u, 14u, 13u, 12u, 11u, 10u, 9u, 8u, 7u, 6u, 5u, 4u, 3u, 2u, 1u, 0u)
#define QN_COUNT_PICK_(a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11, a12, a13, a14, a15, a16, a17, a18, a19, a20, a21, \
                       a22, a23, a24, a25, a26, a27, a28, a29, a30, a31, a32, n, ...)                                  \
  n
#define QN_CAT_(a, b) QN_CAT2_(a, b)
#define QN_CAT2_(a, b) a##b
#define QN_EXPAND_(x) x
#define QN_EACH_(...) QN_EXPAND_(QN_CAT_(QN_EACH_, QN_COUNT_(__VA_ARGS__))(__VA_ARGS__))
#define QN_EACH_1u(x) QN_ARG_(x)
#define QN_EACH_2u(x, ...) QN_ARG_(x), QN_EACH_1u(__VA_ARGS__)
#define QN_EACH_3u(x, ...) QN_ARG_(x), QN_EACH_2u(__VA_ARGS__)
#define QN_EACH_4u(x, ...) QN_ARG_(x), QN_EACH_3u(__VA_ARGS__)
#define QN_EACH_5u(x, ...) QN_ARG_(x), QN_EACH_4u(__VA_ARGS__)
#define QN_EACH_6u(x, ...) QN_ARG_(x), QN_EACH_5u(__VA_ARGS__)
#define QN_EACH_7u(x, ...) QN_ARG_(x), QN_EACH_6u(__VA_ARGS__)
#define QN_EACH_8u(x, ...) QN_ARG_(x), QN_EACH_7u(__VA_ARGS__)
#define QN_EACH_9u(x, ...) QN_ARG_(x), QN_EACH_8u(__VA_ARGS__)
#define QN_EACH_10u(x, ...) QN_ARG_(x), QN_EACH_9u(__VA_ARGS__)
#define QN_EACH_11u(x, ...) QN_ARG_(x), QN_EACH_10u(__VA_ARGS__)
#define QN_EACH_12u(x, ...) QN_ARG_(x), QN_EACH_11u(__VA_ARGS__)
#define QN_EACH_13u(x, ...) QN_ARG_(x), QN_EACH_12u(__VA_ARGS__)
#define QN_EACH_14u(x, ...) QN_ARG_(x), QN_EACH_13u(__VA_ARGS__)
#define QN_EACH_15u(x, ...) QN_ARG_(x), QN_EACH_14u(__VA_ARGS__)
#define QN_EACH_16u(x, ...) QN_ARG_(x), QN_EACH_15u(__VA_ARGS__)
#define QN_EACH_17u(x, ...) QN_ARG_(x), QN_EACH_16u(__VA_ARGS__)
#define QN_EACH_18u(x, ...) QN_ARG_(x), QN_EACH_17u(__VA_ARGS__)
#define QN_EACH_19u(x, ...) QN_ARG_(x), QN_EACH_18u(__VA_ARGS__)
#define QN_EACH_20u(x, ...) QN_ARG_(x), QN_EACH_19u(__VA_ARGS__)
#define QN_EACH_21u(x, ...) QN_ARG_(x), QN_EACH_20u(__VA_ARGS__)
#define QN_EACH_22u(x, ...) QN_ARG_(x), QN_EACH_21u(__VA_ARGS__)
#define QN_EACH_23u(x, ...) QN_ARG_(x), QN_EACH_22u(__VA_ARGS__)
#define QN_EACH_24u(x, ...) QN_ARG_(x), QN_EACH_23u(__VA_ARGS__)
#define QN_EACH_25u(x, ...) QN_ARG_(x), QN_EACH_24u(__VA_ARGS__)
#define QN_EACH_26u(x, ...) QN_ARG_(x), QN_EACH_25u(__VA_ARGS__)
#define QN_EACH_27u(x, ...) QN_ARG_(x), QN_EACH_26u(__VA_ARGS__)
#define QN_EACH_28u(x, ...) QN_ARG_(x), QN_EACH_27u(__VA_ARGS__)
#define QN_EACH_29u(x, ...) QN_ARG_(x), QN_EACH_28u(__VA_ARGS__)
#define QN_EACH_30u(x, ...) QN_ARG_(x), QN_EACH_29u(__VA_ARGS__)
#define QN_EACH_31u(x, ...) QN_ARG_(x), QN_EACH_30u(__VA_ARGS__)
#define QN_EACH_32u(x, ...) QN_ARG_(x), QN_EACH_31u(__VA_ARGS__)

#endif /* QUERN_QUERN_H */

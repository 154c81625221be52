/* adapter.h - what an adapter implements and what the core hands it: the plug-in ABI.
 *
 * An adapter is a shared library `libquern-adapter-NAME.so` that exports one function, qn_adapter_entry, and
 * includes this header alone. It translates: the core owns every lifetime (L1). An adapter counts no
 * references, keeps no pointer to a core object past the call, and has no static state that needs a
 * destructor. Objects below (instance, device, memory, queue, program, kernel) are the adapter's own, made
 * and destroyed by the core's calls, each destroyed exactly once, children before parents.
 *
 * Rules of the ABI: pointers and 32- or 64-bit integers only; structs start with struct_size, have no
 * implicit padding, the same layout everywhere.
 *
 * Threads: calls on different objects may run at the same time. The core serialises queue_submit of one
 * queue. queue_completed, queue_wait and memory_* may be called from any thread at any time.
 * Errors: a status below zero, with host->set_error called once to set the text; no abort, no exit.
 */
#ifndef QUERN_ADAPTER_H
#define QUERN_ADAPTER_H

#include <stdint.h>

#include "quern/quern.h"

#ifdef __cplusplus
extern "C" {
#endif

#define QN_ADAPTER_ABI_VERSION 3u

typedef struct qn_adapter_instance qn_adapter_instance; /* the adapter defines these */
typedef struct qn_adapter_device qn_adapter_device;
typedef struct qn_adapter_memory qn_adapter_memory;
typedef struct qn_adapter_queue qn_adapter_queue;
typedef struct qn_adapter_program qn_adapter_program;
typedef struct qn_adapter_kernel qn_adapter_kernel;

/* ---- What the core gives an adapter ------------------------------------------------------------- */

typedef struct qn_adapter_host {
  uint32_t struct_size;
  uint32_t abi_version;
  /* Sets the calling thread's error text and the driver's code. `text` is copied. Returns `status`. */
  QN_FUNCTION(qn_status, set_error, qn_status status, int64_t driver_code, const char *text);
  /* A line for QUERN_LOG=adapter. */
  QN_FUNCTION(void, log, const char *text);
  /* Environment variable as the core sees it, or NULL. */
  QN_FUNCTION(const char *, environment, const char *name);
  /* For an adapter that has threads of its own: `call` is made with `user` when the process exits, before drivers' destructors
   * run, so that these threads stop calling the driver; nothing is ended, and it takes no longer than it must. It may be made more than once,
   * and not in a forked child. Given again with the same `user` it also runs before the destructors that were registered
   * meanwhile; the system keeps each time, so few may be. With `call` NULL what was given with `user` is forgotten; when that returns it isn't running.
   * NULL in a host that doesn't know exits, absent in one whose struct_size ends before it. Errors: LIMIT. */
  QN_FUNCTION(qn_status, at_exit, void (*call)(void *user), void *user);
} qn_adapter_host;

/* ---- Devices ------------------------------------------------------------------------------------ */

/* Failure domain: who fails together (L7). */
enum { QN_FAILURE_QUEUE = 1, QN_FAILURE_CONTEXT = 2, QN_FAILURE_DEVICE = 3 };

/* What the adapter loads as a program. */
enum {
  QN_CODE_NONE = 0,
  QN_CODE_ELF_OBJECT = 1, /* relocatable object for this CPU, no undefined symbols; entries as below */
  QN_CODE_IR = 2,         /* the IR's text form (the device `check`) */
  QN_CODE_OPENCL_C = 3,
  QN_CODE_PTX = 4,
  QN_CODE_SPIRV = 5,
  QN_CODE_WGSL = 6,
  QN_CODE_NATIVE = 7 /* what program_binary gave */
};

typedef struct qn_adapter_device_info {
  uint32_t struct_size;
  uint32_t type;           /* QN_DEVICE_... */
  uint32_t failure_domain; /* QN_FAILURE_... */
  uint32_t code_kind;      /* QN_CODE_... */
  uint64_t features;       /* QN_FEATURE_... */
  uint64_t memory_bytes;
  uint64_t max_allocation_bytes;
  uint64_t local_memory_bytes;
  uint64_t max_local_size[3];
  uint64_t max_group_items;
  uint64_t max_argument_bytes;
  uint32_t compute_units;
  uint32_t address_bits;     /* chooses the data model */
  uint32_t buffer_alignment; /* sub-allocation: offsets of buffer arguments */
  uint32_t allocation_alignment;
  uint32_t sub_group_size;
  uint32_t preferred_group_items; /* a good work-group size when none is given */
  char name[128];
  char driver[128];
  char target[64];     /* the compiler's target: "x86-64", "aarch64", "cuda-sm_90", "" */
  char target_cpu[64]; /* LLVM's name of the CPU, "" for generic */
  /* LLVM's feature string, "+avx2,+fma". Devices of QN_CODE_OPENCL_C: "+fp32-correctly-rounded-divide-sqrt" when the
   * driver's compiler takes the option of that name (CL_FP_CORRECTLY_ROUNDED_DIVIDE_SQRT); the code's options then ask
   * for it. Without it such divisions are spelt out. */
  char target_features[2048];
} qn_adapter_device_info;

/* ---- Memory ------------------------------------------------------------------------------------- */

typedef struct qn_adapter_memory_request {
  uint32_t struct_size;
  uint32_t memory; /* QN_MEMORY_... */
  uint64_t size_bytes;
  uint64_t alignment;
  QN_SLOT(void *, host_pointer); /* QN_MEMORY_WRAP */
} qn_adapter_memory_request;

typedef struct qn_adapter_memory_info {
  uint32_t struct_size;
  uint32_t reserved;
  uint64_t native;               /* for qn_native_handle: address, cl_mem, ... */
  uint64_t size_bytes;           /* really taken */
  QN_SLOT(void *, host_pointer); /* where the host reaches it at any quiet moment; NULL: only by map or copy */
} qn_adapter_memory_info;

/* ---- Programs and kernels ----------------------------------------------------------------------- */

typedef struct qn_adapter_code {
  uint32_t struct_size;
  uint32_t kind;                /* QN_CODE_... */
  QN_SLOT(const void *, bytes); /* borrowed for the call */
  uint64_t size_bytes;
  QN_SLOT(const char *, options); /* for the driver's compiler (QN_CODE_OPENCL_C); NULL: none */
} qn_adapter_code;

/* Plain data. */
typedef struct qn_adapter_parameter {
  uint32_t kind;        /* QN_ARGUMENT_... */
  uint32_t size_bytes;  /* of a value */
  uint32_t alignment;   /* of a value or of local memory */
  uint32_t slot_offset; /* where it stands in a CPU entry's argument block */
} qn_adapter_parameter;

/* entry_flags: hidden parameters of an entry. */
#define QN_ENTRY_RANGE (UINT64_C(1) << 0) /* takes the launch's range: see "Entries of OpenCL C code" */

/* What the compiler knows of a kernel; given at kernel_create, borrowed for the call. */
typedef struct qn_adapter_kernel_description {
  uint32_t struct_size;
  uint32_t parameter_count;
  QN_SLOT(const char *, name);   /* in the source */
  QN_SLOT(const char *, symbol); /* of the entry in the code */
  QN_SLOT(const qn_adapter_parameter *, parameters);
  uint64_t argument_block_bytes;
  uint64_t static_local_bytes;
  uint64_t scratch_bytes_per_item; /* CPU: private values that live across barriers */
  uint64_t scratch_bytes_per_group;
  uint64_t required_local[3];
  uint64_t entry_flags; /* QN_ENTRY_... */
} qn_adapter_kernel_description;

typedef struct qn_adapter_kernel_info {
  uint32_t struct_size;
  uint32_t reserved;
  uint64_t native;
  uint64_t max_group_items;
} qn_adapter_kernel_info;

/* ---- Commands ----------------------------------------------------------------------------------- */

enum {
  QN_COMMAND_LAUNCH = 1,
  QN_COMMAND_COPY = 2, /* memory to memory of one device */
  QN_COMMAND_FILL = 3,
  QN_COMMAND_WRITE = 4, /* host to memory */
  QN_COMMAND_READ = 5,  /* memory to host */
  QN_COMMAND_WAIT = 6,  /* for a value of another queue of this adapter's device; see below */
  QN_COMMAND_MARK = 7   /* nothing: a value of its own */
};
/* No value from a wait on is complete, or told as complete when it failed, before the value that it waits for is: what is
 * complete implies all that it waited for, also after a failure of its queue. */

/* One argument of a launch, in the order of the kernel's parameters (A6). Plain data. */
typedef struct qn_launch_argument {
  uint32_t kind;                        /* QN_ARGUMENT_... */
  uint32_t access;                      /* QN_ACCESS_... of a buffer */
  QN_SLOT(qn_adapter_memory *, memory); /* buffer; NULL: a null pointer */
  QN_SLOT(const void *, bytes);         /* value: size_bytes in OpenCL's layout, borrowed for the call */
  uint64_t offset_bytes;                /* buffer */
  uint64_t size_bytes;                  /* value, buffer, local */
  uint32_t alignment;                   /* local */
  uint32_t reserved;
} qn_launch_argument;

typedef struct qn_launch_record {
  uint32_t struct_size;
  uint32_t dimensions;
  uint64_t global[3];
  uint64_t local[3]; /* always given; may leave a smaller last group when the caller gave none */
  uint64_t offset[3];
  uint64_t group_base[3]; /* first group, for launches in parts; zeros else */
  QN_SLOT(qn_adapter_kernel *, kernel);
  QN_SLOT(const qn_launch_argument *, arguments);
  uint32_t argument_count;
  uint32_t reserved;
} qn_launch_record;

typedef struct qn_adapter_command {
  uint32_t struct_size;
  uint32_t kind;  /* QN_COMMAND_... */
  uint64_t value; /* this command's value on the queue's timeline; rising by one */
  QN_SLOT(const qn_launch_record *, launch);
  QN_SLOT(qn_adapter_memory *, target);
  QN_SLOT(qn_adapter_memory *, source);
  uint64_t target_offset;
  uint64_t source_offset;
  uint64_t size_bytes;
  QN_SLOT(void *, host);          /* read: written until complete; write: read until complete */
  QN_SLOT(const void *, pattern); /* fill; copied before the call returns */
  uint64_t pattern_bytes;
  QN_SLOT(qn_adapter_queue *, wait_queue); /* wait */
  uint64_t wait_value;
} qn_adapter_command;

typedef struct qn_adapter_queue_options {
  uint32_t struct_size;
  uint32_t reserved;
  uint64_t flags; /* QN_QUEUE_... */
  uint64_t id;    /* the core's queue id, for texts */
} qn_adapter_queue_options;

typedef struct qn_adapter_progress {
  uint32_t struct_size;
  uint32_t reserved;
  uint64_t completed;    /* every value up to this one is complete (done or failed); never early */
  uint64_t failed_first; /* first value that failed, 0: none. Everything from it on fails */
  int64_t driver_code;
  qn_status cause; /* of the failure */
  uint32_t reserved2;
  char text[512]; /* of the failure */
} qn_adapter_progress;

/* ---- The table ---------------------------------------------------------------------------------- */

typedef struct qn_adapter_table {
  uint32_t struct_size;
  uint32_t abi_version; /* QN_ADAPTER_ABI_VERSION */
  QN_SLOT(const char *, name);
  QN_SLOT(const char *, description);

  /* Opens the vendor library. Errors: NOT_FOUND with the reason when there is none. May be called again
   * after a close or a failed open. `host` stays valid until instance_close returns. */
  QN_FUNCTION(qn_status, instance_open, const qn_adapter_host *host, qn_adapter_instance **out_instance);
  QN_FUNCTION(qn_status, instance_close, qn_adapter_instance *instance);
  QN_FUNCTION(qn_status, device_count, qn_adapter_instance *instance, uint32_t *out_count);
  QN_FUNCTION(qn_status, device_describe, qn_adapter_instance *instance, uint32_t index,
              qn_adapter_device_info *out_info);
  QN_FUNCTION(qn_status, device_open, qn_adapter_instance *instance, uint32_t index, qn_adapter_device **out_device);
  QN_FUNCTION(qn_status, device_close, qn_adapter_device *device);

  QN_FUNCTION(qn_status, memory_create, qn_adapter_device *device, const qn_adapter_memory_request *request,
              qn_adapter_memory **out_memory, qn_adapter_memory_info *out_info);
  QN_FUNCTION(qn_status, memory_destroy, qn_adapter_device *device, qn_adapter_memory *memory);
  /* Host access to a range while no command uses it. `size_bytes` is 1 or more. NULL where
   * memory_info.host_pointer serves always. */
  QN_FUNCTION(qn_status, memory_map, qn_adapter_device *device, qn_adapter_memory *memory, uint64_t offset_bytes,
              uint64_t size_bytes, uint32_t access, void **out_pointer);
  QN_FUNCTION(qn_status, memory_unmap, qn_adapter_device *device, qn_adapter_memory *memory, void *pointer);

  QN_FUNCTION(qn_status, program_create, qn_adapter_device *device, const qn_adapter_code *code,
              qn_adapter_program **out_program);
  QN_FUNCTION(qn_status, program_destroy, qn_adapter_device *device, qn_adapter_program *program);
  QN_FUNCTION(qn_status, kernel_create, qn_adapter_device *device, qn_adapter_program *program,
              const qn_adapter_kernel_description *description, qn_adapter_kernel **out_kernel,
              qn_adapter_kernel_info *out_info);
  QN_FUNCTION(qn_status, kernel_destroy, qn_adapter_device *device, qn_adapter_kernel *kernel);

  QN_FUNCTION(qn_status, queue_create, qn_adapter_device *device, const qn_adapter_queue_options *options,
              qn_adapter_queue **out_queue);
  /* Only when everything on it is complete, and every wait for it that another queue has recorded. */
  QN_FUNCTION(qn_status, queue_destroy, qn_adapter_device *device, qn_adapter_queue *queue);
  /* Records and starts commands, in order, asynchronously; never runs a kernel itself. When it fails nothing
   * of the batch was taken. QN_NOT_READY: the queue is full, nothing was taken; the core waits for an
   * earlier value and tries again. Everything borrowed is copied before it returns. */
  QN_FUNCTION(qn_status, queue_submit, qn_adapter_queue *queue, const qn_adapter_command *commands, uint32_t count);
  /* The last value known to be complete (done or failed), cheaply: the core's fast path. *out_value is always set.
   * QN_OK while nothing on the queue has failed; from the first failure on its cause, without set_error: the core then
   * asks queue_progress once. A value that failed is never told as complete by a call that still says QN_OK. */
  QN_FUNCTION(qn_status, queue_completed, qn_adapter_queue *queue, uint64_t *out_value);
  QN_FUNCTION(qn_status, queue_progress, qn_adapter_queue *queue, qn_adapter_progress *out_progress);
  /* Waits until `value` is complete, done or failed. QN_ERROR_TIMEOUT after the limit. The caller's thread may help. */
  QN_FUNCTION(qn_status, queue_wait, qn_adapter_queue *queue, uint64_t value, uint64_t timeout_ns);
  /* Device time at a value's completion, nanoseconds of the device's clock, which all its queues share. Timed queues only;
   * a queue remembers at least its last 65,535 values. Never a guess of the host. Errors: NOT_READY, UNSUPPORTED (the queue is
   * not timed), NOT_FOUND (too long ago). May be NULL: no queue is timed. */
  QN_FUNCTION(qn_status, queue_time, qn_adapter_queue *queue, uint64_t value, uint64_t *out_ns);
  QN_FUNCTION(qn_status, native, uint32_t kind, void *object, uint32_t which, uint64_t *out_native);
  /* What the driver made of a program, for program_create as QN_CODE_NATIVE on the same device with the same driver.
   * *out_size is its size; copied to `bytes` when `capacity` has room, so a first call with 0 and NULL asks the size.
   * May be NULL. Errors: UNSUPPORTED when the driver gives none. */
  QN_FUNCTION(qn_status, program_binary, qn_adapter_device *device, qn_adapter_program *program, uint64_t capacity,
              void *bytes, uint64_t *out_size);
  /* Device time at which a value's work began on the device; as queue_time. May be NULL: then a trace takes the end of the
   * value before, which is right for a queue that is never idle. */
  QN_FUNCTION(qn_status, queue_begin, qn_adapter_queue *queue, uint64_t value, uint64_t *out_ns);
} qn_adapter_table;

/* The one exported symbol. Returns the adapter's constant table, whatever `abi_version` the core asks for: the core
 * checks version and size and says what it refused. */
typedef const qn_adapter_table *(*qn_adapter_entry_fn)(uint32_t abi_version);
#define QN_ADAPTER_ENTRY_NAME "qn_adapter_entry"

/* ---- Entries of CPU code (QN_CODE_ELF_OBJECT) --------------------------------------------------- */

/* One record a launch. */
typedef struct qn_cpu_launch {
  uint32_t struct_size;
  uint32_t dimensions;
  uint64_t global[3];
  uint64_t local[3]; /* enqueued */
  uint64_t offset[3];
  uint64_t groups[3];
  /* Values in OpenCL's layout and addresses, each at its parameter's slot_offset; local pointers are
   * written by the adapter for each worker, so each worker has a block of its own. */
  QN_SLOT(const void *, arguments);
  QN_SLOT(const void *, services); /* printf and traps, reserved */
} qn_cpu_launch;

/* One record a work-group. Plain data. */
typedef struct qn_cpu_group {
  uint64_t id[3];
  uint64_t local[3];             /* of this group: the last one may be smaller */
  QN_SLOT(void *, local_memory); /* static_local_bytes, aligned to 128 */
  QN_SLOT(void *,
          scratch); /* scratch_bytes_per_group + scratch_bytes_per_item * items rounded up to 8, aligned to 128 */
} qn_cpu_group;

/* Runs one work-group. */
typedef void (*qn_cpu_entry_fn)(const qn_cpu_launch *launch, const qn_cpu_group *group);

/* ---- Entries of OpenCL C code (QN_CODE_OPENCL_C) ------------------------------------------------ */

#define QN_OPENCL_OFFSET_ENTRY "quern_at_"

/* An entry is a kernel named `symbol`. Its parameters, in this order:
 *   - the kernel's own, each at its index: a value as it is; a buffer as a pointer to its allocation's first byte (NULL
 *     for a null pointer); local memory as a __local pointer;
 *   - with QN_ENTRY_RANGE one more, by value: a struct of ulongs, those of qn_opencl_range; then for each buffer
 *     parameter, in order, the byte offset to add to its pointer (0 for a null pointer).
 * A kernel that has buffers and no QN_ENTRY_RANGE has a second entry for launches with an offset that isn't 0: named
 * QN_OPENCL_OFFSET_ENTRY and `symbol`, with one more parameter, a struct of the offsets alone. The first has none, for each
 * parameter costs a driver time at each launch, and few launches have offsets.
 * The adapter may run a launch in parts, so as to leave a smaller last group where the driver can't, and parts of a
 * launch (group_base) as well. get_global_id, get_local_id, get_local_size and get_work_dim are right within a part;
 * what the other range functions tell of the whole launch is in qn_opencl_range, and an entry that uses them takes it.
 * get_group_id is the part's own plus group_base.
 * The range is plain data. */
typedef struct qn_opencl_range {
  uint64_t global_size[3];
  uint64_t global_offset[3];
  uint64_t group_base[3]; /* of this part */
  uint64_t num_groups[3];
  uint64_t enqueued_local[3];
} qn_opencl_range;

/* ---- Entries of WGSL code (QN_CODE_WGSL) -------------------------------------------------------- */

/* Three texts, one behind the other, each with its length before it (8 bytes, little end first, as are all numbers): a record of
 * the kernels, WGSL that holds all of them as entry points, and WGSL for launches whose arguments share a buffer.
 *
 * The record: u32 version 1; u32 uses half; u32 uses fma: the texts have the override `quern_fused`; u32 count of kernels; then for
 * each kernel: text name; text entry point; three times text override of the group's size (empty: it is fixed) and u32 the fixed
 * size; u32 bytes of the argument block, a multiple of 16; u32 takes the range; u32 count of storage bindings; u64 bytes of
 * workgroup memory beside local arguments; u32 count of parameters, and for each: u32 kind (0 value, 1 buffer, 2 local), u32
 * offset and u32 size in the argument block, u32 binding (0: none), u32 QN_ACCESS_... of the declaration, u32 what the
 * offset must be a multiple of, u32 offset for an address (0: not asked for), u32 bytes of a unit, text name of the variable or override.
 *
 * docs/wgsl.md says what each is for. The range stands at the start of the argument block where it is taken. It is plain data. */
typedef struct qn_wgsl_launch_range {
  uint32_t origin[3]; /* the first global id of what is dispatched: offset and all */
  uint32_t work_dim;
  uint32_t global_size[3];
  uint32_t reserved0;
  uint32_t num_groups[3]; /* of the launch */
  uint32_t reserved1;
  uint32_t group_base[3]; /* the first group that is dispatched */
  uint32_t reserved2;
  uint32_t global_offset[3]; /* of the launch */
  uint32_t reserved3;
  uint32_t enqueued_local[3];
  uint32_t reserved4;
  uint32_t local_size[3]; /* of what is dispatched: what the overrides are */
  uint32_t reserved5;
} qn_wgsl_launch_range;

/* ---- Entries of PTX code (QN_CODE_PTX) ---------------------------------------------------------- */

#define QN_PTX_STATIC_LOCAL 49152u /* bytes */

/* Text for a device's target, "cuda-sm_NN", without a NUL behind it. An entry is a kernel named `symbol`. Its parameters,
 * in this order:
 *   - the kernel's own, each at its index: a value as its bytes; a buffer as the 64-bit device address of its first byte, the
 *     offset added (0 for a null pointer); local memory as 32 bits: where it begins in dynamic shared memory, a multiple of its
 *     alignment (128 at most);
 *   - qn_ptx_range, always.
 * A block is a work-group of the launch's local size, the grid is of the groups. Dynamic shared memory holds the local arguments; where
 * static_local_bytes is above QN_PTX_STATIC_LOCAL the static local memory stands there too, in front of them, from 0 on.
 * Work-items beyond `items` leave at the start, which makes the smaller last groups. A launch that the grid can't hold is run in
 * parts (group_base), and one of 2^32 work-items or more in a dimension too. The range is plain data. */
typedef struct qn_ptx_range {
  uint64_t origin[3]; /* the first global id of this part: offset and all */
  uint64_t global_size[3];
  uint64_t global_offset[3];
  uint32_t items[3];  /* of this part */
  uint32_t is_uneven; /* 1: `items` is less than blocks * block size in some dimension */
  uint32_t group_base[3];
  uint32_t work_dim;
  uint32_t num_groups[3]; /* of the launch */
  uint32_t reserved;
} qn_ptx_range;

#ifdef __cplusplus
}
#endif

#endif /* QUERN_ADAPTER_H */

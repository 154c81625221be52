/* kernel.h - a kernel, and launches of it.
 *
 * A cl_kernel holds arguments, so that two threads can't launch with one. An entry here is several cl_kernels (seats), each
 * with a lock of its own; a launch takes the seat of its queue, or another when that one is taken. A seat remembers the
 * arguments that it has, and sets only those that change: as a program by hand would. */
#ifndef QUERN_ADAPTERS_OPENCL_KERNEL_H
#define QUERN_ADAPTERS_OPENCL_KERNEL_H

#include "memory.h"
#include "place.h"
#include "shape.h"

enum { OCL_SEATS = 8 };

/* What an argument of a seat is. `key` is a block's number or a size of local memory; values are in `bytes`. */
typedef struct ocl_setting {
  uint64_t key;
  bool is_set;
} ocl_setting;

typedef struct ocl_seat {
  pthread_mutex_t lock;
  cl_kernel native; /* made at the seat's first launch; the first seat's at once */
  ocl_setting *settings;
  unsigned char *bytes; /* values as they were set, one behind the other */
  uint64_t *hidden;     /* the hidden parameter as it was set, then room for the next one */
  ocl_shapes shapes;    /* launched with it */
} ocl_seat;

/* A kernel of the program. */
typedef struct ocl_entry {
  char *symbol;
  uint32_t hidden_words; /* 64-bit words of the hidden parameter: the range, offsets of buffers; 0: there is none */
  ocl_seat seats[OCL_SEATS];
} ocl_entry;

/* Without offsets or with the range, which has them; for launches with offsets where that has none. */
enum { OCL_FIRST_ENTRY, OCL_OFFSET_ENTRY, OCL_ENTRIES };

struct qn_adapter_kernel {
  qn_adapter_device *device;
  cl_program program; /* outlives the kernel */
  char *name;         /* in the source, for texts */
  qn_adapter_parameter *parameters;
  uint32_t parameter_count, buffer_count;
  bool takes_range;
  uint64_t value_bytes; /* of all values together */
  ocl_entry entries[OCL_ENTRIES];
  uint32_t entry_count;
};

qn_status ocl_kernel_create(qn_adapter_device *device, qn_adapter_program *program,
                            const qn_adapter_kernel_description *description, qn_adapter_kernel **out_kernel,
                            qn_adapter_kernel_info *out_info);
qn_status ocl_kernel_destroy(qn_adapter_device *device, qn_adapter_kernel *kernel);

/* Enqueues a launch: one command, or several when the last group of a dimension is smaller. */
qn_status ocl_kernel_launch(ocl_place *place, const qn_launch_record *record);

#endif

/* shape.h - for which launches a driver that compiles late (quirks.c) may compile a kernel anew. PoCL does for each group size,
 * with and without an offset, and again when a range is wider than those before. */
#ifndef QUERN_ADAPTERS_OPENCL_SHAPE_H
#define QUERN_ADAPTERS_OPENCL_SHAPE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct ocl_shape {
  size_t local[3], widest; /* the largest number of work-items in a dimension */
  bool has_offset;
} ocl_shape;

enum { OCL_SHAPES = 4 };

/* Those that a kernel was launched with last. Zeros: none. */
typedef struct ocl_shapes {
  ocl_shape known[OCL_SHAPES];
  uint32_t next;
} ocl_shapes;

ocl_shape ocl_shape_of(uint32_t dimensions, const size_t *offset, const size_t *global, const size_t *local);
bool ocl_shapes_know(const ocl_shapes *shapes, const ocl_shape *shape);
void ocl_shapes_learn(ocl_shapes *shapes, const ocl_shape *shape);

#endif

#include "shape.h"

#include <string.h>

ocl_shape ocl_shape_of(uint32_t dimensions, const size_t *offset, const size_t *global, const size_t *local) {
  ocl_shape shape = {{0}, 0, false};
  for (uint32_t d = 0; d < dimensions; d++) {
    shape.local[d] = local[d];
    shape.has_offset = shape.has_offset || offset[d] != 0;
    if (global[d] > shape.widest) shape.widest = global[d];
  }
  return shape;
}

/* OCL_SHAPES: none. */
static uint32_t find(const ocl_shapes *shapes, const ocl_shape *shape) {
  uint32_t i = 0;
  while (i < OCL_SHAPES && (memcmp(shapes->known[i].local, shape->local, sizeof shape->local) != 0 ||
                            shapes->known[i].has_offset != shape->has_offset))
    i++;
  return i;
}

bool ocl_shapes_know(const ocl_shapes *shapes, const ocl_shape *shape) {
  uint32_t i = find(shapes, shape);
  return i < OCL_SHAPES && shapes->known[i].widest >= shape->widest;
}

void ocl_shapes_learn(ocl_shapes *shapes, const ocl_shape *shape) {
  uint32_t i = find(shapes, shape);
  if (i == OCL_SHAPES) i = shapes->next++ % OCL_SHAPES;
  shapes->known[i] = *shape;
}

/* argument.c - where a kernel's arguments stand in a CPU entry's block: each at its own alignment, in order, as in a C
 * struct. A struct by value stands there whole; pointers, local ones too, take an address. */
#include "compiler/pass/pass.h"

static const ir_type *stored_type(const ir_param *param) { return param->byval ? param->type->elem : param->type; }

static uint64_t align_up(uint64_t offset, uint64_t align) {
  return align > 1 ? (offset + align - 1) / align * align : offset;
}

uint64_t qn_argument_offset(const ir_function *kernel, uint32_t index) {
  uint64_t offset = 0;
  for (uint32_t i = 0; i < kernel->param_count && i <= index; i++) {
    const ir_type *type = stored_type(&kernel->params[i]);
    offset = align_up(offset, type->align);
    if (i < index) offset += type->size;
  }
  return offset;
}

uint64_t qn_argument_block_bytes(const ir_function *kernel) {
  uint32_t count = kernel->param_count;
  if (count == 0) return 0;
  return align_up(qn_argument_offset(kernel, count - 1) + stored_type(&kernel->params[count - 1])->size, 8);
}

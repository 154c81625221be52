/* type.c - types of values as WGSL spells them. */
#include "compiler/target/wgsl/emit.h"

bool wgsl_is_soft_half(const emitter *e, const ir_type *type) {
  const ir_type *elem = ir_elem_of(type);
  return elem->kind == IR_FLOAT && elem->bits == 16 && !e->m->model.has_half;
}

const char *wgsl_shaped(emitter *e, const char *elem, uint32_t lanes) {
  return lanes == 1 ? elem : wgsl_text_of(e, "vec%u<%s>", lanes, elem);
}

static const char *scalar_type(emitter *e, const ir_type *type) {
  switch (type->kind) {
    case IR_BOOL:
      return "bool";
    case IR_INT:
      return type->bits == 64 ? "vec2<u32>" : "u32";
    case IR_FLOAT:
      if (type->bits == 32) return "f32";
      if (wgsl_is_soft_half(e, type)) return "u32";
      e->uses_half = true;
      return "f16";
    default:
      return "u32";
  }
}

const char *wgsl_value_type(emitter *e, const ir_type *type) {
  return wgsl_shaped(e, scalar_type(e, ir_elem_of(type)), ir_lanes_of(type));
}

const char *wgsl_type_word(emitter *e, const ir_type *type) {
  static const char letters[] = {[IR_BOOL] = 'b', [IR_INT] = 'i', [IR_FLOAT] = 'f'};
  const ir_type *elem = ir_elem_of(type);
  if (type->kind == IR_POINTER) return "ptr";
  uint32_t bits = elem->kind == IR_BOOL ? 1 : elem->bits;
  if (type->kind != IR_VECTOR) return wgsl_text_of(e, "%c%u", letters[elem->kind], bits);
  return wgsl_text_of(e, "%c%ux%u", letters[elem->kind], bits, type->count);
}

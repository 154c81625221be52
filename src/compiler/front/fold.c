/* fold.c - constant expressions: a tree is emitted without a function, and is constant when nothing but a constant
 * comes out. So constants are computed by the rules of the IR, as at run time. */
#include "compiler/front/convert.h"
#include "compiler/front/emit.h"

enum { FOLD_DEPTH_LIMIT = 1000 };

/* Whether a tree has only what may be emitted without a function. */
static bool is_foldable(const front_expr *e) {
  if (e == NULL) return true;
  if (e->depth > FOLD_DEPTH_LIMIT) return false;
  switch (e->kind) {
    case EXPR_CONST:
      return true;
    case EXPR_OBJECT:
      return e->u.object->constant != NULL;
    case EXPR_CONVERT:
      if (e->type->kind == FRONT_VOID) return false;
      return is_foldable(e->a);
    case EXPR_UNARY:
    case EXPR_BINARY:
    case EXPR_COMPARE:
    case EXPR_LOGICAL:
    case EXPR_CONDITIONAL:
    case EXPR_CHOOSE:
    case EXPR_SWIZZLE:
    case EXPR_LANE:
      return is_foldable(e->a) && is_foldable(e->b) && is_foldable(e->c);
    case EXPR_BUILTIN:
      if (!e->u.call.overload->is_cheap) return false;
      break;
    case EXPR_VECTOR:
      break;
    default:
      return false;
  }
  for (uint32_t i = 0; i < e->u.call.count; i++) {
    if (!is_foldable(e->u.call.args[i])) return false;
  }
  return true;
}

ir_inst *front_fold(front *f, front_expr *e) {
  if (e->kind == EXPR_CONST) return e->u.constant;
  if (front_is_error(e) || !is_foldable(e)) return NULL;
  ir_builder saved = f->b;
  f->b = (ir_builder){.m = f->m, .block = ir_block_new(f->m, NULL), .loc = e->loc};
  f->is_folding = true;
  ir_inst *value = front_emit_value(f, e);
  f->is_folding = false;
  bool is_constant = value != NULL && ir_is_const(value) && f->b.block->first == NULL && !f->m->failed;
  f->b = saved;
  return is_constant ? value : NULL;
}

bool front_fold_integer(front *f, front_expr *e, uint64_t *out) {
  if (!front_is_integer(e->type)) return false;
  ir_inst *value = front_fold(f, e);
  if (value == NULL || value->op != IR_CONST) return false;
  uint64_t bits = value->imm;
  uint32_t width = e->type->bits;
  if (e->type->kind == FRONT_INT && e->type->is_signed && width < 64) {
    uint64_t sign = (uint64_t)1 << (width - 1);
    bits = (bits ^ sign) - sign;
  }
  *out = bits;
  return true;
}

/* ---- Addresses
 * --------------------------------------------------------------------------------------------------------- */

/* A place in constant memory: a variable and a distance from its start. */
typedef struct constant_place {
  ir_var *var;
  uint64_t offset;
} constant_place;

static bool pointer_value(front *f, front_expr *e, constant_place *out);

static bool place_of(front *f, front_expr *e, constant_place *out) {
  switch (e->kind) {
    case EXPR_OBJECT:
      if (e->u.object->kind != OBJECT_CONSTANT || e->u.object->initial == NULL) return false;
      *out = (constant_place){front_constant_var(f, e->u.object), 0};
      return true;
    case EXPR_STRING:
      *out = (constant_place){front_string_var(f, e), 0};
      return true;
    case EXPR_MEMBER:
      if (!place_of(f, e->a, out)) return false;
      out->offset += e->a->type->record->ir->fields[e->u.member].offset;
      return true;
    case EXPR_DEREF:
      return pointer_value(f, e->a, out);
    default:
      return false;
  }
}

static bool pointer_value(front *f, front_expr *e, constant_place *out) {
  uint64_t index;
  switch (e->kind) {
    case EXPR_DECAY:
    case EXPR_ADDRESS:
      return place_of(f, e->a, out);
    case EXPR_CONVERT:
      return e->a->type->kind == FRONT_POINTER && pointer_value(f, e->a, out);
    case EXPR_POINTER_ADD: {
      if (!pointer_value(f, e->a, out) || !front_fold_integer(f, e->b, &index)) return false;
      uint64_t size = e->type->elem->kind == FRONT_VOID ? 1 : front_sizeof(f, e->type->elem);
      out->offset += (e->op == OP_SUB ? ~index + 1 : index) * size;
      return true;
    }
    default:
      return false;
  }
}

ir_inst *front_fold_initializer(front *f, front_expr *e) {
  if (e->type->kind != FRONT_POINTER) return front_fold(f, e);
  if (front_is_null_constant(e)) return ir_zero(f->m, front_ir(f, e->type));
  if (e->kind == EXPR_CONVERT && front_is_null_constant(e->a)) return ir_zero(f->m, front_ir(f, e->type));
  constant_place place;
  if (e->type->elem->space != IR_CONSTANT || !pointer_value(f, e, &place)) return NULL;
  return ir_address_offset(f->m, place.var, front_ir(f, e->type), place.offset);
}

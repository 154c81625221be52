/* builtin_memory.c - vector loads and stores (6.12.7), those of half, shuffles (6.12.12). */
#include "compiler/front/builtin_table.h"

/* ---- vload, vstore --------------------------------------------------------------------------------- */

/* pointer + offset * count, in elements. */
static ir_inst *at_offset(const builtin_call *c, ir_inst *pointer, ir_inst *offset, uint32_t count) {
  if (count > 1) offset = ir_bin(c->b, IR_MUL, offset, builtin_integer(c, offset->type, count));
  return ir_elem(c->b, pointer, offset);
}

ir_inst *builtin_emit_vload(const builtin_call *c) {
  uint32_t lanes = c->choice->builtin->lanes;
  return ir_vload(c->b, at_offset(c, c->args[1], c->args[0], lanes), lanes);
}
ir_inst *builtin_emit_vstore(const builtin_call *c) {
  uint32_t lanes = c->choice->builtin->lanes;
  return ir_vstore(c->b, at_offset(c, c->args[2], c->args[1], lanes), c->args[0]);
}

/* ---- Half: in memory alone, converted by the library ------------------------------------------------ */

static ir_inst *half_bits(const builtin_call *c, ir_inst *pointer) {
  ir_module *m = c->f->m;
  return ir_conv(c->b, IR_PCAST, pointer, ir_pointer(m, pointer->type->space, ir_int(m, 16)));
}

/* `stride` elements lie between two vectors. */
static ir_inst *load_half(const builtin_call *c, uint32_t stride) {
  ir_module *m = c->f->m;
  uint32_t lanes = c->choice->builtin->lanes;
  ir_inst *place = half_bits(c, at_offset(c, c->args[1], c->args[0], stride));
  ir_inst *bits = lanes == 1 ? ir_load(c->b, place) : ir_vload(c->b, place, lanes);
  return builtin_library(c, "half_to_float.f32", ir_float(m, 32), &bits, 1);
}

static ir_inst *store_half(const builtin_call *c, uint32_t stride) {
  static const char *const names[] = {[ROUND_DEFAULT] = "half_rte",
                                      [ROUND_RTE] = "half_rte",
                                      [ROUND_RTZ] = "half_rtz",
                                      [ROUND_RTP] = "half_rtp",
                                      [ROUND_RTN] = "half_rtn"};
  ir_module *m = c->f->m;
  const front_builtin *builtin = c->choice->builtin;
  ir_inst *value = c->args[0];
  const char *name = builtin_library_name(c, names[builtin->rounding], ir_elem_of(value->type)->bits);
  ir_inst *bits = builtin_library(c, name, ir_int(m, 16), &value, 1);
  if (!bits) return NULL;
  ir_inst *place = half_bits(c, at_offset(c, c->args[2], c->args[1], stride));
  return builtin->lanes == 1 ? ir_store(c->b, place, bits) : ir_vstore(c->b, place, bits);
}

static uint32_t aligned_stride(const builtin_call *c) {
  uint32_t lanes = c->choice->builtin->lanes;
  return lanes == 3 ? 4 : lanes;
}

ir_inst *builtin_emit_vload_half(const builtin_call *c) { return load_half(c, c->choice->builtin->lanes); }
ir_inst *builtin_emit_vloada_half(const builtin_call *c) { return load_half(c, aligned_stride(c)); }
ir_inst *builtin_emit_vstore_half(const builtin_call *c) { return store_half(c, c->choice->builtin->lanes); }
ir_inst *builtin_emit_vstorea_half(const builtin_call *c) { return store_half(c, aligned_stride(c)); }

/* ---- shuffle, shuffle2 ------------------------------------------------------------------------------ */

static bool even_vector(const front_type *t) { return front_is_vector(t) && t->lanes != 3; }

bool builtin_resolve_shuffle(front *f, const front_builtin *builtin, qn_loc loc, const front_type *const *args,
                             uint32_t count, front_overload *out) {
  uint32_t sources = qn_sv_ends_with(builtin->name, QN_SV("2")) ? 2 : 1;
  uint32_t length = (uint32_t)builtin->name.size;
  if (count != sources + 1) {
    front_error(f, loc, length, "too %s arguments to '%.*s': it takes %u, not %u", count < sources + 1 ? "few" : "many",
                QN_SV_ARG(builtin->name), sources + 1, count);
    return false;
  }
  const front_type *x = args[0], *mask = args[count - 1];
  bool fits = even_vector(x) && even_vector(mask) && args[sources - 1] == x && front_is_integral(mask) &&
              !mask->elem->is_signed && mask->elem->bits == x->elem->bits;
  if (!fits) {
    front_error(f, loc, length, "no '%.*s' takes %s", QN_SV_ARG(builtin->name), builtin_args_text(f, args, count));
    front_note(f, loc, 0,
               "it takes %s of one type and a mask of unsigned integers as wide as their elements; vectors have "
               "2, 4, 8 or 16 components",
               sources == 2 ? "two vectors" : "a vector");
    return false;
  }
  out->result = front_vector(f, x->elem, mask->lanes);
  for (uint32_t i = 0; i < count; i++) out->params[i] = args[i];
  out->count = count;
  return builtin_choose(f, builtin, &builtin->rows[0], x, NULL, out);
}

/* Lane `index` of the sources in a row; only its low bits count. */
static ir_inst *pick(const builtin_call *c, ir_inst *index) {
  ir_builder *b = c->b;
  ir_inst *x = c->args[0];
  uint32_t lanes = x->type->count;
  ir_inst *within = ir_bin(b, IR_AND, index, builtin_integer(c, index->type, lanes - 1));
  ir_inst *first = ir_extract(b, x, within);
  if (c->count == 2) return first;
  ir_inst *bit = ir_bin(b, IR_AND, index, builtin_integer(c, index->type, lanes));
  ir_inst *is_second = ir_bin(b, IR_NE, bit, ir_zero(c->f->m, index->type));
  return ir_select(b, is_second, ir_extract(b, c->args[1], within), first);
}

static bool constant_lane(const ir_inst *mask, uint32_t lane, uint64_t *out) {
  if (mask->op == IR_ZERO) {
    *out = 0;
    return true;
  }
  if (mask->op != IR_AGGREGATE || mask->args[lane]->op != IR_CONST) return false;
  *out = mask->args[lane]->imm;
  return true;
}

ir_inst *builtin_emit_shuffle(const builtin_call *c) {
  ir_inst *mask = c->args[c->count - 1], *parts[16];
  uint32_t lanes = mask->type->count, sources = c->args[0]->type->count * (c->count - 1);
  int32_t fixed[16];
  bool is_fixed = true;
  for (uint32_t i = 0; is_fixed && i < lanes; i++) {
    uint64_t lane;
    is_fixed = constant_lane(mask, i, &lane);
    if (is_fixed) fixed[i] = (int32_t)(lane & (sources - 1));
  }
  if (is_fixed) return ir_shuffle(c->b, c->args[0], c->args[c->count - 2], fixed, lanes);
  for (uint32_t i = 0; i < lanes; i++) parts[i] = pick(c, ir_extract_at(c->b, mask, i));
  return ir_vec(c->b, builtin_result(c), parts);
}

/* value.c - operands: names, literals, or expressions with brackets where WGSL or a reader wants them; values that are made
 * of others. */
#include <inttypes.h>

#include "compiler/target/wgsl/emit.h"

/* WGSL has fewer levels than C: operands of shifts and bits are unary expressions. */
static bool wants_brackets(text_level inner, text_level outer, bool is_right) {
  if (outer == TEXT_SHIFT) return inner < TEXT_UNARY;
  return text_wants_brackets(inner, outer, is_right);
}

static text_level put_value(emitter *e, const ir_inst *value) {
  switch (value->op) {
    case IR_CONST:
    case IR_AGGREGATE:
    case IR_ZERO:
    case IR_UNDEF:
      return value->type->kind == IR_POINTER ? wgsl_put_pointer(e, value) : wgsl_put_constant(e, value);
    case IR_PARAM:
      if (value->type->kind == IR_POINTER) return wgsl_put_pointer(e, value);
      put(e, e->param_names[value->imm]);
      return TEXT_POSTFIX;
    case IR_ADDRESS:
      return wgsl_put_pointer(e, value);
    default:
      break;
  }
  const text_planned *planned = text_planned_of(&e->plan, value);
  if (planned->how == TEXT_INLINE) return wgsl_put_expression(e, value);
  if (planned->how == TEXT_STORED)
    put(e, wgsl_var_name(e, text_stored_in(&e->plan, value)));
  else
    put(e, planned->name ? planned->name : "0u"); /* no name: out of memory */
  return TEXT_POSTFIX;
}

void wgsl_put_operand(emitter *e, const ir_inst *value, text_level outer, bool is_right) {
  size_t start = e->out->size;
  text_level level = put_value(e, value);
  if (wants_brackets(level, outer, is_right)) text_wrap(e->out, start, "(", ")");
}

const char *wgsl_operand_text(emitter *e, const ir_inst *value, text_level outer) {
  size_t start = e->out->size;
  wgsl_put_operand(e, value, outer, false);
  if (e->out->failed) return "";
  const char *copy = qn_arena_copy(e->arena, qn_sv_make(e->out->data + start, e->out->size - start));
  e->out->size = start;
  e->out->data[start] = '\0';
  if (!copy) e->failed = true;
  return copy ? copy : "";
}

/* ---- Where the item is ---- */

/* The group's size is what the overrides say, but by a function: with overrides WGSL computes when it makes the pipeline, and refuses
 * what doesn't fit. */
static const char *local_size_function(emitter *e, const wgsl_instance *kernel) {
  const char *key = wgsl_text_of(e, "%s_local_size", kernel->name), *name = wgsl_made_name(e, key);
  const uint64_t *fixed = kernel->t->f->required_local;
  if (name) return name;
  qn_bytes text = {0};
  name = wgsl_make_function(e, key, key);
  if (fixed[0])
    qn_bytes_printf(&text, "fn %s() -> vec3<u32> { return vec3<u32>(%" PRIu64 ", %" PRIu64 ", %" PRIu64 "); }\n", name,
                    fixed[0], fixed[1], fixed[2]);
  else
    qn_bytes_printf(&text, "fn %s() -> vec3<u32> { return vec3<u32>(%s, %s, %s); }\n", name, kernel->group[0],
                    kernel->group[1], kernel->group[2]);
  wgsl_add_function(e, &text);
  qn_bytes_free(&text);
  return name;
}

static text_level put_place_query(emitter *e, const ir_inst *inst) {
  const char *d = inst->imm == 0 ? "x" : inst->imm == 1 ? "y" : "z";
  const char *args = e->instance->kernel->args;
  bool in_kernel = e->function->f->is_kernel;
  const char *local = in_kernel ? "local_id" : "quern_local_id", *group = in_kernel ? "group_id" : "quern_group_id";
  const uint64_t *fixed = e->instance->kernel->t->f->required_local;
  const char *size =
      fixed[0] ? wgsl_text_of(e, "%" PRIu64 "u", fixed[inst->imm]) : e->instance->kernel->group[inst->imm];
  if (!in_kernel) e->uses_place = true;
  switch (inst->op) {
    case IR_LOCAL_ID:
      putf(e, "%s.%s", local, d);
      return TEXT_POSTFIX;
    case IR_GLOBAL_ID:
      if (in_kernel)
        putf(e, "%s.range.origin.%s + global_id.%s", args, d, d);
      else
        putf(e, "%s.range.origin.%s + %s.%s * %s + %s.%s", args, d, group, d, size, local, d);
      return TEXT_ADD;
    case IR_GROUP_ID:
      putf(e, "%s.range.group_base.%s + %s.%s", args, d, group, d);
      return TEXT_ADD;
    case IR_LOCAL_SIZE:
      putf(e, "%s().%s", local_size_function(e, e->instance->kernel), d);
      return TEXT_POSTFIX;
    case IR_WORK_DIM:
      putf(e, "%s.range.work_dim", args);
      return TEXT_POSTFIX;
    default:
      break;
  }
  const char *member = inst->op == IR_GLOBAL_SIZE     ? "global_size"
                       : inst->op == IR_NUM_GROUPS    ? "num_groups"
                       : inst->op == IR_GLOBAL_OFFSET ? "global_offset"
                                                      : "enqueued_local";
  putf(e, "%s.range.%s.%s", args, member, d);
  return TEXT_POSTFIX;
}

/* ---- Vectors ---- */

void wgsl_put_lanes(emitter *e, const int32_t *from, uint32_t count) {
  put(e, ".");
  for (uint32_t i = 0; i < count; i++) qn_bytes_append_char(e->out, "xyzw"[from[i] < 0 ? 0 : from[i]]);
}

static text_level put_vec(emitter *e, const ir_inst *inst) {
  putf(e, "%s(", wgsl_value_type(e, inst->type));
  for (uint32_t i = 0; i < inst->arg_count; i++) {
    if (i) put(e, ", ");
    wgsl_put_operand(e, inst->args[i], TEXT_ANY, false);
  }
  put(e, ")");
  return TEXT_POSTFIX;
}

static text_level put_extract(emitter *e, const ir_inst *inst) {
  const ir_inst *index = inst->args[1];
  int32_t count = (int32_t)inst->args[0]->type->count;
  wgsl_put_operand(e, inst->args[0], TEXT_POSTFIX, false);
  if (index->op == IR_CONST) {
    int32_t lane = index->imm < (uint64_t)count ? (int32_t)index->imm : 0;
    wgsl_put_lanes(e, &lane, 1);
    return TEXT_POSTFIX;
  }
  const char *low = is_wide(index->type) ? ".x" : "";
  putf(e, "[min(%s%s, %du)]", wgsl_operand_text(e, index, TEXT_POSTFIX), low, count - 1);
  return TEXT_POSTFIX;
}

/* All lanes of one operand, or picked ones of both. */
static text_level put_shuffle(emitter *e, const ir_inst *inst) {
  const int32_t *mask = inst->u.mask;
  int32_t count = (int32_t)ir_lanes_of(inst->args[0]->type);
  int32_t picked[4] = {0, 0, 0, 0};
  bool of_first = true, of_second = true;
  for (uint32_t i = 0; i < inst->type->count; i++) {
    of_first &= mask[i] < count;
    of_second &= mask[i] < 0 || mask[i] >= count;
  }
  if (of_first || of_second) {
    for (uint32_t i = 0; i < inst->type->count; i++) picked[i] = mask[i] < count ? mask[i] : mask[i] - count;
    wgsl_put_operand(e, inst->args[of_first ? 0 : 1], TEXT_POSTFIX, false);
    wgsl_put_lanes(e, picked, inst->type->count);
    return TEXT_POSTFIX;
  }
  putf(e, "%s(", wgsl_value_type(e, inst->type));
  for (uint32_t i = 0; i < inst->type->count; i++) {
    int32_t lane = mask[i] < 0 ? 0 : mask[i] % count;
    if (i) put(e, ", ");
    wgsl_put_operand(e, inst->args[mask[i] >= count], TEXT_POSTFIX, false);
    wgsl_put_lanes(e, &lane, 1);
  }
  put(e, ")");
  return TEXT_POSTFIX;
}

void wgsl_put_insert(emitter *e, const ir_inst *inst, const char *name) {
  const ir_inst *index = inst->args[2];
  int32_t count = (int32_t)inst->type->count;
  put(e, name);
  if (index->op == IR_CONST) {
    int32_t lane = index->imm < (uint64_t)count ? (int32_t)index->imm : 0;
    wgsl_put_lanes(e, &lane, 1);
  } else {
    putf(e, "[min(%s%s, %du)]", wgsl_operand_text(e, index, TEXT_POSTFIX), is_wide(index->type) ? ".x" : "", count - 1);
  }
  put(e, " = ");
  wgsl_put_operand(e, inst->args[1], TEXT_ANY, false);
}

/* select(else, then, condition) */
static text_level put_select(emitter *e, const ir_inst *inst) {
  put(e, "select(");
  for (uint32_t i = 0; i < 2; i++) {
    wgsl_put_operand(e, inst->args[2 - i], TEXT_ANY, false);
    put(e, ", ");
  }
  wgsl_put_operand(e, inst->args[0], TEXT_ANY, false);
  put(e, ")");
  return TEXT_POSTFIX;
}

/* ---- All ---- */

bool wgsl_wants_name(const ir_inst *inst) { return inst->op == IR_INSERT || inst->op == IR_ATOMIC; }

static text_level put_call_value(emitter *e, const ir_inst *inst) {
  wgsl_put_call(e, inst);
  return TEXT_POSTFIX;
}

text_level wgsl_put_expression(emitter *e, const ir_inst *inst) {
  if (ir_op_table[inst->op].cls == IR_CLASS_CONV) return wgsl_put_conversion(e, inst);
  if (text_is_query(inst->op)) return put_place_query(e, inst);
  switch (inst->op) {
    case IR_SELECT:
      return put_select(e, inst);
    case IR_VEC:
    case IR_SPLAT:
      return put_vec(e, inst);
    case IR_EXTRACT:
      return put_extract(e, inst);
    case IR_SHUFFLE:
      return put_shuffle(e, inst);
    case IR_ELEM:
    case IR_INDEX:
    case IR_FIELD:
    case IR_PCAST:
    case IR_ITOP:
    case IR_PTOI:
    case IR_PDIFF:
      return wgsl_put_pointer_op(e, inst);
    case IR_LOAD:
    case IR_VLOAD:
      return wgsl_put_load(e, inst);
    case IR_CALL:
      return put_call_value(e, inst);
    default:
      return wgsl_put_op(e, inst);
  }
}

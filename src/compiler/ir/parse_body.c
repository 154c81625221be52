#include "compiler/ir/parse.h"

static qn_status parse_block(ir_parser *p, ir_block *block);

/* ---- Variables ---- */

/* The words that start a variable, in the order of ir_storage, then local. */
static const char *const var_words[] = {"var", "context", "group", "local"};

static qn_status define(ir_parser *p, qn_map *map, qn_sv name, const char *start, ir_inst *value) {
  if (qn_map_get(map, name)) return ir_parse_error_at(p, start, "%.*s is defined twice", (int)name.size + 1, start);
  return qn_map_set(map, name, value) ? QN_OK : ir_parse_no_memory();
}

static qn_status parse_var(ir_parser *p, uint32_t storage) {
  const ir_type *type;
  bool is_local = storage == 3;
  ir_token name = p->token;
  if (name.kind != (is_local ? IR_T_GLOBAL : IR_T_VALUE)) return ir_parse_expected(p, "a variable's name");
  QN_TRY(ir_parse_check_name(p, &name));
  ir_parse_next(p);
  QN_TRY(ir_parse_punct(p, ':'));
  QN_TRY(ir_parse_object_type(p, &type));
  char *copy = qn_arena_copy(p->m->arena, name.text);
  if (!copy) return ir_parse_no_memory();
  ir_var *var = is_local ? ir_var_local(p->f, copy, type) : ir_var_private(p->f, copy, type);
  if (!is_local) var->storage = (ir_storage)storage;
  if (ir_parse_take_word(p, "align")) QN_TRY(ir_parse_align(p, &var->align));
  if (ir_parse_take_word(p, "offset")) QN_TRY(ir_parse_u64(p, &var->offset));
  return define(p, is_local ? &p->locals : &p->values, name.text, name.start, var->address);
}

static qn_status parse_vars(ir_parser *p) {
  for (int32_t word; (word = ir_parse_find(p, var_words, 4)) >= 0;) {
    ir_parse_next(p);
    QN_TRY(parse_var(p, (uint32_t)word));
  }
  return QN_OK;
}

/* ---- Operands ---- */

static qn_status parse_global_operand(ir_parser *p, ir_inst **out) {
  ir_inst *local = qn_map_get(&p->locals, p->token.text);
  ir_var *constant = qn_map_get(&p->constants, p->token.text);
  if (!local && !constant) return ir_parse_expected(p, "a local variable or constant");
  *out = local ? local : constant->address;
  ir_parse_next(p);
  return QN_OK;
}

static qn_status parse_constant_operand(ir_parser *p, ir_inst **out) {
  const ir_type *type;
  const char *start = p->token.start;
  QN_TRY(ir_parse_object_type(p, &type));
  if (type->kind == IR_ARRAY || type->kind == IR_STRUCT)
    return ir_parse_error_at(p, start, "an operand is a scalar, a vector or a pointer");
  return ir_parse_literal(p, type, out);
}

static qn_status parse_operand(ir_parser *p, ir_inst **out) {
  if (p->token.kind == IR_T_GLOBAL) return parse_global_operand(p, out);
  if (p->token.kind != IR_T_VALUE) return parse_constant_operand(p, out);
  *out = qn_map_get(&p->values, p->token.text);
  if (!*out) return ir_parse_expected(p, "a value that is defined before");
  ir_parse_next(p);
  return QN_OK;
}

enum { OPERAND_LIMIT = 4096 };

typedef struct operands {
  qn_bytes list; /* of ir_inst * */
  uint32_t count;
} operands;

static qn_status parse_one_operand(ir_parser *p, operands *o) {
  ir_inst *x = NULL;
  if (o->count == OPERAND_LIMIT) return ir_parse_error_at(p, p->token.start, "more than %d operands", OPERAND_LIMIT);
  QN_TRY(parse_operand(p, &x));
  qn_bytes_append(&o->list, &x, sizeof(x));
  o->count++;
  return o->list.failed ? ir_parse_no_memory() : QN_OK;
}

/* `count` operands; -1: as many as commas say, at least one. */
static qn_status parse_operands(ir_parser *p, operands *o, int count) {
  for (int i = 0; i != count; i++) {
    if (i && count < 0 && !ir_parse_at_punct(p, ',')) break;
    if (i) QN_TRY(ir_parse_punct(p, ','));
    QN_TRY(parse_one_operand(p, o));
  }
  return QN_OK;
}

/* ---- Instructions without blocks ---- */

/* What the text says of an instruction before it is made. */
typedef struct said {
  ir_op op;
  operands operands;
  uint64_t imm;
  uint32_t flags;
  const ir_type *type;
  ir_function *callee;
  int32_t mask[16];
  uint32_t mask_count;
  uint32_t rmw, order, scope;
} said;

/* A function that isn't known yet is made without a signature and must be declared later. */
static qn_status parse_callee(ir_parser *p, said *s) {
  qn_sv name = p->token.text;
  if (p->token.kind != IR_T_GLOBAL) return ir_parse_expected(p, "@ and a function's name");
  s->callee = ir_function_find(p->m, name);
  if (!s->callee) {
    s->callee = ir_function_new(p->m, name);
    if (!s->callee || !qn_map_set(&p->function_mentions, name, (void *)p->token.start)) return ir_parse_no_memory();
  }
  ir_parse_next(p);
  QN_TRY(ir_parse_punct(p, '('));
  if (ir_parse_take_punct(p, ')')) return QN_OK;
  QN_TRY(parse_operands(p, &s->operands, -1));
  return ir_parse_punct(p, ')');
}

static qn_status parse_atomic_words(ir_parser *p, said *s) {
  QN_TRY(ir_parse_choice(p, ir_rmw_names, IR_RMW_COUNT, "a read-modify-write kind", &s->rmw));
  QN_TRY(ir_parse_choice(p, ir_order_names, IR_ORDER_COUNT, "a memory order", &s->order));
  return ir_parse_choice(p, ir_scope_names, IR_SCOPE_COUNT, "a scope", &s->scope);
}

static qn_status parse_mask(ir_parser *p, said *s) {
  QN_TRY(ir_parse_punct(p, '['));
  do {
    int64_t lane;
    const char *start = p->token.start;
    if (p->token.kind != IR_T_NUMBER || !qn_sv_to_i64(p->token.text, &lane)) return ir_parse_expected(p, "a lane");
    if (lane < -1 || lane > 31 || s->mask_count == 16)
      return ir_parse_error_at(p, start, "a mask has at most 16 lanes from -1 to 31");
    s->mask[s->mask_count++] = (int32_t)lane;
    ir_parse_next(p);
  } while (ir_parse_take_punct(p, ','));
  return ir_parse_punct(p, ']');
}

static qn_status parse_fences(ir_parser *p, said *s) {
  s->imm |= ir_parse_take_word(p, "local") ? IR_FENCE_LOCAL : 0;
  s->imm |= ir_parse_take_word(p, "global") ? IR_FENCE_GLOBAL : 0;
  return QN_OK;
}

/* Operands and what belongs to the operation; as put_details prints them. */
static qn_status parse_details(ir_parser *p, said *s) {
  if (s->op == IR_CALL) return parse_callee(p, s);
  if (s->op == IR_BARRIER || s->op == IR_FENCE) return parse_fences(p, s);
  if (s->op >= IR_GLOBAL_ID && s->op <= IR_GLOBAL_OFFSET) return ir_parse_u64(p, &s->imm);
  if (s->op == IR_ATOMIC) QN_TRY(parse_atomic_words(p, s));
  int count = ir_op_table[s->op].operands;
  if (s->op == IR_RETURN) count = ir_parse_at_punct(p, '}') ? 0 : 1;
  QN_TRY(parse_operands(p, &s->operands, count));
  if (s->op == IR_SHUFFLE) return parse_mask(p, s);
  if (s->op == IR_FIELD) {
    QN_TRY(ir_parse_punct(p, ','));
    return ir_parse_u64(p, &s->imm);
  }
  if (s->op >= IR_LOAD && s->op <= IR_COPY && ir_parse_take_word(p, "align")) return ir_parse_align(p, &s->imm);
  return QN_OK;
}

static qn_status parse_said(ir_parser *p, said *s, bool has_result) {
  QN_TRY(parse_details(p, s));
  for (int32_t flag; (flag = ir_parse_find(p, ir_flag_names, IR_FLAG_COUNT)) >= 0; ir_parse_next(p))
    s->flags |= 1u << flag;
  if (!has_result) return QN_OK;
  QN_TRY(ir_parse_punct(p, ':'));
  return ir_parse_object_type(p, &s->type);
}

static qn_status make_said(ir_parser *p, const said *s, ir_inst **out) {
  ir_inst *const *args = (ir_inst *const *)(const void *)s->operands.list.data;
  if (s->op == IR_SHUFFLE && s->mask_count != ir_lanes_of(s->type))
    return ir_parse_error_at(p, p->token.start, "the mask has not as many lanes as the result");
  ir_inst *inst = ir_emit(&p->b, s->op, s->type, args, s->operands.count);
  int32_t *mask = s->op == IR_SHUFFLE ? ir_alloc_array(p->m, sizeof *mask, s->mask_count) : NULL;
  if (!inst->parent || (s->op == IR_SHUFFLE && !mask)) return ir_parse_no_memory();
  inst->imm = s->imm;
  inst->flags = s->flags;
  for (uint32_t i = 0; i < s->mask_count; i++) mask[i] = s->mask[i];
  if (s->op == IR_SHUFFLE) inst->u.mask = mask;
  if (s->op == IR_CALL) inst->u.callee = s->callee;
  if (s->op == IR_ATOMIC) {
    inst->u.atomic.rmw = (ir_rmw)s->rmw;
    inst->u.atomic.order = (ir_order)s->order;
    inst->u.atomic.scope = (ir_scope)s->scope;
  }
  *out = inst;
  return QN_OK;
}

static qn_status parse_plain(ir_parser *p, ir_op op, bool has_result, ir_inst **out) {
  said s = {.op = op, .type = ir_void(p->m)};
  qn_status status = parse_said(p, &s, has_result);
  if (status == QN_OK) status = make_said(p, &s, out);
  qn_bytes_free(&s.operands.list);
  return status;
}

/* ---- Instructions with blocks ---- */

static qn_status parse_braced(ir_parser *p, ir_block *block) {
  QN_TRY(ir_parse_punct(p, '{'));
  ir_block *outer = ir_into(&p->b, block);
  QN_TRY(parse_block(p, block));
  ir_into(&p->b, outer);
  return QN_OK;
}

/* `word {`: a continue block, where `continue` alone is an instruction. */
static bool take_word_before_brace(ir_parser *p, const char *word) {
  if (p->token.kind != IR_T_WORD || !qn_sv_is(p->token.text, word)) return false;
  ir_lexer ahead = p->lexer;
  ir_token after = ir_lex(&ahead);
  if (after.kind != IR_T_PUNCT || after.text.data[0] != '{') return false;
  ir_parse_next(p);
  return true;
}

static qn_status parse_two_blocks(ir_parser *p, ir_inst *inst, const char *second) {
  if (!inst->parent) return ir_parse_no_memory();
  QN_TRY(parse_braced(p, inst->u.ctrl.blocks[0]));
  if (inst->u.ctrl.block_count < 2 || !take_word_before_brace(p, second)) return QN_OK;
  return parse_braced(p, inst->u.ctrl.blocks[1]);
}

static qn_status parse_case(ir_parser *p, ir_inst *inst, qn_bytes *cases, qn_bytes *blocks, bool *is_default) {
  uint64_t value = 0;
  *is_default = ir_parse_take_word(p, "default");
  if (!*is_default && !ir_parse_take_word(p, "case")) return ir_parse_expected(p, "case or default");
  if (!*is_default) QN_TRY(ir_parse_int(p, inst->args[0]->type, &value));
  ir_block *block = ir_block_new(p->m, inst);
  block->hint = (uint32_t)(blocks->size / sizeof(ir_block *));
  qn_bytes_append(cases, &value, sizeof value);
  qn_bytes_append(blocks, &block, sizeof(block));
  if (cases->failed || blocks->failed || p->m->failed) return ir_parse_no_memory();
  return parse_braced(p, block);
}

static qn_status parse_cases(ir_parser *p, ir_inst *inst, qn_bytes *cases, qn_bytes *blocks) {
  QN_TRY(ir_parse_punct(p, '{'));
  for (bool is_default = false; !is_default;) QN_TRY(parse_case(p, inst, cases, blocks, &is_default));
  QN_TRY(ir_parse_punct(p, '}'));
  size_t count = blocks->size / sizeof(ir_block *);
  inst->u.ctrl.blocks = ir_alloc_array(p->m, sizeof(ir_block *), count);
  inst->u.ctrl.cases = ir_alloc_array(p->m, sizeof(uint64_t), count);
  if (p->m->failed) return ir_parse_no_memory();
  memcpy(inst->u.ctrl.blocks, blocks->data, blocks->size);
  memcpy(inst->u.ctrl.cases, cases->data, cases->size);
  inst->u.ctrl.block_count = (uint32_t)count;
  return QN_OK;
}

static qn_status parse_switch(ir_parser *p) {
  ir_inst *value = NULL;
  const char *start = p->token.start;
  QN_TRY(parse_operand(p, &value));
  if (value->type->kind != IR_INT) return ir_parse_error_at(p, start, "a switch takes an integer");
  ir_inst *inst = ir_emit(&p->b, IR_SWITCH, ir_void(p->m), &value, 1);
  if (!inst->parent) return ir_parse_no_memory();
  qn_bytes cases = {0}, blocks = {0};
  qn_status status = parse_cases(p, inst, &cases, &blocks);
  qn_bytes_free(&cases);
  qn_bytes_free(&blocks);
  return status;
}

static qn_status parse_control(ir_parser *p, ir_op op) {
  ir_inst *condition = NULL;
  switch (op) {
    case IR_IF:
      QN_TRY(parse_operand(p, &condition));
      return parse_two_blocks(p, ir_if(&p->b, condition), "else");
    case IR_LOOP:
      return parse_two_blocks(p, ir_loop(&p->b), "continue");
    case IR_REGION:
      return parse_two_blocks(p, ir_region(&p->b), "");
    default:
      return parse_switch(p);
  }
}

/* ---- Blocks ---- */

static qn_status parse_op(ir_parser *p, ir_op *out) {
  const ir_op_info *info = p->token.kind == IR_T_WORD ? qn_map_get(&p->ops, p->token.text) : NULL;
  if (!info || info->cls == IR_CLASS_LEAF) return ir_parse_expected(p, "an operation");
  *out = (ir_op)(info - ir_op_table);
  ir_parse_next(p);
  return QN_OK;
}

static qn_status parse_inst(ir_parser *p) {
  ir_op op = IR_TRAP;
  ir_inst *inst = NULL;
  ir_token name = p->token;
  bool has_result = name.kind == IR_T_VALUE;
  if (has_result) {
    ir_parse_next(p);
    QN_TRY(ir_parse_punct(p, '='));
  }
  QN_TRY(parse_op(p, &op));
  if (op == IR_IF || op == IR_LOOP || op == IR_SWITCH || op == IR_REGION) {
    if (has_result) return ir_parse_error_at(p, name.start, "%s has no result", ir_op_table[op].text);
    return parse_control(p, op);
  }
  QN_TRY(parse_plain(p, op, has_result, &inst));
  return has_result ? define(p, &p->values, name.text, name.start, inst) : QN_OK;
}

static qn_status parse_block(ir_parser *p, ir_block *block) {
  QN_TRY(ir_parse_deeper(p));
  p->b.block = block;
  while (!ir_parse_take_punct(p, '}')) QN_TRY(parse_inst(p));
  p->depth--;
  return QN_OK;
}

qn_status ir_parse_body(ir_parser *p) {
  p->b.f = p->f;
  p->f->body = ir_block_new(p->m, NULL);
  QN_TRY(parse_vars(p));
  return parse_block(p, p->f->body);
}

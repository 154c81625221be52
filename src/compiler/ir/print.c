/* print.c - the canonical text. Values are numbered in order; structs stand before their first by-value use. */
#include <stdlib.h>
#include <string.h>

#include "compiler/ir/float.h"
#include "compiler/ir/intern.h"
#include "compiler/ir/text.h"

const char *const ir_flag_names[IR_FLAG_COUNT] = {"contract", "fast", "sat", "volatile", "nsw"};
const char *const ir_space_names[IR_SPACE_COUNT] = {"private", "global", "constant", "local", "generic"};
const char *const ir_order_names[IR_ORDER_COUNT] = {"relaxed", "acquire", "release", "acq_rel", "seq_cst"};
const char *const ir_scope_names[IR_SCOPE_COUNT] = {"item", "sub_group", "group", "device", "system"};
const char *const ir_rmw_names[IR_RMW_COUNT] = {
#define QN_X(id, text) text,
    IR_RMWS(QN_X)
#undef QN_X
};
const char *const ir_element_names[IR_ELEMENT_COUNT] = {"none", "i8",  "u8",  "i16", "u16", "i32",
                                                        "u32",  "i64", "u64", "f16", "f32", "f64"};
const char *const ir_access_names[4] = {"none", "read", "write", "readwrite"};

uint32_t ir_union_field(const ir_type *type, const ir_type *part) {
  uint32_t i = 0;
  while (i < type->field_count && type->fields[i].type != part) i++;
  return i;
}

/* A type has at most one type inside, at its end, so that a loop prints it. */
void ir_type_print(const ir_type *type, qn_bytes *out) {
  static const char *const words[] = {
      [IR_VOID] = "void", [IR_BOOL] = "bool", [IR_INT] = "i", [IR_FLOAT] = "f", [IR_STRUCT] = "@"};
  uint64_t brackets = 0;
  for (; type->kind == IR_POINTER || type->kind == IR_ARRAY; type = type->elem) {
    if (type->kind == IR_POINTER) {
      qn_bytes_append_str(out, "ptr ");
      qn_bytes_append_str(out, ir_space_names[type->space]);
      qn_bytes_append_char(out, ' ');
    } else {
      qn_bytes_append_char(out, '[');
      qn_bytes_append_u64(out, type->length);
      qn_bytes_append_str(out, " x ");
      brackets++;
    }
  }
  const ir_type *elem = ir_elem_of(type);
  qn_bytes_append_str(out, words[elem->kind]);
  if (elem->kind == IR_INT || elem->kind == IR_FLOAT) qn_bytes_append_u64(out, elem->bits);
  if (elem->kind == IR_STRUCT) qn_bytes_append_str(out, elem->name);
  if (type->kind == IR_VECTOR) {
    qn_bytes_append_char(out, 'x');
    qn_bytes_append_u64(out, type->count);
  }
  while (brackets--) qn_bytes_append_char(out, ']');
}

typedef struct printer {
  qn_bytes *out;
  uint32_t indent;
} printer;

static void put(printer *p, const char *text) { qn_bytes_append_str(p->out, text); }

static void put_i64(printer *p, int64_t value) {
  if (value < 0) qn_bytes_append_char(p->out, '-');
  qn_bytes_append_u64(p->out, value < 0 ? 0 - (uint64_t)value : (uint64_t)value);
}

static void put_indent(printer *p) {
  for (uint32_t i = 0; i < p->indent; i++) put(p, "  ");
}

static void put_type(printer *p, const ir_type *type) {
  const ir_type *t = type;
  while (t->elem) t = t->elem;
  if (t->kind == IR_STRUCT) ((ir_type *)t)->mark = true; /* types are the module's and never const objects */
  ir_type_print(type, p->out);
}

static void put_typed(printer *p, const char *name, const ir_type *type) {
  put(p, name);
  put(p, " : ");
  put_type(p, type);
}

static void put_number(printer *p, const char *word, uint64_t value) {
  put(p, word);
  qn_bytes_append_u64(p->out, value);
}

/* ---- Constants ---- */

/* Hexadecimal, the leading digit 1, no trailing zeros: the same on every system, and exact. */
static void put_float(printer *p, uint64_t pattern, uint32_t bits) {
  if (ir_float_is_nan(pattern, bits)) {
    qn_bytes_printf(p->out, "nan:0x%llx", (unsigned long long)pattern);
    return;
  }
  double value = ir_float_to_double(pattern, bits);
  uint64_t in;
  memcpy(&in, &value, sizeof in);
  if (in >> 63) put(p, "-");
  uint64_t fraction = in & (((uint64_t)1 << 52) - 1);
  int32_t e = (int32_t)(in >> 52 & 0x7ff);
  if (e == 0x7ff) {
    put(p, "inf");
    return;
  }
  if (!e && !fraction) {
    put(p, "0x0p+0");
    return;
  }
  if (!e) {
    for (e = 1; !(fraction >> 52); e--) fraction <<= 1;
    fraction &= ((uint64_t)1 << 52) - 1;
  }
  put(p, "0x1");
  if (fraction) put(p, ".");
  for (; fraction; fraction = fraction << 4 & (((uint64_t)1 << 52) - 1))
    qn_bytes_append_char(p->out, "0123456789abcdef"[fraction >> 48]);
  put(p, e >= 1023 ? "p+" : "p");
  put_i64(p, e - 1023);
}

static void put_scalar(printer *p, const ir_inst *c) {
  if (c->type->kind == IR_BOOL)
    put(p, c->imm ? "true" : "false");
  else if (c->type->kind == IR_FLOAT)
    put_float(p, c->imm, c->type->bits);
  else
    put_i64(p, (int64_t)(c->imm << (64 - c->type->bits)) >> (64 - c->type->bits));
}

static void put_address(printer *p, const ir_inst *c) {
  put(p, c->u.var->space == IR_PRIVATE ? "%" : "@");
  put(p, c->u.var->name);
}

/* What follows the type. */
static void put_literal(printer *p, const ir_inst *c) {
  switch (c->op) {
    case IR_CONST:
      put_scalar(p, c);
      return;
    case IR_ZERO:
      put(p, "zero");
      return;
    case IR_UNDEF:
      put(p, "undef");
      return;
    case IR_ADDRESS:
      put_address(p, c);
      if (c->imm) put_number(p, " + ", c->imm);
      return;
    default:
      break;
  }
  put(p, "{");
  if (c->type->kind == IR_STRUCT && c->type->is_union) {
    put_number(p, ".", ir_union_field(c->type, c->args[0]->type));
    put(p, " = ");
  }
  for (uint32_t i = 0; i < c->arg_count; i++) {
    if (i) put(p, ", ");
    put_literal(p, c->args[i]);
  }
  put(p, "}");
}

/* ---- Instructions ---- */

/* Messages show instructions that are not valid, so what they point to may be missing. */
static void put_operand(printer *p, const ir_inst *x) {
  if (!x || !x->type) {
    put(p, "(missing)");
    return;
  }
  switch (x->op) {
    case IR_ADDRESS:
      put_address(p, x);
      return;
    case IR_CONST:
    case IR_ZERO:
    case IR_UNDEF:
    case IR_AGGREGATE:
      put_type(p, x->type);
      put(p, " ");
      put_literal(p, x);
      return;
    case IR_PARAM:
      put(p, "%");
      put(p, x->u.function->params[x->imm].name);
      return;
    default:
      put_number(p, "%", x->id);
  }
}

static void put_operands(printer *p, const ir_inst *inst) {
  for (uint32_t i = 0; i < inst->arg_count; i++) {
    put(p, i ? ", " : " ");
    put_operand(p, inst->args[i]);
  }
}

static void put_mask(printer *p, const ir_inst *inst) {
  put(p, " [");
  for (uint32_t i = 0; inst->u.mask && i < ir_lanes_of(inst->type); i++) {
    if (i) put(p, ", ");
    put_i64(p, inst->u.mask[i]);
  }
  put(p, "]");
}

static void put_call(printer *p, const ir_inst *inst) {
  put(p, " @");
  put(p, inst->u.callee ? inst->u.callee->name : "(missing)");
  put(p, "(");
  for (uint32_t i = 0; i < inst->arg_count; i++) {
    if (i) put(p, ", ");
    put_operand(p, inst->args[i]);
  }
  put(p, ")");
}

static void put_words(printer *p, const char *const *names, uint32_t count, uint32_t bits) {
  for (uint32_t i = 0; i < count; i++) {
    if (!(bits >> i & 1)) continue;
    put(p, " ");
    put(p, names[i]);
  }
}

static void put_atomic_words(printer *p, const ir_inst *inst) {
  const char *words[] = {ir_rmw_names[inst->u.atomic.rmw % IR_RMW_COUNT],
                         ir_order_names[(uint32_t)inst->u.atomic.order % IR_ORDER_COUNT],
                         ir_scope_names[(uint32_t)inst->u.atomic.scope % IR_SCOPE_COUNT]};
  put_words(p, words, 3, 7);
}

/* Operands and what belongs to the operation. */
static void put_details(printer *p, const ir_inst *inst) {
  switch (inst->op) {
    case IR_CALL:
      put_call(p, inst);
      return;
    case IR_ATOMIC:
      put_atomic_words(p, inst);
      break;
    case IR_BARRIER:
    case IR_FENCE:
      put_words(p, (const char *const[]){"local", "global"}, 2, (uint32_t)inst->imm);
      break;
    default:
      break;
  }
  put_operands(p, inst);
  if (inst->op == IR_SHUFFLE) put_mask(p, inst);
  if (inst->op == IR_FIELD) put_number(p, ", ", inst->imm);
  if (inst->op >= IR_GLOBAL_ID && inst->op <= IR_GLOBAL_OFFSET) put_number(p, " ", inst->imm);
  if (inst->op >= IR_LOAD && inst->op <= IR_COPY && inst->imm) put_number(p, " align ", inst->imm);
}

static void put_head(printer *p, const ir_inst *inst) {
  if (inst->type->kind != IR_VOID) {
    put_number(p, "%", inst->id);
    put(p, " = ");
  }
  put(p, ir_op_table[inst->op].text);
  put_details(p, inst);
  put_words(p, ir_flag_names, IR_FLAG_COUNT, inst->flags);
  if (inst->type->kind != IR_VOID) put_typed(p, "", inst->type);
}

static void put_block(printer *p, const ir_block *block);

/* " {", the block, "}" with the line's end left open. */
static void put_braced(printer *p, const char *before, const ir_block *block) {
  put(p, before);
  put(p, "{\n");
  p->indent++;
  put_block(p, block);
  p->indent--;
  put_indent(p);
  put(p, "}");
}

static void put_switch(printer *p, const ir_inst *inst) {
  put(p, " {\n");
  p->indent++;
  uint32_t bits = inst->args[0]->type->bits;
  for (uint32_t i = 0; i < inst->u.ctrl.block_count; i++) {
    put_indent(p);
    if (i + 1 < inst->u.ctrl.block_count) {
      put(p, "case ");
      put_i64(p, (int64_t)(inst->u.ctrl.cases[i] << (64 - bits)) >> (64 - bits));
    } else {
      put(p, "default");
    }
    put_braced(p, " ", inst->u.ctrl.blocks[i]);
    put(p, "\n");
  }
  p->indent--;
  put_indent(p);
  put(p, "}");
}

static void put_blocks(printer *p, const ir_inst *inst) {
  if (inst->op == IR_SWITCH) {
    put_switch(p, inst);
    return;
  }
  ir_block **blocks = inst->u.ctrl.blocks;
  uint32_t count = ir_block_count(inst);
  if (count) put_braced(p, " ", blocks[0]);
  if (count > 1 && blocks[1]->first) put_braced(p, inst->op == IR_IF ? " else " : " continue ", blocks[1]);
}

static void put_block(printer *p, const ir_block *block) {
  for (const ir_inst *inst = block->first; inst; inst = inst->next) {
    put_indent(p);
    put_head(p, inst);
    put_blocks(p, inst);
    put(p, "\n");
  }
}

void ir_print_inst(const ir_inst *inst, qn_bytes *out) { put_head(&(printer){out, 0}, inst); }

/* ---- Functions ---- */

static void put_string(printer *p, const char *text) {
  put(p, "\"");
  for (; *text; text++) {
    unsigned char c = (unsigned char)*text;
    if (c < ' ' || c > '~' || c == '"' || c == '\\')
      qn_bytes_printf(p->out, "\\%02x", c);
    else
      qn_bytes_append_char(p->out, (char)c);
  }
  put(p, "\"");
}

static void put_param(printer *p, const ir_param *param) {
  put(p, "%");
  put_typed(p, param->name, param->type);
  if (param->byval) put(p, " byval");
  if (param->sret) put(p, " sret");
  if (param->is_const) put(p, " const");
  if (param->is_restrict) put(p, " restrict");
  if (param->is_volatile) put(p, " volatile");
  if (param->access) {
    put(p, " access ");
    put(p, ir_access_names[param->access & 3]);
  }
  if (param->element_type) {
    put(p, " element ");
    put(p, ir_element_names[param->element_type % IR_ELEMENT_COUNT]);
  }
  if (param->type_name) {
    put(p, " type ");
    put_string(p, param->type_name);
  }
}

static void put_sizes(printer *p, const char *word, const uint64_t sizes[3]) {
  if (!sizes[0]) return;
  put(p, word);
  for (uint32_t i = 0; i < 3; i++) put_number(p, " ", sizes[i]);
}

static void put_signature(printer *p, const ir_function *f) {
  put(p, f->is_kernel ? "kernel @" : "func @");
  put(p, f->name);
  put(p, "(");
  for (uint32_t i = 0; i < f->param_count; i++) {
    if (i) put(p, ", ");
    put_param(p, &f->params[i]);
  }
  put(p, ")");
  if (f->result->kind != IR_VOID) put_typed(p, "", f->result);
  if (f->is_inline) put(p, " inline");
  if (f->is_noinline) put(p, " noinline");
  put_sizes(p, " reqd", f->required_local);
  put_sizes(p, " hint", f->hinted_local);
  if (f->static_local_bytes) put_number(p, " static ", f->static_local_bytes);
  if (!f->has_regions) return;
  put_number(p, " regions ", f->scratch_bytes_per_item);
  put_number(p, " ", f->scratch_bytes_per_group);
}

static void put_var(printer *p, const char *word, const ir_var *var) {
  put_indent(p);
  put(p, word);
  put_typed(p, var->name, var->type);
  if (var->align) put_number(p, " align ", var->align);
  if (var->offset) put_number(p, " offset ", var->offset);
}

static const char *const storage_words[] = {"var %", "context %", "group %"};

static bool number_value(void *user, ir_inst *inst) {
  inst->id = inst->type->kind == IR_VOID ? 0 : (*(uint32_t *)user)++;
  return true;
}

void ir_number_values(ir_function *f) {
  uint32_t next = 0;
  if (f->body) ir_walk(f->body, number_value, &next);
}

static void put_function(printer *p, ir_function *f) {
  put_signature(p, f);
  if (f->body) {
    ir_number_values(f);
    put(p, " {\n");
    p->indent++;
    for (const ir_var *v = f->locals; v; v = v->next, put(p, "\n")) put_var(p, "local @", v);
    for (const ir_var *v = f->vars; v; v = v->next, put(p, "\n")) put_var(p, storage_words[v->storage], v);
    put_block(p, f->body);
    p->indent--;
    put(p, "}");
  }
  put(p, "\n");
}

void ir_print_function(ir_function *f, qn_bytes *out) { put_function(&(printer){out, 0}, f); }

/* ---- Modules ---- */

static void put_header(printer *p, const ir_module *m) {
  put_number(p, "quern 1 bits ", m->model.address_bits);
  if (m->model.has_double) put(p, " double");
  if (m->model.has_half) put(p, " half");
  if (m->model.has_int64_atomics) put(p, " int64_atomics");
  if (m->fast_math) put(p, " fast");
  put(p, "\n");
}

static void put_struct(printer *p, const ir_type *t) {
  put(p, t->is_union ? "union @" : "struct @");
  put(p, t->name);
  if (t->is_packed) put(p, " packed");
  if (t->declared_align) put_number(p, " align ", t->declared_align);
  if (t->is_complete) {
    put(p, " {");
    for (uint32_t i = 0; i < t->field_count; i++) {
      if (i) put(p, ", ");
      put_type(p, t->fields[i].type);
      if (t->fields[i].align) put_number(p, " align ", t->fields[i].align);
    }
    put(p, "}");
  }
  put(p, "\n");
}

static void put_constant(printer *p, const ir_var *var) {
  put_var(p, "constant @", var);
  put(p, " = ");
  if (var->init)
    put_literal(p, var->init);
  else
    put(p, "undef");
  put(p, "\n");
}

/* The structs that something printed mentions, and those that they mention, in order of their ids: a struct gets its id
 * when it is completed, so that what it holds by value stands before it. */
typedef struct struct_list {
  ir_type **items, **stack;
  uint32_t count, depth;
} struct_list;

static void push_marked(struct_list *list, ir_type *t) {
  t->mark = true;
  list->stack[list->depth++] = t;
}

static void close_marks(struct_list *list) {
  for (uint32_t i = 0; i < list->count; i++)
    if (list->items[i]->mark) push_marked(list, list->items[i]);
  while (list->depth) {
    const ir_type *t = list->stack[--list->depth];
    for (uint32_t i = 0; i < t->field_count; i++) {
      const ir_type *inner = t->fields[i].type;
      while (inner->elem) inner = inner->elem;
      if (inner->kind == IR_STRUCT && !inner->mark) push_marked(list, (ir_type *)inner);
    }
  }
}

static int by_id(const void *a, const void *b) {
  uint32_t x = (*(ir_type *const *)a)->id, y = (*(ir_type *const *)b)->id;
  return (x > y) - (x < y);
}

static void put_structs(printer *p, const ir_module *m) {
  struct_list list = {0};
  for (const ir_type *t = m->types; t; t = t->next) list.count += t->kind == IR_STRUCT;
  list.items = calloc(2 * (size_t)list.count + 1, sizeof *list.items);
  if (!list.items) {
    p->out->failed = true;
    return;
  }
  list.stack = list.items + list.count;
  uint32_t n = 0;
  for (ir_type *t = m->types; t; t = t->next)
    if (t->kind == IR_STRUCT) list.items[n++] = t;
  close_marks(&list);
  qsort(list.items, list.count, sizeof *list.items, by_id);
  for (uint32_t i = 0; i < list.count; i++)
    if (list.items[i]->mark) put_struct(p, list.items[i]);
  free(list.items);
}

void ir_print(ir_module *m, qn_bytes *out) {
  qn_bytes structs = {0}; /* which ones is known when all else is printed */
  for (ir_type *t = m->types; t; t = t->next) t->mark = false;
  printer p = {out, 0}, before = {&structs, 0};
  put_header(&p, m);
  size_t start = out->size;
  for (const ir_var *v = m->constants; v; v = v->next) put_constant(&p, v);
  for (ir_function *f = m->functions; f; f = f->next) put_function(&p, f);
  put_structs(&before, m);
  qn_bytes_insert(out, start, qn_bytes_view(&structs));
  out->failed |= structs.failed;
  qn_bytes_free(&structs);
}

#include "compiler/interp/code.h"

#include <string.h>

#include "base/status.h"

/* Where each value of the IR stands: pointer -> number, open addressing. The module isn't touched: other launches read
 * it. */
typedef struct slot {
  const void *key;
  uint64_t value;
} slot;
typedef struct places {
  slot *slots;
  size_t capacity, count;
} places;

typedef struct loop_frame { /* what break and continue jump to: lists of steps to patch */
  struct loop_frame *outer;
  bool is_loop;
  uint32_t breaks, continues; /* first step of a list through `target`, NONE ends it */
} loop_frame;

typedef struct function_place {
  const ir_function *function;
  uint32_t entry, first_register, return_register, result_register, register_count;
  uint64_t first_private, private_bytes;
  uint32_t *parameters;
  bool is_placed, is_open; /* open: being measured, a second visit is recursion */
  struct function_place *next;
} function_place;

typedef struct builder {
  code *c;
  places values; /* ir_inst -> register; leaves -> constant + CONSTANT_BIT */
  places vars;   /* ir_var -> address */
  function_place *functions;
  function_place *current;
  loop_frame *frames;
  uint32_t address_bits;
  bool is_full;   /* no addresses are left */
  bool failed;    /* no memory, or: */
  bool malformed; /* the module is not one that the verifier lets through */
} builder;

#define NONE UINT32_MAX

/* What fails when memory is short may look malformed afterwards. */
static void malform(builder *b) {
  if (!b->failed) b->malformed = true;
  b->failed = true;
}
#define CONSTANT_BIT (UINT64_C(1) << 40)

static size_t slot_of(const places *p, const void *key) {
  size_t i = (size_t)(((uintptr_t)key >> 4) * UINT64_C(0x9e3779b97f4a7c15) >> 20) & (p->capacity - 1);
  while (p->slots[i].key && p->slots[i].key != key) i = (i + 1) & (p->capacity - 1);
  return i;
}

static bool places_find(const places *p, const void *key, uint64_t *out) {
  if (!p->capacity) return false;
  const slot *s = &p->slots[slot_of(p, key)];
  if (s->key) *out = s->value;
  return s->key != NULL;
}

static void places_set(builder *b, places *p, const void *key, uint64_t value) {
  if (2 * (p->count + 1) > p->capacity) {
    places bigger = {.capacity = p->capacity ? p->capacity * 2 : 256};
    bigger.slots = QN_ARENA_ARRAY(&b->c->arena, slot, bigger.capacity);
    if (!bigger.slots) {
      b->failed = true;
      return;
    }
    for (size_t i = 0; i < p->capacity; i++)
      if (p->slots[i].key) bigger.slots[slot_of(&bigger, p->slots[i].key)] = p->slots[i];
    bigger.count = p->count;
    *p = bigger;
  }
  slot *s = &p->slots[slot_of(p, key)];
  p->count += s->key == NULL;
  *s = (slot){key, value};
}

uint32_t code_lanes(const ir_type *type) { return type->kind == IR_VECTOR ? type->count : 1; }

uint32_t code_lane_bytes(const ir_type *type, uint32_t address_bits) {
  const ir_type *elem = ir_elem_of(type);
  if (elem->kind == IR_POINTER) return address_bits / 8;
  return elem->kind == IR_BOOL ? 1 : elem->bits / 8;
}

/* ---- Steps and operands ---- */

/* There is always one step more than the capacity says: where emission goes on when memory is short, until it notices. */
static bool grow_steps(code *c, uint32_t capacity) {
  code_step *steps = QN_ARENA_ARRAY(&c->arena, code_step, capacity + 1);
  if (!steps) return false;
  if (c->step_count) memcpy(steps, c->steps, c->step_count * sizeof *steps);
  c->steps = steps;
  c->step_capacity = capacity;
  return true;
}

static code_step *add_step(builder *b, code_kind kind, const ir_inst *inst) {
  code *c = b->c;
  if (c->step_count == c->step_capacity && !grow_steps(c, c->step_capacity * 2)) b->failed = true;
  code_step *s = &c->steps[c->step_count];
  if (c->step_count < c->step_capacity) c->step_count++;
  memset(s, 0, sizeof *s);
  s->kind = kind;
  s->inst = inst;
  s->function = b->current->function;
  s->target = NONE;
  return s;
}

static uint32_t add_constants(builder *b, uint32_t count) {
  code *c = b->c;
  if (c->constant_count + count > c->constant_capacity) {
    uint32_t capacity = (c->constant_capacity ? c->constant_capacity * 2 : 256) + count;
    uint64_t *constants = QN_ARENA_ARRAY(&c->arena, uint64_t, capacity);
    if (!constants) {
      b->failed = true;
      return 0;
    }
    if (c->constant_count) memcpy(constants, c->constants, c->constant_count * sizeof *constants);
    c->constants = constants;
    c->constant_capacity = capacity;
  }
  uint32_t first = c->constant_count;
  c->constant_count += count;
  return first;
}

static uint64_t new_registers(builder *b, const ir_type *type) {
  uint32_t first = b->current->first_register + b->current->register_count;
  b->current->register_count += code_lanes(type);
  return first;
}

static uint64_t address_of(builder *b, const ir_inst *leaf) {
  uint64_t address = 0;
  if (!places_find(&b->vars, leaf->u.var, &address)) b->failed = true;
  return address + leaf->imm;
}

/* A value leaf: a scalar, a vector, or an address. */
static void write_leaf(builder *b, const ir_inst *leaf, uint64_t *lanes) {
  switch (leaf->op) {
    case IR_CONST:
      lanes[0] = leaf->imm;
      break;
    case IR_AGGREGATE:
      for (uint32_t i = 0; i < leaf->arg_count; i++) lanes[i] = leaf->args[i]->op == IR_CONST ? leaf->args[i]->imm : 0;
      break;
    case IR_ADDRESS:
      lanes[0] = address_of(b, leaf);
      break;
    default:
      break; /* zero, undef */
  }
}

static code_operand operand(builder *b, const ir_inst *value) {
  uint64_t place = 0;
  if (places_find(&b->values, value, &place))
    return (code_operand){place & CONSTANT_BIT ? CODE_CONSTANT : CODE_REGISTER, (uint32_t)place};
  if (ir_op_table[value->op].cls != IR_CLASS_LEAF || value->op == IR_PARAM) {
    malform(b); /* the verifier lets no such use through */
    return (code_operand){0, 0};
  }
  uint32_t lanes = code_lanes(value->type), first = add_constants(b, lanes);
  if (b->failed) return (code_operand){0, 0};
  write_leaf(b, value, b->c->constants + first);
  places_set(b, &b->values, value, first | CONSTANT_BIT);
  return (code_operand){CODE_CONSTANT, first};
}

static void set_operands(builder *b, uint32_t step, const ir_inst *inst) {
  code_operand *operands = QN_ARENA_ARRAY(&b->c->arena, code_operand, inst->arg_count ? inst->arg_count : 1);
  if (!operands) {
    b->failed = true;
    return;
  }
  for (uint32_t i = 0; i < inst->arg_count; i++) operands[i] = operand(b, inst->args[i]);
  b->c->steps[step].operands = operands;
  b->c->steps[step].operand_count = inst->arg_count;
}

/* ---- Control flow ---- */

static void emit_block(builder *b, const ir_block *block);

static uint32_t here(const builder *b) { return b->c->step_count; }

static void patch_list(builder *b, uint32_t list, uint32_t target) {
  while (list != NONE && !b->failed) {
    uint32_t next = b->c->steps[list].target;
    b->c->steps[list].target = target;
    list = next;
  }
}

static uint32_t jump(builder *b, code_kind kind, const ir_inst *inst, uint32_t target) {
  uint32_t at = here(b);
  add_step(b, kind, inst)->target = target;
  return at;
}

static void emit_if(builder *b, const ir_inst *inst) {
  uint32_t over_then = jump(b, CODE_JUMP_UNLESS, inst, NONE);
  set_operands(b, over_then, inst);
  emit_block(b, inst->u.ctrl.blocks[0]);
  uint32_t over_else = jump(b, CODE_JUMP, inst, NONE);
  if (b->failed) return;
  b->c->steps[over_then].target = here(b);
  emit_block(b, inst->u.ctrl.blocks[1]);
  if (!b->failed) b->c->steps[over_else].target = here(b);
}

static void emit_loop(builder *b, const ir_inst *inst) {
  loop_frame frame = {b->frames, true, NONE, NONE};
  uint32_t top = here(b);
  b->frames = &frame;
  emit_block(b, inst->u.ctrl.blocks[0]);
  patch_list(b, frame.continues, here(b));
  emit_block(b, inst->u.ctrl.blocks[1]);
  jump(b, CODE_JUMP, inst, top);
  patch_list(b, frame.breaks, here(b));
  b->frames = frame.outer;
}

static void emit_switch(builder *b, const ir_inst *inst) {
  loop_frame frame = {b->frames, false, NONE, NONE};
  uint32_t count = inst->u.ctrl.block_count, at = here(b);
  uint32_t *targets = QN_ARENA_ARRAY(&b->c->arena, uint32_t, count);
  add_step(b, CODE_SWITCH, inst);
  set_operands(b, at, inst);
  if (!targets || b->failed) {
    b->failed = true;
    return;
  }
  b->c->steps[at].targets = targets;
  b->frames = &frame;
  for (uint32_t i = 0; i < count && !b->failed; i++) {
    targets[i] = here(b);
    emit_block(b, inst->u.ctrl.blocks[i]);
    uint32_t end = jump(b, CODE_JUMP, inst, frame.breaks);
    frame.breaks = end;
  }
  patch_list(b, frame.breaks, here(b));
  b->frames = frame.outer;
}

static void emit_leave(builder *b, const ir_inst *inst) {
  loop_frame *frame = b->frames;
  while (frame && inst->op != IR_BREAK && !frame->is_loop) frame = frame->outer;
  if (!frame) {
    malform(b);
    return;
  }
  uint32_t *list = inst->op == IR_CONTINUE ? &frame->continues : &frame->breaks;
  if (inst->op == IR_BREAK_IF) { /* leaves when true: jump over the jump */
    uint32_t over = jump(b, CODE_JUMP_UNLESS, inst, NONE);
    set_operands(b, over, inst);
    if (!b->failed) b->c->steps[over].target = here(b) + 1;
  }
  *list = jump(b, CODE_JUMP, inst, *list);
}

static function_place *place_of(builder *b, const ir_function *f) {
  for (function_place *p = b->functions; p; p = p->next)
    if (p->function == f) return p;
  return NULL;
}

static void emit_call(builder *b, const ir_inst *inst) {
  uint32_t at = here(b);
  add_step(b, CODE_CALL, inst);
  set_operands(b, at, inst);
  if (b->failed) return;
  b->c->steps[at].target = 0; /* set, with the return register, when all functions are placed */
  /* What comes back is moved out of the callee's own result registers: the callee may be called again. */
  if (inst->type->kind != IR_VOID) {
    uint64_t result = new_registers(b, inst->type);
    places_set(b, &b->values, inst, result);
    b->c->steps[at].result = (uint32_t)result;
  }
}

static void emit_return(builder *b, const ir_inst *inst) {
  bool is_kernel = b->current->function == b->c->kernel;
  uint32_t at = here(b);
  code_step *s = add_step(b, is_kernel ? CODE_END : CODE_RETURN, inst);
  s->index = b->current->return_register;
  s->result = b->current->result_register;
  if (!is_kernel) set_operands(b, at, inst);
}

static void emit_inst(builder *b, const ir_inst *inst) {
  switch (inst->op) {
    case IR_IF:
      emit_if(b, inst);
      return;
    case IR_LOOP:
      emit_loop(b, inst);
      return;
    case IR_SWITCH:
      emit_switch(b, inst);
      return;
    case IR_BREAK:
    case IR_CONTINUE:
    case IR_BREAK_IF:
      emit_leave(b, inst);
      return;
    case IR_RETURN:
      emit_return(b, inst);
      return;
    case IR_CALL:
      emit_call(b, inst);
      return;
    case IR_TRAP:
      add_step(b, CODE_TRAP, inst);
      return;
    case IR_BARRIER:
      add_step(b, CODE_BARRIER, inst);
      return;
    case IR_FENCE:
      return; /* one item runs at a time */
    case IR_FRESH:
      return; /* old bytes are as good as any */
    default:
      break;
  }
  uint32_t at = here(b);
  uint64_t result = 0;
  add_step(b, CODE_EVALUATE, inst);
  set_operands(b, at, inst);
  if (inst->type->kind != IR_VOID) {
    result = new_registers(b, inst->type);
    places_set(b, &b->values, inst, result);
  }
  if (!b->failed) b->c->steps[at].result = (uint32_t)result;
}

static void emit_block(builder *b, const ir_block *block) {
  for (const ir_inst *i = block->first; i && !b->failed; i = i->next) emit_inst(b, i);
}

/* ---- Places ---- */

static uint64_t align_up(uint64_t value, uint64_t align) { return (value + align - 1) & ~(align - 1); }

static space_object *add_object(code *c, code_space where, space_object object, uint64_t align, uint64_t *bytes,
                                bool *out_is_full) {
  object.offset = align_up(*bytes, align);
  space_object *added = space_add(&c->spaces[where], &c->arena, &object, align, 0, out_is_full);
  if (added) *bytes = object.offset + object.size;
  return added;
}

qn_status code_add_object(code *c, code_space where, const char *name, uint64_t size, uint64_t align, bool is_argument,
                          uint64_t *bytes) {
  bool is_full = false;
  const space_object object = {.size = size, .name = name, .is_argument = is_argument};
  if (add_object(c, where, object, align, bytes, &is_full)) return QN_OK;
  if (is_full)
    QN_FAIL(QN_ERROR_LIMIT, "the variables of kernel '%s' need more addresses than there are", c->kernel->name);
  QN_FAIL(QN_ERROR_OUT_OF_HOST_MEMORY, "no memory to interpret kernel '%s'", c->kernel->name);
}

static void place_var(builder *b, const ir_var *v, code_space where, uint64_t *bytes) {
  uint64_t align = v->align > v->type->align ? v->align : v->type->align;
  const space_object object = {.size = v->type->size, .name = v->name};
  const space_object *added = add_object(b->c, where, object, align < 16 ? 16 : align, bytes, &b->is_full);
  if (added)
    places_set(b, &b->vars, v, added->address);
  else
    b->failed = true;
}

static bool find_callees(void *user, ir_inst *inst);

/* Every function of the call tree has a part of its own of the registers and of private memory. */
static void place_function(builder *b, const ir_function *f) {
  if (place_of(b, f) || b->failed) {
    if (!b->failed && place_of(b, f)->is_open) malform(b); /* recursion: the front end refuses it */
    return;
  }
  function_place *p = QN_ARENA_NEW(&b->c->arena, function_place);
  if (!p || !f->body || f->has_regions) {
    b->failed = true;
    b->malformed = p != NULL;
    return;
  }
  p->function = f;
  p->is_open = true;
  p->next = b->functions;
  b->functions = p;
  ir_walk(f->body, find_callees, b);
  p->is_open = false;
}

static bool find_callees(void *user, ir_inst *inst) {
  builder *b = user;
  if (inst->op == IR_CALL) place_function(b, inst->u.callee);
  return !b->failed;
}

static void emit_function(builder *b, function_place *p) {
  code *c = b->c;
  const ir_function *f = p->function;
  b->current = p;
  p->first_register = c->register_count;
  p->return_register = p->first_register + p->register_count++;
  p->result_register = p->first_register + p->register_count;
  p->register_count += f->result->kind == IR_VOID ? 0 : code_lanes(f->result);
  p->parameters = QN_ARENA_ARRAY(&c->arena, uint32_t, f->param_count + 1);
  if (!p->parameters) {
    b->failed = true;
    return;
  }
  for (uint32_t i = 0; i < f->param_count; i++) {
    p->parameters[i] = (uint32_t)new_registers(b, f->params[i].type);
    places_set(b, &b->values, f->params[i].value, p->parameters[i]);
  }
  for (const ir_var *v = f->vars; v; v = v->next) place_var(b, v, CODE_PRIVATE, &c->private_bytes);
  for (const ir_var *v = f->locals; v; v = v->next) place_var(b, v, CODE_LOCAL, &c->local_bytes);
  p->entry = here(b);
  emit_block(b, f->body);
  if (!b->failed && !ir_block_ends(f->body)) {
    code_step *s = add_step(b, f == c->kernel ? CODE_END : CODE_RETURN, NULL);
    s->index = p->return_register;
  }
  c->register_count += p->register_count;
}

static void place_byval(builder *b) {
  code *c = b->c;
  c->byval = QN_ARENA_ARRAY(&c->arena, uint32_t, c->kernel->param_count + 1);
  if (!c->byval) {
    b->failed = true;
    return;
  }
  for (uint32_t i = 0; i < c->kernel->param_count; i++) {
    if (!c->kernel->params[i].byval) continue;
    const space_object object = {
        .size = c->kernel->params[i].type->elem->size, .name = c->kernel->params[i].name, .is_argument = true};
    c->byval[i] = c->spaces[CODE_PRIVATE].count;
    if (!add_object(c, CODE_PRIVATE, object, 128, &c->private_bytes, &b->is_full)) b->failed = true;
  }
}

/* ---- Constants ---- */

/* Bytes of an initialiser; the memory is zeroed before. */
static void write_initialiser(builder *b, const ir_inst *leaf, const ir_type *type, unsigned char *to) {
  if (leaf->op == IR_CONST) {
    memcpy(to, &leaf->imm, code_lane_bytes(type, b->address_bits)); /* little end first */
  } else if (leaf->op == IR_ADDRESS) {
    uint64_t address = address_of(b, leaf);
    memcpy(to, &address, b->address_bits / 8);
  } else if (leaf->op == IR_AGGREGATE) {
    for (uint32_t i = 0; i < leaf->arg_count; i++) {
      uint64_t offset = type->kind == IR_STRUCT  ? (type->is_union ? 0 : type->fields[i].offset)
                        : type->kind == IR_ARRAY ? i * type->elem->size
                                                 : i * (uint64_t)code_lane_bytes(type, b->address_bits);
      write_initialiser(b, leaf->args[i], leaf->args[i]->type, to + offset);
    }
  }
}

static void place_constants(builder *b) {
  code *c = b->c;
  const ir_module *m = c->kernel->module;
  for (const ir_var *v = m->constants; v; v = v->next) place_var(b, v, CODE_CONSTANT_SPACE, &c->constant_bytes);
  c->constant_data = qn_arena_alloc(&c->arena, c->constant_bytes ? c->constant_bytes : 1);
  if (!c->constant_data) {
    b->failed = true;
    return;
  }
  for (const ir_var *v = m->constants; v; v = v->next) {
    uint64_t address = 0;
    if (!v->init || !places_find(&b->vars, v, &address)) continue;
    const space_object *object = space_find(&c->spaces[CODE_CONSTANT_SPACE], address);
    write_initialiser(b, v->init, v->type, c->constant_data + object->offset);
  }
}

static void open_spaces(code *c, uint32_t address_bits) {
  static const uint32_t first[CODE_SPACES + 1] = {0, 0xd, 0xe, 0xf, 0x10}; /* the highest four bits */
  for (int i = 0; i < CODE_SPACES; i++) {
    unsigned shift = address_bits - 4;
    c->spaces[i] = (space){.base = (uint64_t)first[i] << shift,
                           .end = (uint64_t)(first[i + 1] - 1) << shift | ((UINT64_C(1) << shift) - 1),
                           .gap = address_bits == 32 ? SPACE_GAP_32 : SPACE_GAP_64};
  }
  if (address_bits == 64) c->spaces[CODE_GLOBAL].gap = SPACE_GAP_BUFFERS;
}

qn_status code_build(code *c, const ir_function *kernel) {
  memset(c, 0, sizeof *c);
  qn_arena_init(&c->arena, 0);
  c->kernel = kernel;
  builder b = {.c = c, .address_bits = kernel->module->model.address_bits};
  open_spaces(c, b.address_bits);
  if (!kernel->body || kernel->has_regions)
    QN_FAIL(QN_ERROR_INTERNAL, "kernel '%s' is not in the form that is interpreted", kernel->name);
  b.failed = !grow_steps(c, 255);
  if (!b.failed) place_function(&b, kernel);
  if (!b.failed) place_constants(&b);
  for (function_place *p = b.functions; p && !b.failed; p = p->next) emit_function(&b, p);
  if (!b.failed) place_byval(&b);
  if (b.malformed)
    QN_FAIL(QN_ERROR_INTERNAL, "kernel '%s' calls a function that is not defined, or recursively", kernel->name);
  if (b.is_full)
    QN_FAIL(QN_ERROR_LIMIT, "the variables of kernel '%s' need more addresses than there are", kernel->name);
  if (b.failed) QN_FAIL(QN_ERROR_OUT_OF_HOST_MEMORY, "no memory to interpret kernel '%s'", kernel->name);
  for (uint32_t i = 0; i < c->step_count; i++) {
    code_step *s = &c->steps[i];
    if (s->kind != CODE_CALL) continue;
    const function_place *callee = place_of(&b, s->inst->u.callee);
    s->index = callee->return_register;
    s->target = callee->entry;
    s->targets = callee->parameters;
  }
  c->parameters = place_of(&b, kernel)->parameters;
  c->entry = place_of(&b, kernel)->entry;
  return QN_OK;
}

void code_free(code *c) { qn_arena_free(&c->arena); }

/* interp.c - runs work-groups, one after the other, and within a group each work-item up to a barrier or its end. */
#include "compiler/interp/interp.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/bytes.h"
#include "base/status.h"
#include "compiler/interp/code.h"

typedef struct item {
  uint64_t *registers;
  unsigned char *private_memory;
  uint32_t step; /* the next one */
  const ir_inst *barrier;
  bool ended;
  uint64_t local_id[3];
} item;

typedef struct machine {
  code code;
  const interp_launch *launch;
  uint32_t address_bits;
  const uint64_t *kernel_values[1];
  unsigned char *local_memory;
  uint64_t groups[3], group[3], group_size[3]; /* of the group that runs */
  item *items;
  uint64_t item_count;
  item *now;
  uint64_t steps;
  uint64_t *launch_registers; /* parameters' values, the same for every item */
} machine;

/* ---- Faults ---- */

static qn_status fault(const machine *m, const code_step *s, const char *what) {
  qn_bytes text = {0};
  const item *it = m->now;
  qn_bytes_printf(&text, "kernel '%s': %s", m->code.kernel->name, what);
  if (s && s->inst)
    qn_bytes_printf(&text, " in '%s' of function '%s'", ir_op_table[s->inst->op].text, s->function->name);
  if (it)
    qn_bytes_printf(
        &text, ", work-item (%" PRIu64 ", %" PRIu64 ", %" PRIu64 ") of group (%" PRIu64 ", %" PRIu64 ", %" PRIu64 ")",
        it->local_id[0], it->local_id[1], it->local_id[2], m->group[0], m->group[1], m->group[2]);
  qn_status status = qn_error_set(QN_ERROR_DEVICE, "%s", text.failed ? what : text.data);
  qn_bytes_free(&text);
  return status;
}

/* ---- Memory ---- */

#define NULL_BYTES 4096

/* The object that an address belongs to, whether it is inside or beside. */
static const space_object *find_object(const machine *m, uint64_t address, code_space *out_where) {
  for (uint32_t i = 0; i < CODE_SPACES; i++) {
    *out_where = (code_space)i;
    if (address <= m->code.spaces[i].end) return space_find(&m->code.spaces[i], address);
  }
  return NULL;
}

static unsigned char *host_of(const machine *m, const space_object *o, code_space where) {
  if (where == CODE_GLOBAL) return o->host;
  unsigned char *memory = where == CODE_PRIVATE ? m->now->private_memory
                          : where == CODE_LOCAL ? m->local_memory
                                                : m->code.constant_data;
  return memory + o->offset;
}

/* Addresses near zero come from null pointers; whose those are that are further from an object than half a gap, nobody
 * can say. */
static bool is_near(const machine *m, const space_object *o, uint64_t address) {
  uint64_t distance = address < o->address ? o->address - address : address - o->address;
  uint64_t inside = address > o->address ? (distance < o->size ? distance : o->size) : 0;
  return address >= NULL_BYTES && distance - inside <= m->code.spaces[CODE_GLOBAL].gap / 2;
}

static qn_status outside(const machine *m, const code_step *s, const space_object *o, uint64_t address,
                         uint64_t bytes) {
  char text[320];
  if (!o || !is_near(m, o, address)) {
    snprintf(text, sizeof text, "access of %" PRIu64 " bytes at address 0x%" PRIx64 ", where nothing is", bytes,
             address);
    return fault(m, s, text);
  }
  bool is_before = address < o->address;
  snprintf(text, sizeof text,
           is_before ? "access of %" PRIu64 " bytes, %" PRIu64 " bytes in front of %s'%.200s', which has %" PRIu64
                       " bytes"
                     : "access of %" PRIu64 " bytes at offset %" PRIu64 " of %s'%.200s', which has %" PRIu64 " bytes",
           bytes, is_before ? o->address - address : address - o->address, o->is_argument ? "argument " : "", o->name,
           o->size);
  return fault(m, s, text);
}

static qn_status reach(const machine *m, const code_step *s, uint64_t address, uint64_t bytes, uint64_t align,
                       bool write, unsigned char **out) {
  code_space where = CODE_GLOBAL;
  char text[96];
  const space_object *o = find_object(m, address, &where);
  if (!o || address < o->address || address - o->address > o->size || bytes > o->size - (address - o->address))
    return outside(m, s, o, address, bytes);
  if (write && where == CODE_CONSTANT_SPACE) return fault(m, s, "write to constant memory");
  if (align > 1 && address % align) {
    snprintf(text, sizeof text, "address 0x%" PRIx64 " is not aligned to %" PRIu64 " bytes", address, align);
    return fault(m, s, text);
  }
  *out = host_of(m, o, where) + (address - o->address);
  return QN_OK;
}

static uint64_t access_align(const ir_inst *inst, const ir_type *type) { return inst->imm ? inst->imm : type->align; }

static void load_lanes(const unsigned char *from, const ir_type *type, uint32_t address_bits, uint64_t *to) {
  uint32_t bytes = code_lane_bytes(type, address_bits);
  bool is_bool = ir_elem_of(type)->kind == IR_BOOL;
  for (uint32_t i = 0; i < code_lanes(type); i++) {
    to[i] = 0;
    memcpy(&to[i], from + i * bytes, bytes);
    if (is_bool) to[i] &= 1;
  }
}

static void store_lanes(unsigned char *to, const ir_type *type, uint32_t address_bits, const uint64_t *from) {
  uint32_t bytes = code_lane_bytes(type, address_bits);
  for (uint32_t i = 0; i < code_lanes(type); i++) memcpy(to + i * bytes, &from[i], bytes);
}

static uint64_t packed_bytes(const machine *m, const ir_type *type) {
  return (uint64_t)code_lanes(type) * code_lane_bytes(type, m->address_bits);
}

static qn_status copy_memory(machine *m, const code_step *s, const uint64_t *const *args) {
  unsigned char *to, *from;
  const ir_type *type = s->inst->args[0]->type->elem;
  uint64_t align = access_align(s->inst, type);
  QN_TRY(reach(m, s, args[0][0], type->size, align, true, &to));
  QN_TRY(reach(m, s, args[1][0], type->size, align, false, &from));
  memmove(to, from, (size_t)type->size);
  return QN_OK;
}

static const struct {
  ir_op op;
  bool is_float;
} rmw_ops[IR_RMW_COUNT] = {
    [IR_RMW_ADD] = {IR_ADD, false},   [IR_RMW_SUB] = {IR_SUB, false},   [IR_RMW_AND] = {IR_AND, false},
    [IR_RMW_OR] = {IR_OR, false},     [IR_RMW_XOR] = {IR_XOR, false},   [IR_RMW_SMIN] = {IR_SMIN, false},
    [IR_RMW_SMAX] = {IR_SMAX, false}, [IR_RMW_UMIN] = {IR_UMIN, false}, [IR_RMW_UMAX] = {IR_UMAX, false},
    [IR_RMW_FADD] = {IR_FADD, true},  [IR_RMW_FMIN] = {IR_FMIN, true},  [IR_RMW_FMAX] = {IR_FMAX, true},
};

static qn_status atomic(machine *m, const code_step *s, const uint64_t *const *args, uint64_t *result) {
  const ir_type *type = s->inst->args[0]->type->elem;
  ir_rmw rmw = s->inst->u.atomic.rmw;
  uint32_t bytes = code_lane_bytes(type, m->address_bits);
  unsigned char *at;
  uint64_t old = 0, new_value = 0;
  QN_TRY(reach(m, s, args[0][0], bytes, bytes, rmw != IR_RMW_LOAD, &at));
  memcpy(&old, at, bytes);
  switch (rmw) {
    case IR_RMW_LOAD:
      new_value = old;
      break;
    case IR_RMW_STORE:
    case IR_RMW_XCHG:
      new_value = args[1][0];
      break;
    case IR_RMW_CMPXCHG:
      new_value = old == args[1][0] ? args[2][0] : old;
      break;
    default: {
      const uint64_t operands[2] = {old, args[1][0]};
      if (!ir_eval_scalar(rmw_ops[rmw].op, 0, type, type, operands, &new_value))
        return fault(m, s, "unknown atomic operation");
    }
  }
  if (rmw != IR_RMW_LOAD) memcpy(at, &new_value, bytes);
  if (s->inst->type->kind != IR_VOID) *result = old;
  return QN_OK;
}

/* ---- Work-item queries ---- */

static uint64_t query(const machine *m, const ir_inst *inst) {
  uint64_t d = inst->imm < 3 ? inst->imm : 0;
  const interp_launch *l = m->launch;
  switch (inst->op) {
    case IR_GLOBAL_ID:
      return l->offset[d] + m->group[d] * l->local[d] + m->now->local_id[d];
    case IR_LOCAL_ID:
      return m->now->local_id[d];
    case IR_GROUP_ID:
      return m->group[d];
    case IR_GLOBAL_SIZE:
      return l->global[d];
    case IR_LOCAL_SIZE:
      return m->group_size[d];
    case IR_ENQUEUED_SIZE:
      return l->local[d];
    case IR_NUM_GROUPS:
      return m->groups[d];
    case IR_GLOBAL_OFFSET:
      return l->offset[d];
    default:
      return l->dimensions; /* WORK_DIM */
  }
}

/* ---- Steps ---- */

static const uint64_t *lanes_of(const machine *m, code_operand o) {
  return o.place == CODE_REGISTER ? m->now->registers + o.index : m->code.constants + o.index;
}

static qn_status evaluate(machine *m, const code_step *s) {
  const uint64_t *args[16];
  const ir_inst *inst = s->inst;
  uint64_t *result = m->now->registers + s->result;
  unsigned char *at;
  const ir_type *type;
  for (uint32_t i = 0; i < s->operand_count && i < 16; i++) args[i] = lanes_of(m, s->operands[i]);
  switch (inst->op) {
    case IR_LOAD:
      type = inst->type;
      QN_TRY(reach(m, s, args[0][0], packed_bytes(m, type), access_align(inst, type), false, &at));
      load_lanes(at, type, m->address_bits, result);
      return QN_OK;
    case IR_STORE:
      type = inst->args[1]->type;
      QN_TRY(reach(m, s, args[0][0], packed_bytes(m, type), access_align(inst, type), true, &at));
      store_lanes(at, type, m->address_bits, args[1]);
      return QN_OK;
    case IR_VLOAD:
      type = inst->type;
      QN_TRY(reach(m, s, args[0][0], packed_bytes(m, type), code_lane_bytes(type, m->address_bits), false, &at));
      load_lanes(at, type, m->address_bits, result);
      return QN_OK;
    case IR_VSTORE:
      type = inst->args[1]->type;
      QN_TRY(reach(m, s, args[0][0], packed_bytes(m, type), code_lane_bytes(type, m->address_bits), true, &at));
      store_lanes(at, type, m->address_bits, args[1]);
      return QN_OK;
    case IR_COPY:
      return copy_memory(m, s, args);
    case IR_ATOMIC:
      return atomic(m, s, args, result);
    default:
      break;
  }
  if (inst->op >= IR_GLOBAL_ID && inst->op <= IR_WORK_DIM) {
    *result = query(m, inst);
    return QN_OK;
  }
  return interp_evaluate(inst, args, m->address_bits, result) ? QN_OK
                                                              : fault(m, s, "operation that can't be interpreted");
}

static uint32_t switch_target(const machine *m, const code_step *s) {
  uint64_t value = lanes_of(m, s->operands[0])[0];
  uint64_t mask = UINT64_MAX >> (64 - s->inst->args[0]->type->bits);
  uint32_t count = s->inst->u.ctrl.block_count - 1;
  for (uint32_t i = 0; i < count; i++)
    if (((s->inst->u.ctrl.cases[i] ^ value) & mask) == 0) return s->targets[i];
  return s->targets[count];
}

static void call(machine *m, const code_step *s, uint32_t next) {
  /* All arguments are read before one is written: a parameter may be an argument. */
  uint64_t *registers = m->now->registers;
  for (uint32_t i = 0; i < s->operand_count; i++)
    memcpy(registers + s->targets[i], lanes_of(m, s->operands[i]),
           code_lanes(s->inst->args[i]->type) * sizeof *registers);
  registers[s->index] = next;
}

/* Back in the caller: `at` is the step after the call. */
static uint32_t return_to(machine *m, const code_step *s) {
  uint64_t *registers = m->now->registers;
  uint32_t next = (uint32_t)registers[s->index];
  const code_step *from = &m->code.steps[next - 1];
  if (s->operand_count)
    memcpy(registers + from->result, lanes_of(m, s->operands[0]),
           code_lanes(s->inst->args[0]->type) * sizeof *registers);
  return next;
}

/* Runs the item until a barrier or its end. */
static qn_status run_item(machine *m, item *it) {
  const code_step *steps = m->code.steps;
  m->now = it;
  for (;;) {
    const code_step *s = &steps[it->step];
    if (m->launch->step_limit && m->steps >= m->launch->step_limit)
      QN_FAIL(QN_ERROR_LIMIT, "kernel '%s': more than %" PRIu64 " steps", m->code.kernel->name, m->launch->step_limit);
    m->steps++;
    switch (s->kind) {
      case CODE_EVALUATE:
        QN_TRY(evaluate(m, s));
        it->step++;
        break;
      case CODE_JUMP:
        it->step = s->target;
        break;
      case CODE_JUMP_UNLESS:
        it->step = lanes_of(m, s->operands[0])[0] ? it->step + 1 : s->target;
        break;
      case CODE_SWITCH:
        it->step = switch_target(m, s);
        break;
      case CODE_CALL:
        call(m, s, it->step + 1);
        it->step = s->target;
        break;
      case CODE_RETURN:
        it->step = return_to(m, s);
        break;
      case CODE_BARRIER:
        it->barrier = s->inst;
        it->step++;
        return QN_OK;
      case CODE_TRAP:
        return fault(m, s, "a place that must not be reached was reached");
      case CODE_END:
        it->ended = true;
        return QN_OK;
    }
  }
}

/* ---- Groups ---- */

static void start_item(machine *m, uint64_t n) {
  item *it = &m->items[n];
  const ir_function *k = m->code.kernel;
  if (m->code.private_bytes) memset(it->private_memory, 0, (size_t)m->code.private_bytes);
  memcpy(it->registers, m->launch_registers, m->code.register_count * sizeof *it->registers);
  it->step = m->code.entry;
  it->barrier = NULL;
  it->ended = false;
  it->local_id[0] = n % m->group_size[0];
  it->local_id[1] = n / m->group_size[0] % m->group_size[1];
  it->local_id[2] = n / m->group_size[0] / m->group_size[1];
  for (uint32_t i = 0; i < k->param_count; i++) {
    if (k->params[i].byval)
      memcpy(it->private_memory + m->code.spaces[CODE_PRIVATE].objects[m->code.byval[i]].offset,
             m->launch->arguments[i].bytes, (size_t)k->params[i].type->elem->size);
  }
}

static qn_status check_barrier(machine *m, uint64_t items) {
  for (uint64_t i = 1; i < items; i++) {
    if (m->items[i].ended == m->items[0].ended && m->items[i].barrier == m->items[0].barrier) continue;
    m->now = &m->items[i];
    return fault(m, NULL, "work-items of one group do not reach the same barrier");
  }
  return QN_OK;
}

static qn_status run_group(machine *m) {
  uint64_t items = 1;
  for (int d = 0; d < 3; d++) {
    uint64_t rest = m->launch->global[d] - m->group[d] * m->launch->local[d];
    m->group_size[d] = rest < m->launch->local[d] ? rest : m->launch->local[d];
    items *= m->group_size[d];
  }
  if (m->code.local_bytes) memset(m->local_memory, 0, (size_t)m->code.local_bytes);
  for (uint64_t i = 0; i < items; i++) start_item(m, i);
  do {
    for (uint64_t i = 0; i < items; i++) QN_TRY(run_item(m, &m->items[i]));
    QN_TRY(check_barrier(m, items));
  } while (!m->items[0].ended);
  return QN_OK;
}

/* ---- Launch ---- */

#define BUFFER_ALIGN UINT64_C(65536)

/* In 32 bits the buffers share what there is: the kernel's own distance between them is as large as can be. */
static void choose_gap(machine *m) {
  space *s = &m->code.spaces[CODE_GLOBAL];
  uint64_t bytes = 0, count = 1;
  if (m->address_bits == 64) return;
  for (uint32_t i = 0; i < m->code.kernel->param_count; i++) {
    const interp_argument *a = &m->launch->arguments[i];
    if (!a->memory) continue;
    count++;
    bytes += (a->size_bytes < s->end ? a->size_bytes : s->end) + BUFFER_ALIGN;
  }
  s->gap = bytes < s->end ? (s->end - bytes) / count : 1;
}

/* The same memory has one address when it is given twice. An address is aligned as the memory is. */
static qn_status add_buffer(machine *m, const char *name, const interp_argument *a, uint64_t *out_address) {
  space *s = &m->code.spaces[CODE_GLOBAL];
  bool is_full = false;
  for (uint32_t i = 0; i < s->count; i++) {
    *out_address = s->objects[i].address;
    if (s->objects[i].host == a->memory && s->objects[i].size == a->size_bytes) return QN_OK;
  }
  const space_object object = {.size = a->size_bytes, .host = a->memory, .name = name, .is_argument = true};
  uint64_t skew = m->address_bits == 64 ? (uintptr_t)a->memory % BUFFER_ALIGN : 0;
  const space_object *added = space_add(s, &m->code.arena, &object, BUFFER_ALIGN, skew, &is_full);
  if (is_full)
    QN_FAIL(QN_ERROR_LIMIT, "the buffers of kernel '%s' need more than %u-bit addresses reach", m->code.kernel->name,
            m->address_bits);
  if (!added) QN_FAIL(QN_ERROR_OUT_OF_HOST_MEMORY, "no memory to launch kernel '%s'", m->code.kernel->name);
  *out_address = added->address;
  return QN_OK;
}

static qn_status set_parameters(machine *m) {
  const ir_function *k = m->code.kernel;
  choose_gap(m);
  for (uint32_t i = 0; i < k->param_count; i++) {
    const ir_param *p = &k->params[i];
    const interp_argument *a = &m->launch->arguments[i];
    uint64_t *lanes = m->launch_registers + m->code.parameters[i];
    if (p->byval) {
      lanes[0] = m->code.spaces[CODE_PRIVATE].objects[m->code.byval[i]].address;
      if (a->size_bytes != p->type->elem->size || !a->bytes)
        QN_FAIL(QN_ERROR_INVALID_ARGUMENT,
                "argument %u of kernel '%s' has %" PRIu64 " bytes, the kernel wants %" PRIu64, i, k->name,
                a->size_bytes, p->type->elem->size);
    } else if (p->type->kind != IR_POINTER) {
      uint64_t wanted = p->type->size;
      if (a->size_bytes < packed_bytes(m, p->type) || a->size_bytes > wanted || !a->bytes)
        QN_FAIL(QN_ERROR_INVALID_ARGUMENT,
                "argument %u of kernel '%s' has %" PRIu64 " bytes, the kernel wants %" PRIu64, i, k->name,
                a->size_bytes, wanted);
      load_lanes(a->bytes, p->type, m->address_bits, lanes);
    } else if (p->type->space == IR_LOCAL) {
      QN_TRY(code_add_object(&m->code, CODE_LOCAL, p->name, a->size_bytes, 128, true, &m->code.local_bytes));
      const space *local = &m->code.spaces[CODE_LOCAL];
      lanes[0] = local->objects[local->count - 1].address;
    } else if (a->memory) {
      QN_TRY(add_buffer(m, p->name, a, &lanes[0]));
    }
  }
  return QN_OK;
}

static qn_status allocate_items(machine *m) {
  qn_arena *arena = &m->code.arena;
  uint64_t items = 1;
  for (int d = 0; d < 3; d++)
    items *= m->launch->local[d] < m->launch->global[d] ? m->launch->local[d] : m->launch->global[d];
  m->item_count = items;
  m->items = QN_ARENA_ARRAY(arena, item, items);
  m->local_memory = qn_arena_alloc(arena, m->code.local_bytes ? m->code.local_bytes : 1);
  uint64_t *registers = qn_arena_alloc_array(arena, sizeof(uint64_t) * m->code.register_count, items);
  uint64_t private_bytes = (m->code.private_bytes + 15) & ~UINT64_C(15);
  unsigned char *memory = qn_arena_alloc_array(arena, private_bytes ? private_bytes : 16, items);
  if (!m->items || !m->local_memory || !registers || !memory)
    QN_FAIL(QN_ERROR_OUT_OF_HOST_MEMORY, "no memory for %" PRIu64 " work-items of kernel '%s'", items,
            m->code.kernel->name);
  for (uint64_t i = 0; i < items; i++) {
    m->items[i].registers = registers + i * m->code.register_count;
    m->items[i].private_memory = memory + i * (private_bytes ? private_bytes : 16);
  }
  return QN_OK;
}

static qn_status check_launch(const ir_function *kernel, const interp_launch *l) {
  uint64_t items = 1;
  if (l->argument_count != kernel->param_count)
    QN_FAIL(QN_ERROR_INVALID_ARGUMENT, "kernel '%s' has %u arguments, %u were given", kernel->name, kernel->param_count,
            l->argument_count);
  for (int d = 0; d < 3; d++) {
    if (l->local[d] == 0 || __builtin_mul_overflow(items, l->local[d], &items) || items > 65536)
      QN_FAIL(QN_ERROR_INVALID_ARGUMENT, "kernel '%s': a work-group of %" PRIu64 "x%" PRIu64 "x%" PRIu64 " items",
              kernel->name, l->local[0], l->local[1], l->local[2]);
  }
  return QN_OK;
}

static qn_status run_groups(machine *m) {
  for (int d = 0; d < 3; d++)
    m->groups[d] = m->launch->global[d] / m->launch->local[d] + (m->launch->global[d] % m->launch->local[d] != 0);
  for (m->group[2] = 0; m->group[2] < m->groups[2]; m->group[2]++)
    for (m->group[1] = 0; m->group[1] < m->groups[1]; m->group[1]++)
      for (m->group[0] = 0; m->group[0] < m->groups[0]; m->group[0]++) QN_TRY(run_group(m));
  return QN_OK;
}

static qn_status prepare_launch(machine *m) {
  qn_arena *arena = &m->code.arena;
  m->launch_registers = QN_ARENA_ARRAY(arena, uint64_t, m->code.register_count + 1);
  if (!m->launch_registers)
    QN_FAIL(QN_ERROR_OUT_OF_HOST_MEMORY, "no memory to launch kernel '%s'", m->code.kernel->name);
  QN_TRY(set_parameters(m));
  return allocate_items(m);
}

qn_status interp_run(const ir_function *kernel, const interp_launch *launch, uint64_t *out_steps) {
  machine m = {.launch = launch, .address_bits = kernel->module->model.address_bits};
  QN_TRY(check_launch(kernel, launch));
  qn_status status = code_build(&m.code, kernel);
  if (status >= 0) status = prepare_launch(&m);
  if (status >= 0) status = run_groups(&m);
  if (out_steps) *out_steps = m.steps;
  code_free(&m.code);
  return status;
}

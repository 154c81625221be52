/* memory.c - loads, stores and copies: as few accesses as the alignment allows, 16 bytes at most each. */
#include <inttypes.h>

#include "compiler/target/ptx/emit.h"

enum { ACCESS = 16 /* bytes of the widest access */ };

/* ---- What is accessed at once ---- */

/* What is known of an address' alignment, `offset` bytes behind one that is aligned to `align`. */
static uint64_t align_at(uint64_t align, uint64_t offset) {
  uint64_t low = offset & (~offset + 1);
  return low && low < align ? low : align;
}

/* How many units of a size are accessed at once: 4, 2 or 1. */
static uint32_t units_at_once(uint64_t size, uint32_t left, uint64_t align) {
  for (uint32_t n = 4; n > 1; n /= 2)
    if (n <= left && n * size <= ACCESS && n * size <= align) return n;
  return 1;
}

/* Bytes of an element in memory. */
static uint32_t size_of(const ir_type *elem) { return elem->kind == IR_BOOL ? 1 : (uint32_t)elem->size; }

static const char *type_of(uint32_t size) {
  return size == 1 ? ".u8" : size == 2 ? ".u16" : size == 4 ? ".b32" : ".b64";
}

static void put_access(emitter *e, const char *space, ptx_ref address, uint32_t size, const ptx_ref *units, uint32_t n,
                       bool is_load) {
  putf(e, "  %s%s%s ", space, n == 4 ? ".v4" : n == 2 ? ".v2" : "", type_of(size));
  if (!is_load) {
    ptx_put_address(e, address);
    put(e, ", ");
  }
  if (n > 1) put(e, "{");
  for (uint32_t i = 0; i < n; i++) {
    if (i) put(e, ", ");
    ptx_put_ref(e, units[i]);
  }
  if (n > 1) put(e, "}");
  if (is_load) {
    put(e, ", ");
    ptx_put_address(e, address);
  }
  put(e, ";\n");
}

static ptx_bank unit_bank(uint32_t size) { return size == 8 ? PTX_64 : PTX_32; }

static void read_units(emitter *e, const char *space, ptx_ref address, uint32_t size, uint32_t count, uint64_t align,
                       ptx_ref *out) {
  for (uint32_t i = 0, n; i < count; i += n) {
    uint64_t offset = (uint64_t)i * size;
    n = units_at_once(size, count - i, align_at(align, offset));
    for (uint32_t k = 0; k < n; k++) out[i + k] = ptx_new(e, unit_bank(size));
    ptx_ref at = address;
    at.bits += offset;
    put_access(e, space, at, size, out + i, n, true);
  }
}

static void write_units(emitter *e, const char *space, ptx_ref address, uint32_t size, uint32_t count, uint64_t align,
                        const ptx_ref *units) {
  for (uint32_t i = 0, n; i < count; i += n) {
    uint64_t offset = (uint64_t)i * size;
    n = units_at_once(size, count - i, align_at(align, offset));
    ptx_ref at = address;
    at.bits += offset;
    put_access(e, space, at, size, units + i, n, false);
  }
}

/* Small elements go by words where there are more than one word of them. */
static uint32_t unit_size(uint32_t size, uint32_t count, uint64_t align) {
  return size < 4 && align >= 4 && count * size > 4 && count * size % 4 == 0 ? 4 : size;
}

/* ---- Elements ---- */

static ptx_ref from_memory(emitter *e, const ir_type *elem, ptx_ref unit) {
  if (elem->kind == IR_BOOL) return ptx_made2(e, "setp.ne", ".u32", PTX_PRED, unit, ptx_number(PTX_32, 0));
  if (elem->kind == IR_POINTER) return ptx_pointer_from_bits(e, elem->space, unit);
  return ptx_from_integer(e, elem, unit);
}

static ptx_ref to_memory(emitter *e, const ir_type *elem, ptx_ref value) {
  if (elem->kind == IR_BOOL) return ptx_choose(e, value, ptx_number(PTX_32, 1), ptx_number(PTX_32, 0));
  if (elem->kind == IR_POINTER) return ptx_pointer_bits(e, value);
  return ptx_as_integer(e, elem, ptx_plain(e, value));
}

void ptx_read(emitter *e, const char *space, ptx_ref address, const ir_type *elem, uint32_t count, uint64_t align,
              ptx_ref *out) {
  ptx_ref units[PTX_LANES * 4];
  uint32_t size = size_of(elem), unit = unit_size(size, count, align);
  read_units(e, space, address, unit, count * size / unit, align, units);
  if (unit != size) (void)ptx_regroup(e, units, count * size / unit, 8 * unit, 8 * size);
  for (uint32_t i = 0; i < count; i++) out[i] = from_memory(e, elem, units[i]);
}

void ptx_write(emitter *e, const char *space, ptx_ref address, const ir_type *elem, uint32_t count, uint64_t align,
               const ptx_ref *values) {
  ptx_ref units[PTX_LANES * 4];
  uint32_t size = size_of(elem), unit = unit_size(size, count, align);
  for (uint32_t i = 0; i < count; i++) units[i] = to_memory(e, elem, values[i]);
  if (unit != size) (void)ptx_regroup(e, units, count, 8 * size, 8 * unit);
  write_units(e, space, address, unit, count * size / unit, align, units);
}

/* ---- Variables in registers ---- */

/* The lanes that a pointer leads to; NULL: it leads to memory. */
static ptx_ref *lanes_behind(const emitter *e, const ir_inst *pointer) {
  uint64_t lane = 0;
  if (pointer->op == IR_INDEX && pointer->args[1]->op == IR_CONST) {
    lane = pointer->args[1]->imm;
    pointer = pointer->args[0];
  }
  if (pointer->op != IR_ADDRESS || pointer->u.var->space != IR_PRIVATE) return NULL;
  ptx_ref *lanes = ptx_var_lanes(e, pointer->u.var);
  return lanes ? lanes + lane : NULL;
}

/* A copy: the variable may change before the value is used. */
static void load_lanes(emitter *e, const ir_inst *inst, const ptx_ref *lanes) {
  for (uint32_t i = 0; i < ir_lanes_of(inst->type); i++) {
    ptx_ref d = ptx_new(e, (ptx_bank)lanes[i].bank);
    ptx_move(e, d, lanes[i]);
    ptx_set(e, inst, i, d);
  }
}

/* ---- Instructions ---- */

/* What no kernel of the launch writes comes through the read-only path. */
static bool is_read_only(const emitter *e, const ir_inst *pointer) {
  const ir_inst *root = ptx_root(pointer);
  if (pointer->type->space == IR_CONSTANT) return true;
  if (pointer->type->space != IR_GLOBAL || root->op != IR_PARAM || !root->u.function->is_kernel) return false;
  const ir_param *p = &root->u.function->params[root->imm];
  return p->is_restrict && !p->is_volatile && e->function->reads_only[root->id - e->function->first];
}

/* Memory that others may change or look at; private memory and parameters are a work-item's own. */
static bool is_shared(const char *space) {
  return strcmp(space, ".global") == 0 || strcmp(space, ".shared") == 0 || !*space;
}

static const char *access_word(emitter *e, const ir_inst *inst, const ir_inst *pointer, bool is_load) {
  const char *space = ptx_space_of(e, pointer), *kind = "";
  if ((inst->flags & IR_VOLATILE) && is_shared(space))
    kind = ".volatile";
  else if (is_load && strcmp(space, ".global") == 0 && is_read_only(e, pointer))
    space = ".global.nc";
  char *word = qn_arena_printf(e->arena, "%s%s%s", is_load ? "ld" : "st", kind, space);
  e->failed |= !word;
  return word ? word : "";
}

static uint64_t align_of(const ir_inst *inst, const ir_type *type) {
  bool is_by_element = inst->op == IR_VLOAD || inst->op == IR_VSTORE;
  if (inst->imm) return inst->imm;
  return is_by_element ? ir_elem_of(type)->align : type->align;
}

void ptx_put_load(emitter *e, const ir_inst *inst) {
  const ir_inst *p = inst->args[0];
  const ptx_ref *lanes = lanes_behind(e, p);
  ptx_ref out[PTX_LANES];
  if (lanes) {
    load_lanes(e, inst, lanes);
    return;
  }
  uint32_t count = ir_lanes_of(inst->type);
  uint32_t touched = count == 3 && inst->op == IR_LOAD ? 4 : count;
  ptx_read(e, access_word(e, inst, p, true), ptx_lane(e, p, 0), ir_elem_of(inst->type), touched,
           align_of(inst, inst->type), out);
  for (uint32_t i = 0; i < count; i++) ptx_set(e, inst, i, out[i]);
}

void ptx_put_store(emitter *e, const ir_inst *inst) {
  const ir_inst *p = inst->args[0], *value = inst->args[1];
  const ptx_ref *lanes = lanes_behind(e, p);
  uint32_t count = ir_lanes_of(value->type);
  ptx_ref values[PTX_LANES];
  for (uint32_t i = 0; i < count; i++) {
    values[i] = ptx_operand(e, value, i);
    if (lanes) ptx_move(e, lanes[i], values[i]);
  }
  if (lanes) return;
  ptx_write(e, access_word(e, inst, p, false), ptx_lane(e, p, 0), ir_elem_of(value->type), count,
            align_of(inst, value->type), values);
}

/* ---- Copies ---- */

enum { UNROLLED = 1024 /* bytes that are copied without a loop */, BATCH = 8 /* units under way at once */ };

typedef struct copy {
  const char *load, *store;
  ptx_ref to, from;
  uint32_t unit;
  uint64_t align;
} copy;

static void copy_units(emitter *e, const copy *c, uint64_t offset, uint64_t count) {
  ptx_ref units[BATCH];
  for (uint64_t i = 0; i < count; i += BATCH) {
    uint32_t n = (uint32_t)(count - i < BATCH ? count - i : BATCH);
    ptx_ref from = c->from, to = c->to;
    from.bits += offset + i * c->unit;
    to.bits += offset + i * c->unit;
    uint64_t align = align_at(c->align, offset + i * c->unit);
    read_units(e, c->load, from, c->unit, n, align, units);
    write_units(e, c->store, to, c->unit, n, align, units);
  }
}

static ptx_ref variable_from(emitter *e, ptx_ref start) {
  ptx_ref d = ptx_new(e, (ptx_bank)start.bank);
  ptx_move(e, d, start);
  return d;
}

static void advance(emitter *e, ptx_ref address, uint64_t bytes) {
  ptx_put_op2(e, "add", address.bank == PTX_64 ? ".s64" : ".s32", address, address,
              ptx_number((ptx_bank)address.bank, bytes));
}

/* Steps of BATCH units, then the rest. */
static void copy_in_loop(emitter *e, copy *c, uint64_t size) {
  uint64_t step = (uint64_t)BATCH * c->unit, steps = size / step;
  uint32_t label = e->labels++;
  ptx_ref left = ptx_new(e, PTX_64);
  c->to = variable_from(e, c->to);
  c->from = variable_from(e, c->from);
  ptx_move(e, left, ptx_number(PTX_64, steps));
  putf(e, "$L%" PRIu32 ":\n", label);
  copy_units(e, c, 0, BATCH);
  advance(e, c->to, step);
  advance(e, c->from, step);
  advance(e, left, UINT64_MAX);
  ptx_ref goes_on = ptx_made2(e, "setp.ne", ".s64", PTX_PRED, left, ptx_number(PTX_64, 0));
  putf(e, "  @%%p%" PRIu32 " bra $L%" PRIu32 ";\n", goes_on.number, label);
  copy_units(e, c, 0, (size - steps * step) / c->unit);
}

void ptx_put_copy(emitter *e, const ir_inst *inst) {
  const ir_type *type = inst->args[0]->type->elem;
  uint64_t align = inst->imm ? inst->imm : type->align, size = type->size;
  uint32_t unit = align >= 8 && size % 8 == 0   ? 8
                  : align >= 4 && size % 4 == 0 ? 4
                  : align >= 2 && size % 2 == 0 ? 2
                                                : 1;
  copy c = {.load = access_word(e, inst, inst->args[1], true),
            .store = access_word(e, inst, inst->args[0], false),
            .to = ptx_lane(e, inst->args[0], 0),
            .from = ptx_lane(e, inst->args[1], 0),
            .unit = unit,
            .align = align};
  bool is_parameter = strstr(c.load, ".param") != NULL;
  if (size <= UNROLLED || is_parameter)
    copy_units(e, &c, 0, size / unit);
  else
    copy_in_loop(e, &c, size);
}

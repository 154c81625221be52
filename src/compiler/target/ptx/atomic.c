/* atomic.c - the machine's own atomics, with its memory orders and scopes; what it lacks (least and most of floats) is a loop
 * around compare and exchange. seq_cst is a fence before, as PTX's memory model maps C's. */
#include <inttypes.h>
#include "compiler/target/ptx/emit.h"

typedef struct atomic {
  const ir_inst *inst;
  const ir_type *elem;
  const char *space, *order, *scope;
  ptx_ref address;
  bool is_used; /* its result */
} atomic;

static const char *scope_word(ir_scope scope) {
  return scope == IR_SCOPE_SYSTEM ? ".sys" : scope == IR_SCOPE_DEVICE ? ".gpu" : ".cta";
}

static const char *order_word(ir_rmw rmw, ir_order order) {
  bool reads = rmw != IR_RMW_STORE, writes = rmw != IR_RMW_LOAD;
  if (order == IR_RELAXED) return ".relaxed";
  if (reads && writes) return order == IR_ACQUIRE ? ".acquire" : order == IR_RELEASE ? ".release" : ".acq_rel";
  if (reads) return order == IR_RELEASE ? ".relaxed" : ".acquire";
  return order == IR_ACQUIRE ? ".relaxed" : ".release";
}

static const char *const words[IR_RMW_COUNT] = {
    [IR_RMW_XCHG] = ".exch", [IR_RMW_CMPXCHG] = ".cas", [IR_RMW_ADD] = ".add",  [IR_RMW_SUB] = ".add",
    [IR_RMW_AND] = ".and",   [IR_RMW_OR] = ".or",       [IR_RMW_XOR] = ".xor",  [IR_RMW_SMIN] = ".min",
    [IR_RMW_SMAX] = ".max",  [IR_RMW_UMIN] = ".min",    [IR_RMW_UMAX] = ".max", [IR_RMW_FADD] = ".add",
};

static const char *type_word(ir_rmw rmw, bool is_wide) {
  switch (rmw) {
    case IR_RMW_ADD:
    case IR_RMW_SUB:
    case IR_RMW_UMIN:
    case IR_RMW_UMAX:
      return is_wide ? ".u64" : ".u32";
    case IR_RMW_SMIN:
    case IR_RMW_SMAX:
      return is_wide ? ".s64" : ".s32";
    case IR_RMW_FADD:
      return is_wide ? ".f64" : ".f32";
    default:
      return is_wide ? ".b64" : ".b32";
  }
}

static void put_ordered(emitter *e, const atomic *a, const char *name, const char *rest, const char *type) {
  putf(e, "  %s%s%s%s%s%s ", name, a->order, a->scope, a->space, rest, type);
}

static void put_load(emitter *e, const atomic *a, ptx_ref d) {
  put_ordered(e, a, "ld", "", d.bank == PTX_64 ? ".b64" : ".b32");
  ptx_put_ref(e, d);
  put(e, ", ");
  ptx_put_address(e, a->address);
  put(e, ";\n");
}

static void put_store(emitter *e, const atomic *a, ptx_ref value) {
  put_ordered(e, a, "st", "", value.bank == PTX_64 ? ".b64" : ".b32");
  ptx_put_address(e, a->address);
  put(e, ", ");
  ptx_put_ref(e, value);
  put(e, ";\n");
}

/* Without a use of the old value, and where nothing is acquired, it is a reduction. */
static void put_change(emitter *e, const atomic *a, ir_rmw rmw, ptx_ref d, const ptx_ref *values, uint32_t count) {
  bool acquires = a->inst->u.atomic.order != IR_RELAXED && a->inst->u.atomic.order != IR_RELEASE;
  bool reduces = !a->is_used && !acquires && rmw != IR_RMW_XCHG && rmw != IR_RMW_CMPXCHG;
  put_ordered(e, a, reduces ? "red" : "atom", words[rmw], type_word(rmw, d.bank == PTX_64));
  if (!reduces) {
    ptx_put_ref(e, d);
    put(e, ", ");
  }
  ptx_put_address(e, a->address);
  for (uint32_t i = 0; i < count; i++) {
    put(e, ", ");
    ptx_put_ref(e, values[i]);
  }
  put(e, ";\n");
}

/* expected = load; do { old = cas(expected, op(expected, value)) } while (old != expected) */
static void put_loop(emitter *e, const atomic *a, ptx_ref d, ptx_ref value) {
  bool is_wide = d.bank == PTX_64;
  const char *bits = is_wide ? ".b64" : ".b32";
  uint32_t label = e->labels++;
  atomic first = *a;
  first.order = ".relaxed";
  put_load(e, &first, d);
  ptx_ref expected = ptx_new(e, (ptx_bank)d.bank);
  putf(e, "$L%" PRIu32 ":\n", label);
  ptx_move(e, expected, d);
  ptx_ref changed = ptx_made2(e, a->inst->u.atomic.rmw == IR_RMW_FMIN ? "min" : "max", is_wide ? ".f64" : ".f32",
                              (ptx_bank)d.bank, expected, value);
  put_change(e, a, IR_RMW_CMPXCHG, d, (const ptx_ref[]){expected, changed}, 2);
  ptx_ref again = ptx_made2(e, "setp.ne", bits, PTX_PRED, d, expected);
  putf(e, "  @%%p%" PRIu32 " bra $L%" PRIu32 ";\n", again.number, label);
}

static void put_rmw(emitter *e, const atomic *a, ptx_ref d) {
  ir_rmw rmw = a->inst->u.atomic.rmw;
  ptx_ref values[2] = {{0}};
  uint32_t count = a->inst->arg_count - 1;
  for (uint32_t i = 0; i < count && i < 2; i++) values[i] = ptx_operand(e, a->inst->args[i + 1], 0);
  if (rmw == IR_RMW_LOAD) {
    put_load(e, a, d);
  } else if (rmw == IR_RMW_STORE) {
    put_store(e, a, values[0]);
  } else if (rmw == IR_RMW_FMIN || rmw == IR_RMW_FMAX) {
    put_loop(e, a, d, values[0]);
  } else {
    if (rmw == IR_RMW_SUB)
      values[0] =
          ptx_made1(e, "neg", d.bank == PTX_64 ? ".s64" : ".s32", (ptx_bank)d.bank, ptx_in_register(e, values[0]));
    put_change(e, a, rmw, d, values, count);
  }
}

/* Local memory is seen by the group alone. */
void ptx_put_atomic(emitter *e, const ir_inst *inst) {
  const ir_inst *p = inst->args[0];
  bool is_local = p->type->space == IR_LOCAL || p->type->space == IR_PRIVATE;
  const char *space = ptx_space_of(e, p);
  atomic a = {.inst = inst,
              .elem = p->type->elem,
              .space = space,
              .order = order_word(inst->u.atomic.rmw, inst->u.atomic.order),
              .scope = is_local ? ".cta" : scope_word(inst->u.atomic.scope),
              .address = ptx_lane(e, p, 0),
              .is_used = e->used[inst->id - e->function->first]};
  if (p->type->space == IR_PRIVATE) {
    ptx_refuse(e, inst, "atomic operations on private memory");
    return;
  }
  if (inst->u.atomic.order == IR_SEQ_CST) putf(e, "  fence.sc%s;\n", a.scope);
  ptx_ref d = ptx_new(e, ptx_bank_of(a.elem));
  put_rmw(e, &a, d);
  if (inst->type->kind != IR_VOID) ptx_set(e, inst, 0, d);
}

/* What was written to global memory is for the device: "the last group adds up" counts on it. */
void ptx_put_fence(emitter *e, const ir_inst *inst) {
  putf(e, "  fence.acq_rel%s;\n", inst->imm & IR_FENCE_GLOBAL ? ".gpu" : ".cta");
}

/* query.c - where a work-item is: from the machine's registers and the launch's range, which is the entry's last parameter. */
#include <inttypes.h>
#include <stddef.h>

#include "compiler/target/ptx/emit.h"
#include "quern/adapter.h"

#define RANGE "$range"

/* "%tid.x" of a dimension. */
static ptx_ref special(emitter *e, const char *name, uint64_t dimension) {
  ptx_ref d = ptx_new(e, PTX_32);
  put(e, "  mov.u32 ");
  ptx_put_ref(e, d);
  putf(e, ", %s.%c;\n", name, "xyz"[dimension % 3]);
  return d;
}

/* A field of the range. */
static ptx_ref word(emitter *e, size_t offset, uint64_t index) {
  ptx_ref d = ptx_new(e, PTX_32);
  put(e, "  ld.param.u32 ");
  ptx_put_ref(e, d);
  putf(e, ", [" RANGE "+%" PRIu64 "];\n", offset + 4 * index);
  return d;
}

static ptx_ref wide_word(emitter *e, size_t offset, uint64_t index) {
  ptx_ref d = ptx_new(e, PTX_64);
  put(e, "  ld.param.u64 ");
  ptx_put_ref(e, d);
  putf(e, ", [" RANGE "+%" PRIu64 "];\n", offset + 8 * index);
  return d;
}

static ptx_ref in_64(emitter *e, ptx_ref a) { return ptx_made1(e, "cvt", ".u64.u32", PTX_64, a); }

/* The work-item's number in what is dispatched. */
static ptx_ref item(emitter *e, uint64_t d) {
  ptx_ref group = special(e, "%ctaid", d), size = special(e, "%ntid", d), at = special(e, "%tid", d);
  return ptx_made3(e, "mad.lo", ".u32", PTX_32, group, size, at);
}

static ptx_ref global_id(emitter *e, uint64_t d) {
  ptx_ref number = in_64(e, item(e, d)), origin = wide_word(e, offsetof(qn_ptx_range, origin), d);
  return ptx_made2(e, "add", ".s64", PTX_64, number, origin);
}

static ptx_ref group_id(emitter *e, uint64_t d) {
  ptx_ref group = special(e, "%ctaid", d), base = word(e, offsetof(qn_ptx_range, group_base), d);
  return in_64(e, ptx_made2(e, "add", ".s32", PTX_32, group, base));
}

/* The last group may be smaller. */
static ptx_ref local_size(emitter *e, uint64_t d) {
  uint64_t required = e->function->f->required_local[0] ? e->function->f->required_local[d] : 0;
  if (required) return ptx_number(PTX_64, required);
  ptx_ref group = special(e, "%ctaid", d), size = special(e, "%ntid", d);
  ptx_ref items = word(e, offsetof(qn_ptx_range, items), d);
  ptx_ref rest = ptx_made2(e, "sub", ".s32", PTX_32, items, ptx_made2(e, "mul.lo", ".u32", PTX_32, group, size));
  return in_64(e, ptx_made2(e, "min", ".u32", PTX_32, size, rest));
}

static ptx_ref query(emitter *e, const ir_inst *inst) {
  uint64_t d = inst->imm;
  switch (inst->op) {
    case IR_GLOBAL_ID:
      return global_id(e, d);
    case IR_LOCAL_ID:
      return in_64(e, special(e, "%tid", d));
    case IR_GROUP_ID:
      return group_id(e, d);
    case IR_GLOBAL_SIZE:
      return wide_word(e, offsetof(qn_ptx_range, global_size), d);
    case IR_LOCAL_SIZE:
      return local_size(e, d);
    case IR_ENQUEUED_SIZE:
      return in_64(e, special(e, "%ntid", d));
    case IR_NUM_GROUPS:
      return in_64(e, word(e, offsetof(qn_ptx_range, num_groups), d));
    case IR_GLOBAL_OFFSET:
      return wide_word(e, offsetof(qn_ptx_range, global_offset), d);
    default:
      return word(e, offsetof(qn_ptx_range, work_dim), 0);
  }
}

void ptx_put_query(emitter *e, const ir_inst *inst) { ptx_set(e, inst, 0, query(e, inst)); }

/* The check is one branch, which is not taken; the rest stands behind the body. */
bool ptx_put_leaving(emitter *e) {
  if (e->function->f->required_local[0]) return false; /* it divides what is launched */
  ptx_ref is_uneven = word(e, offsetof(qn_ptx_range, is_uneven), 0);
  ptx_ref goes = ptx_made2(e, "setp.ne", ".u32", PTX_PRED, is_uneven, ptx_number(PTX_32, 0));
  putf(e, "  @%%p%" PRIu32 " bra $uneven;\n$even:\n", goes.number);
  return true;
}

void ptx_put_left(emitter *e) {
  put(e, "$uneven:\n");
  for (uint64_t d = 0; d < 3; d++) {
    ptx_ref number = item(e, d), items = word(e, offsetof(qn_ptx_range, items), d);
    ptx_ref is_beyond = ptx_made2(e, "setp.ge", ".u32", PTX_PRED, number, items);
    putf(e, "  @%%p%" PRIu32 " exit;\n", is_beyond.number);
  }
  put(e, "  bra $even;\n");
}

/* emit.h - what the files of the PTX target share. See docs/decisions/ptx.md.
 *
 * Each value is one reference a lane: a register, which nothing else is assigned to, a number, or an address made of a register or
 * symbol and bytes. So taking vectors apart and putting them together writes nothing. Registers have a size and no type.
 * Integers below 32 bits stand in 32, zero-extended. Pointers to local and private memory have 32 bits in registers, and 64 in
 * memory; their null pointer is all ones, since 0 is an address there.
 *
 * A variable that is loaded and stored by lanes alone is registers too, which are assigned to many times: PTX asks for no
 * single assignment.
 *
 * Errors: out of memory is kept in the emitter, diagnostics are collected; writers check nothing, the end does. */
#ifndef QUERN_COMPILER_TARGET_PTX_EMIT_H
#define QUERN_COMPILER_TARGET_PTX_EMIT_H

#include "compiler/diag.h"
#include "compiler/target/ptx/ptx.h"
#include "compiler/target/text/names.h"
#include "compiler/target/text/unit.h"

typedef enum ptx_bank { PTX_PRED, PTX_16, PTX_32, PTX_64, PTX_BANKS } ptx_bank;

typedef enum ptx_kind { PTX_REGISTER, PTX_NUMBER, PTX_SYMBOL } ptx_kind;

typedef struct ptx_ref {
  uint8_t kind, bank;
  bool is_float;      /* NUMBER: is written as one */
  uint32_t number;    /* REGISTER */
  uint64_t bits;      /* NUMBER: its value; else bytes behind the address */
  const char *symbol; /* SYMBOL */
} ptx_ref;

/* The most lanes of a value. */
enum { PTX_LANES = 16 };

typedef struct emitter {
  ir_module *m;
  qn_arena *arena;
  const qn_ptx_options *options;
  text_unit unit;
  text_names names;
  const char **constant_names; /* by number */
  bool *constant_banked;       /* by number: in .const */
  qn_bytes globals, functions;
  qn_bytes *out; /* the body that is written */
  bool uses_dynamic;
  bool failed;
  const ir_inst *lost; /* a value that was used and not written: a fault of ours */
  qn_sources none;
  qn_diags diags;
  /* Of the function that is written: */
  text_function *function;
  ptx_ref *
      *values; /* by number less the function's first: lanes of parameters, variables in registers and instructions */
  ptx_ref *places; /* the same, of variables in memory: their addresses */
  bool *used;      /* the same, of instructions */
  uint32_t registers[PTX_BANKS];
  uint32_t labels;
  qn_bytes body;
} emitter;

/* ---- Errors and lines (ptx.c) ---- */
void ptx_refuse(emitter *e, const ir_inst *inst, const char *format, ...) __attribute__((format(printf, 3, 4)));
#define putf(e, ...) qn_bytes_printf((e)->out, __VA_ARGS__)
static inline void put(emitter *e, const char *text) { qn_bytes_append_str(e->out, text); }

/* ---- References (ref.c) ---- */
ptx_ref ptx_new(emitter *e, ptx_bank bank);
ptx_ref ptx_number(ptx_bank bank, uint64_t bits);
/* The bank of a scalar's or pointer's lane. */
ptx_bank ptx_bank_of(const ir_type *elem);
/* Bits of a pointer of a space in registers. */
static inline bool ptx_is_short(ir_space space) { return space == IR_PRIVATE || space == IR_LOCAL; }
static inline bool ptx_is_half(const ir_type *type) { return type->kind == IR_FLOAT && type->bits == 16; }
/* Lane `i` of a value, as it is. */
ptx_ref ptx_lane(emitter *e, const ir_inst *value, uint32_t i);
/* As an operand: an address is computed into a register. */
ptx_ref ptx_operand(emitter *e, const ir_inst *value, uint32_t i);
ptx_ref ptx_plain(emitter *e, ptx_ref ref);
/* In a register: where PTX takes no number. */
ptx_ref ptx_in_register(emitter *e, ptx_ref ref);
/* Where a definition's lanes go. */
ptx_ref *ptx_define(emitter *e, const ir_inst *inst);
void ptx_set(emitter *e, const ir_inst *inst, uint32_t lane, ptx_ref ref);
void ptx_put_ref(emitter *e, ptx_ref ref);
/* "[%rd1+16]" */
void ptx_put_address(emitter *e, ptx_ref address);
/* A line: "add" ".s32" d, a, b. */
void ptx_put_op(emitter *e, const char *name, const char *type, ptx_ref d, const ptx_ref *args, uint32_t count);
static inline void ptx_put_op1(emitter *e, const char *name, const char *type, ptx_ref d, ptx_ref a) {
  ptx_put_op(e, name, type, d, &a, 1);
}
static inline void ptx_put_op2(emitter *e, const char *name, const char *type, ptx_ref d, ptx_ref a, ptx_ref b) {
  ptx_put_op(e, name, type, d, (const ptx_ref[]){a, b}, 2);
}
static inline void ptx_put_op3(emitter *e, const char *name, const char *type, ptx_ref d, ptx_ref a, ptx_ref b,
                               ptx_ref c) {
  ptx_put_op(e, name, type, d, (const ptx_ref[]){a, b, c}, 3);
}
/* The same with a new register of a bank. */
ptx_ref ptx_made1(emitter *e, const char *name, const char *type, ptx_bank bank, ptx_ref a);
ptx_ref ptx_made2(emitter *e, const char *name, const char *type, ptx_bank bank, ptx_ref a, ptx_ref b);
ptx_ref ptx_made3(emitter *e, const char *name, const char *type, ptx_bank bank, ptx_ref a, ptx_ref b, ptx_ref c);
void ptx_move(emitter *e, ptx_ref d, ptx_ref a);
/* c ? a : b of one bank. */
ptx_ref ptx_choose(emitter *e, ptx_ref c, ptx_ref a, ptx_ref b);

/* ---- Operations on lanes (op.c, wide.c, convert.c) ---- */
void ptx_put_component_wise(emitter *e, const ir_inst *inst);
ptx_ref ptx_convert(emitter *e, const ir_inst *inst, ptx_ref a);
/* Zero-extended in 32 bits: as it is, cut, or from the sign. */
ptx_ref ptx_cut(emitter *e, ptx_ref a, uint32_t bits);
ptx_ref ptx_signed(emitter *e, ptx_ref a, uint32_t bits);
/* Halves as floats and back. */
ptx_ref ptx_widen_half(emitter *e, ptx_ref a);
ptx_ref ptx_narrow_half(emitter *e, ptx_ref a);

/* ---- Values (value.c, query.c) ---- */
/* Pure values that are not component-wise. */
void ptx_put_value(emitter *e, const ir_inst *inst);
void ptx_put_query(emitter *e, const ir_inst *inst);
/* Lanes of `from` bits as lanes of `to`, in place, low ends first; how many. There is room for either. */
uint32_t ptx_regroup(emitter *e, ptx_ref *lanes, uint32_t count, uint32_t from, uint32_t to);
/* A number's bits as an integer lane, and back. */
ptx_ref ptx_as_integer(emitter *e, const ir_type *elem, ptx_ref a);
ptx_ref ptx_from_integer(emitter *e, const ir_type *elem, ptx_ref a);
/* What an entry does first: work-items beyond the range leave. True: the rest of it, `left`, must stand behind the body. */
bool ptx_put_leaving(emitter *e);
void ptx_put_left(emitter *e);

/* ---- Pointers (pointer.c) ---- */
void ptx_put_pointer_op(emitter *e, const ir_inst *inst);
/* The leaf that a pointer's steps begin at. */
const ir_inst *ptx_root(const ir_inst *pointer);
/* What is left of an index when the constants and conversions are off that a step does itself. */
const ir_inst *ptx_index_base(const ir_inst *index);
/* As it stands in memory, 64 bits, null being 0; and back. */
ptx_ref ptx_pointer_bits(emitter *e, ptx_ref a);
ptx_ref ptx_pointer_from_bits(emitter *e, ir_space space, ptx_ref a);
/* ".global": of an access through a pointer. */
const char *ptx_space_of(emitter *e, const ir_inst *pointer);

/* ---- Memory (memory.c, atomic.c) ---- */
void ptx_put_load(emitter *e, const ir_inst *inst);
void ptx_put_store(emitter *e, const ir_inst *inst);
void ptx_put_copy(emitter *e, const ir_inst *inst);
void ptx_put_atomic(emitter *e, const ir_inst *inst);
void ptx_put_fence(emitter *e, const ir_inst *inst);
/* Values of consecutive elements to and from an address; `space` with what stands before it: "ld.global". */
void ptx_read(emitter *e, const char *space, ptx_ref address, const ir_type *elem, uint32_t count, uint64_t align,
              ptx_ref *out);
void ptx_write(emitter *e, const char *space, ptx_ref address, const ir_type *elem, uint32_t count, uint64_t align,
               const ptx_ref *values);
/* Which variables are in registers: those get their lanes. */
bool ptx_promote(emitter *e);
static inline ptx_ref *ptx_var_lanes(const emitter *e, const ir_var *var) {
  return e->values[var->id - e->function->first];
}

/* ---- Statements and functions (control.c, function.c) ---- */
/* Values that nothing uses as they are. */
bool ptx_is_left_out(const emitter *e, const ir_inst *inst);
void ptx_put_block(emitter *e, const ir_block *block);
void ptx_put_return(emitter *e, const ir_inst *inst);
void ptx_put_function(emitter *e, text_function *t, qn_ptx_kernel *out);
void ptx_put_call(emitter *e, const ir_inst *inst);

/* ---- Instructions for functions (native.c) ---- */
bool ptx_is_native(const ir_module *m, const ir_function *f);
void ptx_take_natives(ir_module *m);
/* Before the library is linked in: calls of functions that it has a better one of for this target. */
void ptx_choose_functions(ir_module *m);
void ptx_put_native(emitter *e, const ir_inst *call);

/* ---- Data (bank.c, data.c) ---- */
/* Whether each constant is in constant memory, in the module's order. Before the unit is made. */
QN_MUST_USE qn_status ptx_choose_banks(ir_module *m, bool **out);
bool ptx_place_constants(emitter *e);
void ptx_put_constants(emitter *e);

/* ---- Before anything is written (prepare.c) ---- */
QN_MUST_USE qn_status ptx_prepare(ir_module *m, const qn_ptx_options *options);

/* ---- Words (reserved.c) ---- */
bool ptx_is_reserved_word(qn_sv name);

#endif

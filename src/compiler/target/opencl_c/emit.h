/* emit.h - what the files of the OpenCL C target share. See docs/opencl-c.md.
 *
 * Everything is written straight into the text at its place; what turns out to need brackets or a cast gets it put around
 * (text_wrap). Definitions that a function needs (structs, constants, small functions of our own) go into parts of the
 * text that stand before functions, when they are first mentioned.
 *
 * Errors: out of memory is kept in the emitter, diagnostics are collected; callers of the many small writers check
 * nothing, the end does. */
#ifndef QUERN_COMPILER_TARGET_OPENCL_C_EMIT_H
#define QUERN_COMPILER_TARGET_OPENCL_C_EMIT_H

#include "compiler/diag.h"
#include "compiler/target/opencl_c/opencl_c.h"
#include "compiler/target/text/flow.h"
#include "compiler/target/text/names.h"
#include "compiler/target/text/sign.h"
#include "compiler/target/text/writer.h"

typedef struct emitter {
  ir_module *m;
  qn_arena *arena;
  const qn_opencl_c_options *options;
  text_unit unit;
  text_signs signs;
  text_names names;
  qn_map made;                              /* helpers and types of our own, by what they are -> name */
  const char **structs;                     /* by id of a type; NULL: not defined yet */
  const char **constants;                   /* by number of a constant; NULL: not defined yet */
  qn_bytes types, data, helpers, functions; /* the parts of the text, in this order */
  qn_bytes *out;                            /* the part that is written now */
  uint32_t indent;
  bool uses_double, uses_half, uses_int64_base_atomics, uses_int64_extended_atomics;
  bool in_data;   /* an initialiser of program scope is written */
  bool contracts; /* FP_CONTRACT is ON at the end of `functions` */
  bool failed;    /* out of memory */
  qn_sources none;
  qn_diags diags;
  /* Of the function that is written: */
  text_function *function;
  text_plan plan;
  text_scopes scopes;
  uint8_t *masks;           /* by number less first_inst: bits of a lane of bools */
  const char **param_names; /* by index */
  const char **var_names;   /* by number less the function's first */
  const char *launch;       /* what is hidden of an entry; NULL: nothing is */
  const char *range; /* the launch's range: "launch.range" in an entry, a pointer in helpers; NULL: the driver tells */
} emitter;

/* ---- Errors (opencl_c.c) ---- */
/* "OpenCL C 1.2 can't express ...", at an instruction of the function that is written. */
void emit_refuse(emitter *e, const ir_inst *inst, const char *format, ...) __attribute__((format(printf, 3, 4)));
static inline void put(emitter *e, const char *text) { qn_bytes_append_str(e->out, text); }
#define putf(e, ...) qn_bytes_printf((e)->out, __VA_ARGS__)
void put_line_start(emitter *e);

/* ---- Types (type.c) ---- */
/* A number or vector of numbers, bool as bool; of vectors of bools the integers of `mask` bits. Static or in the arena. */
const char *number_name(emitter *e, const ir_type *type, bool is_signed);
const char *mask_name(emitter *e, uint32_t lanes, uint32_t bits);
/* As values are declared: pointers, numbers. `mask` for vectors of bools. */
void put_value_type(emitter *e, const ir_type *type, bool is_signed, bool is_const, uint32_t mask);
/* As it stands in memory: bool is a uchar. Arrays by a name of their own. */
void put_memory_type(emitter *e, const ir_type *type, bool is_signed);
/* A pointer type with a word in front of what it leads to ("const", "volatile" or ""). */
void put_pointer_type(emitter *e, const ir_type *type, bool is_signed, const char *word);
/* The same, in the arena, without that blank. */
const char *pointer_name(emitter *e, const ir_type *type, bool is_signed, bool is_const);
/* A variable or field in memory, with array bounds and alignment; `align` 0: the type's. */
void put_memory_declaration(emitter *e, const ir_type *type, bool is_signed, const char *name, uint64_t align);
/* The same, of a variable in a space. */
void put_variable_declaration(emitter *e, const ir_type *type, bool is_signed, ir_space space, const char *name,
                              uint64_t align);
/* "struct quern_packed_float", with a member `value` of the type; packed: aligned to a byte. */
const char *wrapper_name(emitter *e, const ir_type *type, bool is_signed, bool is_packed);
/* The name of a member in the text. */
const char *field_name(emitter *e, const ir_type *type, uint32_t field);
/* The keyword of an address space with a blank behind it, "" for private. */
const char *space_word(emitter *e, ir_space space);

/* ---- Values (value.c) ---- */

/* What was written. */
typedef struct shape {
  text_level level;
  bool is_signed; /* of the integer at the core of its type */
  bool is_exact;  /* its C type is the IR's; else it is an int that holds a value of a narrower type */
  uint8_t mask;   /* vectors of bools: bits of a lane, which is -1 or 0 */
} shape;

/* What is wanted of an operand. Zero: anything that has the value. */
typedef struct want {
  text_level outer; /* the operation that it stands in */
  bool is_right;
  int8_t sign;  /* 1 signed, -1 unsigned, 0 either */
  bool exact;   /* the C type must be the IR's: for overloaded functions */
  uint8_t mask; /* bits of lanes of bools; 0: any */
  bool widens;  /* a scalar may stand for a vector of it */
} want;

/* Writes a value as wanted; what comes of it is told. */
shape put_operand(emitter *e, const ir_inst *value, want w);
/* The expression of an instruction that is given a name or stored there. */
void put_definition(emitter *e, const ir_inst *inst, want w);
static inline int8_t sign_of(bool is_signed) { return is_signed ? 1 : -1; }
/* The bits that lanes of a vector of bools have. */
uint8_t mask_of(const emitter *e, const ir_inst *value);
/* The expression of an instruction whose value is written where it is used, or that has a name of its own there. */
shape put_expression(emitter *e, const ir_inst *inst);
/* Whether put_operand would write a scalar for a vector where that is allowed. */
bool is_widened(emitter *e, const ir_inst *value);
/* "(T)" in front of what stands from `start` on, which is of a level. */
void put_cast(emitter *e, size_t start, text_level level, const char *type_name);
/* A condition: a bool, without brackets around it; `holds` false: the opposite. */
void put_condition(emitter *e, const ir_inst *value, bool holds);

/* ---- Operations (op.c), vectors (vector.c), constants (literal.c, data.c) ---- */
bool is_component_wise(ir_op op);
/* With another operator than its own. */
void put_comparison(emitter *e, const ir_inst *inst, const char *operator);
shape put_op(emitter *e, const ir_inst *inst);
/* Conversions between integers that can be made to either sign in one. */
bool converts_to_any_sign(const ir_inst *inst);
shape put_signed_conversion(emitter *e, const ir_inst *inst, bool to_signed);
shape put_select(emitter *e, const ir_inst *inst);
shape put_vector_op(emitter *e, const ir_inst *inst);
/* ".x", ".s3210": as many lanes as `count`, from `lanes` ones. */
void put_lanes(emitter *e, const int32_t *from, uint32_t count, uint32_t lanes);
/* name.x = lane, for an insertion into the vector that has that name. */
void put_insert(emitter *e, const ir_inst *inst, const char *name);
/* How often an operand of an instruction is written. */
uint32_t operand_copies(const ir_inst *inst, uint32_t operand);
shape put_constant(emitter *e, const ir_inst *leaf, want w);
/* A lane of a constant vector, and the bits of a scalar: 0 of zero and undef. */
const ir_inst *constant_lane(emitter *e, const ir_inst *leaf, uint32_t i);
uint64_t constant_bits(const ir_inst *scalar);
/* The place of a constant that is written as words, or a pointer to it; false: it isn't, and nothing was written. */
bool put_word_place(emitter *e, const ir_var *var, bool as_pointer);
/* The name of a constant, which is defined at the first call. */
const char *constant_name(emitter *e, const ir_var *var);
/* The constant that all lanes have, or NULL. */
const ir_inst *splat_of(emitter *e, const ir_inst *value);

/* ---- Pointers and memory (place.c, memory.c, atomic.c) ---- */
/* What a pointer leads to, as an operand of `.`, `[]` (outer: TEXT_POSTFIX) or `=` (TEXT_UNARY). */
shape put_place(emitter *e, const ir_inst *pointer, text_level outer);
shape put_pointer(emitter *e, const ir_inst *pointer);
/* The text's pointer is to const memory. */
bool is_const_pointer(const emitter *e, const ir_inst *pointer);
/* The same of a private variable that holds one. */
bool is_const_var(const emitter *e, const ir_var *var);
const char *var_name(emitter *e, const ir_var *var);
shape put_load(emitter *e, const ir_inst *inst);
/* Without the semicolon. */
void put_store(emitter *e, const ir_inst *inst);
/* What a store assigns. */
void put_stored(emitter *e, const ir_inst *store);
/* A store of a vector with one lane changed to a private variable: of what it held before, but for that lane? */
bool is_stored_insertion(const emitter *e, const ir_inst *store);
bool is_insertion_into_itself(const emitter *e, const ir_inst *store);
void put_copy(emitter *e, const ir_inst *inst);
/* What a copy of a struct copies: a value. */
void put_copied(emitter *e, const ir_inst *inst);
void put_atomic(emitter *e, const ir_inst *inst);

/* ---- Functions of our own (helper.c) ---- */
typedef enum helper {
  HELPER_DIV,
  HELPER_REM,
  HELPER_CTZ,
  HELPER_LANE,
  HELPER_ATOMIC_ADD,
  HELPER_ATOMIC_MIN,
  HELPER_ATOMIC_MAX,
  HELPER_COUNT
} helper;
/* Its name for a type; it is defined at the first call. `space` is that of a pointer that it takes. */
const char *helper_name(emitter *e, helper which, const ir_type *type, bool is_signed, ir_space space);
/* Of a conversion of floats to the nearest integer that there is, and of no number to 0. */
const char *saturation_name(emitter *e, const ir_type *from, const ir_type *to, bool to_signed);
/* The structs that a launch's range, and all that is hidden of an entry, come in. */
const char *range_type_name(emitter *e);
const char *launch_type_name(emitter *e, bool has_range, uint32_t buffers);

/* ---- Statements and functions (control.c, function.c) ---- */
void put_block(emitter *e, const ir_block *block);
void put_call(emitter *e, const ir_inst *inst);
void put_function(emitter *e, text_function *t);

/* ---- Words (reserved.c) ---- */
bool is_reserved_word(qn_sv name);

#endif

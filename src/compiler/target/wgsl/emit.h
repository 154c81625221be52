/* emit.h - what the files of the WGSL target share. See docs/wgsl.md.
 *
 * Values: integers up to 32 bits are u32, zero-extended; those of 64 bits are vec2<u32>, low word first; pointers are u32
 * (memory.h). Operations that mind a sign convert. Everything is written straight into the text at its place, as in the OpenCL C target;
 * small functions that an operation or an access needs go into a part of their own when they are first mentioned.
 *
 * A function is written once for each combination of memories that its pointers lead into ("instance").
 *
 * Errors: out of memory is kept in the emitter, diagnostics are collected; writers check nothing, the end does. */
#ifndef QUERN_COMPILER_TARGET_WGSL_EMIT_H
#define QUERN_COMPILER_TARGET_WGSL_EMIT_H

#include "compiler/diag.h"
#include "compiler/target/text/flow.h"
#include "compiler/target/text/names.h"
#include "compiler/target/text/writer.h"
#include "compiler/target/wgsl/memory.h"
#include "compiler/target/wgsl/wgsl.h"

/* On if, switch and break_if: the condition is what the group's first item has (uniform.h). */
enum { WGSL_SAME = 1 << 16 };

typedef enum wgsl_memory_kind {
  WGSL_STORAGE,   /* a binding */
  WGSL_WORKGROUP, /* local memory */
  WGSL_CONSTANT,  /* data of program scope */
  WGSL_FUNCTION,  /* private: a variable of a function, or what a pointer parameter leads to */
  WGSL_FLAT       /* one of several of the first three, by address */
} wgsl_memory_kind;

typedef struct wgsl_memory {
  wgsl_memory_kind kind;
  const char *name;   /* the variable; FUNCTION: the variable or parameter */
  const char *key;    /* in names of functions that are made for it */
  uint32_t unit;      /* bytes that an index counts: 1, 4, 16; FLAT: 1 */
  bool is_float;      /* its words are f32, else u32 */
  bool is_quads;      /* vec4 of them */
  bool is_atomic;     /* atomic<u32> */
  bool is_parameter;  /* FUNCTION: name is a ptr<function, ...> */
  const char *length; /* of the array, in elements: FUNCTION and WORKGROUP */
  uint32_t columns;   /* WORKGROUP: an array of rows of so many words, as the source has it (rows.c); 0: one array */
  const char *base;   /* the address of its first byte, an expression; in a FLAT one */
  uint32_t root;      /* the node in the kernel's flow + 1; in a FLAT one */
  const char *offset; /* STORAGE: what of it is the first byte that `base` is of, in bytes; else NULL */
  struct wgsl_memory **members;
  uint32_t
      member_count; /* FLAT: bases rise; WORKGROUP: what is laid into it, one after the other, with no variables of their own */
  bool is_laid;     /* is such a member */
  bool is_declared; /* WORKGROUP, of several */
} wgsl_memory;

enum { WGSL_ASKS_PLACE = 1, WGSL_ASKS_RANGE = 2 };

/* A function for some memories of its pointers. */
typedef struct wgsl_instance {
  text_function *t;
  const char *name;
  const struct wgsl_instance *kernel; /* whose arguments and overrides it asks for; itself of a kernel */
  const char *args, *group[3];        /* of a kernel: the argument block, overrides of the group's size */
  wgsl_memory **memories;             /* by parameter */
  struct wgsl_instance *next;
} wgsl_instance;

/* A kernel's parameter in its argument block. */
typedef struct wgsl_member {
  const char *name, *at, *address, *from; /* in the block; from: the index that a buffer begins at */
  const char **words;                     /* of a value */
  uint32_t word_count;
} wgsl_member;

typedef struct emitter {
  ir_module *m;
  qn_arena *arena;
  const qn_wgsl_options *options;
  text_unit unit;
  wgsl_flow *flows;
  text_names names;
  qn_map made;                          /* functions of our own, by what they are -> name */
  qn_map instance_names;                /* instances by key */
  wgsl_instance *first, *last;          /* to be written */
  wgsl_memory **constants;              /* by number; NULL: not mentioned yet */
  uint8_t *asks;                        /* by function of the unit: ASKS_... of it and of what it calls */
  uint64_t constant_bytes;              /* addresses given to constants */
  qn_bytes globals, helpers, functions; /* the parts of the text, in this order */
  qn_bytes *out;
  uint32_t indent;
  bool uses_half, uses_fused, uses_bits, uses_place, uses_shared;
  bool failed;
  qn_sources none;
  qn_diags diags;
  /* Of the function that is written: */
  const wgsl_instance *instance;
  text_function *function;
  wgsl_flow *flow;
  text_plan plan;
  text_scopes scopes;
  const char **param_names; /* by index */
  wgsl_member *members;     /* the same, of a kernel */
  const char **var_names;   /* by number less the function's first */
  const char *
      *var_starts; /* the same, of parameters too: where it begins in the memory of its class, or NULL: at its start */
} emitter;

/* ---- Errors and small writers (wgsl.c) ---- */
/* "WGSL can't express ...", at an instruction of the function that is written. */
void wgsl_emit_refuse(emitter *e, const ir_inst *inst, const char *format, ...) __attribute__((format(printf, 3, 4)));
static inline void put(emitter *e, const char *text) { qn_bytes_append_str(e->out, text); }
#define putf(e, ...) qn_bytes_printf((e)->out, __VA_ARGS__)
void wgsl_put_line_start(emitter *e);
/* Text in the arena; "" when there is no memory for it. */
const char *wgsl_text_of(emitter *e, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* ---- Types (type.c) ---- */
/* Of values. Static or in the arena. */
const char *wgsl_value_type(emitter *e, const ir_type *type);
/* The same with another word for the lanes: "vec3<i32>". */
const char *wgsl_shaped(emitter *e, const char *elem, uint32_t lanes);
/* A name's part: "u32x3", "i8x4", "ptr". */
const char *wgsl_type_word(emitter *e, const ir_type *type);
/* Half without shader-f16: a u32 with its bits. */
bool wgsl_is_soft_half(const emitter *e, const ir_type *type);
static inline bool is_narrow(const ir_type *type) {
  return ir_elem_of(type)->kind == IR_INT && ir_elem_of(type)->bits < 32;
}
static inline bool is_wide(const ir_type *type) { return type->kind == IR_INT && type->bits == 64; }

/* ---- Values (value.c, literal.c) ---- */
/* A value as an operand of an operation of level `outer`. */
void wgsl_put_operand(emitter *e, const ir_inst *value, text_level outer, bool is_right);
/* Its text in the arena. */
const char *wgsl_operand_text(emitter *e, const ir_inst *value, text_level outer);
/* The expression of an instruction whose value is written where it is used or gets a name; its level. */
text_level wgsl_put_expression(emitter *e, const ir_inst *inst);
text_level wgsl_put_constant(emitter *e, const ir_inst *leaf);
void wgsl_put_u32(emitter *e, uint64_t value);
const ir_inst *wgsl_constant_lane(emitter *e, const ir_inst *leaf, uint32_t i);
uint64_t wgsl_constant_bits(const ir_inst *scalar);
void wgsl_put_insert(emitter *e, const ir_inst *inst, const char *name);
/* ".xzy" */
void wgsl_put_lanes(emitter *e, const int32_t *from, uint32_t count);
uint32_t wgsl_operand_copies(const ir_inst *inst, uint32_t operand);
bool wgsl_wants_name(const ir_inst *inst);

/* ---- Operations (op.c, convert.c) ---- */
bool wgsl_is_component_wise(ir_op op);
text_level wgsl_put_op(emitter *e, const ir_inst *inst);
text_level wgsl_put_conversion(emitter *e, const ir_inst *inst);
/* "i32(x)": an integer's value with its sign. */
void wgsl_put_signed(emitter *e, const ir_inst *value);
/* "& 0xff" around what was written from `start` on. */
text_level wgsl_put_cut(emitter *e, size_t start, text_level level, const ir_type *type);

/* ---- Small functions (helper.c) ---- */
/* Makes sure that a function of the table, and what it calls, stands in the text; its name for a number of lanes. */
const char *wgsl_helper(emitter *e, const char *name, uint32_t lanes);
/* Appends a function to `helpers` once; its name. `text` may be made anew at each call. NULL as text: is it there? */
const char *wgsl_made_name(emitter *e, const char *key);
const char *wgsl_make_function(emitter *e, const char *key, const char *wish);
void wgsl_add_function(emitter *e, const qn_bytes *text);

/* ---- Pointers (place.c) ---- */
/* The memory that a pointer leads into; NULL after a diagnostic. */
wgsl_memory *wgsl_memory_of(emitter *e, const ir_inst *pointer, const ir_inst *user);
/* A pointer as an operand: an index or address. */
text_level wgsl_put_pointer(emitter *e, const ir_inst *pointer);
text_level wgsl_put_pointer_op(emitter *e, const ir_inst *inst);
/* "x * 4u" of an index's low 32 bits, as an operand. */
void wgsl_put_index(emitter *e, const ir_inst *index, text_level outer);
/* Memories of all classes of the function, before it is written. */
void wgsl_find_memories(emitter *e);
const char *wgsl_var_name(emitter *e, const ir_var *var);
bool wgsl_is_plain(const emitter *e, const ir_inst *pointer);
/* Bytes to indices: 0, 2 or 4. WGSL's compilers don't all make shifts of divisions. */
static inline uint32_t wgsl_unit_shift(const wgsl_memory *m) { return m->unit == 16 ? 4 : m->unit == 4 ? 2 : 0; }
/* "array<f32, 4>" */
const char *wgsl_array_type(emitter *e, const wgsl_memory *memory);
const char *wgsl_element_type(const wgsl_memory *memory);

/* ---- Arrays of rows (rows.c) ---- */
/* The words of a row, when all that is done with the variable are accesses to single ones, "a[i][j]". Else 0. */
uint32_t wgsl_columns_of(const emitter *e, const ir_var *var);
/* A pointer as what stands in the brackets behind a memory's name: an index, or "i][j". */
const char *wgsl_subscript(emitter *e, const wgsl_memory *memory, const ir_inst *pointer);

/* ---- Memory (access.c, atomic.c, data.c) ---- */
text_level wgsl_put_load(emitter *e, const ir_inst *inst);
void wgsl_put_store(emitter *e, const ir_inst *inst);
void wgsl_put_copy(emitter *e, const ir_inst *inst);
void wgsl_put_atomic(emitter *e, const ir_inst *inst);
/* Index `index` plus bytes, in the memory's units. */
const char *wgsl_index_plus(emitter *e, const wgsl_memory *memory, const char *index, uint64_t bytes);
/* The place of a word: "name[i]" without what an atomic needs. */
const char *wgsl_word_place(emitter *e, const wgsl_memory *memory, const char *index, uint64_t bytes);
/* In front of calls that take the memory: "&name, " of private memory, "". And the parameter's declaration. */
const char *wgsl_memory_argument(emitter *e, const wgsl_memory *memory);
const char *wgsl_memory_parameter(emitter *e, const wgsl_memory *memory, const char *name);
/* The same memory as a function of our own sees it. */
wgsl_memory wgsl_memory_inside(const wgsl_memory *memory, const char *name);
wgsl_memory *wgsl_constant_memory(emitter *e, const ir_var *var);
/* "if (p >= base) " and the index there, for members of a flat memory from the last one on. */
const char *wgsl_member_index(emitter *e, const wgsl_memory *member, const char *address);

/* ---- Statements and functions (control.c, function.c) ---- */
void wgsl_put_block(emitter *e, const ir_block *block);
void wgsl_put_call(emitter *e, const ir_inst *inst);
void wgsl_find_asking(emitter *e);
/* Names of a kernel, which is written first; then of each what its calls need. */
wgsl_instance *wgsl_kernel_instance(emitter *e, text_function *t);
void wgsl_put_instance(emitter *e, const wgsl_instance *instance, qn_wgsl_kernel *out);
/* entry.c: a kernel's parameters, and what is told of them. */
bool wgsl_name_members(emitter *e);
void wgsl_put_entry_head(emitter *e);
void wgsl_put_entry_start(emitter *e);
void wgsl_put_entry_globals(emitter *e, qn_wgsl_kernel *out);
wgsl_memory *wgsl_parameter_memory(const emitter *e, uint32_t index);

/* ---- Before anything is written ---- */
/* Conditions that WGSL must find uniform: uniform.c. */
QN_MUST_USE qn_status wgsl_make_uniform(ir_module *m, qn_diags *diags);
/* Calls that must be inlined, copies of by-value structs, kernels' wide parameters: prepare.c. Then the unit is made. */
QN_MUST_USE qn_status wgsl_prepare(ir_module *m, bool rounds);

/* ---- Words (reserved.c) ---- */
bool wgsl_is_reserved_word(qn_sv name);

#endif

/* ir.h - the intermediate representation: typed, structured, printable. See docs/ir.md and docs/decisions/ir.md.
 *
 * A module has types, constants (program-scope variables) and functions. A function's body is a block: a list
 * of instructions. Control flow is instructions that hold blocks: if, loop, switch; there is no goto and no
 * phi. A value is defined once and is visible after its definition in its block and in blocks nested there;
 * what must live across joins stands in a variable. Targets promote variables to registers as they like.
 *
 *   quern 1 bits 64
 *   struct @particle {f32x4, f32}            ; size and alignment follow from the fields
 *   constant @weights : [3 x f32] = {0.25, 0.5, 0.25}
 *
 *   kernel @scale(%x : ptr global f32, %a : f32, %n : i32) {
 *     local @tile : [64 x f32]
 *     var %i : i32
 *     %0 = global_id 0 : i64
 *     %1 = trunc %0 : i32
 *     store %i, %1
 *     loop {
 *       %2 = load %i : i32
 *       %3 = slt %2, %n : bool
 *       if %3 {
 *       } else {
 *         break
 *       }
 *       %4 = sext %2 : i64
 *       %5 = elem %x, %4 : ptr global f32
 *       %6 = load %5 : f32
 *       %7 = fmul %6, %a contract : f32
 *       store %5, %7
 *     } continue {
 *       %8 = load %i : i32
 *       %9 = add %8, i32 64 : i32
 *       store %i, %9
 *     }
 *     return
 *   }
 *
 * Integers are signless, as in LLVM; operations say their sign. Every operation is total: no input is
 * undefined behaviour but a bad memory access and a data race (see the table). Aggregates (arrays, structs)
 * are never values: they are copied between pointers. Struct parameters are pointers marked byval (to the
 * callee's own private copy); a struct result is a pointer parameter marked sret.
 *
 * Owner: everything lives in the module's arena and dies with it. One thread at a time.
 */
#ifndef QUERN_COMPILER_IR_IR_H
#define QUERN_COMPILER_IR_IR_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/bytes.h"
#include "base/map.h"
#include "base/string_view.h"
#include "compiler/model.h"
#include "compiler/source.h"
#include "quern/quern.h"

typedef struct ir_type ir_type;
typedef struct ir_var ir_var;
typedef struct ir_inst ir_inst;
typedef struct ir_block ir_block;
typedef struct ir_function ir_function;
typedef struct ir_module ir_module;

/* ---- Types -------------------------------------------------------------------------------------- */

typedef enum ir_kind {
  IR_VOID,
  IR_BOOL,    /* one bit; in memory one byte, 0 or 1 */
  IR_INT,     /* bits: 8, 16, 32, 64 */
  IR_FLOAT,   /* bits: 16, 32, 64 */
  IR_VECTOR,  /* of bool, int, float; count 2, 3, 4, 8, 16. A 3-vector has size and alignment of a 4-vector */
  IR_POINTER, /* space, elem */
  IR_ARRAY,   /* elem, count */
  IR_STRUCT   /* also unions */
} ir_kind;

typedef enum ir_space { IR_PRIVATE, IR_GLOBAL, IR_CONSTANT, IR_LOCAL, IR_GENERIC } ir_space; /* as QN_SPACE_... */

typedef struct ir_field {
  const ir_type *type;
  uint64_t offset;
  uint64_t align;   /* attribute aligned of the field, 0: none */
  const char *name; /* for reflection and diagnostics; not in the text form */
} ir_field;

struct ir_type {
  ir_kind kind;
  ir_space space;       /* pointer */
  uint32_t bits;        /* int, float */
  uint32_t count;       /* vector */
  uint64_t length;      /* array */
  const ir_type *elem;  /* vector, pointer (void: elem is IR_VOID), array */
  uint64_t size, align; /* in memory; void: 0, 1 */
  bool holds_pointer;   /* is one, or has one in it */
  /* struct: */
  const char *name;
  ir_field *fields;
  uint32_t field_count;
  bool is_union, is_packed, is_complete;
  uint64_t declared_align; /* attribute aligned, 0: none */
  uint32_t id;             /* rising in the order of the text */
  bool mark;               /* the printer's */
  ir_type *next;
};

/* Out of memory, for all makers of this header (types, leaves, variables, blocks, instructions): `failed` is set in the
 * module and a spare object is given back, never NULL, so that a long sequence of makers is checked once at its end. A
 * spare instruction is in no block. Exceptions say so. */

/* No object is larger: sizes stop there, and the verifier refuses them. */
#define IR_SIZE_LIMIT ((uint64_t)1 << 40)

/* Largest attribute aligned, of variables, structs, fields, loads and stores; all are powers of two. */
#define IR_ALIGN_LIMIT 65536

/* Types are interned: equal types are the same pointer (structs by identity). */
const ir_type *ir_void(ir_module *m);
const ir_type *ir_bool(ir_module *m);
const ir_type *ir_int(ir_module *m, uint32_t bits);
const ir_type *ir_float(ir_module *m, uint32_t bits);
const ir_type *ir_vector(ir_module *m, const ir_type *elem, uint32_t count);
const ir_type *ir_pointer(ir_module *m, ir_space space, const ir_type *elem);
const ir_type *ir_array(ir_module *m, const ir_type *elem, uint64_t length); /* elem is complete */
/* A new struct without fields; pointers to it may be made before it is completed. The name is made unique. */
ir_type *ir_struct_new(ir_module *m, const char *name);
static inline bool ir_is_scalar(const ir_type *t) { return t->kind >= IR_BOOL && t->kind <= IR_FLOAT; }
/* Lays out fields as C does: offsets, size, alignment. `aligns` may be NULL; else the attribute aligned of each field
 * (0: none). */
void ir_struct_complete(ir_module *m, ir_type *type, const ir_type *const *fields, const char *const *names,
                        const uint64_t *aligns, uint32_t count, bool is_union, bool is_packed, uint64_t align);
/* bool with the shape of `type`: scalar or vector. */
const ir_type *ir_bool_like(ir_module *m, const ir_type *type);
/* `type` with another element: scalar or vector of the same count. */
const ir_type *ir_with_elem(ir_module *m, const ir_type *type, const ir_type *elem);
static inline const ir_type *ir_elem_of(const ir_type *t) { return t->kind == IR_VECTOR ? t->elem : t; }
static inline uint32_t ir_lanes_of(const ir_type *t) { return t->kind == IR_VECTOR ? t->count : 1; }
/* size_t of the model. */
const ir_type *ir_size_type(ir_module *m);
/* "f32x4", "ptr global i8", "[4 x i32]", "@particle". */
void ir_type_print(const ir_type *type, qn_bytes *out);

/* ---- Operations --------------------------------------------------------------------------------- */

/* X(ID, text, operands, class)
 * Component-wise operations take scalars or vectors of one type. Classes:
 *   LEAF     not in a block: constants, parameters, addresses of variables
 *   UN BIN TRI  component-wise, result type = operand type        CMP  component-wise, result bool (vector)
 *   CONV     component-wise, other element type                   PURE other pure values
 *   MEM      reads or writes memory                               SYNC barriers, fences, atomics
 *   CTRL     holds blocks or leaves one
 * operands: a number, or -1 for any.
 *
 * Leaves
 *   CONST      scalar: imm holds the bits
 *   AGGREGATE  vector, array or struct of constants (args). An array's last parts may be missing: they are zero. A
 *              union has one part, for its first field of the part's type
 *   ZERO       all bytes zero: vector, array, struct, the null pointer (a scalar's zero is a CONST)
 *   UNDEF      any value, the same at each use
 *   PARAM      imm is the index
 *   ADDRESS    of u.var, plus imm bytes (imm and another pointer type only in initialisers)
 * Integers (AND OR XOR NOT also of bool)
 *   x / 0 = 0, x % 0 = x, INT_MIN / -1 = INT_MIN, INT_MIN % -1 = 0. Shift amounts are taken modulo the width.
 *   CLZ, CTZ of 0: the width.
 * Floats: IEEE, round to nearest even; each is correctly rounded. A NaN that is made is any NaN.
 *   FREM is C's fmod, FMA has one rounding, FMIN and FMAX: a NaN loses against a number; of two zeros either.
 *   FNEG, FABS, COPYSIGN work on bits. FROUND is C's round (halves away from zero).
 * Comparisons: EQ NE also of bool; EQ NE ULT ULE also of pointers of one space. F..: ordered but FNE, which is true of
 *   NaNs.
 * Conversions
 *   ZEXT SEXT  also from bool
 *   FTOS FTOU  toward zero; out of range: any value, with IR_SAT the nearest, NaN 0
 *   STOF UTOF  of an integer (or bool, UTOF); as FNARROW: round to nearest even
 *   BITCAST    values of one total size; a 3-vector only from and to 3-vectors
 * Values
 *   SELECT     bool or bool vector, a, b: a where true; a scalar bool chooses whole values, pointers too
 *   VEC        as many scalars as lanes
 *   EXTRACT    vector, index (any int; out of range: any lane)
 *   INSERT     vector, scalar, index (out of range: any lane may be changed)
 *   SHUFFLE    a, b of one type; u.mask: lanes of a then b; -1: any value. The result has 2 to 16 lanes
 *   ELEM       pointer + signed index, in elements; same type
 *   INDEX      pointer to array or vector, signed index -> pointer to element
 *   FIELD      pointer to struct, imm -> pointer to field
 *   PCAST      pointer of another element type, or to and from generic
 *   PTOI ITOP  pointer <-> integer of any width, zero-extended or cut
 *   PDIFF      signed distance in elements, size type
 * Work-item queries: imm is the dimension 0..2; result: size type. WORK_DIM: i32. LOCAL_SIZE is that of this group.
 * Memory
 *   LOAD       scalar, vector, pointer or bool; imm: alignment in bytes, 0 = the type's. A 3-vector may touch 4 elements
 *   STORE      pointer, value; imm as for load
 *   VLOAD      element pointer -> vector of consecutive elements, aligned as an element; a 3-vector touches 3
 *   VSTORE     element pointer, vector; a 3-vector writes 3 elements
 *   COPY       target, source: pointers to one type; all its bytes; imm as for load. They are equal or don't overlap
 *   FRESH      address of a private variable: what it held is gone; it starts undefined here
 *   CALL       u.callee; arguments
 * Synchronisation
 *   BARRIER FENCE  imm = IR_FENCE_LOCAL | IR_FENCE_GLOBAL
 *   ATOMIC     u.atomic.rmw; pointer to i32, i64, f32, f64, then value(s); result: the old value (STORE: none).
 *              CMPXCHG: pointer, expected, new
 * Control
 *   IF         bool; blocks: then, else
 *   LOOP       blocks: body, continue. Ends only by break or break_if
 *   SWITCH     int; blocks: one a case in the order of `cases`, then default. No fall-through
 *   BREAK      leaves the innermost loop or switch; not in a continue block (but in a switch there)
 *   CONTINUE   to the continue block of the innermost loop; not from its continue block
 *   BREAK_IF   last in a continue block: leaves the loop when true
 *   RETURN     leaves the function; in a region it ends the region for that work-item. Not in a continue block
 *   TRAP       must not be reached
 *   REGION     after pass `regions`, in kernels for CPUs: the block runs once for each work-item of the group; outside
 *              of regions code runs once a group */
/* clang-format off */
#define IR_OPS(X) \
  X(CONST, "const", 0, LEAF) X(AGGREGATE, "aggregate", -1, LEAF) X(ZERO, "zero", 0, LEAF) X(UNDEF, "undef", 0, LEAF) X(PARAM, "param", 0, LEAF) X(ADDRESS, "address", 0, LEAF) \
  X(ADD, "add", 2, BIN) X(SUB, "sub", 2, BIN) X(MUL, "mul", 2, BIN) X(SDIV, "sdiv", 2, BIN) X(UDIV, "udiv", 2, BIN) X(SREM, "srem", 2, BIN) X(UREM, "urem", 2, BIN) \
  X(AND, "and", 2, BIN) X(OR, "or", 2, BIN) X(XOR, "xor", 2, BIN) X(NOT, "not", 1, UN) \
  X(SHL, "shl", 2, BIN) X(LSHR, "lshr", 2, BIN) X(ASHR, "ashr", 2, BIN) X(ROTL, "rotl", 2, BIN) \
  X(SMIN, "smin", 2, BIN) X(SMAX, "smax", 2, BIN) X(UMIN, "umin", 2, BIN) X(UMAX, "umax", 2, BIN) X(SMULHI, "smulhi", 2, BIN) X(UMULHI, "umulhi", 2, BIN) \
  X(SADDSAT, "saddsat", 2, BIN) X(UADDSAT, "uaddsat", 2, BIN) X(SSUBSAT, "ssubsat", 2, BIN) X(USUBSAT, "usubsat", 2, BIN) \
  X(CLZ, "clz", 1, UN) X(CTZ, "ctz", 1, UN) X(POPCOUNT, "popcount", 1, UN) \
  X(FADD, "fadd", 2, BIN) X(FSUB, "fsub", 2, BIN) X(FMUL, "fmul", 2, BIN) X(FDIV, "fdiv", 2, BIN) X(FREM, "frem", 2, BIN) \
  X(FNEG, "fneg", 1, UN) X(FABS, "fabs", 1, UN) X(FMA, "fma", 3, TRI) X(SQRT, "sqrt", 1, UN) X(RSQRT, "rsqrt", 1, UN) \
  X(FLOOR, "floor", 1, UN) X(CEIL, "ceil", 1, UN) X(FTRUNC, "ftrunc", 1, UN) X(RINT, "rint", 1, UN) X(FROUND, "fround", 1, UN) \
  X(FMIN, "fmin", 2, BIN) X(FMAX, "fmax", 2, BIN) X(COPYSIGN, "copysign", 2, BIN) \
  X(EQ, "eq", 2, CMP) X(NE, "ne", 2, CMP) X(SLT, "slt", 2, CMP) X(SLE, "sle", 2, CMP) X(ULT, "ult", 2, CMP) X(ULE, "ule", 2, CMP) \
  X(FEQ, "feq", 2, CMP) X(FNE, "fne", 2, CMP) X(FLT, "flt", 2, CMP) X(FLE, "fle", 2, CMP) \
  X(TRUNC, "trunc", 1, CONV) X(ZEXT, "zext", 1, CONV) X(SEXT, "sext", 1, CONV) X(FTOS, "ftos", 1, CONV) X(FTOU, "ftou", 1, CONV) \
  X(STOF, "stof", 1, CONV) X(UTOF, "utof", 1, CONV) X(FNARROW, "fnarrow", 1, CONV) X(FWIDEN, "fwiden", 1, CONV) X(BITCAST, "bitcast", 1, CONV) \
  X(SELECT, "select", 3, PURE) X(VEC, "vec", -1, PURE) X(SPLAT, "splat", 1, PURE) X(EXTRACT, "extract", 2, PURE) X(INSERT, "insert", 3, PURE) X(SHUFFLE, "shuffle", 2, PURE) \
  X(ELEM, "elem", 2, PURE) X(INDEX, "index", 2, PURE) X(FIELD, "field", 1, PURE) X(PCAST, "pcast", 1, PURE) X(PTOI, "ptoi", 1, PURE) X(ITOP, "itop", 1, PURE) X(PDIFF, "pdiff", 2, PURE) \
  X(GLOBAL_ID, "global_id", 0, PURE) X(LOCAL_ID, "local_id", 0, PURE) X(GROUP_ID, "group_id", 0, PURE) X(GLOBAL_SIZE, "global_size", 0, PURE) \
  X(LOCAL_SIZE, "local_size", 0, PURE) X(ENQUEUED_SIZE, "enqueued_size", 0, PURE) X(NUM_GROUPS, "num_groups", 0, PURE) \
  X(GLOBAL_OFFSET, "global_offset", 0, PURE) X(WORK_DIM, "work_dim", 0, PURE) \
  X(LOAD, "load", 1, MEM) X(STORE, "store", 2, MEM) X(VLOAD, "vload", 1, MEM) X(VSTORE, "vstore", 2, MEM) X(COPY, "copy", 2, MEM) X(FRESH, "fresh", 1, MEM) X(CALL, "call", -1, MEM) \
  X(BARRIER, "barrier", 0, SYNC) X(FENCE, "fence", 0, SYNC) X(ATOMIC, "atomic", -1, SYNC) \
  X(IF, "if", 1, CTRL) X(LOOP, "loop", 0, CTRL) X(SWITCH, "switch", 1, CTRL) X(BREAK, "break", 0, CTRL) X(CONTINUE, "continue", 0, CTRL) \
  X(BREAK_IF, "break_if", 1, CTRL) X(RETURN, "return", -1, CTRL) X(TRAP, "trap", 0, CTRL) X(REGION, "region", 0, CTRL)
/* clang-format on */

typedef enum ir_op {
#define QN_X(id, text, operands, class) IR_##id,
  IR_OPS(QN_X)
#undef QN_X
      IR_OP_COUNT
} ir_op;

typedef enum ir_class {
  IR_CLASS_LEAF,
  IR_CLASS_UN,
  IR_CLASS_BIN,
  IR_CLASS_TRI,
  IR_CLASS_CMP,
  IR_CLASS_CONV,
  IR_CLASS_PURE,
  IR_CLASS_MEM,
  IR_CLASS_SYNC,
  IR_CLASS_CTRL
} ir_class;
typedef struct ir_op_info {
  const char *text;
  int operands;
  ir_class cls;
} ir_op_info;
extern const ir_op_info ir_op_table[IR_OP_COUNT];

enum { IR_FENCE_LOCAL = 1, IR_FENCE_GLOBAL = 2 };

/* Read-modify-write kinds: X(ID, text). Floats: LOAD, STORE, XCHG, CMPXCHG (bits), FADD, FMIN, FMAX. */
/* clang-format off */
#define IR_RMWS(X) \
  X(LOAD, "load") X(STORE, "store") X(XCHG, "xchg") X(CMPXCHG, "cmpxchg") X(ADD, "add") X(SUB, "sub") \
  X(AND, "and") X(OR, "or") X(XOR, "xor") X(SMIN, "smin") X(SMAX, "smax") X(UMIN, "umin") X(UMAX, "umax") \
  X(FADD, "fadd") X(FMIN, "fmin") X(FMAX, "fmax")
/* clang-format on */
typedef enum ir_rmw {
#define QN_X(id, text) IR_RMW_##id,
  IR_RMWS(QN_X)
#undef QN_X
      IR_RMW_COUNT
} ir_rmw;
typedef enum ir_order { IR_RELAXED, IR_ACQUIRE, IR_RELEASE, IR_ACQ_REL, IR_SEQ_CST } ir_order;
typedef enum ir_scope { IR_SCOPE_ITEM, IR_SCOPE_SUB_GROUP, IR_SCOPE_GROUP, IR_SCOPE_DEVICE, IR_SCOPE_SYSTEM } ir_scope;

/* Instruction flags; printed as words after the operands. */
enum {
  IR_CONTRACT = 1 << 0, /* fadd, fsub, fmul: may be fused into fma */
  IR_FAST = 1 << 1,     /* -cl-fast-relaxed-math: reassociate, no NaN, no infinity, no signed zero, reciprocal */
  IR_SAT = 1 << 2,      /* ftos, ftou */
  IR_VOLATILE = 1 << 3, /* load, store, copy */
  IR_NSW = 1 << 4,      /* add, sub, mul: signed overflow gives any value (C's int arithmetic) */
};

struct ir_inst {
  ir_op op;
  uint32_t flags;
  const ir_type *type; /* of the result; void: none */
  ir_inst **args;
  uint32_t arg_count;
  uint32_t id;      /* numbered by the printer; scratch for passes otherwise */
  qn_loc loc;       /* not part of the text form, as is: */
  const char *name; /* of the source's variable that it is the value of; NULL: none */
  ir_block *parent; /* NULL for leaves */
  ir_inst *prev, *next;
  uint64_t imm; /* const: bits; dimension, field, fence flags, align of load/store, param index */
  union {
    ir_var *var;           /* ADDRESS */
    ir_function *callee;   /* CALL */
    ir_function *function; /* PARAM */
    const int32_t *mask;   /* SHUFFLE: as many as result lanes */
    struct {               /* IF, LOOP, SWITCH, REGION */
      ir_block **blocks;
      uint64_t *cases; /* SWITCH: block_count - 1 distinct values */
      uint32_t block_count;
    } ctrl;
    struct { /* ATOMIC */
      ir_rmw rmw;
      ir_order order;
      ir_scope scope;
    } atomic;
  } u;
  void *aux; /* scratch for one pass or target at a time */
};

struct ir_block {
  ir_inst *first, *last;
  ir_inst *owner; /* the instruction that holds it; NULL: the function's body */
  uint32_t hint;  /* its number among the owner's blocks, when it was looked for last */
};

/* ---- Variables, functions, modules --------------------------------------------------------------- */

typedef enum ir_storage {
  IR_STORE_PLAIN,   /* private: one a work-item; local: one a group; constant: one a program */
  IR_STORE_CONTEXT, /* private, after pass `regions`: one a work-item, kept between regions */
  IR_STORE_GROUP    /* private, after pass `regions`: one a group, holds a uniform value */
} ir_storage;

struct ir_var {
  const char *name; /* unique in its function (private) or module (others); a private one starts with no digit */
  const ir_type *type;
  ir_space space; /* PRIVATE, LOCAL or CONSTANT */
  ir_storage storage;
  uint64_t align;        /* 0: the type's */
  ir_inst *init;         /* CONSTANT: always; else NULL */
  ir_inst *address;      /* the leaf that names it */
  ir_function *function; /* NULL: a constant of the module */
  ir_var *next;
  uint64_t offset; /* LOCAL: set by pass `layout`; CONTEXT, GROUP: in scratch */
  uint32_t id;     /* scratch for passes */
  bool is_whole;   /* CONTEXT: some region accesses it otherwise than by its type's scalars. For the target llvm */
  void *aux;
};

typedef struct ir_param {
  const char *name;
  const ir_type *type;
  ir_inst *value;   /* the PARAM leaf */
  bool byval, sret; /* a pointer to private that stands for a struct */
  bool is_const, is_restrict, is_volatile;
  /* kernels, for reflection: */
  const char *type_name; /* as in the source */
  uint32_t element_type; /* QN_TYPE_..., with the sign that the source has */
  uint32_t access;       /* QN_ACCESS_..., found by a pass; 0: not known */
} ir_param;

struct ir_function {
  const char *name;
  ir_module *module;
  const ir_type *result;
  ir_param *params;
  uint32_t param_count;
  ir_block *body;              /* NULL: declared; a library function is linked by pass `link` */
  ir_var *vars, *last_var;     /* private, in order */
  ir_var *locals, *last_local; /* static local memory, kernels only */
  bool is_kernel;
  bool is_inline, is_noinline;
  bool has_regions;  /* pass `regions` ran */
  uint8_t is_common; /* a target's note: same result for same arguments in all items. 0: not looked at, 1: no, 2: yes */
  uint64_t required_local[3], hinted_local[3];
  qn_loc loc;
  ir_function *next;
  uint64_t static_local_bytes; /* set by passes */
  uint64_t scratch_bytes_per_item, scratch_bytes_per_group;
  void *aux;
};

struct ir_module {
  qn_arena *arena;
  qn_model model;
  ir_type *types;
  ir_function *functions, *last_function; /* in order of first declaration */
  qn_map function_names;
  ir_var *constants, *last_constant;
  uint32_t next_id;
  bool fast_math;
  bool failed;              /* out of memory somewhere: the module must not be used */
  qn_sources *sources;      /* that locations are of, in the arena; NULL: there are none */
  struct ir_intern *intern; /* tables of types and constants */
};

ir_module *ir_module_new(qn_arena *arena, const qn_model *model);
/* Frees what the arena doesn't hold. */
void ir_module_free(ir_module *m);

/* A function by name, made when it is not there. NULL: out of memory. */
ir_function *ir_function_get(ir_module *m, qn_sv name);
ir_function *ir_function_find(ir_module *m, qn_sv name);
/* Gives a function its signature; param names may be NULL. Makes the PARAM leaves. */
void ir_function_signature(ir_function *f, const ir_type *result, const ir_type *const *params,
                           const char *const *names, uint32_t count);
ir_block *ir_block_new(ir_module *m, ir_inst *owner);
ir_var *ir_var_private(ir_function *f, const char *name, const ir_type *type);
ir_var *ir_var_local(ir_function *f, const char *name, const ir_type *type);
ir_var *ir_var_constant(ir_module *m, const char *name, const ir_type *type, ir_inst *init);

/* ---- Leaves (interned where they are constants) -------------------------------------------------- */

ir_inst *ir_const_int(ir_module *m, const ir_type *type, uint64_t bits);  /* int or bool; bits are cut to the width */
ir_inst *ir_const_float(ir_module *m, const ir_type *type, double value); /* rounded to the type */
ir_inst *ir_const_bits(ir_module *m, const ir_type *type, uint64_t bits); /* any scalar */
ir_inst *ir_const_aggregate(ir_module *m, const ir_type *type, ir_inst *const *parts, uint32_t count);
ir_inst *ir_const_splat(ir_module *m, const ir_type *type, ir_inst *scalar);
ir_inst *ir_zero(ir_module *m, const ir_type *type);
ir_inst *ir_undef(ir_module *m, const ir_type *type);
ir_inst *ir_address_offset(ir_module *m, ir_var *var, const ir_type *type, uint64_t bytes);
static inline bool ir_is_const(const ir_inst *i) {
  return i->op == IR_CONST || i->op == IR_ZERO || i->op == IR_AGGREGATE;
}

/* ---- Builder ------------------------------------------------------------------------------------ */

/* Appends to `block` (or before `before` when it is set). Every maker gives the result type itself where the operands
 * decide it and folds operations on constants (ir_fold). */
typedef struct ir_builder {
  ir_module *m;
  ir_function *f;
  ir_block *block;
  ir_inst *before;
  qn_loc loc;
  uint32_t fp_flags; /* IR_CONTRACT | IR_FAST, put on float operations */
} ir_builder;

/* The general maker: no folding. */
ir_inst *ir_emit(ir_builder *b, ir_op op, const ir_type *type, ir_inst *const *args, uint32_t count);
ir_inst *ir_un(ir_builder *b, ir_op op, ir_inst *x);
ir_inst *ir_bin(ir_builder *b, ir_op op, ir_inst *x, ir_inst *y); /* BIN, CMP, PDIFF */
ir_inst *ir_tri(ir_builder *b, ir_op op, ir_inst *x, ir_inst *y, ir_inst *z);
ir_inst *ir_conv(ir_builder *b, ir_op op, ir_inst *x, const ir_type *type); /* CONV, PCAST, PTOI, ITOP */
ir_inst *ir_select(ir_builder *b, ir_inst *c, ir_inst *x, ir_inst *y);
ir_inst *ir_vec(ir_builder *b, const ir_type *type, ir_inst *const *parts);
ir_inst *ir_splat(ir_builder *b, const ir_type *type, ir_inst *scalar);
ir_inst *ir_extract(ir_builder *b, ir_inst *v, ir_inst *index);
ir_inst *ir_extract_at(ir_builder *b, ir_inst *v, uint32_t lane);
ir_inst *ir_insert(ir_builder *b, ir_inst *v, ir_inst *scalar, ir_inst *index);
ir_inst *ir_shuffle(ir_builder *b, ir_inst *x, ir_inst *y, const int32_t *mask, uint32_t lanes);
ir_inst *ir_elem(ir_builder *b, ir_inst *p, ir_inst *index);
ir_inst *ir_index(ir_builder *b, ir_inst *p, ir_inst *index);
ir_inst *ir_field_at(ir_builder *b, ir_inst *p, uint32_t field);
ir_inst *ir_query(ir_builder *b, ir_op op, uint32_t dimension);
ir_inst *ir_load(ir_builder *b, ir_inst *p);
ir_inst *ir_store(ir_builder *b, ir_inst *p, ir_inst *v);
ir_inst *ir_vload(ir_builder *b, ir_inst *p, uint32_t count);
ir_inst *ir_vstore(ir_builder *b, ir_inst *p, ir_inst *v);
ir_inst *ir_copy(ir_builder *b, ir_inst *target, ir_inst *source);
ir_inst *ir_fresh(ir_builder *b, ir_var *var);
ir_inst *ir_call(ir_builder *b, ir_function *callee, ir_inst *const *args, uint32_t count);
ir_inst *ir_atomic(ir_builder *b, ir_rmw rmw, ir_order order, ir_scope scope, ir_inst *const *args, uint32_t count);
ir_inst *ir_barrier(ir_builder *b, ir_op op, uint32_t fences);
/* Control instructions come with empty blocks; move the builder into them with ir_into. */
ir_inst *ir_if(ir_builder *b, ir_inst *condition);
ir_inst *ir_loop(ir_builder *b);
ir_inst *ir_switch(ir_builder *b, ir_inst *value, const uint64_t *cases, uint32_t count); /* NULL: out of memory */
ir_inst *ir_region(ir_builder *b);
ir_inst *ir_leave(ir_builder *b, ir_op op); /* BREAK, CONTINUE, TRAP */
ir_inst *ir_break_if(ir_builder *b, ir_inst *condition);
ir_inst *ir_return(ir_builder *b, ir_inst *value); /* NULL: none */
static inline ir_block *ir_into(ir_builder *b, ir_block *block) {
  ir_block *old = b->block;
  b->block = block;
  b->before = 0;
  return old;
}
/* Whether a block's end can not be reached (it ends in break, continue, return or trap). */
bool ir_block_ends(const ir_block *block);

/* ---- Editing and walking ------------------------------------------------------------------------- */

void ir_inst_remove(ir_inst *inst);
void ir_inst_move_before(ir_inst *inst, ir_inst *where);
void ir_inst_append(ir_block *block, ir_inst *inst);
/* Calls fn for each instruction in order, outer before inner; false stops. `fn` may remove the instruction it is given.
 */
bool ir_walk(ir_block *block, bool (*fn)(void *user, ir_inst *inst), void *user);
/* The instruction after `inst` in the order of the text, into its blocks first; NULL at the end of the body. */
ir_inst *ir_next_inst(const ir_inst *inst);
/* The functions of the module, each after those that it calls; in the arena. Uses `aux` of functions. False: out of
 * memory, or `*out_again` calls itself. */
bool ir_call_order(ir_module *m, ir_function ***out_functions, uint32_t *out_count, ir_function **out_again);
/* Replaces every use of `from` in the function by `to`. */
void ir_replace_uses(ir_function *f, ir_inst *from, ir_inst *to);
/* Numbers all instructions from 0 in order; returns how many. */
uint32_t ir_number(ir_function *f);
/* How many blocks an instruction holds. */
static inline uint32_t ir_block_count(const ir_inst *inst) {
  bool holds_blocks = inst->op == IR_IF || inst->op == IR_LOOP || inst->op == IR_SWITCH || inst->op == IR_REGION;
  return holds_blocks ? inst->u.ctrl.block_count : 0;
}
bool ir_has_effect(const ir_inst *inst); /* may not be removed when unused */

/* The value of an operation on constants, or NULL when it can't be folded. Also the interpreter's arithmetic: exact. */
ir_inst *ir_fold(ir_module *m, ir_op op, uint32_t flags, const ir_type *type, ir_inst *const *args, uint32_t count);
ir_inst *ir_fold_shuffle(ir_module *m, ir_inst *x, ir_inst *y, const int32_t *mask, uint32_t lanes);
/* One scalar step of a component-wise operation on bits; false: no such operation. Correctly rounded. */
bool ir_eval_scalar(ir_op op, uint32_t flags, const ir_type *result, const ir_type *operand, const uint64_t *args,
                    uint64_t *out);

/* ---- Text, verifier ------------------------------------------------------------------------------ */

/* Canonical: the same module gives the same text, with values numbered in order. The key hashes this. */
void ir_print(ir_module *m, qn_bytes *out);
void ir_print_function(ir_function *f, qn_bytes *out);
/* One instruction, without what its blocks hold; for messages. */
void ir_print_inst(const ir_inst *inst, qn_bytes *out);
/* Adds what the text holds to `m` (so that library functions can be linked): functions that `m` declares get their
 * bodies, structs and constants of a name that is taken get another name. A module that is still empty takes over the
 * text's model. Errors: DATA with line and column, then `m` must not be used. */
QN_MUST_USE qn_status ir_parse(ir_module *m, qn_sv text, const char *name);
/* Blocks nest no deeper. */
#define IR_DEPTH_LIMIT 1000
/* Checks every rule of this header. Uses `id`, and `aux` of functions and variables. Errors: INTERNAL with the function
 * and the printed instruction; LIMIT when blocks nest too deep. */
QN_MUST_USE qn_status ir_verify(ir_module *m);

#endif

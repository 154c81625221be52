/* builtin_table.h - rows of the table and what the files builtin*.c share. */
#ifndef QUERN_COMPILER_FRONT_BUILTIN_TABLE_H
#define QUERN_COMPILER_FRONT_BUILTIN_TABLE_H

#include "compiler/front/builtin.h"

/* Element types that T stands for: one bit each. */
enum {
  E_I8 = 1 << 0,
  E_U8 = 1 << 1,
  E_I16 = 1 << 2,
  E_U16 = 1 << 3,
  E_I32 = 1 << 4,
  E_U32 = 1 << 5,
  E_I64 = 1 << 6,
  E_U64 = 1 << 7,
  E_F32 = 1 << 8,
  E_F64 = 1 << 9,
  BUILTIN_ELEMENTS = 10,

  E_SIGNED = E_I8 | E_I16 | E_I32 | E_I64,
  E_INT = E_SIGNED | E_U8 | E_U16 | E_U32 | E_U64,
  E_NARROW = E_I8 | E_U8 | E_I16 | E_U16 | E_I32 | E_U32, /* have an integer twice as wide */
  E_WORD = E_I32 | E_U32,
  E_ATOMIC = E_WORD | E_I64 | E_U64,
  E_FLOAT = E_F32 | E_F64,
  E_ALL = E_INT | E_FLOAT
};
/* Lanes that T may have. */
enum {
  L_1 = 1,
  L_2 = 2,
  L_3 = 4,
  L_4 = 8,
  L_8 = 16,
  L_16 = 32,
  L_VECTOR = L_2 | L_3 | L_4 | L_8 | L_16,
  L_ANY = L_1 | L_VECTOR,
  L_POINT = L_1 | L_2 | L_3 | L_4
};
enum {
  B_PURE = 1 << 0,    /* reads and writes no memory */
  B_BARRIER = 1 << 1, /* all work-items of the group must come to it */
  B_ITEM = 1 << 2     /* differs between the work-items of a group */
};

/* What compare and classify do. */
enum {
  COMPARE_EQUAL,
  COMPARE_NOT_EQUAL,
  COMPARE_GREATER,
  COMPARE_GREATER_EQUAL,
  COMPARE_LESS,
  COMPARE_LESS_EQUAL,
  COMPARE_LESS_GREATER,
  COMPARE_ORDERED,
  COMPARE_UNORDERED,
  CLASS_FINITE,
  CLASS_INFINITE,
  CLASS_NAN,
  CLASS_NORMAL,
  CLASS_SIGN
};

typedef enum builtin_rounding { ROUND_DEFAULT, ROUND_RTE, ROUND_RTZ, ROUND_RTP, ROUND_RTN } builtin_rounding;

typedef struct builtin_call builtin_call;
typedef ir_inst *(*builtin_emit_fn)(const builtin_call *c);

typedef struct builtin_row {
  const char *name; /* '#' stands for the lanes of a family: vload# */
  /* Result(parameters), a letter a type:
   *   T  the generic type          E  its element               V  vector of T with the family's lanes
   *   I  ints, as many as T        J  signed, U unsigned integers of T's shape and width
   *   W  integer of T's sign and shape, twice as wide           R  what a comparison of T gives
   *   i int   u uint   z size_t    f  float with the family's lanes   h half   v void
   *   *X  pointer that is written through   c*X  read only, constant memory too   g*X  global   a*X  global or local */
  const char *signature;
  uint16_t elements; /* of T; 0: there is no T */
  uint8_t lanes;     /* of T */
  uint8_t flags;
  builtin_emit_fn emit;
  uint16_t ops[3];     /* emit's own: operations for signed, unsigned, float; or another number in [0] */
  const char *library; /* without the suffix of the type */
  const char *fast;    /* library function of float under -cl-fast-relaxed-math */
} builtin_row;

struct front_builtin {
  qn_sv name;              /* as the source has it */
  const builtin_row *rows; /* NULL: convert_ and as_ */
  uint32_t row_count;
  uint32_t lanes;            /* of a family; 1 without a number */
  const front_type *type;    /* convert_, as_: the result */
  builtin_rounding rounding; /* convert_, vstore_half */
  bool is_saturated, is_reinterpretation;
};

/* What an overload's entry points to. */
typedef struct builtin_choice {
  const front_builtin *builtin;
  const builtin_row *row;
  const front_type *t;    /* T; NULL: none */
  const front_type *from; /* convert_, as_: the argument's type */
} builtin_choice;

/* A call that is emitted. */
struct builtin_call {
  front *f;
  ir_builder *b;
  const builtin_row *row;
  const builtin_choice *choice;
  const front_overload *overload;
  ir_inst *const *args;
  uint32_t count;
};

extern const builtin_row builtin_rows[];
extern const uint32_t builtin_row_count;

/* ---- Overloads of odd shape ---- */
bool builtin_resolve_conversion(front *f, const front_builtin *builtin, qn_loc loc, const front_type *const *args,
                                uint32_t count, front_overload *out);
bool builtin_resolve_shuffle(front *f, const front_builtin *builtin, qn_loc loc, const front_type *const *args,
                             uint32_t count, front_overload *out);
/* The end of every resolve: fills *out from a choice. False: out of memory. */
bool builtin_choose(front *f, const front_builtin *builtin, const builtin_row *row, const front_type *t,
                    const front_type *from, front_overload *out);
/* "(float4, int)" */
const char *builtin_args_text(front *f, const front_type *const *args, uint32_t count);

/* ---- Shared by emission ---- */
/* The IR type of the result. */
const ir_type *builtin_result(const builtin_call *c);
/* Calls a library function: per lane for vectors, each call with scalars. `elem` is the type of a scalar result. */
ir_inst *builtin_library(const builtin_call *c, const char *name, const ir_type *elem, ir_inst *const *args,
                         uint32_t count);
/* The library function `name`, declared with this signature when the module doesn't have it yet. */
ir_function *builtin_library_function(const builtin_call *c, const char *name, const ir_type *result,
                                      const ir_type *const *params, uint32_t count);
/* "sin" and 32: "sin.f32", in the arena. */
const char *builtin_library_name(const builtin_call *c, const char *base, uint32_t bits);
/* A constant of a scalar or vector type. */
ir_inst *builtin_number(const builtin_call *c, const ir_type *type, double value);
ir_inst *builtin_integer(const builtin_call *c, const ir_type *type, uint64_t value);
/* Integers of the shape and width of a type. */
const ir_type *builtin_bits_type(const builtin_call *c, const ir_type *type);

/* ---- Emitters, named by the table ---- */
/* The formatter settles on no layout here. */
/* clang-format off */
#define BUILTIN_EMITTERS(X) \
  X(op) \
  X(library) \
  X(pair) \
  X(abs) \
  X(abs_diff) \
  X(hadd) \
  X(rhadd) X(mad_hi) X(mad_sat) X(mul24) X(mad24) X(upsample) X(clamp) X(max) X(min) X(degrees) X(radians) X(mix) \
      X(step) X(smoothstep) X(sign) X(mad) X(fdim) X(fract) X(frexp) X(lgamma_r) X(modf) X(nan) X(maxmag) X(minmag) \
          X(divide) X(recip) X(cross) X(dot) X(geometric) X(compare) X(classify) X(any_all) X(bitselect) \
              X(select) X(vload) X(vstore) X(vload_half) X(vloada_half) X(vstore_half) X(vstorea_half) X(shuffle) \
                  X(query) X(linear_id) X(barrier) X(fence) X(prefetch) X(atomic) X(atomic_step)
/* clang-format on */
#define QN_X(name) ir_inst *builtin_emit_##name(const builtin_call *c);
BUILTIN_EMITTERS(QN_X)
#undef QN_X
ir_inst *builtin_emit_conversion(const builtin_call *c);

#endif

/* state.h - the front end's state, and what it asks of the built-in functions (builtin.h). */
#ifndef QUERN_COMPILER_FRONT_STATE_H
#define QUERN_COMPILER_FRONT_STATE_H

#include "base/arena.h"
#include "base/map.h"
#include "compiler/compiler.h"
#include "compiler/diag.h"
#include "compiler/front/type.h"
#include "compiler/ir/ir.h"
#include "compiler/pp/pp.h"

typedef struct front_token {
  pp_token pp;
  uint16_t keyword; /* front_keyword; 0: none */
} front_token;

struct front_scope;
struct front_func;
struct front_loop;

/* recover.h */
typedef struct front_span {
  uint32_t first_name; /* in the list of names that were passed */
  uint32_t errors;     /* told when it began */
  bool is_half_told;   /* that the device has none */
} front_span;
typedef struct front_recovery {
  front_span span; /* the innermost */
  pp_name **names; /* passed since the spans began that are open */
  uint32_t name_count, name_capacity;
  qn_loc outermost;          /* of the declaration of program scope */
  uint32_t outermost_errors; /* told when the declaration before that one began */
  uint32_t names_lost;       /* of the present function; as qn_diags.names_lost */
  bool is_damaged;           /* its braces may be wrong */
  bool has_line_errors;      /* something was told in a statement on this line */
  uint32_t line_errors;      /* what had been told when it began */
  bool is_past_end;          /* while panicking the ';' was taken */
  bool is_line_damaged;      /* what follows on the same line belongs to what was damaged */
} front_recovery;

/* What may send the work-items of a group different ways: a comparison of an item's id, or a switch on one. split.h */
typedef struct front_split {
  const struct front_expr *condition;
  /* The switch, and the labels from which this place is reached, the first to the last in its list; NULL: no switch. */
  const struct front_stmt *choice, *first, *last;
  const struct front_split *outer; /* the next one around it */
  uint32_t depth;
} front_split;

enum { FRONT_AHEAD = 6 }; /* tokens that may be looked at beforehand: `* const * name =` */

struct front {
  qn_arena *arena; /* the module's */
  pp *p;
  qn_diags *diags;
  const qn_compile_options *options; /* never NULL */
  ir_module *m;
  ir_builder b;          /* during emission: where instructions go; b.loc and b.fp_flags are set */
  bool is_goto_told;     /* in the present function */
  bool is_folding;       /* constants are computed: f->b has no function */
  bool is_emission_late; /* functions are emitted at the program's end */
  uint32_t fp_flags;     /* IR_FAST or 0: of all float operations */
  bool failed;           /* out of memory */

  /* tokens */
  front_token tok, ahead[FRONT_AHEAD];
  uint32_t ahead_count;
  bool is_panicking;        /* a syntax error was told and not yet recovered from */
  bool is_fatal;            /* nothing more is read */
  uint32_t depth;           /* of nesting */
  uint32_t level;           /* of statements */
  pp_name *last_space_word; /* "local" and the like before tok, which C's habits take for a name; NULL: another token */
  pp_name *told_keyword;    /* a keyword that was used as a name */
  bool last_is_brace;       /* that token was a '}' */
  qn_loc last_loc;          /* of the token before tok */
  uint32_t last_length;
  front_recovery recovery;
  uint32_t lacks_told; /* one bit a feature: lack.c */
  bool fp_contract;    /* #pragma OPENCL FP_CONTRACT */

  /* names */
  struct front_name *names; /* every identifier that was ever declared */
  struct front_scope *scope;

  /* functions, in order of declaration */
  struct front_func *funcs, *last_func;
  struct front_func *func; /* the one that is parsed or emitted; NULL: program scope */
  struct front_loop *loop; /* the innermost loop or switch that is parsed */
  uint32_t subscripts;     /* that are open */
  front_split split;       /* around what is parsed; without a condition: none */

  /* types: key of operation and operands -> front_type */
  qn_map types;
  const front_type *void_type, *bool_type;
  const front_type *ints[4][2]; /* 8, 16, 32, 64 bits; unsigned, signed */
  const front_type *floats[3];  /* 16, 32, 64 bits */
};

/* ---- What the front end asks of builtin.h ---------------------------------------------------------
 *
 * Trees are typed before anything is emitted, so a call has two steps.
 *
 *   typedef struct front_builtin front_builtin;            one name
 *   const front_builtin *front_builtin_find(front *f, qn_sv name);             NULL: no such built-in
 *   void front_builtin_names(void (*fn)(void *user, qn_sv name), void *user);  for "did you mean"
 *
 *   bool front_builtin_resolve(front *f, const front_builtin *builtin, qn_loc loc, const front_type *const *args,
 *                              uint32_t count, front_overload *out);
 * Chooses the overload for argument types (already decayed and unqualified, none is FRONT_ERROR) and fills
 * front_overload below; params are what the arguments must be converted to, and the front end converts them by the
 * rules of assignment. False: it has reported at `loc` (wrong count, no overload that fits, half or double missing in
 * the model ...).
 *
 *   ir_inst *front_builtin_emit(front *f, const front_overload *overload, ir_inst *const *args);
 * Emits through f->b, whose loc is set; args have the IR types of params. The result has the IR type of `result`; for
 * void anything. A work-item query with a constant dimension gives the IR query, others select; a bad constant argument
 * may be reported here too (then return NULL, and the caller goes on with an undefined value). */
#define FRONT_OVERLOAD_PARAMS 8
typedef struct front_builtin front_builtin; /* builtin.h */
typedef struct front_overload {
  const front_type *result;
  const front_type *params[FRONT_OVERLOAD_PARAMS];
  uint32_t count;
  bool is_pure;    /* no side effect, no memory */
  bool is_cheap;   /* a few pure instructions, no call and no memory: may be evaluated without need and on constants */
  bool is_barrier; /* all work-items of the group must come to it */
  bool is_item_id; /* get_global_id, get_local_id: differs between the work-items of a group */
  const void *entry; /* the built-ins' own */
  uint64_t detail;   /* the built-ins' own */
} front_overload;

/* Errors of the front end: one line with place; nothing when out of memory or stopped. */
void front_error(front *f, qn_loc loc, uint32_t length, const char *format, ...) __attribute__((format(printf, 4, 5)));
void front_warning(front *f, qn_loc loc, uint32_t length, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
void front_note(front *f, qn_loc loc, uint32_t length, const char *format, ...) __attribute__((format(printf, 4, 5)));

#endif

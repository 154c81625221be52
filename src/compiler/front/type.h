/* type.h - the front end's types: what C knows and the IR doesn't. Signs, qualifiers, address spaces of objects, tags.
 *
 * Types are interned: equal types are the same pointer (records by identity). A qualified type is a type of its own
 * whose `plain` is the same type without qualifiers and in private space; for an unqualified type `plain` is itself.
 * As in C, the address space belongs to the object's type: `__global float *` is a pointer whose `elem` is float in
 * space IR_GLOBAL. Qualifiers and space of an array are those of its elements.
 *
 * An enumeration is `uint`, or `int` when it has a negative constant, and has no type of its own. `signed char` is
 * `char`, `long long` is `long`. The type error (FRONT_ERROR) is what a reported expression has; nothing is reported
 * about it again.
 *
 * Owner: the arena of the `front` that made them. Out of memory is kept in front.failed: makers then give the type
 * error, never NULL. */
#ifndef QUERN_COMPILER_FRONT_TYPE_H
#define QUERN_COMPILER_FRONT_TYPE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/string_view.h"
#include "compiler/ir/ir.h"
#include "compiler/source.h"

typedef struct front front; /* state.h */
typedef struct front_type front_type;
typedef struct front_record front_record;

typedef enum front_kind {
  FRONT_ERROR,
  FRONT_VOID,
  FRONT_BOOL,
  FRONT_INT,     /* bits 8, 16, 32, 64; is_signed */
  FRONT_FLOAT,   /* bits 16, 32, 64 */
  FRONT_VECTOR,  /* elem: int or float; lanes 2, 3, 4, 8, 16 */
  FRONT_POINTER, /* elem: the pointee with its qualifiers and space */
  FRONT_ARRAY,   /* elem, length */
  FRONT_RECORD,  /* struct or union */
  FRONT_FUNCTION /* elem: the result; params */
} front_kind;

enum { FRONT_CONST = 1, FRONT_VOLATILE = 2, FRONT_RESTRICT = 4 };
/* The length of an array whose brackets are empty. */
#define FRONT_UNKNOWN_LENGTH UINT64_MAX

typedef struct front_member {
  qn_sv name; /* empty: an anonymous struct or union, whose members are looked up through it */
  const front_type *type;
  qn_loc loc;
  uint64_t align; /* attribute aligned; 0: none */
} front_member;

struct front_record {
  qn_sv tag; /* or the typedef's name of a record without a tag; may be empty */
  qn_loc loc;
  bool is_union, is_complete, is_packed;
  bool is_begun;                  /* its body was met */
  bool holds_pointer, holds_bool; /* in a member, or a member's member */
  bool is_failed;                 /* its body was reported: say nothing more about it */
  front_member *members;
  uint32_t member_count;
  uint64_t align; /* attribute aligned; 0: none */
  uint32_t depth; /* of types within */
  ir_type *ir;    /* made at the first mention, completed with the body; field i is member i */
};

struct front_type {
  front_kind kind;
  uint32_t quals; /* FRONT_CONST ... */
  ir_space space; /* of an object of this type; IR_PRIVATE unless qualified */
  bool is_signed;
  uint32_t bits;
  uint32_t depth;  /* how many types stand one in the other; a record's own is in it */
  uint32_t lanes;  /* vector, else 1 */
  uint64_t length; /* array, else 0 */
  const front_type *elem;
  const front_type *plain;
  front_record *record;
  const front_type *const *params; /* function: after adjustment, unqualified */
  uint32_t param_count;
};

/* ---- Makers -------------------------------------------------------------------------------------- */

const front_type *front_error_type(front *f);
const front_type *front_void(front *f);
const front_type *front_bool(front *f);
const front_type *front_int(front *f, uint32_t bits, bool is_signed);
const front_type *front_float(front *f, uint32_t bits);
const front_type *front_vector(front *f, const front_type *elem, uint32_t lanes);
const front_type *front_pointer(front *f, const front_type *pointee);
const front_type *front_array(front *f, const front_type *elem, uint64_t length);
const front_type *front_function_type(front *f, const front_type *result, const front_type *const *params,
                                      uint32_t count);
const front_type *front_record_type(front *f, front_record *record);
/* Adds qualifiers and, unless it is IR_PRIVATE, sets the space. Of an array: of its elements. */
const front_type *front_qualify(front *f, const front_type *type, uint32_t quals, ir_space space);
/* size_t, ptrdiff_t: 32 or 64 bits as the model says. */
const front_type *front_size_type(front *f);
const front_type *front_ptrdiff_type(front *f);
/* A pointer to `elem` in a space, with qualifiers of the pointee. */
const front_type *front_pointer_to(front *f, const front_type *elem, ir_space space, uint32_t quals);
/* `type` with another element: scalar stays scalar, a vector keeps its lanes. */
const front_type *front_with_elem(front *f, const front_type *type, const front_type *elem);
/* What a comparison of two `type` gives: int, or a vector of signed integers of the element's width. */
const front_type *front_truth_type(front *f, const front_type *type);
/* A built-in type by its name: "uint", "float4", "size_t", "unsigned" alone too; NULL: none. Used for keywords, and for
 * as_float4 and convert_uchar4_sat_rte. */
const front_type *front_type_named(front *f, qn_sv name);

/* The names of all built-in types, for "did you mean"; `numbers_only`: of those that conversions go to. */
void front_type_names(void (*fn)(void *user, qn_sv name), void *user, bool numbers_only);

/* ---- Questions ----------------------------------------------------------------------------------- */

static inline bool front_is(const front_type *t, front_kind kind) { return t->kind == kind; }
static inline bool front_is_vector(const front_type *t) { return t->kind == FRONT_VECTOR; }
static inline bool front_is_pointer(const front_type *t) { return t->kind == FRONT_POINTER; }
/* The element of a vector, else the type itself without qualifiers. */
static inline const front_type *front_elem(const front_type *t) { return t->kind == FRONT_VECTOR ? t->elem : t->plain; }
static inline uint32_t front_lanes(const front_type *t) { return t->kind == FRONT_VECTOR ? t->lanes : 1; }
/* Scalars only: bool counts as an integer. */
static inline bool front_is_integer(const front_type *t) { return t->kind == FRONT_INT || t->kind == FRONT_BOOL; }
static inline bool front_is_float(const front_type *t) { return t->kind == FRONT_FLOAT; }
static inline bool front_is_arithmetic(const front_type *t) { return front_is_integer(t) || front_is_float(t); }
static inline bool front_is_scalar(const front_type *t) { return front_is_arithmetic(t) || front_is_pointer(t); }
/* Scalars and vectors. */
static inline bool front_is_integral(const front_type *t) { return front_is_integer(front_elem(t)); }
static inline bool front_is_floating(const front_type *t) { return front_is_float(front_elem(t)); }
static inline bool front_is_numeric(const front_type *t) { return front_is_arithmetic(front_elem(t)); }
static inline bool front_is_aggregate(const front_type *t) { return t->kind == FRONT_ARRAY || t->kind == FRONT_RECORD; }
static inline bool front_same(const front_type *a, const front_type *b) { return a->plain == b->plain; }
/* Whether an object can be made of it: not void, not a function, no unknown length, no incomplete record. */
/* Whether nothing was told yet about this type's being incomplete; from now on it was. */
static inline bool front_is_incomplete_news(const front_type *type) {
  if (type->kind != FRONT_RECORD) return true;
  bool is_news = !type->record->is_failed;
  type->record->is_failed = true;
  return is_news;
}
bool front_is_complete(const front_type *t);

/* The IR's type of a value or an object of it. Bool is IR_BOOL. Incomplete types: arrays give length 0. */
const ir_type *front_ir(front *f, const front_type *t);
uint64_t front_sizeof(front *f, const front_type *t);
uint64_t front_alignof(front *f, const front_type *t);
/* QN_TYPE_... of the element of a scalar or vector; QN_TYPE_NONE else. */
uint32_t front_element_code(const front_type *t);
/* As a programmer writes it: "uint4", "__global const float *", "struct body". In the arena. */
const char *front_type_text(front *f, const front_type *t);

#endif

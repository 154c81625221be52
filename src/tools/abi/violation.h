/* violation.h - the kinds of violations, with why each is a hazard and what to do, and lists of them. */
#ifndef QUERN_TOOLS_ABI_VIOLATION_H
#define QUERN_TOOLS_ABI_VIOLATION_H

#include "interface.h"

typedef enum violation_kind {
  /* A1: what crosses a call */
  V_STRUCT_BY_VALUE,
  V_UNION_BY_VALUE,
  V_BOOL_BY_VALUE,
  V_ENUM_BY_VALUE,
  V_SMALL_BY_VALUE,
  V_LONG_BY_VALUE,
  V_SIZE_BY_VALUE,
  V_WCHAR_BY_VALUE,
  V_INT_BY_VALUE,
  V_WIDE_BY_VALUE,
  V_FLOAT_BY_VALUE,
  V_COMPLEX_BY_VALUE,
  V_VECTOR_BY_VALUE,
  V_OTHER_BY_VALUE,
  V_VARIADIC,
  V_UNPROTOTYPED,
  /* A2: what stands in memory */
  V_STRUCT_SIZE,
  V_BIT_FIELD,
  V_BOOL_FIELD,
  V_ENUM_FIELD,
  V_LONG_FIELD,
  V_SIZE_FIELD,
  V_WCHAR_FIELD,
  V_INT_FIELD,
  V_OTHER_FIELD,
  V_POINTER_SLOT,
  V_POINTER_ARRAY,
  V_UNION_FIRST,
  V_MISALIGNED,
  V_PADDING,
  V_TAIL_PADDING,
  V_SIZE_MULTIPLE,
  V_OVER_ALIGNED,
  /* A3: what differs between targets */
  V_LOWERS_DIFFERENTLY,
  V_LAYOUT_DIFFERS,
  V_ALIGNMENT_DIFFERS,
  V_VALUE_DIFFERS,
  V_ENUM_DIFFERS,
  V_VARIABLE_DIFFERS,
  V_MISSING,
  /* growth: what differs from an older version */
  V_REMOVED,
  V_FUNCTION_CHANGED,
  V_FIELD_REMOVED,
  V_FIELD_CHANGED,
  V_FIELD_INSERTED,
  V_STRUCT_SHRANK,
  V_STRUCT_GREW,
  V_ALIGNMENT_CHANGED,
  V_VALUE_CHANGED,
  V_VALUE_REMOVED,
  V_VALUE_REUSED,
  V_ENUM_RESIZED,
  V_VARIABLE_CHANGED,
  VIOLATION_KINDS
} violation_kind;

typedef struct violation_text {
  const char *name; /* "struct-by-value": in messages, allow lists and JSON */
  const char *rule; /* "A1", "A2", "A3", "growth" */
  const char *why;  /* the hazard, and on which ABI */
  const char *advice;
} violation_text;
extern const violation_text violation_texts[VIOLATION_KINDS];
/* VIOLATION_KINDS when no kind has the name. */
violation_kind violation_kind_named(const char *name);

typedef struct violation {
  violation_kind kind;
  abi_place place;
  const char *path;    /* of the input */
  const char *subject; /* "function", "struct.field", "function.parameter", "CONSTANT" */
  const char *what;
  const abi_target *const *targets; /* of the input */
  size_t target_count;
  abi_target_set on;
  const char *allowed; /* the reason, or NULL */
} violation;

typedef struct violations {
  violation *items;
  size_t count, capacity;
  pool_map keys;
  /* What is checked now: those that are added get its path and targets. */
  const abi_set *input;
} violations;

/* One that target number `target` of the input has. The same one on another target, or of another input at the same place,
 * is the same violation. */
void violation_add(violations *list, violation_kind kind, abi_place place, size_t target, const char *subject,
                   const char *format, ...) __attribute__((format(printf, 6, 7)));
/* By file and line; those of one line stay in their order. */
void violations_sort(violations *list);

#endif

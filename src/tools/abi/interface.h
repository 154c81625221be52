/* interface.h - what a compiler for one target makes of an interface: functions, callbacks, structs, enums, variables.
 *
 * Headers (header.h) and binaries (binary.h) are read into it; layout files (layout.h) are its text form; checks
 * (check.h) look at nothing else. All memory is the pool's.
 */
#ifndef QUERN_TOOLS_ABI_INTERFACE_H
#define QUERN_TOOLS_ABI_INTERFACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "pool.h"
#include "target.h"

typedef struct abi_place {
  const char *file; /* NULL: unknown */
  uint32_t line;
} abi_place;

/* X(name, word in layout files, noun in messages). A type is what its spelling means: uint64_t is FIXED wherever it is
 * `unsigned long`, and `unsigned long` is LONG everywhere. */
#define ABI_TYPE_KINDS(X)                                                            \
  X(ABI_VOID, "void", "nothing")                                                     \
  X(ABI_POINTER, "pointer", "a pointer")                                             \
  X(ABI_FIXED, "fixed", "an integer of fixed width")                                 \
  X(ABI_INT, "int", "an integer without a width in its name")                        \
  X(ABI_SMALL, "small", "an integer of fewer than 32 bits")                          \
  X(ABI_LONG, "long", "a long")                                                      \
  X(ABI_SIZE, "size", "an integer as wide as a pointer")                             \
  X(ABI_WCHAR, "wchar", "a wide character")                                          \
  X(ABI_WIDE, "wide", "an integer of more than 64 bits")                             \
  X(ABI_BOOL, "bool", "a bool")                                                      \
  X(ABI_ENUM, "enum", "an enum")                                                     \
  X(ABI_FLOAT, "float", "a floating-point number")                                   \
  X(ABI_EXTENDED, "extended", "a floating-point number of the machine's own format") \
  X(ABI_COMPLEX, "complex", "a complex number")                                      \
  X(ABI_VECTOR, "vector", "a vector")                                                \
  X(ABI_STRUCT, "struct", "a struct")                                                \
  X(ABI_UNION, "union", "a union")                                                   \
  X(ABI_OTHER, "other", "of a kind that C doesn't fix")
typedef enum abi_type_kind {
#define ABI_X(name, word, noun) name,
  ABI_TYPE_KINDS(ABI_X)
#undef ABI_X
      ABI_TYPE_KIND_COUNT
} abi_type_kind;
extern const char *const abi_type_words[ABI_TYPE_KIND_COUNT];
extern const char *const abi_type_nouns[ABI_TYPE_KIND_COUNT];

typedef struct abi_type {
  abi_type_kind kind; /* of an array: of its elements */
  bool is_array, is_flexible;
  uint64_t count; /* elements of an array, 1 else */
  uint64_t size;  /* bytes of the whole */
  const char *text;
  const char *record; /* of a struct or union: its name among the records, or NULL when it isn't one of them */
} abi_type;

typedef struct abi_parameter {
  const char *name; /* "" when it has none */
  abi_type type;
} abi_parameter;

typedef struct abi_function {
  const char *name; /* of a callback: its typedef, or where it stands: "struct.field", "function.parameter" */
  abi_place place;
  bool is_callback, is_variadic, is_unprototyped;
  const char *lowered; /* result and parameters as the IR has them; NULL: not known */
  abi_type result;
  struct {
    abi_parameter *items;
    size_t count, capacity;
  } parameters;
} abi_function;

typedef struct abi_field {
  const char *name; /* "(2)": the third member, which has none */
  abi_place place;
  abi_type type;
  bool is_bits;
  uint64_t offset, size; /* bytes; of a bit-field: bits */
} abi_field;

typedef struct abi_record {
  const char *name; /* without `struct`; "outer.field" when it has none */
  abi_place place;
  bool is_union;
  bool is_plain;        /* its comment says `plain data`: of fixed size for ever (docs/decisions/plain-data.md) */
  bool is_nested;       /* part of another, without a name of its own */
  const char *spelling; /* "struct NAME", or the typedef's name; NULL: not known */
  uint64_t size;
  uint64_t align; /* 0: not known */
  struct {
    abi_field *items;
    size_t count, capacity;
  } fields;
  pool_map field_names; /* of one that was read from text */
} abi_record;

typedef struct abi_value {
  const char *name;
  abi_place place;
  int64_t value; /* over INT64_MAX: its bits */
} abi_value;

typedef struct abi_enum {
  const char *name; /* of one without a name: "(FIRST)", after its first value */
  abi_place place;
  uint64_t size;
  struct {
    abi_value *items;
    size_t count, capacity;
  } values;
} abi_enum;

typedef struct abi_variable {
  const char *name;
  abi_place place;
  abi_type type;
} abi_variable;

#define ABI_LIST(type)      \
  struct {                  \
    type *items;            \
    size_t count, capacity; \
    pool_map names;         \
  }
typedef struct abi_interface {
  const abi_target *target;
  ABI_LIST(abi_function) functions; /* and callbacks */
  ABI_LIST(abi_record) records;
  ABI_LIST(abi_enum) enums;
  ABI_LIST(abi_variable) variables;
} abi_interface;

/* A new entry of the name, or NULL when there is one. The pointer is good until the next entry of its list is added. */
abi_function *abi_add_function(abi_interface *interface, const char *name);
abi_record *abi_add_record(abi_interface *interface, const char *name);
abi_enum *abi_add_enum(abi_interface *interface, const char *name);
abi_variable *abi_add_variable(abi_interface *interface, const char *name);

/* The entry of the name, or NULL. */
const abi_function *abi_function_named(const abi_interface *interface, const char *name);
const abi_record *abi_record_named(const abi_interface *interface, const char *name);
const abi_enum *abi_enum_named(const abi_interface *interface, const char *name);
const abi_variable *abi_variable_named(const abi_interface *interface, const char *name);

/* Of a record that was read from text (layout.h). */
const abi_field *abi_field_named(const abi_record *record, const char *name);
/* Whether its first field is `uint32_t struct_size`. */
bool abi_record_has_size(const abi_record *record);

/* One interface for several targets. */
typedef struct abi_set {
  const char *path;
  size_t count; /* at most 64 */
  const abi_target **targets;
  abi_interface **each;
  size_t unread; /* of a binary: exported functions without debug information, or of C++ */
} abi_set;

#endif

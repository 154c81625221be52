/* binary_type.c - types of debug information as ours. */
#include "binary_type.h"

#include <dwarf.h>
#include <string.h>

#include "type_name.h"

enum { MAX_STEPS = 64, MAX_DEPTH = 24, TEXT_DEPTH = 8 };

bool binary_next(Dwarf_Die *die) {
  Dwarf_Die next;
  /* What says that its sibling lies before it would lead round for ever. */
  if (dwarf_siblingof(die, &next) != 0 || dwarf_dieoffset(&next) <= dwarf_dieoffset(die)) return false;
  *die = next;
  return true;
}

/* libdw's dwarf_decl_file takes number 0, which DWARF 5 has, for none, and ends the program over a table that it can't read. */
static const char *file_of(Dwarf_Die *die) {
  Dwarf_Attribute attribute;
  Dwarf_Word number;
  Dwarf_Die unit;
  Dwarf_Files *files;
  size_t count;
  if (!dwarf_attr_integrate(die, DW_AT_decl_file, &attribute) || dwarf_formudata(&attribute, &number) != 0) return NULL;
  /* A number from an abstract origin is of that one's unit. */
  if (!dwarf_cu_die(attribute.cu, &unit, NULL, NULL, NULL, NULL, NULL, NULL) ||
      dwarf_getsrcfiles(&unit, &files, &count) != 0 || number >= count)
    return NULL;
  return dwarf_filesrc(files, number, NULL, NULL);
}

abi_place binary_place(Dwarf_Die *die) {
  int line = 0;
  const char *file = file_of(die);
  if (!file || dwarf_decl_line(die, &line) != 0 || line < 0) line = 0;
  return (abi_place){file ? pool_copy(file, strlen(file)) : NULL, (uint32_t)line};
}

static bool type_of(Dwarf_Die *die, Dwarf_Die *out) {
  Dwarf_Attribute attribute;
  Dwarf_Die type;
  if (!dwarf_attr_integrate(die, DW_AT_type, &attribute) || !dwarf_formref_die(&attribute, &type)) return false;
  *out = type;
  return true;
}

static uint64_t number_of(Dwarf_Die *die, unsigned name, uint64_t otherwise) {
  Dwarf_Attribute attribute;
  Dwarf_Word number;
  return dwarf_attr_integrate(die, name, &attribute) && dwarf_formudata(&attribute, &number) == 0 ? number : otherwise;
}

static const char *name_of(Dwarf_Die *die) {
  const char *name = dwarf_diename(die);
  return name && *name ? pool_copy(name, strlen(name)) : NULL;
}

static bool is_qualifier(int tag) {
  return tag == DW_TAG_const_type || tag == DW_TAG_volatile_type || tag == DW_TAG_restrict_type ||
         tag == DW_TAG_atomic_type;
}

static bool is_pointer(int tag) {
  return tag == DW_TAG_pointer_type || tag == DW_TAG_reference_type || tag == DW_TAG_rvalue_reference_type ||
         tag == DW_TAG_ptr_to_member_type || tag == DW_TAG_subroutine_type;
}

static bool is_struct(int tag) {
  return tag == DW_TAG_structure_type || tag == DW_TAG_class_type || tag == DW_TAG_union_type;
}

/* As C writes it, roughly: for messages. */
static const char *text_of(Dwarf_Die *type, bool present, int depth) {
  if (!present) return "void";
  int tag = dwarf_tag(type);
  const char *name = name_of(type);
  Dwarf_Die inner;
  if (depth > TEXT_DEPTH) return "...";
  if (is_struct(tag) || tag == DW_TAG_enumeration_type) {
    const char *keyword = tag == DW_TAG_union_type ? "union" : tag == DW_TAG_enumeration_type ? "enum" : "struct";
    return pool_format("%s %s", keyword, name ? name : "{...}");
  }
  if (name) return name;
  bool has_inner = type_of(type, &inner);
  if (tag == DW_TAG_subroutine_type) return "function";
  const char *text = text_of(&inner, has_inner, depth + 1);
  if (tag == DW_TAG_const_type) return pool_format("const %s", text);
  if (tag == DW_TAG_array_type) return pool_format("%s[]", text);
  return is_pointer(tag) ? pool_format("%s *", text) : text;
}

/* ---- What types reach ------------------------------------------------------------------------------------------------ */

static void add_enum(binary *b, Dwarf_Die *die, const char *name) {
  Dwarf_Die child;
  abi_enum e = {.name = name, .place = binary_place(die), .size = number_of(die, DW_AT_byte_size, 4)};
  if (pool_find(&b->out->enums.names, name) != POOL_NONE) return;
  if (dwarf_child(die, &child) == 0) {
    do {
      Dwarf_Attribute attribute;
      Dwarf_Sword value;
      const char *constant = dwarf_tag(&child) == DW_TAG_enumerator ? name_of(&child) : NULL;
      if (!constant || !dwarf_attr(&child, DW_AT_const_value, &attribute) || dwarf_formsdata(&attribute, &value) != 0)
        continue;
      *POOL_PUSH(&e.values) = (abi_value){constant, e.place, value};
    } while (binary_next(&child));
  }
  *abi_add_enum(b->out, name) = e;
}

/* Its name among the records, added when it is new. */
static const char *add_record(binary *b, Dwarf_Die *die, const char *name, bool nested) {
  if (!name || number_of(die, DW_AT_declaration, 0)) return NULL;
  abi_record *record = abi_add_record(b->out, name);
  if (!record) return name;
  record->place = binary_place(die);
  record->is_union = dwarf_tag(die) == DW_TAG_union_type;
  record->is_nested = nested;
  record->size = number_of(die, DW_AT_byte_size, 0);
  record->align = number_of(die, DW_AT_alignment, 0);
  *POOL_PUSH(&b->pending) = (struct binary_pending){*die, b->out->records.count - 1};
  return name;
}

/* The struct, enum or function that a pointer leads to. */
static void add_pointee(binary *b, Dwarf_Die *owner, Dwarf_Die type, const char *fallback) {
  const char *alias = NULL;
  Dwarf_Die where = *owner;
  for (int step = 0; step < MAX_STEPS; step++) {
    int tag = dwarf_tag(&type);
    const char *name = name_of(&type);
    if (is_struct(tag)) {
      add_record(b, &type, name ? name : alias ? alias : fallback, !name && !alias);
      return;
    }
    if (tag == DW_TAG_enumeration_type && (name || alias)) add_enum(b, &type, name ? name : alias);
    if (tag == DW_TAG_subroutine_type && (alias || fallback))
      binary_add_function(b, &type, &where, alias ? alias : fallback, true, true);
    if (tag == DW_TAG_typedef && name) alias = name, where = type;
    if (!type_of(&type, &type) || tag == DW_TAG_subroutine_type) return;
  }
}

/* ---- Types ----------------------------------------------------------------------------------------------------------- */

static uint64_t times(uint64_t a, uint64_t b) {
  uint64_t product;
  return __builtin_mul_overflow(a, b, &product) ? UINT64_MAX : product;
}

static void read_array(Dwarf_Die *array, abi_type *out) {
  Dwarf_Die range;
  out->is_array = true;
  if (dwarf_child(array, &range) != 0) return;
  do {
    if (dwarf_tag(&range) != DW_TAG_subrange_type) continue;
    uint64_t last = number_of(&range, DW_AT_upper_bound, UINT64_MAX), count = number_of(&range, DW_AT_count, last + 1);
    if (count == 0) out->is_flexible = true;
    out->count = times(out->count, count);
  } while (binary_next(&range));
}

static abi_type_kind base_kind(Dwarf_Die *die, uint64_t size) {
  abi_type_kind kind;
  const char *name = name_of(die);
  if (name && abi_base_kind(name, &kind)) return kind;
  switch (number_of(die, DW_AT_encoding, 0)) {
    case DW_ATE_boolean:
      return ABI_BOOL;
    case DW_ATE_complex_float:
      return ABI_COMPLEX;
    case DW_ATE_float:
      return size == 4 || size == 8 ? ABI_FLOAT : ABI_EXTENDED;
    case DW_ATE_signed:
    case DW_ATE_unsigned:
    case DW_ATE_signed_char:
    case DW_ATE_unsigned_char:
    case DW_ATE_UTF:
      return size < 4 ? ABI_SMALL : size > 8 ? ABI_WIDE : ABI_INT;
    default:
      return ABI_OTHER;
  }
}

/* What stands at the end of the chain of qualifiers, typedefs and arrays. */
static void read_end(binary *b, Dwarf_Die *type, const char *alias, const char *fallback, abi_type *out) {
  int tag = dwarf_tag(type);
  const char *name = name_of(type);
  out->size = number_of(type, DW_AT_byte_size, 0);
  if (is_pointer(tag)) {
    out->kind = ABI_POINTER;
    if (!out->size || tag == DW_TAG_subroutine_type) out->size = b->address_bytes;
  } else if (is_struct(tag)) {
    out->kind = tag == DW_TAG_union_type ? ABI_UNION : ABI_STRUCT;
    out->record = add_record(b, type, name ? name : alias ? alias : fallback, !name && !alias);
  } else if (tag == DW_TAG_enumeration_type) {
    out->kind = ABI_ENUM;
    if (name || alias) add_enum(b, type, name ? name : alias);
  } else if (tag == DW_TAG_base_type) {
    out->kind = base_kind(type, out->size);
  }
}

abi_type binary_type(binary *b, Dwarf_Die *owner, const char *fallback, bool passed) {
  abi_type out = {.kind = ABI_OTHER, .count = 1};
  Dwarf_Die type;
  const char *alias = NULL;
  bool present = type_of(owner, &type);
  out.text = text_of(&type, present, 0);
  if (!present) return out.kind = ABI_VOID, out;
  add_pointee(b, owner, type, fallback);
  for (int step = 0; step < MAX_STEPS; step++) {
    int tag = dwarf_tag(&type);
    const char *name = name_of(&type);
    bool known = tag == DW_TAG_typedef && name && abi_typedef_kind(name, &out.kind);
    abi_type_kind kind = out.kind;
    if (tag == DW_TAG_typedef && name) alias = name;
    if (tag == DW_TAG_array_type && number_of(&type, DW_AT_GNU_vector, 0)) return out.kind = ABI_VECTOR, out;
    if (tag == DW_TAG_array_type && passed) return out.kind = ABI_POINTER, out;
    if (tag == DW_TAG_array_type) read_array(&type, &out);
    if (tag != DW_TAG_typedef && tag != DW_TAG_array_type && !is_qualifier(tag)) {
      read_end(b, &type, alias, fallback, &out);
      break;
    }
    if (!type_of(&type, &type)) return out.kind = ABI_VOID, out;
    if (!known) continue;
    /* The name says what it is; the rest of the chain how large. */
    abi_type rest = {.count = 1};
    for (int more = 0; more < MAX_STEPS && (dwarf_tag(&type) == DW_TAG_typedef || is_qualifier(dwarf_tag(&type)));
         more++)
      if (!type_of(&type, &type)) break;
    read_end(b, &type, NULL, NULL, &rest);
    out.kind = kind;
    out.size = rest.size;
    break;
  }
  out.size = times(out.size, out.count);
  return out;
}

/* ---- Functions and structs ------------------------------------------------------------------------------------------- */

void binary_add_function(binary *b, Dwarf_Die *die, Dwarf_Die *where, const char *name, bool is_callback,
                         bool is_prototyped) {
  static int depth; /* callbacks of callbacks; one thread */
  Dwarf_Die child;
  abi_function f = {
      .name = name, .place = binary_place(where), .is_callback = is_callback, .is_unprototyped = !is_prototyped};
  if (!f.place.line) f.place = b->place;
  if (depth > MAX_DEPTH || !abi_add_function(b->out, name)) return;
  size_t at = b->out->functions.count - 1;
  abi_place outer = b->place;
  b->place = f.place;
  depth++;
  f.result = binary_type(b, die, pool_format("%s.result", name), true);
  if (dwarf_child(die, &child) == 0) {
    do {
      int tag = dwarf_tag(&child);
      if (tag == DW_TAG_unspecified_parameters) f.is_variadic = true;
      if (tag != DW_TAG_formal_parameter) continue;
      const char *word = name_of(&child);
      const char *whole =
          word ? pool_format("%s.%s", name, word) : pool_format("%s.(%zu)", name, f.parameters.count + 1);
      abi_parameter parameter = {word ? word : "", binary_type(b, &child, whole, true)};
      *POOL_PUSH(&f.parameters) = parameter;
      f.is_unprototyped = false;
    } while (binary_next(&child));
  }
  if (f.is_variadic && !f.parameters.count) f.is_variadic = false, f.is_unprototyped = true;
  depth--;
  b->place = outer;
  b->out->functions.items[at] = f;
}

/* Bytes from the struct's begin; a block is an expression that adds to its address. */
static uint64_t offset_of(Dwarf_Die *member) {
  Dwarf_Attribute attribute;
  Dwarf_Word number;
  Dwarf_Op *operations;
  size_t count;
  if (!dwarf_attr_integrate(member, DW_AT_data_member_location, &attribute)) return 0;
  if (dwarf_formudata(&attribute, &number) == 0) return number;
  if (dwarf_getlocation(&attribute, &operations, &count) == 0 && count == 1 && operations[0].atom == DW_OP_plus_uconst)
    return operations[0].number;
  return 0;
}

/* Bits from the struct's begin. The older form counts from the high end of the storage unit. */
static uint64_t bit_offset_of(Dwarf_Die *member, uint64_t bits, uint64_t unit_bytes) {
  uint64_t newer = number_of(member, DW_AT_data_bit_offset, UINT64_MAX);
  if (newer != UINT64_MAX) return newer;
  uint64_t older = number_of(member, DW_AT_bit_offset, UINT64_MAX),
           unit = number_of(member, DW_AT_byte_size, unit_bytes) * 8;
  uint64_t start = offset_of(member) * 8;
  return older == UINT64_MAX ? start : start + unit - older - bits;
}

static abi_field read_member(binary *b, Dwarf_Die *die, const abi_record *record) {
  const char *name = name_of(die);
  if (!name) name = pool_format("(%zu)", record->fields.count + 1);
  abi_field field = {.name = name, .place = binary_place(die), .offset = offset_of(die)};
  field.type = binary_type(b, die, pool_format("%s.%s", record->name, name), false);
  field.size = field.type.size;
  uint64_t bits = number_of(die, DW_AT_bit_size, 0);
  if (!bits) return field;
  field.is_bits = true;
  field.size = bits;
  field.offset = bit_offset_of(die, bits, field.type.size);
  return field;
}

void binary_fill_records(binary *b) {
  while (b->pending.count) {
    struct binary_pending next = b->pending.items[--b->pending.count];
    abi_record record = b->out->records.items[next.record];
    Dwarf_Die child;
    if (dwarf_child(&next.die, &child) != 0) continue;
    do {
      int tag = dwarf_tag(&child);
      if ((tag != DW_TAG_member && tag != DW_TAG_inheritance) || number_of(&child, DW_AT_external, 0)) continue;
      *POOL_PUSH(&record.fields) = read_member(b, &child, &record);
    } while (binary_next(&child));
    b->out->records.items[next.record] = record;
  }
}

/* check_records.c - A2: what structs consist of. */
#include <inttypes.h>
#include <string.h>

#include "check.h"

#define NO_VIOLATION VIOLATION_KINDS

enum { MAX_DEPTH = 32 };

static const violation_kind as_field[ABI_TYPE_KIND_COUNT] = {
    [ABI_VOID] = V_OTHER_FIELD,     [ABI_POINTER] = NO_VIOLATION,  [ABI_FIXED] = NO_VIOLATION,
    [ABI_INT] = V_INT_FIELD,        [ABI_SMALL] = NO_VIOLATION,    [ABI_LONG] = V_LONG_FIELD,
    [ABI_SIZE] = V_SIZE_FIELD,      [ABI_WCHAR] = V_WCHAR_FIELD,   [ABI_WIDE] = V_OTHER_FIELD,
    [ABI_BOOL] = V_BOOL_FIELD,      [ABI_ENUM] = V_ENUM_FIELD,     [ABI_FLOAT] = NO_VIOLATION,
    [ABI_EXTENDED] = V_OTHER_FIELD, [ABI_COMPLEX] = V_OTHER_FIELD, [ABI_VECTOR] = V_OTHER_FIELD,
    [ABI_STRUCT] = NO_VIOLATION,    [ABI_UNION] = NO_VIOLATION,    [ABI_OTHER] = V_OTHER_FIELD,
};

typedef struct records {
  violations *out;
  const abi_interface *interface;
  size_t target;
  bool fixed_width;
} records;

/* ---- Slots and units ------------------------------------------------------------------------------------------------- */

size_t check_slot(const abi_record *record, size_t at, uint64_t *out_bytes) {
  const abi_field *field = &record->fields.items[at];
  *out_bytes = field->size;
  if (field->is_bits || field->type.kind != ABI_POINTER || field->type.is_array || field->size != 4) return 1;
  if (record->is_union || at + 1 == record->fields.count) return 1;
  const abi_field *upper = &record->fields.items[at + 1];
  size_t length = strlen(field->name);
  if (strncmp(upper->name, field->name, length) != 0 || strcmp(upper->name + length, "_upper") != 0) return 1;
  if (upper->is_bits || upper->type.kind != ABI_FIXED || upper->size != 4 || upper->offset != field->offset + 4)
    return 1;
  *out_bytes = 8;
  return 2;
}

static uint64_t unit_of(const records *r, const abi_type *type, int depth);

static uint64_t unit_of_record(const records *r, const abi_record *record, int depth) {
  uint64_t unit = 1;
  for (size_t i = 0; i < record->fields.count; i++) {
    uint64_t of_field = unit_of(r, &record->fields.items[i].type, depth + 1);
    if (of_field > unit) unit = of_field;
  }
  return unit;
}

/* The multiple at which it must stand to be in the same place on every target: 8 for what has 64 bits on any. */
static uint64_t unit_of(const records *r, const abi_type *type, int depth) {
  uint64_t bytes = type->is_array && type->count ? type->size / type->count : type->size;
  if (type->kind == ABI_POINTER) return 8;
  if (type->kind == ABI_STRUCT || type->kind == ABI_UNION) {
    const abi_record *record = type->record ? abi_record_named(r->interface, type->record) : NULL;
    return record && depth < MAX_DEPTH ? unit_of_record(r, record, depth) : 1;
  }
  return bytes == 2 || bytes == 4 || bytes == 8 ? bytes : 1;
}

/* ---- Fields ---------------------------------------------------------------------------------------------------------- */

static const char *subject_of(const abi_record *record, const abi_field *field) {
  return pool_format("%s.%s", record->name, field->name);
}

/* What it is, wherever it stands. */
static void check_field(const records *r, const abi_record *record, const abi_field *field, uint64_t bytes) {
  const char *subject = subject_of(record, field);
  violation_kind kind = as_field[field->type.kind];
  if (field->is_bits) {
    violation_add(r->out, V_BIT_FIELD, field->place, r->target, subject, "field %s is a bit-field of %" PRIu64 " bits",
                  subject, field->size);
    return;
  }
  if (kind != NO_VIOLATION && (kind != V_INT_FIELD || r->fixed_width))
    violation_add(r->out, kind, field->place, r->target, subject, "field %s is %s ('%s')", subject,
                  abi_type_nouns[field->type.kind], field->type.text);
  if (field->type.kind != ABI_POINTER || record->is_union) return;
  if (field->type.is_array)
    violation_add(r->out, V_POINTER_ARRAY, field->place, r->target, subject, "field %s is an array of pointers",
                  subject);
  else if (bytes != 8)
    violation_add(r->out, V_POINTER_SLOT, field->place, r->target, subject,
                  "field %s is a pointer that isn't in a slot of 8 bytes", subject);
}

/* Where it stands. *end is where the field before it ended. */
static void check_offset(const records *r, const abi_record *record, const abi_field *field, uint64_t *end,
                         uint64_t bytes) {
  const char *subject = subject_of(record, field);
  uint64_t unit = unit_of(r, &field->type, 0);
  if (field->offset % unit != 0)
    violation_add(r->out, V_MISALIGNED, field->place, r->target, subject,
                  "field %s stands at byte %" PRIu64 ", which is no multiple of %" PRIu64, subject, field->offset,
                  unit);
  if (field->offset > *end)
    violation_add(r->out, V_PADDING, field->place, r->target, subject,
                  "%" PRIu64 " bytes of implicit padding before field %s", field->offset - *end, subject);
  uint64_t behind = field->offset + bytes;
  if (behind > *end) *end = behind;
}

/* ---- Records --------------------------------------------------------------------------------------------------------- */

static void check_whole(const records *r, const abi_record *record, uint64_t end) {
  if (record->size > end)
    violation_add(r->out, V_TAIL_PADDING, record->place, r->target, record->name,
                  "struct %s has %" PRIu64 " bytes of implicit padding at its end", record->name, record->size - end);
  if (record->size % 8 != 0 && !record->is_nested)
    violation_add(r->out, V_SIZE_MULTIPLE, record->place, r->target, record->name,
                  "struct %s has %" PRIu64 " bytes, no multiple of 8", record->name, record->size);
}

static void check_struct(const records *r, const abi_record *record) {
  uint64_t end = 0;
  if (!record->is_nested && !record->is_plain && !abi_record_has_size(record))
    violation_add(r->out, V_STRUCT_SIZE, record->place, r->target, record->name,
                  "struct %s doesn't begin with 'uint32_t struct_size' and isn't said to be plain data", record->name);
  for (size_t i = 0; i < record->fields.count;) {
    const abi_field *field = &record->fields.items[i];
    uint64_t bytes;
    i += check_slot(record, i, &bytes);
    check_field(r, record, field, bytes);
    if (field->is_bits) {
      /* What bit-fields leave over counts with them. */
      uint64_t behind = (field->offset + field->size + 7) / 8;
      if (behind > end) end = behind;
    } else {
      check_offset(r, record, field, &end, bytes);
    }
  }
  check_whole(r, record, end);
}

static void check_union(const records *r, const abi_record *record) {
  bool pointers = false;
  for (size_t i = 0; i < record->fields.count; i++) {
    check_field(r, record, &record->fields.items[i], record->fields.items[i].size);
    if (record->fields.items[i].type.kind == ABI_POINTER) pointers = true;
  }
  const abi_field *first = &record->fields.items[0];
  bool filled = first->type.kind != ABI_POINTER && !first->is_bits && first->size == record->size;
  if (filled && (!pointers || first->size >= 8)) return;
  violation_add(r->out, V_UNION_FIRST, record->place, r->target, record->name,
                "union %s has a first member, '%s', that doesn't fill it on every target", record->name, first->name);
}

static void check_record(const records *r, const abi_record *record) {
  if (!record->fields.count) return; /* nothing in it: only its address is used */
  if (record->align > 8)
    violation_add(r->out, V_OVER_ALIGNED, record->place, r->target, record->name,
                  "%s %s is aligned to %" PRIu64 " bytes", record->is_union ? "union" : "struct", record->name,
                  record->align);
  if (record->is_union)
    check_union(r, record);
  else
    check_struct(r, record);
}

void check_records(violations *out, const abi_set *set, bool fixed_width) {
  for (size_t t = 0; t < set->count; t++) {
    records r = {out, set->each[t], t, fixed_width};
    for (size_t i = 0; i < set->each[t]->records.count; i++) check_record(&r, &set->each[t]->records.items[i]);
  }
}

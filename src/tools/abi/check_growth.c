/* check_growth.c - what a program that was compiled with an older version finds changed. */
#include <inttypes.h>
#include <string.h>

#include "check.h"

typedef struct growth {
  violations *out;
  const abi_interface *now, *old;
  size_t target;
} growth;

static const abi_place nowhere = {NULL, 0};

/* ---- Functions and variables ----------------------------------------------------------------------------------------- */

/* Integers of one size are one: a new spelling changes no layout and no call. */
static abi_type_kind family_of(abi_type_kind kind) {
  switch (kind) {
    case ABI_INT:
    case ABI_SMALL:
    case ABI_LONG:
    case ABI_SIZE:
    case ABI_WCHAR:
    case ABI_ENUM:
    case ABI_BOOL:
      return ABI_FIXED;
    default:
      return kind;
  }
}

static bool is_same_type(const abi_type *a, const abi_type *b) {
  return family_of(a->kind) == family_of(b->kind) && a->size == b->size && a->count == b->count;
}

/* Of functions whose lowering isn't known: binaries. */
static bool has_same_types(const abi_function *a, const abi_function *b) {
  if (a->parameters.count != b->parameters.count || a->is_variadic != b->is_variadic) return false;
  for (size_t i = 0; i < a->parameters.count; i++)
    if (!is_same_type(&a->parameters.items[i].type, &b->parameters.items[i].type)) return false;
  return is_same_type(&a->result, &b->result);
}

static void compare_function(const growth *g, const abi_function *old) {
  const abi_function *now = abi_function_named(g->now, old->name);
  if (!now) {
    /* A callback in a struct or a parameter goes with it. */
    if (!old->is_callback)
      violation_add(g->out, V_REMOVED, nowhere, g->target, old->name, "function %s is gone", old->name);
    return;
  }
  const char *noun = old->is_callback ? "callback " : "";
  if (old->lowered && now->lowered) {
    if (strcmp(old->lowered, now->lowered) != 0)
      violation_add(g->out, V_FUNCTION_CHANGED, now->place, g->target, old->name, "%s%s lowers as %s, and did as %s",
                    noun, old->name, now->lowered, old->lowered);
  } else if (!has_same_types(old, now)) {
    violation_add(g->out, V_FUNCTION_CHANGED, now->place, g->target, old->name,
                  "%s%s has other parameters or another result", noun, old->name);
  }
}

static void compare_variable(const growth *g, const abi_variable *old) {
  const abi_variable *now = abi_variable_named(g->now, old->name);
  if (!now)
    violation_add(g->out, V_REMOVED, nowhere, g->target, old->name, "variable %s is gone", old->name);
  else if (!is_same_type(&old->type, &now->type))
    violation_add(g->out, V_VARIABLE_CHANGED, now->place, g->target, old->name,
                  "variable %s is '%s' with %" PRIu64 " bytes, and was '%s' with %" PRIu64, old->name, now->type.text,
                  now->type.size, old->type.text, old->type.size);
}

/* ---- Records --------------------------------------------------------------------------------------------------------- */

static bool is_reserved(const char *name) {
  return !strncmp(name, "reserved", 8) || !strncmp(name, "_reserved", 9) || !strncmp(name, "padding", 7) ||
         name[0] == '(';
}

static void compare_field(const growth *g, const abi_record *now, const abi_record *old, const abi_field *was) {
  const abi_field *is = abi_field_named(now, was->name);
  const char *subject = pool_format("%s.%s", old->name, was->name);
  const char *unit = was->is_bits ? "bit" : "byte";
  if (is_reserved(was->name)) return;
  if (!is) {
    violation_add(g->out, V_FIELD_REMOVED, now->place, g->target, subject, "field %s is gone", subject);
    return;
  }
  if (is->offset == was->offset && is->size == was->size && is->is_bits == was->is_bits &&
      is_same_type(&is->type, &was->type))
    return;
  violation_add(g->out, V_FIELD_CHANGED, is->place, g->target, subject,
                "field %s is '%s' at %s %" PRIu64 " with %" PRIu64 ", and was '%s' at %" PRIu64 " with %" PRIu64,
                subject, is->type.text, unit, is->offset, is->size, was->type.text, was->offset, was->size);
}

/* Whether bytes of the old struct were reserved. */
static bool was_reserved(const abi_record *old, const abi_field *field) {
  for (size_t i = 0; i < old->fields.count; i++) {
    const abi_field *was = &old->fields.items[i];
    if (is_reserved(was->name) && !was->is_bits && field->offset >= was->offset &&
        field->offset + field->size <= was->offset + was->size)
      return true;
  }
  return false;
}

static void compare_new_field(const growth *g, const abi_record *old, const abi_field *is) {
  const char *subject = pool_format("%s.%s", old->name, is->name);
  uint64_t at = is->is_bits ? is->offset / 8 : is->offset;
  if (at >= old->size || abi_field_named(old, is->name) || is_reserved(is->name) || was_reserved(old, is)) return;
  violation_add(g->out, V_FIELD_INSERTED, is->place, g->target, subject,
                "field %s is new, at byte %" PRIu64 " of what had %" PRIu64, subject, at, old->size);
}

static void compare_sizes(const growth *g, const abi_record *now, const abi_record *old) {
  bool may_grow = abi_record_has_size(old) && !old->is_plain;
  const char *noun = old->is_union ? "union" : "struct";
  if (now->size < old->size)
    violation_add(g->out, V_STRUCT_SHRANK, now->place, g->target, old->name,
                  "%s %s has %" PRIu64 " bytes, and had %" PRIu64, noun, old->name, now->size, old->size);
  else if (now->size > old->size && !may_grow)
    violation_add(g->out, V_STRUCT_GREW, now->place, g->target, old->name,
                  "%s %s has %" PRIu64 " bytes, and had %" PRIu64, noun, old->name, now->size, old->size);
  /* Up to 8 it does no harm when sizes are multiples of 8: what holds the struct has it where it was. */
  bool harmless = now->align <= 8 && old->align <= 8 && now->size % 8 == 0 && old->size % 8 == 0;
  if (now->align && old->align && now->align != old->align && !harmless)
    violation_add(g->out, V_ALIGNMENT_CHANGED, now->place, g->target, old->name,
                  "%s %s is aligned to %" PRIu64 " bytes, and was to %" PRIu64, noun, old->name, now->align,
                  old->align);
}

static void compare_record(const growth *g, const abi_record *old) {
  const abi_record *now = abi_record_named(g->now, old->name);
  if (!now) {
    if (!old->is_nested)
      violation_add(g->out, V_REMOVED, nowhere, g->target, old->name, "%s %s is gone",
                    old->is_union ? "union" : "struct", old->name);
    return;
  }
  for (size_t i = 0; i < old->fields.count; i++) compare_field(g, now, old, &old->fields.items[i]);
  for (size_t i = 0; i < now->fields.count && !now->is_union; i++) compare_new_field(g, old, &now->fields.items[i]);
  compare_sizes(g, now, old);
}

/* ---- Enums ----------------------------------------------------------------------------------------------------------- */

/* A value's own enum may have another name: one without a name is called after its first value. */
static pool_map values_of(const abi_interface *interface) {
  pool_map names = {0};
  for (size_t i = 0; i < interface->enums.count; i++)
    for (size_t n = 0; n < interface->enums.items[i].values.count; n++)
      pool_put(&names, interface->enums.items[i].values.items[n].name, i << 32 | n);
  return names;
}

static const abi_value *value_at(const abi_interface *interface, size_t at) {
  return &interface->enums.items[at >> 32].values.items[at & UINT32_MAX];
}

/* A new name in the same enum for the number of one that is gone. */
static void find_reuse(const growth *g, const abi_enum *now, const abi_value *old, const pool_map *old_names) {
  for (size_t i = 0; i < now->values.count; i++) {
    const abi_value *is = &now->values.items[i];
    if (is->value == old->value && pool_find(old_names, is->name) == POOL_NONE)
      violation_add(g->out, V_VALUE_REUSED, is->place, g->target, is->name, "%s is %" PRId64 ", which was %s", is->name,
                    is->value, old->name);
  }
}

static void compare_values(const growth *g, const abi_enum *old, const pool_map *now_names, const pool_map *old_names) {
  const abi_enum *now = abi_enum_named(g->now, old->name);
  if (now && now->size != old->size)
    violation_add(g->out, V_ENUM_RESIZED, now->place, g->target, old->name,
                  "enum %s has %" PRIu64 " bytes, and had %" PRIu64, old->name, now->size, old->size);
  for (size_t i = 0; i < old->values.count; i++) {
    const abi_value *was = &old->values.items[i];
    size_t at = pool_find(now_names, was->name);
    if (at == POOL_NONE) {
      violation_add(g->out, V_VALUE_REMOVED, now ? now->place : nowhere, g->target, was->name,
                    "%s is gone, and was %" PRId64, was->name, was->value);
      if (now) find_reuse(g, now, was, old_names);
    } else if (value_at(g->now, at)->value != was->value) {
      violation_add(g->out, V_VALUE_CHANGED, value_at(g->now, at)->place, g->target, was->name,
                    "%s is %" PRId64 ", and was %" PRId64, was->name, value_at(g->now, at)->value, was->value);
    }
  }
}

static void compare(const growth *g) {
  pool_map now_names = values_of(g->now), old_names = values_of(g->old);
  for (size_t i = 0; i < g->old->functions.count; i++) compare_function(g, &g->old->functions.items[i]);
  for (size_t i = 0; i < g->old->records.count; i++) compare_record(g, &g->old->records.items[i]);
  for (size_t i = 0; i < g->old->enums.count; i++) compare_values(g, &g->old->enums.items[i], &now_names, &old_names);
  for (size_t i = 0; i < g->old->variables.count; i++) compare_variable(g, &g->old->variables.items[i]);
}

bool check_growth(violations *out, const abi_set *set, const abi_set *old) {
  bool compared = false;
  for (size_t t = 0; t < set->count; t++) {
    for (size_t u = 0; u < old->count; u++) {
      if (strcmp(set->targets[t]->name, old->targets[u]->name) != 0) continue;
      growth g = {out, set->each[t], old->each[u], t};
      compare(&g);
      compared = true;
    }
  }
  return compared;
}

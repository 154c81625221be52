/* check_targets.c - A3: what differs between the targets. */
#include <inttypes.h>
#include <string.h>

#include "check.h"
#include "grouping.h"

static abi_target_set all_of(const abi_set *set) {
  return set->count < 64 ? (UINT64_C(1) << set->count) - 1 : UINT64_MAX;
}

/* Adds it for each target of `on`. */
static void tell(violations *out, violation_kind kind, abi_place place, abi_target_set on, const char *subject,
                 const char *what) {
  for (size_t t = 0; t < 64; t++)
    if (on >> t & 1) violation_add(out, kind, place, t, subject, "%s", what);
}

static void tell_missing(violations *out, const abi_set *set, abi_place place, abi_target_set on, const char *noun,
                         const char *name) {
  abi_target_set lacking = all_of(set) & ~on;
  if (lacking)
    tell(out, V_MISSING, place, lacking, name,
         pool_format("%s %s is missing on %s", noun, name, abi_target_list(set->targets, set->count, lacking)));
}

/* ---- Functions ------------------------------------------------------------------------------------------------------- */

/* Each name is looked at on the first target that has it. */
static bool has_earlier(const abi_set *set, size_t target, const char *name) {
  for (size_t t = 0; t < target; t++)
    if (abi_function_named(set->each[t], name)) return true;
  return false;
}

static void compare_function(violations *out, const abi_set *set, const abi_function *f) {
  grouping g = {0};
  abi_target_set on = 0;
  for (size_t t = 0; t < set->count; t++) {
    const abi_function *other = abi_function_named(set->each[t], f->name);
    if (!other) continue;
    on |= UINT64_C(1) << t;
    if (other->lowered) grouping_add(&g, other->lowered, t);
  }
  /* A callback in a struct is missing with its field. */
  if (!f->is_callback) tell_missing(out, set, f->place, on, "function", f->name);
  if (g.count > 1)
    tell(
        out, V_LOWERS_DIFFERENTLY, f->place, on, f->name,
        pool_format("%s%s lowers differently: %s", f->is_callback ? "callback " : "", f->name, grouping_text(&g, set)));
}

/* ---- Records --------------------------------------------------------------------------------------------------------- */

/* "at 8 with 4 bytes", with a pointer's upper half as part of it; NULL: it isn't there. */
static const char *stand(const abi_record *record, const char *name) {
  const abi_field *field = abi_field_named(record, name);
  uint64_t bytes;
  if (!field) return NULL;
  check_slot(record, (size_t)(field - record->fields.items), &bytes);
  /* Its upper half is the integer's that fills the union, which A2 asks for. */
  if (record->is_union && field->type.kind == ABI_POINTER && record->size >= 8) return "at 0 as a pointer";
  if (field->is_bits) return pool_format("at bit %" PRIu64 " with %" PRIu64 " bits", field->offset, field->size);
  return pool_format("at %" PRIu64 " with %" PRIu64 " bytes", field->offset, bytes);
}

/* Whether a field is the upper half of the one before it. */
static bool is_upper(const abi_record *record, size_t at) {
  uint64_t bytes;
  return at > 0 && check_slot(record, at - 1, &bytes) == 2;
}

typedef struct difference {
  const char *first;
  size_t count;
} difference;

static void note_difference(difference *d, const abi_set *set, const char *what, const grouping *g) {
  if (g->count < 2) return;
  if (!d->count++) d->first = pool_format("%s %s", what, grouping_text(g, set));
}

static void compare_fields(difference *d, const abi_set *set, const abi_record *record, const abi_record *const *each,
                           pool_map *seen) {
  for (size_t i = 0; i < record->fields.count; i++) {
    const char *name = record->fields.items[i].name;
    grouping g = {0};
    if (is_upper(record, i) || pool_find(seen, name) != POOL_NONE) continue;
    pool_put(seen, name, 0);
    for (size_t t = 0; t < set->count; t++) {
      const char *where = each[t] ? stand(each[t], name) : NULL;
      if (each[t]) grouping_add(&g, where ? where : "not there", t);
    }
    note_difference(d, set, pool_format("field '%s' is", name), &g);
  }
}

/* 4 on i386 where others have 8 does no harm when sizes and offsets are multiples of 8 anyway. */
static bool is_harmless(const abi_record *record, const abi_record *const *each, size_t count) {
  for (size_t t = 0; t < count; t++)
    if (each[t] && each[t]->align != 4 && each[t]->align != 8) return false;
  return record->size % 8 == 0;
}

static void compare_record(violations *out, const abi_set *set, const abi_record *record) {
  const abi_record *each[64];
  grouping sizes = {0}, aligns = {0};
  difference d = {0};
  pool_map seen = {0};
  abi_target_set on = 0;
  for (size_t t = 0; t < set->count; t++) {
    each[t] = abi_record_named(set->each[t], record->name);
    if (!each[t]) continue;
    on |= UINT64_C(1) << t;
    grouping_add(&sizes, pool_format("%" PRIu64, each[t]->size), t);
    grouping_add(&aligns, pool_format("%" PRIu64, each[t]->align), t);
  }
  const char *noun = record->is_union ? "union" : "struct";
  if (!record->is_nested) tell_missing(out, set, record->place, on, noun, record->name);
  for (size_t t = 0; t < set->count; t++)
    if (each[t]) compare_fields(&d, set, each[t], each, &seen);
  note_difference(&d, set, "its size in bytes is", &sizes);
  if (d.count > 1) d.first = pool_format("%s (and %zu more)", d.first, d.count - 1);
  if (d.count)
    tell(out, V_LAYOUT_DIFFERS, record->place, on, record->name,
         pool_format("%s %s has another layout: %s", noun, record->name, d.first));
  else if (aligns.count > 1 && !is_harmless(record, each, set->count))
    tell(out, V_ALIGNMENT_DIFFERS, record->place, on, record->name,
         pool_format("%s %s has another alignment: %s", noun, record->name, grouping_text(&aligns, set)));
}

/* ---- Values and variables -------------------------------------------------------------------------------------------- */

/* All values of a target by name, whichever enum they stand in. */
typedef struct values {
  pool_map names;
  struct {
    const abi_value **items;
    size_t count, capacity;
  } list;
} values;

static values values_of(const abi_interface *interface) {
  values v = {0};
  for (size_t i = 0; i < interface->enums.count; i++) {
    const abi_enum *e = &interface->enums.items[i];
    for (size_t n = 0; n < e->values.count; n++) {
      if (pool_find(&v.names, e->values.items[n].name) != POOL_NONE) continue;
      pool_put(&v.names, e->values.items[n].name, v.list.count);
      *POOL_PUSH(&v.list) = &e->values.items[n];
    }
  }
  return v;
}

static void compare_values(violations *out, const abi_set *set) {
  values each[64];
  pool_map seen = {0};
  for (size_t t = 0; t < set->count; t++) each[t] = values_of(set->each[t]);
  for (size_t t = 0; t < set->count; t++) {
    for (size_t i = 0; i < each[t].list.count; i++) {
      const abi_value *value = each[t].list.items[i];
      grouping g = {0};
      abi_target_set on = 0;
      if (pool_find(&seen, value->name) != POOL_NONE) continue;
      pool_put(&seen, value->name, 0);
      for (size_t other = 0; other < set->count; other++) {
        size_t at = pool_find(&each[other].names, value->name);
        if (at == POOL_NONE) continue;
        on |= UINT64_C(1) << other;
        grouping_add(&g, pool_format("%" PRId64, each[other].list.items[at]->value), other);
      }
      tell_missing(out, set, value->place, on, "value", value->name);
      if (g.count > 1)
        tell(out, V_VALUE_DIFFERS, value->place, on, value->name,
             pool_format("%s is another number: %s", value->name, grouping_text(&g, set)));
    }
  }
}

/* Targets after the first one against it: what it lacks is told by its values. */
static void compare_enums(violations *out, const abi_set *set) {
  for (size_t i = 0; i < set->each[0]->enums.count; i++) {
    const abi_enum *e = &set->each[0]->enums.items[i];
    grouping g = {0};
    for (size_t t = 0; t < set->count; t++) {
      const abi_enum *other = abi_enum_named(set->each[t], e->name);
      if (other) grouping_add(&g, pool_format("%" PRIu64, other->size), t);
    }
    if (g.count > 1)
      tell(out, V_ENUM_DIFFERS, e->place, all_of(set), e->name,
           pool_format("enum %s has another size in bytes: %s", e->name, grouping_text(&g, set)));
  }
}

static void compare_variables(violations *out, const abi_set *set) {
  for (size_t i = 0; i < set->each[0]->variables.count; i++) {
    const abi_variable *v = &set->each[0]->variables.items[i];
    grouping g = {0};
    abi_target_set on = 0;
    for (size_t t = 0; t < set->count; t++) {
      const abi_variable *other = abi_variable_named(set->each[t], v->name);
      if (!other) continue;
      on |= UINT64_C(1) << t;
      grouping_add(&g, pool_format("%" PRIu64, other->type.size), t);
    }
    tell_missing(out, set, v->place, on, "variable", v->name);
    if (g.count > 1)
      tell(out, V_VARIABLE_DIFFERS, v->place, on, v->name,
           pool_format("variable %s ('%s') has another size in bytes: %s", v->name, v->type.text,
                       grouping_text(&g, set)));
  }
}

void check_targets(violations *out, const abi_set *set) {
  pool_map records = {0};
  for (size_t t = 0; t < set->count; t++) {
    const abi_interface *interface = set->each[t];
    for (size_t i = 0; i < interface->functions.count; i++)
      if (!has_earlier(set, t, interface->functions.items[i].name))
        compare_function(out, set, &interface->functions.items[i]);
    for (size_t i = 0; i < interface->records.count; i++) {
      if (pool_find(&records, interface->records.items[i].name) != POOL_NONE) continue;
      pool_put(&records, interface->records.items[i].name, 0);
      compare_record(out, set, &interface->records.items[i]);
    }
  }
  compare_values(out, set);
  compare_enums(out, set);
  compare_variables(out, set);
}

/* check_calls.c - A1: what functions and callbacks take and give. */
#include <string.h>

#include "check.h"

#define NO_VIOLATION VIOLATION_KINDS

static const violation_kind by_value[ABI_TYPE_KIND_COUNT] = {
    [ABI_VOID] = NO_VIOLATION,         [ABI_POINTER] = NO_VIOLATION,       [ABI_FIXED] = NO_VIOLATION,
    [ABI_INT] = V_INT_BY_VALUE,        [ABI_SMALL] = V_SMALL_BY_VALUE,     [ABI_LONG] = V_LONG_BY_VALUE,
    [ABI_SIZE] = V_SIZE_BY_VALUE,      [ABI_WCHAR] = V_WCHAR_BY_VALUE,     [ABI_WIDE] = V_WIDE_BY_VALUE,
    [ABI_BOOL] = V_BOOL_BY_VALUE,      [ABI_ENUM] = V_ENUM_BY_VALUE,       [ABI_FLOAT] = V_FLOAT_BY_VALUE,
    [ABI_EXTENDED] = V_FLOAT_BY_VALUE, [ABI_COMPLEX] = V_COMPLEX_BY_VALUE, [ABI_VECTOR] = V_VECTOR_BY_VALUE,
    [ABI_STRUCT] = V_STRUCT_BY_VALUE,  [ABI_UNION] = V_UNION_BY_VALUE,     [ABI_OTHER] = V_OTHER_BY_VALUE,
};

typedef struct calls {
  violations *out;
  size_t target;
  bool fixed_width;
} calls;

static void check_type(const calls *c, const abi_function *f, const abi_type *type, const char *part,
                       const char *subject) {
  violation_kind kind = by_value[type->kind];
  if (kind == NO_VIOLATION || (kind == V_INT_BY_VALUE && !c->fixed_width)) return;
  violation_add(c->out, kind, f->place, c->target, subject, "%s of %s%s is %s by value ('%s')", part,
                f->is_callback ? "callback " : "", f->name, abi_type_nouns[type->kind], type->text);
}

static void check_function(const calls *c, const abi_function *f) {
  check_type(c, f, &f->result, "the result", pool_format("%s.result", f->name));
  for (size_t i = 0; i < f->parameters.count; i++) {
    const abi_parameter *p = &f->parameters.items[i];
    const char *part =
        *p->name ? pool_format("parameter %zu '%s'", i + 1, p->name) : pool_format("parameter %zu", i + 1);
    const char *subject = *p->name ? pool_format("%s.%s", f->name, p->name) : pool_format("%s.(%zu)", f->name, i + 1);
    check_type(c, f, &p->type, part, subject);
  }
  const char *noun = f->is_callback ? "callback " : "";
  if (f->is_variadic)
    violation_add(c->out, V_VARIADIC, f->place, c->target, f->name, "%s%s is variadic", noun, f->name);
  if (f->is_unprototyped)
    violation_add(c->out, V_UNPROTOTYPED, f->place, c->target, f->name, "%s%s has no prototype", noun, f->name);
}

void check_calls(violations *out, const abi_set *set, bool fixed_width) {
  for (size_t t = 0; t < set->count; t++) {
    calls c = {out, t, fixed_width};
    for (size_t i = 0; i < set->each[t]->functions.count; i++) check_function(&c, &set->each[t]->functions.items[i]);
  }
}

/* name.c - interned identifiers. */
#include <stdlib.h>

#include "compiler/pp/state.h"

#define FIRST_CAPACITY 1024

static bool rehash(pp *p, uint32_t capacity) {
  pp_name **names = calloc(capacity, sizeof(pp_name *));
  if (!names) return pp_no_memory(p);
  for (uint32_t i = 0; i < p->name_capacity; i++) {
    if (!p->names[i]) continue;
    uint32_t at = p->names[i]->hash & (capacity - 1);
    while (names[at]) at = (at + 1) & (capacity - 1);
    names[at] = p->names[i];
  }
  free(p->names);
  p->names = names;
  p->name_capacity = capacity;
  return true;
}

/* The slot of `text`: its own or the empty one where it belongs. Long ways count as work: names can be made to
 * collide. */
static uint32_t slot_of(pp *p, qn_sv text, uint32_t hash) {
  uint32_t mask = p->name_capacity - 1, at = hash & mask;
  for (; p->names[at]; at = (at + 1) & mask) {
    if (p->names[at]->hash == hash && qn_sv_equal(p->names[at]->text, text)) break;
    p->work++;
  }
  return at;
}

static pp_name *add(pp *p, qn_sv text, uint32_t hash, uint32_t at) {
  if (!pp_charge(p, PP_WORK_NAME)) return NULL;
  pp_name *name = QN_ARENA_NEW(p->arena, pp_name);
  if (!name) {
    pp_no_memory(p);
    return NULL;
  }
  name->text = text;
  name->hash = hash;
  p->names[at] = name;
  p->name_count++;
  /* At most two thirds are full. */
  if (p->name_count > p->name_capacity / 3 * 2 && !rehash(p, p->name_capacity * 2)) return NULL;
  return name;
}

pp_name *pp_intern_kept(pp *p, qn_sv text) {
  uint32_t hash = (uint32_t)qn_sv_hash(text);
  uint32_t at = slot_of(p, text, hash);
  return p->names[at] ? p->names[at] : add(p, text, hash, at);
}

pp_name *pp_intern(pp *p, qn_sv text) {
  uint32_t hash = (uint32_t)qn_sv_hash(text);
  uint32_t at = slot_of(p, text, hash);
  if (p->names[at]) return p->names[at];
  char *copy = qn_arena_copy(p->arena, text);
  if (!copy) {
    pp_no_memory(p);
    return NULL;
  }
  return add(p, qn_sv_make(copy, text.size), hash, at);
}

void pp_macro_names(const pp *p, void (*fn)(void *user, qn_sv name), void *user) {
  for (uint32_t i = 0; i < p->name_capacity; i++)
    if (p->names[i] && p->names[i]->macro) fn(user, p->names[i]->text);
}

bool pp_names_open(pp *p) {
  if (!rehash(p, FIRST_CAPACITY)) return false;
  for (uint32_t i = 1; i < PP_D_COUNT; i++) {
    pp_name *name = pp_intern_kept(p, qn_sv_from(pp_directive_texts[i]));
    if (!name) return false;
    name->directive = i;
  }
  const struct {
    pp_name **name;
    const char *text;
  } own[] = {{&p->name_defined, "defined"}, {&p->name_pragma, "_Pragma"}, {&p->name_has_include, "__has_include"},
             {&p->name_once, "once"},       {&p->name_long_prefix, "L"},  {&p->name_va_args, "__VA_ARGS__"}};
  for (size_t i = 0; i < sizeof own / sizeof *own; i++)
    if (!(*own[i].name = pp_intern_kept(p, qn_sv_from(own[i].text)))) return false;
  return true;
}

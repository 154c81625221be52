#include "compiler/front/scope.h"

#include <string.h>

#include "compiler/front/builtin.h"
#include "compiler/front/recover.h"
#include "compiler/front/token.h"

bool front_scope_open(front *f) {
  front_scope *scope = QN_ARENA_NEW(f->arena, front_scope);
  if (scope == NULL) {
    f->failed = true;
    return false;
  }
  scope->outer = f->scope;
  f->scope = scope;
  return true;
}

static front_name *entry_of(pp_name *name) { return name->declarations; }

void front_scope_close(front *f) {
  front_doubt_scope(f);
  front_scope *scope = f->scope;
  for (front_symbol *s = scope->symbols; s != NULL; s = s->next) {
    front_name *entry = entry_of(s->name);
    if (entry->symbol == s) entry->symbol = s->hidden;
  }
  for (front_tag *t = scope->tags; t != NULL; t = t->next) {
    front_name *entry = entry_of(t->name);
    if (entry->tag == t) entry->tag = t->hidden;
  }
  f->scope = scope->outer;
}

static front_symbol *builtin_type_symbol(front *f, pp_name *name) {
  const front_type *type = front_type_named(f, name->text);
  if (type == NULL) return NULL;
  front_symbol *symbol = QN_ARENA_NEW(f->arena, front_symbol);
  if (symbol == NULL) {
    f->failed = true;
    return NULL;
  }
  symbol->kind = SYMBOL_TYPEDEF;
  symbol->name = name;
  symbol->type = type;
  return symbol;
}

/* Made at the first look: what is built in is entered then. NULL: out of memory. */
static front_name *name_entry(front *f, pp_name *name) {
  if (name->declarations != NULL) return name->declarations;
  front_name *entry = QN_ARENA_NEW(f->arena, front_name);
  if (entry == NULL) {
    f->failed = true;
    return NULL;
  }
  entry->name = name;
  entry->symbol = builtin_type_symbol(f, name);
  entry->builtin = entry->symbol != NULL ? NULL : front_builtin_find(f, name->text);
  entry->next = f->names;
  f->names = entry;
  name->declarations = entry;
  return entry;
}

front_symbol *front_find(front *f, pp_name *name) {
  front_name *entry = name_entry(f, name);
  return entry == NULL ? NULL : entry->symbol;
}

front_tag *front_find_tag(front *f, pp_name *name) {
  front_name *entry = name_entry(f, name);
  return entry == NULL ? NULL : entry->tag;
}

const front_builtin *front_find_builtin(front *f, pp_name *name) {
  front_name *entry = name_entry(f, name);
  return entry == NULL ? NULL : entry->builtin;
}

front_symbol *front_declare(front *f, front_symbol_kind kind, pp_name *name, qn_loc loc, uint32_t length,
                            const front_type *type) {
  front_name *entry = name_entry(f, name);
  front_symbol *symbol = entry == NULL ? NULL : QN_ARENA_NEW(f->arena, front_symbol);
  if (symbol == NULL) {
    f->failed = true;
    return NULL;
  }
  symbol->kind = kind;
  symbol->name = name;
  symbol->loc = loc;
  symbol->length = length;
  symbol->type = type;
  symbol->scope = f->scope;
  symbol->hidden = entry->symbol;
  symbol->next = f->scope->symbols;
  f->scope->symbols = symbol;
  entry->symbol = symbol;
  return symbol;
}

front_tag *front_declare_tag(front *f, pp_name *name, qn_loc loc) {
  front_name *entry = name_entry(f, name);
  front_tag *tag = entry == NULL ? NULL : QN_ARENA_NEW(f->arena, front_tag);
  if (tag == NULL) {
    f->failed = true;
    return NULL;
  }
  tag->name = name;
  tag->loc = loc;
  tag->scope = f->scope;
  tag->hidden = entry->tag;
  tag->next = f->scope->tags;
  f->scope->tags = tag;
  entry->tag = tag;
  return tag;
}

/* ---- Did you mean --------------------------------------------------------------------------------- */

size_t front_near_limit(qn_sv name) { return name.size < 3 ? 1 : (name.size + 2) / 3 + 1; }

bool front_is_nearer(qn_sv name, qn_sv candidate, size_t *distance) {
  size_t difference = name.size > candidate.size ? name.size - candidate.size : candidate.size - name.size;
  if (difference >= *distance) return false;
  size_t found = qn_sv_distance(name, candidate);
  if (found == 0 || found >= *distance) return false;
  *distance = found;
  return true;
}

enum { LONGEST_NEAR = 64 };

typedef struct nearest {
  qn_sv name, best;
  char text[LONGEST_NEAR]; /* of the best */
  size_t distance;         /* of the best, or the first that is too far */
} nearest;

/* Whether nothing but letters left out, added or swapped makes the difference: likelier than another letter. */
static bool is_slip(qn_sv name, qn_sv candidate, size_t distance) {
  int counts[256] = {0};
  size_t others = 0;
  for (size_t i = 0; i < name.size; i++) counts[(unsigned char)name.data[i]]++;
  for (size_t i = 0; i < candidate.size; i++) counts[(unsigned char)candidate.data[i]]--;
  for (int i = 0; i < 256; i++) others += (size_t)(counts[i] < 0 ? -counts[i] : counts[i]);
  return others <= distance;
}

static size_t common_prefix(qn_sv a, qn_sv b) {
  size_t size = 0;
  while (size < a.size && size < b.size && a.data[size] == b.data[size]) size++;
  return size;
}

/* Of names that are equally far. The order is whole, so that the order in which names come doesn't matter. */
static bool is_likelier(const nearest *n, qn_sv candidate) {
  bool is_slip_now = is_slip(n->name, candidate, n->distance), was_slip = is_slip(n->name, n->best, n->distance);
  if (is_slip_now != was_slip) return is_slip_now;
  size_t prefix = common_prefix(n->name, candidate), best_prefix = common_prefix(n->name, n->best);
  if (prefix != best_prefix) return prefix > best_prefix;
  if (candidate.size != n->best.size) return candidate.size < n->best.size;
  return memcmp(candidate.data, n->best.data, candidate.size) < 0;
}

static void consider(void *user, qn_sv candidate) {
  nearest *n = user;
  size_t limit = n->distance + (n->best.size > 0 ? 1 : 0);
  if (candidate.size > LONGEST_NEAR || !front_is_nearer(n->name, candidate, &limit)) return;
  if (n->best.size > 0 && limit == n->distance && !is_likelier(n, candidate)) return;
  n->distance = limit;
  memcpy(n->text, candidate.data, candidate.size);
  n->best = qn_sv_make(n->text, candidate.size);
}

/* What would be far-fetched for more than one slip. */
static void consider_close(void *user, qn_sv candidate) {
  nearest *n = user;
  size_t difference = n->name.size > candidate.size ? n->name.size - candidate.size : candidate.size - n->name.size;
  if (difference <= 1 && qn_sv_distance(n->name, candidate) == 1) consider(n, candidate);
}

static bool is_of_class(const front_symbol *symbol, front_name_class cls) {
  switch (cls) {
    case NAMES_OF_TYPES:
      return symbol->kind == SYMBOL_TYPEDEF;
    case NAMES_OF_VALUES:
      return symbol->kind == SYMBOL_OBJECT || symbol->kind == SYMBOL_ENUMERATOR;
    default:
      return symbol->kind == SYMBOL_FUNCTION;
  }
}

qn_sv front_nearest_name(front *f, qn_sv name, front_name_class cls) {
  nearest n = {.name = name, .distance = front_near_limit(name)};
  for (const front_name *entry = f->names; entry != NULL; entry = entry->next) {
    if (entry->symbol != NULL && is_of_class(entry->symbol, cls)) consider(&n, entry->name->text);
  }
  bool is_type = cls == NAMES_OF_TYPES;
  front_keyword_names(is_type ? consider : consider_close, &n);
  front_type_names(is_type ? consider : consider_close, &n, false);
  pp_macro_names(f->p, cls == NAMES_OF_VALUES ? consider : consider_close, &n);
  if (cls == NAMES_OF_FUNCTIONS) front_builtin_names(consider, &n);
  char *copy = n.best.size > 0 ? qn_arena_copy(f->arena, n.best) : NULL;
  if (n.best.size > 0 && copy == NULL) f->failed = true;
  return qn_sv_make(copy, copy != NULL ? n.best.size : 0);
}

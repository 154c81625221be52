#include "compiler/front/scope.h"

#include "compiler/front/builtin.h"
#include "compiler/front/token.h"

/* One per identifier ever declared; stays in the map. */
typedef struct front_name {
  front_symbol *symbol;
  front_tag *tag;
  bool is_looked_up; /* as a built-in type */
} front_name;

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

static front_name *name_entry(front *f, qn_sv name) {
  front_name *entry = qn_map_get(&f->names, name);
  if (entry != NULL) return entry;
  entry = QN_ARENA_NEW(f->arena, front_name);
  if (entry == NULL || !qn_map_set(&f->names, name, entry)) {
    f->failed = true;
    return NULL;
  }
  return entry;
}

void front_scope_close(front *f) {
  front_scope *scope = f->scope;
  for (front_symbol *s = scope->symbols; s != NULL; s = s->next) {
    front_name *entry = qn_map_get(&f->names, s->name);
    if (entry != NULL && entry->symbol == s) entry->symbol = s->hidden;
  }
  for (front_tag *t = scope->tags; t != NULL; t = t->next) {
    front_name *entry = qn_map_get(&f->names, t->name);
    if (entry != NULL && entry->tag == t) entry->tag = t->hidden;
  }
  f->scope = scope->outer;
}

void front_names_free(front *f) { qn_map_free(&f->names); }

front_symbol *front_find(front *f, qn_sv name) {
  front_name *entry = qn_map_get(&f->names, name);
  if (entry != NULL && (entry->symbol != NULL || entry->is_looked_up)) return entry->symbol;
  const front_type *type = front_type_named(f, name);
  if (type == NULL) return NULL;
  entry = name_entry(f, name);
  front_symbol *symbol = entry == NULL ? NULL : QN_ARENA_NEW(f->arena, front_symbol);
  if (symbol == NULL) {
    f->failed = true;
    return NULL;
  }
  symbol->kind = SYMBOL_TYPEDEF;
  symbol->name = name;
  symbol->type = type;
  entry->symbol = symbol;
  entry->is_looked_up = true;
  return symbol;
}

front_tag *front_find_tag(front *f, qn_sv name) {
  front_name *entry = qn_map_get(&f->names, name);
  return entry == NULL ? NULL : entry->tag;
}

front_symbol *front_declare(front *f, front_symbol_kind kind, qn_sv name, qn_loc loc, uint32_t length,
                            const front_type *type) {
  (void)front_find(f, name); /* so that a built-in type is hidden, not lost */
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

front_tag *front_declare_tag(front *f, qn_sv name, qn_loc loc) {
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

bool front_is_nearer(qn_sv name, qn_sv candidate, size_t *best_distance) {
  size_t difference = name.size > candidate.size ? name.size - candidate.size : candidate.size - name.size;
  if (difference >= *best_distance) return false;
  size_t distance = qn_sv_distance(name, candidate);
  if (distance >= *best_distance) return false;
  *best_distance = distance;
  return true;
}

typedef struct nearest {
  qn_sv name, best;
  size_t distance;
} nearest;

static void consider(nearest *n, qn_sv candidate) {
  if (front_is_nearer(n->name, candidate, &n->distance)) n->best = candidate;
}
static void consider_builtin(void *user, qn_sv candidate) { consider(user, candidate); }

/* A longer name is not compared: the distance costs the product of the lengths. */
enum { SEARCH_LENGTH_LIMIT = 64 };

qn_sv front_nearest_name(front *f, qn_sv name, bool types) {
  static const char *const type_words[] = {"void",     "char",   "short", "int",    "long",   "float", "double",
                                           "unsigned", "struct", "const", "uchar",  "ushort", "uint",  "ulong",
                                           "float2",   "float4", "int4",  "uchar4", "uint4",  "size_t"};
  nearest n = {name, {NULL, 0}, front_near_limit(name)};
  if (name.size > SEARCH_LENGTH_LIMIT) return n.best;
  for (size_t i = 0; i < f->names.capacity; i++) {
    const front_name *entry = f->names.entries[i].value;
    if (entry == NULL || entry->symbol == NULL) continue;
    if (types == (entry->symbol->kind == SYMBOL_TYPEDEF)) consider(&n, entry->symbol->name);
  }
  if (types) {
    for (size_t i = 0; i < sizeof(type_words) / sizeof(type_words[0]); i++) consider(&n, qn_sv_from(type_words[i]));
  } else {
    front_builtin_names(consider_builtin, &n);
  }
  return n.best;
}

#include "compiler/target/text/names.h"

#include <string.h>

/* What is known of a name: the number that the next one like it gets. */
typedef struct taken {
  uint32_t next;
} taken;

void text_names_init(text_names *names, qn_arena *arena, bool (*is_reserved)(qn_sv name), const char *prefix) {
  *names = (text_names){.arena = arena, .is_reserved = is_reserved, .prefix = prefix};
}

void text_names_free(text_names *names) {
  qn_map_free(&names->module);
  qn_map_free(&names->function);
}

void text_names_leave(text_names *names) { qn_map_free(&names->function); }

static bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
static bool is_digit(char c) { return c >= '0' && c <= '9'; }

/* Letters, digits and single underscores, beginning with a letter: what begins with an underscore, or has two, belongs to
 * compilers. */
static const char *make_legal(text_names *names, const char *wish) {
  char *copy = qn_arena_alloc(names->arena, strlen(wish) + 3), *to = copy;
  if (!copy) {
    names->failed = true;
    return "x";
  }
  for (; *wish; wish++) {
    if (to == copy && is_digit(*wish)) *to++ = 'x'; /* also of "_3" */
    if (is_letter(*wish) || is_digit(*wish))
      *to++ = *wish;
    else if (to > copy && to[-1] != '_')
      *to++ = '_';
  }
  if (to == copy) *to++ = 'x';
  *to = 0;
  return copy;
}

static taken *find(text_names *names, const char *name) {
  taken *t = qn_map_get(&names->function, qn_sv_from(name));
  return t ? t : qn_map_get(&names->module, qn_sv_from(name));
}

static bool is_free(text_names *names, const char *name) {
  return !find(names, name) && !names->is_reserved(qn_sv_from(name));
}

static const char *keep(text_names *names, qn_map *map, const char *name) {
  taken *t = QN_ARENA_NEW(names->arena, taken);
  if (!t || !qn_map_set(map, qn_sv_from(name), t)) names->failed = true;
  return name;
}

/* A number behind a reserved word may be reserved too ("int4"); something in front is not. */
static const char *renamed(text_names *names, const char *wish) {
  const char *name = qn_arena_printf(names->arena, "my_%s", wish);
  names->failed |= !name;
  return name ? name : wish;
}

/* Numbers are counted with the name that was wished for, so that a thousand of one wish are not a thousand tries each. */
static const char *choose(text_names *names, qn_map *map, const char *wish) {
  if (names->is_reserved(qn_sv_from(wish))) wish = renamed(names, wish);
  if (is_free(names, wish)) return keep(names, map, wish);
  taken *t = qn_map_get(map, qn_sv_from(wish));
  if (!t) {
    (void)keep(names, map, wish);
    t = qn_map_get(map, qn_sv_from(wish));
  }
  while (t && !names->failed) {
    const char *name = qn_arena_printf(names->arena, "%s_%u", wish, ++t->next);
    if (!name) break;
    if (is_free(names, name)) return keep(names, map, name);
  }
  names->failed = true;
  return wish;
}

static const char *without_prefix(const text_names *names, const char *wish) {
  size_t size = strlen(names->prefix);
  while (strncmp(wish, names->prefix, size) == 0) wish += size;
  return wish;
}

const char *text_name_global(text_names *names, const char *wish) {
  const char *legal = make_legal(names, without_prefix(names, make_legal(names, wish)));
  return choose(names, &names->module, legal);
}

const char *text_name_own(text_names *names, const char *wish) {
  const char *name = qn_arena_printf(names->arena, "%s%s", names->prefix, make_legal(names, wish));
  if (name) return choose(names, &names->module, name);
  names->failed = true;
  return wish;
}

const char *text_name_local(text_names *names, const char *wish) {
  const char *legal = make_legal(names, without_prefix(names, make_legal(names, wish)));
  return choose(names, &names->function, legal);
}

/* builtin_match.c - the choice of an overload. Every row of the name, with every element that its T may be, is a
 * candidate; each argument has a rank against it. */
#include <string.h>

#include "compiler/front/builtin_table.h"

typedef enum rank { RANK_EXACT, RANK_PROMOTION, RANK_CONVERSION, RANK_WIDENING, RANK_NONE } rank;

typedef struct candidate {
  const builtin_row *row;
  const front_type *t;
  const front_type *result;
  const front_type *params[FRONT_OVERLOAD_PARAMS];
  rank ranks[FRONT_OVERLOAD_PARAMS];
  uint32_t count;
} candidate;

/* ---- Signatures ---------------------------------------------------------------------------------- */

static const front_type *element_at(front *f, uint32_t index) {
  if (index >= 8) return front_float(f, index == 8 ? 32 : 64);
  return front_int(f, 8u << (index / 2), index % 2 == 0);
}

static const front_type *with_lanes(front *f, const front_type *elem, uint32_t lanes) {
  return lanes == 1 ? elem : front_vector(f, elem, lanes);
}

/* The type that a letter stands for. */
static const front_type *letter_type(front *f, const front_builtin *builtin, char letter, const front_type *t) {
  const front_type *e = t ? front_elem(t) : NULL;
  switch (letter) {
    case 'T':
      return t;
    case 'E':
      return e;
    case 'V':
      return with_lanes(f, e, builtin->lanes);
    case 'I':
      return front_with_elem(f, t, front_int(f, 32, true));
    case 'J':
      return front_with_elem(f, t, front_int(f, e->bits, true));
    case 'U':
      return front_with_elem(f, t, front_int(f, e->bits, false));
    case 'W':
      return front_with_elem(f, t, front_int(f, e->bits * 2, e->is_signed));
    case 'R':
      return front_truth_type(f, t);
    case 'i':
      return front_int(f, 32, true);
    case 'u':
      return front_int(f, 32, false);
    case 'z':
      return front_size_type(f);
    case 'f':
      return with_lanes(f, front_float(f, 32), builtin->lanes);
    case 'h':
      return front_float(f, 16);
    default:
      return front_void(f);
  }
}

static rank rank_value(const front_type *arg, const front_type *param) {
  if (arg == param) return RANK_EXACT;
  if (!front_is_arithmetic(arg)) return RANK_NONE;
  if (front_is_vector(param)) return arg == param->elem ? RANK_CONVERSION : RANK_WIDENING;
  if (!front_is_arithmetic(param)) return RANK_NONE;
  bool narrow = arg->kind == FRONT_BOOL || (arg->kind == FRONT_INT && arg->bits < 32);
  if (narrow && param->kind == FRONT_INT && param->bits == 32 && param->is_signed) return RANK_PROMOTION;
  if (arg->kind == FRONT_FLOAT && param->kind == FRONT_FLOAT && param->bits > arg->bits) return RANK_PROMOTION;
  return RANK_CONVERSION;
}

/* Pointers match exactly or not; the parameter takes the argument's space and qualifiers. `kind`: '*' written through,
 * 'c' only read, 'g' global, 'a' atomic. */
static rank rank_pointer(front *f, const front_type *arg, char kind, const front_type *pointee,
                         const front_type **param) {
  if (!front_is_pointer(arg)) return RANK_NONE;
  const front_type *elem = arg->elem;
  if (elem->plain != pointee) return RANK_NONE;
  bool reads = kind == 'c' || kind == 'g';
  if (!reads && ((elem->quals & FRONT_CONST) || elem->space == IR_CONSTANT)) return RANK_NONE;
  if (kind == 'g' && elem->space != IR_GLOBAL) return RANK_NONE;
  if (kind == 'a' && elem->space == IR_PRIVATE) return RANK_NONE;
  *param = front_pointer(f, elem);
  return RANK_EXACT;
}

/* Walks a signature: fills params and ranks. False: another count, or an argument that can't be. */
static bool match(front *f, const front_builtin *builtin, candidate *c, const front_type *const *args, uint32_t count) {
  const char *s = c->row->signature;
  c->result = letter_type(f, builtin, *s++, c->t);
  s++; /* ( */
  uint32_t i = 0;
  while (*s != ')') {
    if (i == count) return false;
    char kind = 0;
    if (s[0] == '*') kind = '*';
    if (s[0] != '*' && s[1] == '*') kind = *s++;
    if (kind) s++;
    const front_type *type = letter_type(f, builtin, *s++, c->t);
    c->params[i] = type;
    c->ranks[i] = kind ? rank_pointer(f, args[i], kind, type, &c->params[i]) : rank_value(args[i], type);
    if (c->ranks[i] == RANK_NONE) return false;
    i++;
    while (*s == ',' || *s == ' ') s++;
  }
  c->count = i;
  return i == count;
}

static uint32_t signature_count(const char *s) {
  if (strchr(s, ')') == strchr(s, '(') + 1) return 0;
  uint32_t count = 1;
  for (; *s; s++) count += *s == ',';
  return count;
}

/* ---- Choice -------------------------------------------------------------------------------------- */

/* -1: a is better, 1: b is, 0: neither. */
static int compare(const candidate *a, const candidate *b) {
  bool a_wins = false, b_wins = false;
  for (uint32_t i = 0; i < a->count; i++) {
    a_wins |= a->ranks[i] < b->ranks[i];
    b_wins |= b->ranks[i] < a->ranks[i];
  }
  return a_wins == b_wins ? 0 : a_wins ? -1 : 1;
}

static uint32_t lanes_of_args(const front_type *const *args, uint32_t count) {
  for (uint32_t i = 0; i < count; i++)
    if (front_is_vector(args[i])) return args[i]->lanes;
  for (uint32_t i = 0; i < count; i++)
    if (front_is_pointer(args[i]) && front_is_vector(args[i]->elem)) return args[i]->elem->lanes;
  return 1;
}

static uint32_t lanes_bit(uint32_t lanes) {
  switch (lanes) {
    case 1:
      return L_1;
    case 2:
      return L_2;
    case 3:
      return L_3;
    case 4:
      return L_4;
    case 8:
      return L_8;
    default:
      return L_16;
  }
}

/* Elements that the data model has; 64-bit atomics are an option of it. */
static uint32_t elements_of(const front *f, const builtin_row *row) {
  uint32_t elements = row->elements;
  if (!f->m->model.has_double) elements &= ~(uint32_t)E_F64;
  bool is_atomic = row->emit == builtin_emit_atomic || row->emit == builtin_emit_atomic_step;
  if (is_atomic && !f->m->model.has_int64_atomics) elements &= ~(uint32_t)(E_I64 | E_U64);
  return elements;
}

typedef struct search {
  front *f;
  const front_builtin *builtin;
  const front_type *const *args;
  uint32_t count;
  candidate best;
  candidate rivals[8]; /* as good as the best, or neither better nor worse */
  uint32_t rival_count;
  bool found;
} search;

static void consider(search *s, const builtin_row *row, const front_type *t) {
  candidate c = {.row = row, .t = t};
  if (!match(s->f, s->builtin, &c, s->args, s->count)) return;
  if (!s->found) {
    s->best = c;
    s->found = true;
    return;
  }
  int order = compare(&s->best, &c);
  if (order < 0) return;
  if (order == 0) {
    if (s->rival_count < 8) s->rivals[s->rival_count++] = c;
    return;
  }
  s->best = c;
  /* Rivals that the new best beats are out. */
  uint32_t kept = 0;
  for (uint32_t i = 0; i < s->rival_count; i++)
    if (compare(&s->best, &s->rivals[i]) >= 0) s->rivals[kept++] = s->rivals[i];
  s->rival_count = kept;
}

static void consider_row(search *s, const builtin_row *row) {
  if (!row->elements) {
    consider(s, row, NULL);
    return;
  }
  uint32_t lanes = lanes_of_args(s->args, s->count);
  /* A family's own lanes are those of V, not of T. */
  if (row->lanes == L_1) lanes = 1;
  if (!(row->lanes & lanes_bit(lanes))) return;
  uint32_t elements = elements_of(s->f, row);
  for (uint32_t i = 0; i < BUILTIN_ELEMENTS; i++)
    if (elements & 1u << i) consider(s, row, with_lanes(s->f, element_at(s->f, i), lanes));
}

/* ---- Reports ------------------------------------------------------------------------------------- */

static const char *list_text(front *f, const front_type *const *types, uint32_t count, const char *first,
                             const char *last) {
  qn_bytes text = {0};
  qn_bytes_append_str(&text, first);
  for (uint32_t i = 0; i < count; i++) qn_bytes_printf(&text, "%s%s", i ? ", " : "", front_type_text(f, types[i]));
  qn_bytes_append_str(&text, last);
  const char *copy = text.failed ? NULL : qn_arena_copy(f->arena, qn_bytes_view(&text));
  qn_bytes_free(&text);
  if (copy) return copy;
  f->failed = true;
  return "";
}

const char *builtin_args_text(front *f, const front_type *const *args, uint32_t count) {
  return list_text(f, args, count, "(", ")");
}

static const char *letter_text(char letter) {
  switch (letter) {
    case 'T':
      return "T";
    case 'E':
      return "element of T";
    case 'I':
      return "ints like T";
    case 'J':
      return "signed integers like T";
    case 'U':
      return "unsigned integers like T";
    case 'V':
      return "vector of T";
    case 'i':
      return "int";
    case 'u':
      return "uint";
    case 'z':
      return "size_t";
    case 'h':
      return "half";
    default:
      return "void";
  }
}

static void print_parameters(qn_bytes *out, const char *signature) {
  for (const char *s = strchr(signature, '('); *s; s++) {
    if (*s == '(' || *s == ')' || *s == ',' || *s == ' ') {
      qn_bytes_append_char(out, *s);
      continue;
    }
    const char *start = s;
    while (*s && strchr("*cga", *s) && s[1] != 0 && (*s == '*' || s[1] == '*')) s++;
    qn_bytes_append_str(out, *start == 'c' ? "const " : *start == 'g' ? "const __global " : "");
    qn_bytes_append_str(out, letter_text(*s));
    if (s != start) qn_bytes_append_str(out, *start == 'a' ? " * of global or local memory" : " *");
  }
}

static const char *elements_text(uint32_t elements) {
  if (elements == E_ALL) return "numbers";
  if (elements == E_INT) return "integers";
  if (elements == E_SIGNED) return "signed integers";
  if (elements == E_FLOAT) return "float or double";
  if (elements == E_F32) return "float";
  if (elements == E_WORD) return "int or uint";
  if (elements == E_NARROW) return "integers of at most 32 bits";
  return "int, uint, long or ulong";
}

/* One note with what the name takes. */
static void note_rows(front *f, const front_builtin *builtin, qn_loc loc) {
  qn_bytes text = {0};
  for (uint32_t i = 0; i < builtin->row_count; i++) {
    if (i) qn_bytes_append_str(&text, i + 1 == builtin->row_count ? " or " : ", ");
    qn_bytes_append_sv(&text, builtin->name);
    print_parameters(&text, builtin->rows[i].signature);
  }
  const builtin_row *row = &builtin->rows[0];
  if (row->elements) {
    qn_bytes_printf(&text, ", T of %s", elements_text(row->elements));
    if (row->lanes == (L_3 | L_4)) qn_bytes_append_str(&text, " with 3 or 4 components");
    if (row->lanes == L_POINT) qn_bytes_append_str(&text, " with at most 4 components");
  }
  if (!text.failed) front_note(f, loc, 0, "it takes %s", text.data);
  qn_bytes_free(&text);
}

static bool report_count(front *f, const front_builtin *builtin, qn_loc loc, uint32_t count) {
  uint32_t least = UINT32_MAX, most = 0;
  for (uint32_t i = 0; i < builtin->row_count; i++) {
    uint32_t n = signature_count(builtin->rows[i].signature);
    least = n < least ? n : least;
    most = n > most ? n : most;
  }
  if (count >= least && count <= most) return false;
  front_error(f, loc, (uint32_t)builtin->name.size, "too %s arguments to '%.*s': it takes %u, not %u",
              count < least ? "few" : "many", QN_SV_ARG(builtin->name), count < least ? least : most, count);
  return true;
}

static bool wants_double(const front_type *const *args, uint32_t count) {
  for (uint32_t i = 0; i < count; i++) {
    const front_type *t = front_is_pointer(args[i]) ? args[i]->elem : args[i];
    if (front_is_floating(t) && front_elem(t)->bits == 64) return true;
  }
  return false;
}

static bool wants_long(const front_type *const *args, uint32_t count) {
  return count > 0 && front_is_pointer(args[0]) && args[0]->elem->kind == FRONT_INT && args[0]->elem->bits == 64;
}

static void report_none(front *f, const front_builtin *builtin, qn_loc loc, const front_type *const *args,
                        uint32_t count) {
  if (report_count(f, builtin, loc, count)) return;
  const char *why = "";
  if (!f->m->model.has_double && wants_double(args, count)) why = "; the device has no double";
  const builtin_row *row = &builtin->rows[0];
  if ((row->elements & ~elements_of(f, row) & E_I64) && wants_long(args, count))
    why = "; the device has no 64-bit atomics";
  if (qn_sv_is(builtin->name, "abs") && count == 1 && front_is_floating(args[0])) why = "; did you mean 'fabs'?";
  front_error(f, loc, (uint32_t)builtin->name.size, "no '%.*s' takes %s%s", QN_SV_ARG(builtin->name),
              builtin_args_text(f, args, count), why);
  note_rows(f, builtin, loc);
}

/* A function of integers called with a float: every integer type would do, which helps nobody. */
static bool wants_float(const search *s) {
  bool has_float = false;
  for (uint32_t i = 0; i < s->count; i++) has_float |= front_is_floating(s->args[i]);
  return has_float && s->best.row->elements && !(s->best.row->elements & E_FLOAT);
}

static void report_ambiguous(const search *s, qn_loc loc) {
  front *f = s->f;
  qn_sv name = s->builtin->name;
  front_error(f, loc, (uint32_t)name.size, "call to '%.*s' is ambiguous for %s; cast an argument", QN_SV_ARG(name),
              builtin_args_text(f, s->args, s->count));
  qn_bytes text = {0};
  for (uint32_t i = 0; i <= s->rival_count; i++) {
    const candidate *c = i ? &s->rivals[i - 1] : &s->best;
    qn_bytes_printf(&text, "%s%.*s%s", i ? ", " : "", QN_SV_ARG(name), builtin_args_text(f, c->params, c->count));
  }
  if (!text.failed) front_note(f, loc, 0, "candidates: %s", text.data);
  qn_bytes_free(&text);
}

/* ---- Resolve ------------------------------------------------------------------------------------- */

/* A few instructions: no call, no lane by lane work on vectors. */
static bool is_cheap(const builtin_row *row) {
  if (!row) return true;
  bool calls = row->emit == builtin_emit_library || row->emit == builtin_emit_geometric;
  return (row->flags & B_PURE) && !calls && row->emit != builtin_emit_shuffle;
}

bool builtin_choose(front *f, const front_builtin *builtin, const builtin_row *row, const front_type *t,
                    const front_type *from, front_overload *out) {
  builtin_choice *choice = QN_ARENA_NEW(f->arena, builtin_choice);
  if (!choice) {
    f->failed = true;
    return false;
  }
  *choice = (builtin_choice){builtin, row, t, from};
  out->entry = choice;
  out->is_pure = !row || (row->flags & B_PURE);
  out->is_cheap = is_cheap(row);
  out->is_barrier = row && (row->flags & B_BARRIER);
  out->is_item_id = row && (row->flags & B_ITEM);
  return true;
}

bool front_builtin_resolve(front *f, const front_builtin *builtin, qn_loc loc, const front_type *const *args,
                           uint32_t count, front_overload *out) {
  *out = (front_overload){0};
  if (!builtin->rows) return builtin_resolve_conversion(f, builtin, loc, args, count, out);
  if (!builtin->rows[0].signature[0]) return builtin_resolve_shuffle(f, builtin, loc, args, count, out);
  search s = {.f = f, .builtin = builtin, .args = args, .count = count};
  for (uint32_t i = 0; i < builtin->row_count && count <= FRONT_OVERLOAD_PARAMS; i++)
    consider_row(&s, &builtin->rows[i]);
  if (!s.found) {
    report_none(f, builtin, loc, args, count);
    return false;
  }
  if (s.rival_count) {
    if (wants_float(&s)) {
      report_none(f, builtin, loc, args, count);
    } else {
      report_ambiguous(&s, loc);
    }
    return false;
  }
  out->result = s.best.result;
  out->count = count;
  memcpy(out->params, s.best.params, sizeof out->params);
  return builtin_choose(f, builtin, s.best.row, s.best.t, NULL, out);
}

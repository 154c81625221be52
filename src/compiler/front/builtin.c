/* builtin.c - the table and names. */
#include "compiler/front/builtin.h"

#include <stdio.h>
#include <string.h>

#include "compiler/front/builtin_table.h"

#define LIST(...) {__VA_ARGS__}
const builtin_row builtin_rows[] = {
#define B(name, signature, elements, lanes, flags, emit, ops, library, fast) \
  {name, signature, elements, lanes, flags, builtin_emit_##emit, LIST ops, library, fast},
#include "compiler/front/builtin.def"
#undef B
};
const uint32_t builtin_row_count = sizeof builtin_rows / sizeof *builtin_rows;

/* ---- Names --------------------------------------------------------------------------------------- */

static int compare_name(qn_sv name, const char *row) {
  size_t length = strlen(row);
  int order = memcmp(name.data, row, name.size < length ? name.size : length);
  return order ? order : (name.size > length) - (name.size < length);
}

/* The first row of a name and how many there are; false: none, and nothing is written. */
static bool find_rows(qn_sv name, const builtin_row **out, uint32_t *out_count) {
  uint32_t low = 0, high = builtin_row_count;
  while (low < high) {
    uint32_t middle = low + (high - low) / 2;
    if (compare_name(name, builtin_rows[middle].name) > 0) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  uint32_t end = low;
  while (end < builtin_row_count && compare_name(name, builtin_rows[end].name) == 0) end++;
  if (end == low) return false;
  *out = &builtin_rows[low];
  *out_count = end - low;
  return true;
}

static bool is_digit(char c) { return c >= '0' && c <= '9'; }

/* The number 2, 3, 4, 8 or 16 of a name like vload4 or vstore_half16_rte, and the name with '#' in its place. */
static uint32_t family_lanes(qn_sv name, char *pattern, size_t capacity, qn_sv *out) {
  size_t start = 0;
  while (start < name.size && !is_digit(name.data[start])) start++;
  size_t end = start;
  uint32_t lanes = 0;
  while (end < name.size && end < start + 3 && is_digit(name.data[end]))
    lanes = lanes * 10 + (uint32_t)(name.data[end++] - '0');
  if (lanes != 2 && lanes != 3 && lanes != 4 && lanes != 8 && lanes != 16) return 0;
  size_t tail = name.size - end;
  if (start + 1 + tail > capacity || name.data[start] == '0') return 0;
  memcpy(pattern, name.data, start);
  pattern[start] = '#';
  memcpy(pattern + start + 1, name.data + end, tail);
  *out = qn_sv_make(pattern, start + 1 + tail);
  return lanes;
}

/* Cuts "_rte" and the like from the end. */
static builtin_rounding cut_rounding(qn_sv *name) {
  static const char *const suffixes[] = {
      [ROUND_RTE] = "_rte", [ROUND_RTZ] = "_rtz", [ROUND_RTP] = "_rtp", [ROUND_RTN] = "_rtn"};
  for (builtin_rounding r = ROUND_RTE; r <= ROUND_RTN; r++) {
    if (!qn_sv_ends_with(*name, qn_sv_from(suffixes[r]))) continue;
    name->size -= 4;
    return r;
  }
  return ROUND_DEFAULT;
}

static qn_sv behind(qn_sv name, size_t count) { return qn_sv_make(name.data + count, name.size - count); }

/* convert_T, convert_T_sat, convert_T_rte, convert_T_sat_rte, as_T. */
static bool find_conversion(front *f, qn_sv name, front_builtin *out) {
  bool reinterprets = qn_sv_starts_with(name, QN_SV("as_"));
  if (!reinterprets && !qn_sv_starts_with(name, QN_SV("convert_"))) return false;
  qn_sv type = behind(name, reinterprets ? 3 : 8);
  out->is_reinterpretation = reinterprets;
  if (!reinterprets) {
    out->rounding = cut_rounding(&type);
    out->is_saturated = qn_sv_ends_with(type, QN_SV("_sat"));
    if (out->is_saturated) type.size -= 4;
  }
  out->type = front_type_named(f, type);
  if (!out->type || !front_is_numeric(out->type) || front_elem(out->type)->kind == FRONT_BOOL) return false;
  return !out->is_saturated || front_is_integral(out->type);
}

const front_builtin *front_builtin_find(front *f, qn_sv name) {
  front_builtin found = {.name = name, .lanes = 1};
  char pattern[32];
  qn_sv family;
  if (!find_rows(name, &found.rows, &found.row_count)) {
    uint32_t lanes = family_lanes(name, pattern, sizeof pattern, &family);
    if (lanes && find_rows(family, &found.rows, &found.row_count)) {
      found.lanes = lanes;
    } else if (!find_conversion(f, name, &found)) {
      return NULL;
    }
  }
  if (qn_sv_starts_with(name, QN_SV("vstore"))) {
    qn_sv rest = name;
    found.rounding = cut_rounding(&rest);
  }
  front_builtin *made = QN_ARENA_NEW(f->arena, front_builtin);
  if (!made) {
    f->failed = true;
    return NULL;
  }
  *made = found;
  return made;
}

typedef struct name_visit {
  void (*fn)(void *user, qn_sv name);
  void *user;
} name_visit;

static void visit_conversions(void *user, qn_sv type) {
  static const char *const saturations[] = {"", "_sat"}, *const roundings[] = {"", "_rte", "_rtz", "_rtp", "_rtn"};
  const name_visit *v = user;
  char text[48];
  v->fn(v->user, qn_sv_make(text, (size_t)snprintf(text, sizeof text, "as_%.*s", QN_SV_ARG(type))));
  bool is_floating = strchr("fdh", type.data[0]) != NULL; /* saturation is for integers */
  for (int s = 0; s < (is_floating ? 1 : 2); s++) {
    for (int r = 0; r < 5; r++) {
      int size = snprintf(text, sizeof text, "convert_%.*s%s%s", QN_SV_ARG(type), saturations[s], roundings[r]);
      v->fn(v->user, qn_sv_make(text, (size_t)size));
    }
  }
}

/* vload2, vload3 ... of vload#. */
static void visit_family(const name_visit *v, qn_sv pattern, size_t at) {
  static const char *const lanes[] = {"2", "3", "4", "8", "16"};
  for (size_t i = 0; i < sizeof lanes / sizeof *lanes; i++) {
    char text[48];
    int size = snprintf(text, sizeof text, "%.*s%s%s", (int)at, pattern.data, lanes[i], pattern.data + at + 1);
    v->fn(v->user, qn_sv_make(text, (size_t)size));
  }
}

void front_builtin_names(void (*fn)(void *user, qn_sv name), void *user) {
  name_visit v = {fn, user};
  for (uint32_t i = 0; i < builtin_row_count; i++) {
    if (i && strcmp(builtin_rows[i].name, builtin_rows[i - 1].name) == 0) continue;
    qn_sv name = qn_sv_from(builtin_rows[i].name);
    const char *number = memchr(name.data, '#', name.size);
    if (number) {
      visit_family(&v, name, (size_t)(number - name.data));
    } else {
      fn(user, name);
    }
  }
  front_type_names(visit_conversions, &v, true);
}

/* emit_switch.c - a switch of C falls from one case into the next; the IR's doesn't. The list of statements is cut at
 * its labels into segments. Segments that fall into each other form a group, and each group becomes a case of the IR:
 *
 *   one label a group and no falling: the values are the cases
 *   else a first switch sets `group`, and `at`, the segment's number, where segments fall; a second switch, on `group`,
 *   has the groups, and in a group each segment but the last stands in "if at <= its number"; a long group is a loop
 *   around a third switch, on `at`, whose cases set `at` to the next segment
 *
 * A break leaves the IR's switch. */
#include "compiler/front/emit.h"

typedef struct segment {
  front_stmt *labels; /* the first STMT_CASE or STMT_DEFAULT */
  front_stmt *body;   /* behind the labels */
  front_stmt *end;    /* the next label, or NULL */
  uint32_t label_count;
  bool has_default;
  bool falls; /* into the next */
} segment;

static bool is_label(const front_stmt *s) { return s->kind == STMT_CASE || s->kind == STMT_DEFAULT; }

/* Whether the end of a statement can't be reached, as far as its form says. */
static bool never_ends(const front_stmt *s) {
  switch (s->kind) {
    case STMT_BREAK:
    case STMT_CONTINUE:
    case STMT_RETURN:
      return true;
    case STMT_IF:
      for (; s != NULL && s->kind == STMT_IF; s = s->other) {
        if (!never_ends(s->body)) return false;
      }
      return s != NULL && never_ends(s);
    case STMT_BLOCK:
      for (const front_stmt *inner = s->body; inner != NULL; inner = inner->next) {
        if (never_ends(inner)) return true;
      }
      return false;
    default:
      return false;
  }
}

static uint32_t count_segments(const front_stmt *list) {
  uint32_t count = 0;
  bool in_labels = false;
  for (; list != NULL; list = list->next) {
    if (is_label(list) && !in_labels) count++;
    in_labels = is_label(list);
  }
  return count;
}

/* Statements before the first label are never reached; declarations there have no initial value. */
static void cut_segments(front_stmt *list, segment *segments, uint32_t count) {
  while (list != NULL && !is_label(list)) list = list->next;
  for (uint32_t i = 0; i < count; i++) {
    segment *g = &segments[i];
    g->labels = list;
    for (; list != NULL && is_label(list); list = list->next) {
      g->label_count++;
      g->has_default |= list->kind == STMT_DEFAULT;
    }
    g->body = list;
    bool ends = false;
    for (; list != NULL && !is_label(list); list = list->next) ends = ends || never_ends(list);
    g->end = list;
    g->falls = !ends && list != NULL;
  }
}

static void segment_body(front *f, const segment *g) { front_emit_list(f, g->body, g->end); }

static uint64_t case_bits(const front_stmt *label, const ir_type *type) {
  return type->bits == 32 ? label->value & UINT32_MAX : label->value;
}

/* The values of all labels in order, and for each the segment it is of. */
typedef struct case_list {
  uint64_t *values;
  uint32_t *owners;
  uint32_t count;
  uint32_t fallback; /* the segment of default, or their number */
} case_list;

static bool list_cases(front *f, const segment *segments, uint32_t count, const ir_type *type, case_list *out) {
  uint32_t total = 0;
  for (uint32_t i = 0; i < count; i++) total += segments[i].label_count;
  out->values = QN_ARENA_ARRAY(f->arena, uint64_t, total + 1);
  out->owners = QN_ARENA_ARRAY(f->arena, uint32_t, total + 1);
  if (out->values == NULL || out->owners == NULL) {
    f->failed = f->m->failed = true;
    return false;
  }
  out->count = 0;
  out->fallback = count;
  for (uint32_t i = 0; i < count; i++) {
    if (segments[i].has_default) out->fallback = i;
    for (const front_stmt *s = segments[i].labels; s != NULL && is_label(s); s = s->next) {
      if (s->kind == STMT_DEFAULT) continue;
      out->values[out->count] = case_bits(s, type);
      out->owners[out->count++] = i;
    }
  }
  return true;
}

/* No segment falls into another and each has one case, but that of default, which has none. */
static bool is_plain(const segment *segments, uint32_t count) {
  for (uint32_t i = 0; i < count; i++) {
    if (segments[i].falls) return false;
    if (segments[i].label_count != 1 && !segments[i].has_default) return false;
  }
  return true;
}

static void plain_switch(front *f, ir_inst *value, const segment *segments, const case_list *cases, uint32_t count) {
  /* Cases that share the body of default need no case of their own. */
  uint64_t *values = QN_ARENA_ARRAY(f->arena, uint64_t, cases->count + 1);
  uint32_t *owners = QN_ARENA_ARRAY(f->arena, uint32_t, cases->count + 1);
  if (values == NULL || owners == NULL) {
    f->failed = f->m->failed = true;
    return;
  }
  uint32_t used = 0;
  for (uint32_t i = 0; i < cases->count; i++) {
    if (cases->owners[i] == cases->fallback) continue;
    values[used] = cases->values[i];
    owners[used++] = cases->owners[i];
  }
  ir_inst *inst = ir_switch(&f->b, value, values, used);
  if (f->m->failed) return;
  for (uint32_t i = 0; i <= used; i++) {
    uint32_t owner = i < used ? owners[i] : cases->fallback;
    if (owner >= count) continue;
    ir_block *outside = ir_into(&f->b, inst->u.ctrl.blocks[i]);
    segment_body(f, &segments[owner]);
    ir_into(&f->b, outside);
  }
}

/* ---- With two switches
 * ------------------------------------------------------------------------------------------------ */

/* Which segments form groups. */
typedef struct groups {
  uint32_t *firsts; /* of each group, and the number of segments behind the last */
  uint32_t *group_of;
  uint32_t count;
  bool has_long; /* a group of more than one */
} groups;

static bool find_groups(front *f, const segment *segments, uint32_t count, groups *out) {
  *out = (groups){.firsts = QN_ARENA_ARRAY(f->arena, uint32_t, count + 1),
                  .group_of = QN_ARENA_ARRAY(f->arena, uint32_t, count + 1)};
  if (out->firsts == NULL || out->group_of == NULL) {
    f->failed = f->m->failed = true;
    return false;
  }
  for (uint32_t i = 0; i < count; i++) {
    bool is_first = i == 0 || !segments[i - 1].falls;
    if (is_first) out->firsts[out->count++] = i;
    out->has_long |= !is_first;
    out->group_of[i] = out->count - 1;
  }
  out->firsts[out->count] = count;
  out->group_of[count] = out->count; /* no segment: behind the last group */
  return true;
}

typedef struct entry_vars {
  ir_var *group, *at; /* at: NULL when no group is long */
} entry_vars;

static void store_entry(front *f, const groups *g, entry_vars vars, uint32_t segment_number) {
  const ir_type *type = ir_int(f->m, 32);
  (void)ir_store(&f->b, vars.group->address, ir_const_int(f->m, type, g->group_of[segment_number]));
  if (vars.at != NULL) (void)ir_store(&f->b, vars.at->address, ir_const_int(f->m, type, segment_number));
}

/* The first switch: where each value enters. */
static void find_entry(front *f, ir_inst *value, const case_list *cases, const groups *g, entry_vars vars) {
  store_entry(f, g, vars, cases->fallback);
  ir_inst *inst = ir_switch(&f->b, value, cases->values, cases->count);
  for (uint32_t i = 0; i < cases->count && !f->m->failed; i++) {
    ir_block *outside = ir_into(&f->b, inst->u.ctrl.blocks[i]);
    store_entry(f, g, vars, cases->owners[i]);
    ir_into(&f->b, outside);
  }
}

/* Segments first to last - 1, which fall into each other. Who comes to the last has entered at it or before. */
static void group_body(front *f, const segment *segments, uint32_t first, uint32_t last, const entry_vars *vars) {
  for (uint32_t i = first; i + 1 < last && !f->m->failed; i++) {
    ir_inst *at = ir_load(&f->b, vars->at->address);
    ir_inst *branch = ir_if(&f->b, ir_bin(&f->b, IR_ULE, at, ir_const_int(f->m, at->type, i)));
    if (f->m->failed) return;
    ir_block *outside = ir_into(&f->b, branch->u.ctrl.blocks[0]);
    segment_body(f, &segments[i]);
    ir_into(&f->b, outside);
  }
  segment_body(f, &segments[last - 1]);
}

/* A test for each segment is not worth its while in a long group: `at` is one of many constants, and optimisers work out
 * each test for each of them. */
enum { LONG_GROUP = 32 };

static bool continues(const front_stmt *list, const front_stmt *end);

static bool one_continues(const front_stmt *s) {
  for (; s != NULL && s->kind == STMT_IF; s = s->other) {
    if (continues(s->body, NULL)) return true;
  }
  if (s == NULL || s->kind == STMT_LOOP || s->kind == STMT_DO) return false;
  return s->kind == STMT_CONTINUE || continues(s->body, NULL);
}

/* Whether statements of a list go on with the loop around it. */
static bool continues(const front_stmt *list, const front_stmt *end) {
  for (; list != end; list = list->next) {
    if (one_continues(list)) return true;
  }
  return false;
}

static void machine_step(front *f, const segment *segments, uint32_t at, uint32_t last, const ir_var *var) {
  const ir_type *type = var->type;
  (void)ir_store(&f->b, var->address, ir_const_int(f->m, type, last)); /* what a break leaves behind */
  segment_body(f, &segments[at]);
  if (at + 1 < last && !ir_block_ends(f->b.block))
    (void)ir_store(&f->b, var->address, ir_const_int(f->m, type, at + 1));
}

/* loop { switch (at) { case i: at = last; segment i; at = i + 1; ... } } until at == last. */
static void long_group_body(front *f, const segment *segments, uint32_t first, uint32_t last, const ir_var *var) {
  uint64_t *numbers = QN_ARENA_ARRAY(f->arena, uint64_t, last - first);
  if (numbers == NULL) {
    f->failed = f->m->failed = true;
    return;
  }
  for (uint32_t i = first; i < last; i++) numbers[i - first] = i;
  ir_inst *loop = ir_loop(&f->b);
  if (f->m->failed) return;
  ir_block *outside = ir_into(&f->b, loop->u.ctrl.blocks[0]);
  ir_inst *inst = ir_switch(&f->b, ir_load(&f->b, var->address), numbers, last - first);
  ir_block *inside = f->b.block;
  for (uint32_t i = first; i < last && !f->m->failed; i++) {
    ir_into(&f->b, inst->u.ctrl.blocks[i - first]);
    machine_step(f, segments, i, last, var);
  }
  ir_into(&f->b, inside);
  ir_into(&f->b, loop->u.ctrl.blocks[1]);
  ir_inst *done = ir_bin(&f->b, IR_EQ, ir_load(&f->b, var->address), ir_const_int(f->m, var->type, last));
  (void)ir_break_if(&f->b, done);
  ir_into(&f->b, outside);
}

static void grouped_switch(front *f, ir_inst *value, const segment *segments, const case_list *cases, uint32_t count) {
  groups g;
  if (!find_groups(f, segments, count, &g)) return;
  uint64_t *numbers = QN_ARENA_ARRAY(f->arena, uint64_t, g.count + 1);
  if (numbers == NULL) {
    f->failed = f->m->failed = true;
    return;
  }
  for (uint32_t i = 0; i < g.count; i++) numbers[i] = i;
  const ir_type *type = ir_int(f->m, 32);
  entry_vars vars = {ir_var_private(f->b.f, "group", type), NULL};
  if (g.has_long) vars.at = ir_var_private(f->b.f, "at", type);
  find_entry(f, value, cases, &g, vars);
  ir_inst *inst = ir_switch(&f->b, ir_load(&f->b, vars.group->address), numbers, g.count);
  for (uint32_t i = 0; i < g.count && !f->m->failed; i++) {
    ir_block *outside = ir_into(&f->b, inst->u.ctrl.blocks[i]);
    uint32_t first = g.firsts[i], last = g.firsts[i + 1];
    if (last - first > LONG_GROUP && !continues(segments[first].body, segments[last - 1].end))
      long_group_body(f, segments, first, last, vars.at);
    else
      group_body(f, segments, first, last, &vars);
    ir_into(&f->b, outside);
  }
}

void front_emit_switch(front *f, front_stmt *s) {
  ir_inst *value = front_emit_value(f, s->expr);
  uint32_t count = count_segments(s->body);
  segment *segments = QN_ARENA_ARRAY(f->arena, segment, count + 1);
  if (segments == NULL) {
    f->failed = f->m->failed = true;
    return;
  }
  if (count == 0) return;
  cut_segments(s->body, segments, count);
  case_list cases;
  if (!list_cases(f, segments, count, value->type, &cases)) return;
  f->b.loc = s->loc;
  if (is_plain(segments, count)) {
    plain_switch(f, value, segments, &cases, count);
  } else {
    grouped_switch(f, value, segments, &cases, count);
  }
}

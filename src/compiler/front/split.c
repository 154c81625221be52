/* split.c - see split.h. */
#include "compiler/front/split.h"

#include "compiler/front/convert.h"

/* ---- While parsing ----------------------------------------------------------------------------------------------- */

static bool is_id(const front_expr *e) {
  while (e->kind == EXPR_CONVERT) e = e->a;
  if (e->kind == EXPR_BUILTIN) return e->u.call.overload->is_item_id;
  return e->kind == EXPR_OBJECT && e->u.object->item_id != NULL;
}

static bool is_constant(const front_expr *e) {
  return e->kind == EXPR_CONST || (e->kind == EXPR_CONVERT && e->a->kind == EXPR_CONST);
}

static bool is_equality_of_id(const front_expr *e) {
  if (e->kind != EXPR_COMPARE || (e->op != OP_EQ && e->op != OP_NE)) return is_id(e);
  return (is_id(e->a) && is_constant(e->b)) || (is_id(e->b) && is_constant(e->a));
}

/* The part of a condition that splits every group with more than one item, where the whole is `truth`: an id compared
 * for equality. Which variables keep an id is judged later. NULL: none. */
static const front_expr *splitting_part(const front_expr *e, bool truth) {
  while (e->kind == EXPR_CONVERT) e = e->a;
  if (e->kind == EXPR_UNARY && e->op == OP_NOT) return splitting_part(e->a, !truth);
  if (e->kind != EXPR_LOGICAL) return is_equality_of_id(e) ? e : NULL;
  if ((e->op == OP_ANDAND) != truth) return NULL; /* either side may be why */
  const front_expr *part = splitting_part(e->a, truth);
  return part != NULL ? part : splitting_part(e->b, truth);
}

front_split front_split_enter(front *f, const front_expr *e, bool truth) {
  front_split outer = f->split;
  if (outer.condition == NULL && e != NULL) f->split.condition = splitting_part(e, truth);
  return outer;
}

void front_split_label(front *f, front_split outer, const front_stmt *choice, const front_stmt *first,
                       const front_stmt *label) {
  f->split = outer;
  if (outer.condition == NULL && is_id(choice->expr)) f->split = (front_split){choice->expr, choice, first, label};
}

static void add_suspect(front *f, qn_loc loc, uint32_t length) {
  if (f->split.condition == NULL) return;
  front_suspect *suspect = QN_ARENA_NEW(f->arena, front_suspect);
  if (suspect == NULL) {
    f->failed = true;
    return;
  }
  *suspect = (front_suspect){loc, length, f->split, f->func->suspects};
  f->func->suspects = suspect;
}

void front_note_barrier(front *f, qn_loc loc, uint32_t length) {
  if (f->func == NULL) return;
  f->func->has_barrier = true;
  f->func->barrier_loc = loc;
  f->func->barrier_length = length;
  add_suspect(f, loc, length);
}

void front_note_barrier_again(front *f, const front_expr *e) {
  if (f->split.condition != NULL) return; /* it is a suspect already */
  front_split outer = front_split_enter(f, e, true);
  add_suspect(f, f->func->barrier_loc, f->func->barrier_length);
  front_split_leave(f, outer);
}

/* ---- Judgement --------------------------------------------------------------------------------------------------- */

/* The work-item query in a condition, reached through variables that keep its value. */
static const front_expr *item_id_in(const front_expr *e) {
  while (e->kind == EXPR_CONVERT) e = e->a;
  if (e->kind == EXPR_BUILTIN && e->u.call.overload->is_item_id) return e;
  if (e->kind == EXPR_OBJECT) return e->u.object->is_assigned ? NULL : e->u.object->item_id;
  if (e->kind != EXPR_COMPARE) return NULL;
  const front_expr *id = item_id_in(e->a);
  return id != NULL ? id : item_id_in(e->b);
}

/* The number that an id is compared with. */
static bool compared_number(front *f, const front_expr *e, uint64_t *out) {
  *out = 0;
  if (e->kind != EXPR_COMPARE) return true; /* the id itself: not 0 */
  return front_fold_integer(f, e->a, out) || front_fold_integer(f, e->b, out);
}

/* Items that a label or comparison names, and how many of them each group has. */
typedef struct named_items {
  uint64_t count, present;
} named_items;

/* An item numbered 0 there always is; another one only in a group that is known to be as wide. */
static void name_item(named_items *items, uint64_t number, uint64_t required) {
  items->count++;
  items->present += number == 0 || number < required;
}

/* Those that go another way than the rest of the group. With `default` those are the ones that do not come. */
static named_items items_of_choice(const front_split *split, uint64_t required) {
  named_items come = {0}, others = {0};
  bool is_reached = false, has_default = false;
  for (const front_stmt *s = split->choice->body; s != NULL; s = s->next) {
    is_reached |= s == split->first;
    has_default |= is_reached && s->kind == STMT_DEFAULT;
    if (s->kind == STMT_CASE) name_item(is_reached ? &come : &others, s->value, required);
    if (s == split->last) is_reached = false;
  }
  return has_default ? others : come;
}

/* Whether the condition sends some items one way and others another way, in each group that may be. With a group of
 * unknown width only one that has more than one item is thought of. */
static bool is_split(front *f, const front_split *split, uint64_t required) {
  named_items items = {0};
  uint64_t number = 0;
  if (split->choice != NULL) {
    items = items_of_choice(split, required);
  } else {
    if (!compared_number(f, split->condition, &number)) return false;
    name_item(&items, number, required);
  }
  return items.present > 0 && (required > 0 ? items.present < required : items.count == 1);
}

/* With a group that is one item wide all agree: an error needs a dimension where that is stated not to be so, or the
 * first one, which launches of one dimension use. */
static void judge_suspect(front *f, const front_suspect *suspect, const uint64_t *sizes) {
  const front_expr *condition = suspect->split.condition;
  const front_expr *id = item_id_in(condition);
  uint64_t dimension = 0;
  bool is_known = id != NULL && id->u.call.count == 1 && front_fold_integer(f, id->u.call.args[0], &dimension);
  if (!is_known || dimension > 2) return;
  uint64_t required = sizes[dimension];
  if (!is_split(f, &suspect->split, required)) return;
  if (dimension > 0 && required == 0) {
    front_warning(f, suspect->loc, suspect->length,
                  "not all work-items of a group come to this barrier, unless it is one item wide in dimension %d",
                  (int)dimension);
  } else {
    front_error(f, suspect->loc, suspect->length,
                "not all work-items of a group come to this barrier; move it out of the condition");
  }
  front_note(f, condition->loc, condition->length, "this condition differs between work-items");
}

void front_judge_barriers(front *f, const front_func *func, const uint64_t *required) {
  for (const front_suspect *s = func->suspects; s != NULL; s = s->next) judge_suspect(f, s, required);
}

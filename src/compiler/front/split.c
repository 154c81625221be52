/* split.c - see split.h. */
#include "compiler/front/split.h"

#include "compiler/front/convert.h"

/* ---- While parsing ----------------------------------------------------------------------------------------------- */

/* Of the conditions around a place this many are kept. */
enum { SPLIT_DEPTH = 16 };

static bool is_query(const front_expr *e) { return e->kind == EXPR_BUILTIN && e->u.call.overload->is_item_id; }

static bool is_constant(const front_expr *e) {
  while (e->kind == EXPR_CONVERT) e = e->a;
  return e->kind == EXPR_CONST || (e->kind == EXPR_OBJECT && e->u.object->constant != NULL);
}

/* An id, or a variable or function that gives one. `takes_parameters`: what is passed may be one. */
static bool is_id(const front_expr *e, bool takes_parameters) {
  while (e->kind == EXPR_CONVERT) e = e->a;
  if (e->kind == EXPR_CALL) return e->u.call.callee->item_result != NULL;
  if (e->kind != EXPR_OBJECT) return is_query(e);
  const front_object *object = e->u.object;
  return object->item_value != NULL || (takes_parameters && object->kind == OBJECT_PARAM);
}

static bool is_test(const front_expr *e, bool takes_parameters) {
  while (e->kind == EXPR_CONVERT || (e->kind == EXPR_UNARY && e->op == OP_NOT)) e = e->a;
  if (e->kind != EXPR_COMPARE) return is_id(e, takes_parameters);
  return (is_id(e->a, takes_parameters) && is_constant(e->b)) || (is_id(e->b, takes_parameters) && is_constant(e->a));
}

bool front_holds_item(const front_expr *e) { return is_test(e, false); }

/* Of a kernel's parameters each is the same for all work-items. */
static bool takes_parameters(const front *f) { return f->func != NULL && !f->func->is_kernel; }

static void push(front *f, front_split inner) {
  if (f->split.condition != NULL) {
    front_split *outer = f->split.depth < SPLIT_DEPTH ? QN_ARENA_NEW(f->arena, front_split) : NULL;
    if (outer == NULL) {
      f->failed |= f->split.depth < SPLIT_DEPTH;
      return;
    }
    *outer = f->split;
    inner.outer = outer;
    inner.depth = outer->depth + 1;
  }
  f->split = inner;
}

/* The parts of a condition that may split a group, where the whole is `truth`. */
static void push_parts(front *f, const front_expr *e, bool truth) {
  while (e->kind == EXPR_CONVERT) e = e->a;
  if (e->kind == EXPR_UNARY && e->op == OP_NOT) {
    push_parts(f, e->a, !truth);
  } else if (e->kind != EXPR_LOGICAL) {
    if (is_test(e, takes_parameters(f))) push(f, (front_split){.condition = e});
  } else if ((e->op == OP_ANDAND) == truth) { /* else either side may be why */
    push_parts(f, e->a, truth);
    push_parts(f, e->b, truth);
  }
}

front_split front_split_enter(front *f, const front_expr *e, bool truth) {
  front_split outer = f->split;
  if (e != NULL) push_parts(f, e, truth);
  return outer;
}

void front_split_label(front *f, front_split outer, const front_stmt *choice, const front_stmt *first,
                       const front_stmt *label) {
  f->split = outer;
  if (is_id(choice->expr, takes_parameters(f))) push(f, (front_split){choice->expr, choice, first, label, NULL, 0});
}

void front_note_result(front_func *func) {
  const front_stmt *only = func->body != NULL ? func->body->body : NULL;
  if (only == NULL || only->kind != STMT_RETURN || only->expr == NULL) return;
  if (front_holds_item(only->expr)) func->item_result = only->expr;
}

void front_note_arguments(front *f, front_func *callee, front_expr **args, uint32_t count) {
  for (uint32_t i = 0; i < count; i++) {
    if (!front_holds_item(args[i])) continue;
    if (callee->passed == NULL) callee->passed = QN_ARENA_ARRAY(f->arena, front_expr *, count);
    if (callee->passed == NULL) {
      f->failed = true;
      return;
    }
    if (callee->passed[i] == NULL) callee->passed[i] = args[i];
  }
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
  front_split outer = front_split_enter(f, e, true);
  if (f->split.depth > outer.depth || outer.condition == NULL) {
    add_suspect(f, f->func->barrier_loc, f->func->barrier_length);
  }
  front_split_leave(f, outer);
}

/* ---- From a condition to the query of an id ---------------------------------------------------------------------- */

/* A tree, and the function whose parameters it means; NULL: theirs aren't known. */
typedef struct place {
  const front_expr *e;
  const front_func *func;
  bool is_elsewhere; /* not in the condition itself */
} place;

/* To where a value comes from, as it is: through conversions and what keeps its value. False: it is made here. */
static bool follow(place *p) {
  const front_expr *e = p->e;
  if (e->kind == EXPR_CONVERT) {
    p->e = e->a;
    return true;
  }
  if (e->kind == EXPR_CALL) {
    *p = (place){e->u.call.callee->item_result, NULL, true};
    return p->e != NULL;
  }
  if (e->kind != EXPR_OBJECT || e->u.object->is_assigned) return false;
  const front_object *object = e->u.object;
  if (object->kind != OBJECT_PARAM) {
    *p = (place){object->item_value, p->func, true};
  } else {
    bool is_known = p->func != NULL && p->func->passed != NULL;
    *p = (place){is_known ? p->func->passed[object->index] : NULL, NULL, true};
  }
  return p->e != NULL;
}

/* The comparison whose outcome is tested, or the query that is tested for not being 0. False: neither. */
static bool find_test(place *p) {
  while (p->e->kind != EXPR_COMPARE && !is_query(p->e)) {
    if (p->e->kind == EXPR_UNARY && p->e->op == OP_NOT) {
      p->e = p->e->a;
    } else if (!follow(p)) {
      return false;
    }
  }
  return true;
}

static uint64_t largest_of(const front_type *type) {
  if (type->kind == FRONT_BOOL) return 1;
  if (type->kind != FRONT_INT) return UINT64_MAX;
  return UINT64_MAX >> (64 - type->bits + (type->is_signed ? 1 : 0));
}

/* The query that gives a value. *largest: numbers up to it come through unchanged. */
static bool find_query(place *p, uint64_t *largest) {
  *largest = UINT64_MAX;
  while (!is_query(p->e)) {
    uint64_t limit = p->e->kind == EXPR_CONVERT ? largest_of(p->e->type) : UINT64_MAX;
    if (limit < *largest) *largest = limit;
    if (!follow(p)) return false;
  }
  return true;
}

/* ---- Judgement --------------------------------------------------------------------------------------------------- */

/* What is asked of an item's number. */
typedef struct question {
  place query; /* the work-item query */
  bool is_order;
  uint64_t number; /* is_order: whether the item's is below it; else whether it is this */
} question;

static front_op mirrored(front_op op) {
  switch (op) {
    case OP_LT:
      return OP_GT;
    case OP_GT:
      return OP_LT;
    case OP_LE:
      return OP_GE;
    case OP_GE:
      return OP_LE;
    default:
      return op;
  }
}

/* `id op number`, with the sides in this order. False: always the same, or not known. */
static bool ask_comparison(front *f, place compare, question *out) {
  front_op op = compare.e->op;
  front_expr *number = compare.e->b;
  uint64_t largest;
  out->query = (place){compare.e->a, compare.func, compare.is_elsewhere};
  if (!find_query(&out->query, &largest)) {
    op = mirrored(op);
    number = compare.e->a;
    out->query = (place){compare.e->b, compare.func, compare.is_elsewhere};
    if (!find_query(&out->query, &largest)) return false;
  }
  if (!front_fold_integer(f, number, &out->number)) return false;
  out->is_order = op != OP_EQ && op != OP_NE;
  if (number->type->is_signed && (int64_t)out->number < 0) return false; /* no item's number */
  if (op == OP_LE || op == OP_GT) out->number++;
  return out->number <= largest && (out->number > 0 || !out->is_order);
}

static bool ask(front *f, const front_func *func, const front_split *split, question *out) {
  place p = {split->condition, func, false};
  *out = (question){.number = 0};
  uint64_t largest;
  if (split->choice == NULL && !find_test(&p)) return false;
  if (split->choice == NULL && p.e->kind == EXPR_COMPARE) return ask_comparison(f, p, out);
  out->query = p;
  return find_query(&out->query, &largest);
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
static bool is_split(const front_split *split, const question *q, uint64_t required) {
  if (q->is_order) return required > 0 ? q->number < required : q->number == 1;
  named_items items = {0};
  if (split->choice != NULL) {
    items = items_of_choice(split, required);
  } else {
    name_item(&items, q->number, required);
  }
  return items.present > 0 && (required > 0 ? items.present < required : items.count == 1);
}

/* The dimension that a query asks of, and how wide groups are in it; 0: not known. A linear id counts in all of them. */
static bool width_of(front *f, const front_expr *query, const uint64_t *sizes, uint64_t *dimension, uint64_t *width) {
  *dimension = 0;
  *width = sizes[0] * sizes[1] * sizes[2];
  if (query->u.call.count == 0) return true;
  if (!front_fold_integer(f, query->u.call.args[0], dimension) || *dimension > 2) return false;
  *width = sizes[*dimension];
  return true;
}

typedef enum verdict { VERDICT_NONE, VERDICT_DOUBT, VERDICT_SURE } verdict;

/* With a group that is one item wide all agree: to be sure needs a dimension where that is stated not to be so, or the
 * first one, which launches of one dimension use. */
static verdict judge_split(front *f, const front_func *func, const front_split *split, const uint64_t *sizes,
                           question *q, uint64_t *dimension) {
  uint64_t width;
  if (!ask(f, func, split, q) || !width_of(f, q->query.e, sizes, dimension, &width)) return VERDICT_NONE;
  if (!is_split(split, q, width)) return VERDICT_NONE;
  return *dimension > 0 && width == 0 ? VERDICT_DOUBT : VERDICT_SURE;
}

static void tell(front *f, const front_suspect *suspect, verdict found, const front_expr *condition, const question *q,
                 uint64_t dimension) {
  if (found == VERDICT_DOUBT) {
    front_warning(f, suspect->loc, suspect->length,
                  "not all work-items of a group come to this barrier, unless it is one item wide in dimension %d",
                  (int)dimension);
  } else {
    front_error(f, suspect->loc, suspect->length,
                "not all work-items of a group come to this barrier; move it out of the condition");
  }
  front_note(f, condition->loc, condition->length, "this condition differs between work-items");
  if (!q->query.is_elsewhere) return;
  front_note(f, q->query.e->loc, q->query.e->length, "the work-item's number comes from here");
}

/* Of several conditions that split a group the outermost of the surest is told. */
static bool judge_suspect(front *f, const front_func *func, const front_suspect *suspect, const uint64_t *sizes) {
  verdict best = VERDICT_NONE;
  const front_split *told = NULL;
  question q = {0}, tried;
  uint64_t dimension = 0, tried_dimension;
  for (const front_split *split = &suspect->split; split != NULL; split = split->outer) {
    verdict found = judge_split(f, func, split, sizes, &tried, &tried_dimension);
    if (found == VERDICT_NONE || found < best) continue;
    best = found;
    told = split;
    q = tried;
    dimension = tried_dimension;
  }
  if (told != NULL) tell(f, suspect, best, told->condition, &q, dimension);
  return told != NULL;
}

void front_judge_barriers(front *f, const front_func *func, const uint64_t *required) {
  qn_loc last_told = 0; /* a barrier that is come to again is a suspect twice in a row */
  for (const front_suspect *s = func->suspects; s != NULL; s = s->next) {
    if (s->loc != last_told && judge_suspect(f, func, s, required)) last_told = s->loc;
  }
}

/* overload.c - functions of the program with attribute overloadable: the call chooses by its arguments. */
#include "compiler/front/convert.h"
#include "compiler/front/operator.h"
#include "compiler/front/recover.h"

/* How an argument becomes a parameter; less is better. */
typedef enum match { MATCH_EXACT, MATCH_PROMOTION, MATCH_CONVERSION, MATCH_WIDENING, MATCH_NONE } match;

static match match_pointer(const front_expr *arg, const front_type *to) {
  if (front_is_null_constant(arg)) return MATCH_CONVERSION;
  if (!front_is_pointer(arg->type)) return MATCH_NONE;
  const front_type *x = arg->type->elem, *y = to->elem;
  bool drops_quals = (x->quals & ~y->quals & (uint32_t)FRONT_CONST) != 0 && x->space != IR_CONSTANT;
  if (x->space != y->space || drops_quals) return MATCH_NONE;
  if (x->plain == y->plain) return MATCH_PROMOTION; /* const is added */
  return y->kind == FRONT_VOID ? MATCH_CONVERSION : MATCH_NONE;
}

static bool is_promotion(const front_type *from, const front_type *to) {
  if (front_is_float(from)) return front_is_float(to) && to->bits > from->bits;
  return front_is_integer(to) && (from->kind == FRONT_BOOL || from->bits < 32) && to->bits == 32 && to->is_signed;
}

static match match_argument(const front_expr *arg, const front_type *to) {
  const front_type *from = arg->type->plain;
  if (from == to) return MATCH_EXACT;
  if (front_is_pointer(to)) return match_pointer(arg, to);
  if (!front_is_arithmetic(from)) return MATCH_NONE;
  if (front_is_vector(to)) return MATCH_WIDENING;
  if (!front_is_arithmetic(to)) return MATCH_NONE;
  return is_promotion(from, to) ? MATCH_PROMOTION : MATCH_CONVERSION;
}

static bool is_viable(const front_func *func, front_expr *const *args, uint32_t count) {
  if (func->type->param_count != count) return false;
  for (uint32_t i = 0; i < count; i++) {
    if (match_argument(args[i], func->type->params[i]) == MATCH_NONE) return false;
  }
  return true;
}

/* Whether `a` is as good as `b` for each argument and better for one. */
static bool is_better(const front_func *a, const front_func *b, front_expr *const *args, uint32_t count) {
  bool better = false;
  for (uint32_t i = 0; i < count; i++) {
    match x = match_argument(args[i], a->type->params[i]), y = match_argument(args[i], b->type->params[i]);
    if (x > y) return false;
    better |= x < y;
  }
  return better;
}

static void list_overloads(front *f, const front_func *first) {
  int told = 0;
  for (const front_func *func = first; func != NULL && told < 8; func = func->next_overload, told++) {
    front_note(f, func->loc, func->length, "'%.*s' is of type '%s' here", QN_SV_ARG(func->name),
               front_type_text(f, func->type));
  }
}

front_func *front_choose_overload(front *f, qn_loc loc, uint32_t length, front_func *first, front_expr **args,
                                  uint32_t count) {
  for (uint32_t i = 0; i < count; i++) {
    args[i] = front_value(f, args[i]);
    if (front_is_error(args[i])) return NULL;
  }
  front_func *best = NULL;
  for (front_func *func = first; func != NULL; func = func->next_overload) {
    if (is_viable(func, args, count) && (best == NULL || is_better(func, best, args, count))) best = func;
  }
  if (best == NULL) {
    pp_name *name = pp_intern(f->p, first->name);
    if (name == NULL || front_is_doubtful_name(f, name)) return NULL;
    front_error(f, loc, length, "no overload of '%.*s' takes these arguments", QN_SV_ARG(first->name));
    list_overloads(f, first);
    return NULL;
  }
  for (front_func *func = first; func != NULL; func = func->next_overload) {
    if (func == best || !is_viable(func, args, count) || is_better(best, func, args, count)) continue;
    front_error(f, loc, length, "several overloads of '%.*s' fit these arguments equally well; cast one",
                QN_SV_ARG(first->name));
    list_overloads(f, first);
    return NULL;
  }
  return best;
}

#include <string.h>

#include "compiler/front/builtin.h"
#include "compiler/front/convert.h"
#include "compiler/front/operator.h"
#include "compiler/front/split.h"

/* ---- Calls --------------------------------------------------------------------------------------------- */

static bool check_count(front *f, qn_loc loc, uint32_t length, const front_func *callee, uint32_t count) {
  uint32_t wanted = callee->type->param_count;
  if (count == wanted) return true;
  front_error(f, loc, length, "too %s arguments to function '%.*s': it takes %u, given are %u",
              count < wanted ? "few" : "many", QN_SV_ARG(callee->name), wanted, count);
  front_note(f, callee->loc, callee->length, "'%.*s' is declared here", QN_SV_ARG(callee->name));
  return false;
}

/* An open literal takes in the arguments behind it. */
static bool is_list_lost(front *f, front_expr *const *args, uint32_t count) {
  bool is_lost = false;
  for (uint32_t i = 0; i < count; i++) is_lost |= front_is_error(args[i]);
  return is_lost && f->diags->tokens_lost;
}

static bool add_call_site(front *f, front_func *callee, qn_loc loc, uint32_t length) {
  front_func *caller = f->func;
  callee->is_called = true;
  if (caller == NULL) return true;
  for (uint32_t i = 0; i < caller->call_count; i++) {
    if (i < 16 && caller->calls[i].callee == callee) return true; /* the first call is enough; few are compared */
  }
  if (caller->call_count == caller->call_capacity) {
    uint32_t capacity = caller->call_capacity > 0 ? caller->call_capacity * 2 : 8;
    front_call_site *calls = QN_ARENA_ARRAY(f->arena, front_call_site, capacity);
    if (calls == NULL) {
      f->failed = true;
      return false;
    }
    if (caller->call_count > 0) memcpy(calls, caller->calls, caller->call_count * sizeof(calls[0]));
    caller->calls = calls;
    caller->call_capacity = capacity;
  }
  caller->calls[caller->call_count++] = (front_call_site){callee, loc, length};
  return true;
}

static front_expr *call_tree(front *f, front_expr_kind kind, qn_loc loc, uint32_t length, const front_type *type,
                             front_expr **args, uint32_t count) {
  front_expr *e = front_expr_new(f, kind, loc, length, type);
  e->u.call.args = args;
  e->u.call.count = count;
  for (uint32_t i = 0; i < count; i++) {
    if (args[i]->depth >= e->depth) e->depth = args[i]->depth + 1;
  }
  return e;
}

front_expr *front_call(front *f, qn_loc loc, uint32_t length, front_func *callee, front_expr **args, uint32_t count) {
  if (is_list_lost(f, args, count) || !check_count(f, loc, length, callee, count)) return front_expr_error(f, loc);
  bool good = true;
  for (uint32_t i = 0; i < count; i++) {
    args[i] = front_convert_implicit(f, args[i], callee->type->params[i], USE_PASS);
    good = good && !front_is_error(args[i]);
  }
  if (!good || !add_call_site(f, callee, loc, length)) return front_expr_error(f, loc);
  if (callee->has_barrier) front_note_barrier(f, loc, length);
  front_note_arguments(f, callee, args, count);
  front_expr *e = call_tree(f, EXPR_CALL, loc, length, callee->type->elem->plain, args, count);
  e->u.call.callee = callee;
  return e;
}

front_expr *front_call_builtin(front *f, qn_loc loc, uint32_t length, const front_builtin *builtin, front_expr **args,
                               uint32_t count) {
  const front_type **types = QN_ARENA_ARRAY(f->arena, const front_type *, count + 1);
  front_overload *overload = QN_ARENA_NEW(f->arena, front_overload);
  if (types == NULL || overload == NULL) {
    f->failed = true;
    return front_expr_error(f, loc);
  }
  for (uint32_t i = 0; i < count; i++) {
    args[i] = front_value(f, args[i]);
    if (front_is_error(args[i])) return args[i];
    types[i] = args[i]->type->plain;
  }
  if (!front_builtin_resolve(f, builtin, loc, types, count, overload)) return front_expr_error(f, loc);
  for (uint32_t i = 0; i < count; i++) {
    args[i] = front_convert_implicit(f, args[i], overload->params[i], USE_PASS);
    if (front_is_error(args[i])) return args[i];
  }
  if (overload->is_barrier) front_note_barrier(f, loc, length);
  front_expr *e = call_tree(f, EXPR_BUILTIN, loc, length, overload->result, args, count);
  e->u.call.overload = overload;
  return e;
}

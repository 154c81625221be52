#include <string.h>

#include "compiler/front/convert.h"
#include "compiler/front/emit.h"
#include "compiler/front/operator.h"
#include "compiler/front/parse.h"
#include "compiler/front/recover.h"
#include "compiler/front/split.h"
#include "compiler/front/token.h"

/* ---- Signatures ---------------------------------------------------------------------------------------------------
 */

/* Names of types that have another size on the host (6.9 k of the specification). */
static bool is_of_device_size(const char *type_name) {
  static const char *const names[] = {"size_t", "ptrdiff_t", "intptr_t", "uintptr_t"};
  for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
    if (strcmp(type_name, names[i]) == 0) return true;
  }
  return false;
}

static const char *kernel_parameter_fault(const front_type *type, const char *type_name) {
  if (type->kind == FRONT_POINTER) {
    if (type->elem->space == IR_PRIVATE) return "points to private memory; it needs __global, __constant or __local";
    if (type->elem->kind == FRONT_POINTER) return "points to pointers, which the host can't fill in";
    return NULL;
  }
  if (type->kind == FRONT_BOOL) return "is a bool, whose size the host can't know; use int";
  if (is_of_device_size(type_name)) return "is of a type whose size the host can't know; use uint or ulong";
  if (type->kind == FRONT_RECORD && !front_is_complete(type)) return "has an incomplete type";
  if (type->kind != FRONT_RECORD) return NULL;
  if (type->record->holds_bool) return "holds a bool, whose size the host can't know; use int";
  if (type->record->holds_pointer) return "holds a pointer, which the host can't fill in";
  return NULL;
}

static bool check_kernel(front *f, const front_func *func) {
  bool good = true;
  if (func->type->elem->kind != FRONT_VOID) {
    front_error(f, func->loc, func->length, "a kernel returns void, not '%s'", front_type_text(f, func->type->elem));
    good = false;
  }
  for (uint32_t i = 0; i < func->param_count; i++) {
    const front_object *param = func->params[i];
    const char *fault = kernel_parameter_fault(param->type, param->type_name);
    if (fault == NULL) continue;
    front_error(f, param->loc, param->length, "parameter '%.*s' of a kernel %s", QN_SV_ARG(param->name), fault);
    func->params[i]->is_failed = true;
    f->recovery.names_lost++; /* a name of another parameter may have got lost with it */
    good = false;
  }
  return good;
}

static void enlist(front *f, front_func *func) {
  if (f->last_func != NULL) {
    func->number = f->last_func->number + 1;
    f->last_func->next = func;
  } else {
    f->funcs = func;
  }
  f->last_func = func;
}

static front_func *new_function(front *f, const front_declarator *d) {
  front_func *func = QN_ARENA_NEW(f->arena, front_func);
  if (func == NULL) {
    f->failed = true;
    return NULL;
  }
  func->name = d->name->text;
  func->loc = d->loc;
  func->length = d->length;
  func->type = d->type;
  func->params = d->params;
  func->param_count = d->param_count;
  enlist(f, func);
  return func;
}

static bool is_overload(const front_func *before, const front_declarator *d) {
  return before->attributes.is_overloadable || d->attributes.is_overloadable;
}

/* The function of this name and type, which is visible or not; else a new one. NULL: reported. */
static front_func *find_function(front *f, const front_declarator *d) {
  front_name *entry = d->name->declarations;
  front_func *first = entry->func, *last = NULL;
  for (front_func *func = first; func != NULL; last = func, func = func->next_overload) {
    if (func->type == d->type) return func;
  }
  if (last != NULL && !is_overload(last, d)) {
    front_error(f, d->loc, d->length, "'%.*s' is declared with another type before: '%s', now '%s'",
                QN_SV_ARG(d->name->text), front_type_text(f, first->type), front_type_text(f, d->type));
    front_note(f, first->loc, first->length, "it is declared here before");
    return NULL;
  }
  front_func *func = new_function(f, d);
  if (func == NULL || last == NULL) {
    entry->func = func;
    return func;
  }
  last->next_overload = func;
  func->overload = last->overload + 1;
  return func;
}

/* A name means its functions in all scopes that declare one. NULL: reported. */
static front_func *declared_function(front *f, const front_declarator *d) {
  front_symbol *here = front_find(f, d->name);
  if (d->name->declarations == NULL) return NULL; /* out of memory */
  if (here != NULL && here->scope == f->scope && here->kind != SYMBOL_FUNCTION) {
    front_error(f, d->loc, d->length, "redefinition of '%.*s' as a function", QN_SV_ARG(d->name->text));
    front_note(f, here->loc, here->length, "it is declared here before");
    return NULL;
  }
  front_func *func = find_function(f, d);
  if (func == NULL || (here != NULL && here->kind == SYMBOL_FUNCTION)) return func;
  front_symbol *symbol = front_declare(f, SYMBOL_FUNCTION, d->name, d->loc, d->length, d->type);
  const front_name *entry = d->name->declarations;
  if (symbol != NULL) symbol->u.func = entry->func;
  return func;
}

static void apply_specifiers(front *f, front_func *func, const front_specifiers *s, const front_declarator *d) {
  func->is_kernel |= s->is_kernel;
  func->is_inline |= s->is_inline;
  func->is_static |= s->storage == STORAGE_STATIC;
  front_attributes_merge(f, &func->attributes, &d->attributes);
}

/* ---- Definitions ----------------------------------------------------------------------------------------------------
 */

static void declare_parameters(front *f, const front_func *func) {
  for (uint32_t i = 0; i < func->param_count; i++) {
    front_object *param = func->params[i];
    if (param->name_entry == NULL) continue;
    front_symbol *before = front_find(f, param->name_entry);
    if (before != NULL && before->scope == f->scope) {
      front_error(f, param->loc, param->length, "two parameters are named '%.*s'", QN_SV_ARG(param->name));
      continue;
    }
    front_symbol *symbol = front_declare(f, SYMBOL_OBJECT, param->name_entry, param->loc, param->length, param->type);
    if (symbol != NULL) symbol->u.object = param;
  }
}

static void read_body(front *f, front_func *func) {
  f->func = func;
  f->is_goto_told = false;
  f->split = (front_split){0};
  if (front_scope_open(f)) {
    declare_parameters(f, func);
    func->body = front_compound_statement(f);
    front_scope_close(f);
  }
  f->func = NULL;
  front_note_result(func);
  if (func->is_kernel) front_judge_barriers(f, func, func->attributes.required.items);
}

static bool check_definition(front *f, const front_func *func, const front_declarator *d) {
  if (func->is_defined) {
    front_error(f, d->loc, d->length, "redefinition of '%.*s'", QN_SV_ARG(func->name));
    front_note(f, func->loc, func->length, "it is defined here before");
    return false;
  }
  const front_type *result = func->type->elem;
  bool good = front_check_half(f, d->loc, d->length, result);
  if (result->kind == FRONT_RECORD && !front_is_complete(result)) {
    if (!result->record->is_failed) front_error(f, d->loc, d->length, "the result has an incomplete type");
    good = false;
  }
  for (uint32_t i = 0; i < d->param_count; i++) {
    const front_type *type = d->params[i]->type;
    if (type->kind != FRONT_RECORD || front_is_complete(type)) continue;
    if (!type->record->is_failed) {
      front_error(f, d->params[i]->loc, d->params[i]->length, "a parameter has an incomplete type");
    }
    good = false;
  }
  return good;
}

/* A definition whose signature is wrong is read all the same, for its other errors. */
static void define(front *f, front_func *func, const front_declarator *d) {
  bool good = check_definition(f, func, d);
  if (!func->is_defined) {
    func->loc = d->loc;
    func->length = d->length;
    func->params = d->params;
    func->param_count = d->param_count;
    func->is_defined = true;
  }
  if (func->is_kernel && good) (void)check_kernel(f, func);
  if (func->is_kernel && func->overload > 0) {
    front_error(f, d->loc, d->length, "a kernel's name is its own: it can't be overloaded");
  }
  if (!good && func->body != NULL) {
    front_skip_brackets(f);
    return;
  }
  read_body(f, func);
  if (func->is_kernel) front_emit_kernel(f, func);
}

/* Two kernels of one name, told as what else it is. */
static bool is_twin(const front_specifiers *s, const front_declarator *d) {
  const front_name *entry = d->name->declarations;
  for (const front_func *func = entry && s->is_kernel ? entry->func : NULL; func != NULL; func = func->next_overload) {
    if (func->is_kernel && func->is_defined) return true;
  }
  return false;
}

void front_function(front *f, const front_specifiers *s, const front_declarator *d) {
  bool is_definition = front_at(f, PP_P_LBRACE);
  if (d->type->kind == FRONT_ERROR) { /* told; calls of it are silent */
    front_symbol *before = front_find(f, d->name);
    if (before == NULL || before->scope != f->scope) {
      (void)front_declare(f, SYMBOL_OBJECT, d->name, d->loc, d->length, d->type);
    }
    if (is_definition) front_skip_brackets(f);
    return;
  }
  if (is_definition && is_twin(s, d)) f->diags->twin_kernels++;
  front_func *func = declared_function(f, d);
  if (func == NULL) {
    if (is_definition) front_skip_brackets(f);
    return;
  }
  if (!d->is_function && is_definition) {
    front_error(f, d->loc, d->length, "a definition needs its parameters' names, not a typedef");
    front_skip_brackets(f);
    return;
  }
  apply_specifiers(f, func, s, d);
  if (is_definition) define(f, func, d);
}

/* ---- The call graph -------------------------------------------------------------------------------------------------
 */

enum { MARK_NEW, MARK_OPEN, MARK_DONE };

typedef struct visit {
  front_func *func;
  uint32_t next; /* call to look at */
} visit;

static void report_cycle(front *f, const visit *stack, uint32_t depth, const front_call_site *site) {
  const front_func *func = site->callee;
  front_error(f, site->loc, site->length, "recursion is not allowed: '%.*s' calls itself%s", QN_SV_ARG(func->name),
              stack[depth - 1].func == func ? "" : " through other functions");
  uint32_t start = depth - 1;
  while (start > 0 && stack[start].func != func) start--;
  for (uint32_t i = start; i + 1 < depth && i < start + 8; i++) {
    const front_call_site *step = &stack[i].func->calls[stack[i].next - 1];
    front_note(f, step->loc, step->length, "'%.*s' calls '%.*s' here", QN_SV_ARG(stack[i].func->name),
               QN_SV_ARG(step->callee->name));
  }
}

/* Depth first, with a stack of its own: chains of calls may be long. Adds to *last what was left, so that callees stand
 * behind their callers. */
static void search_cycles(front *f, front_func *root, visit *stack, front_func **last) {
  uint32_t depth = 0;
  stack[depth++] = (visit){root, 0};
  root->mark = MARK_OPEN;
  while (depth > 0) {
    visit *top = &stack[depth - 1];
    if (top->next == top->func->call_count) {
      top->func->mark = MARK_DONE;
      top->func->next_caller = *last;
      *last = top->func;
      depth--;
      continue;
    }
    const front_call_site *site = &top->func->calls[top->next++];
    if (site->callee->mark == MARK_OPEN) {
      report_cycle(f, stack, depth, site);
    } else if (site->callee->mark == MARK_NEW) {
      site->callee->mark = MARK_OPEN;
      stack[depth++] = (visit){site->callee, 0};
    }
  }
}

/* What one kernel requires tells more than what another one does: one that its groups have more than one item; that
 * nothing is known; that they have one. */
static bool tells_more(uint64_t required, uint64_t other) {
  if (required == 1 || other == 1) return other == 1 && required != 1;
  return required > other;
}

/* Tells callees what the kernels that call them require. */
static void spread_required(front_func *callers) {
  for (front_func *func = callers; func != NULL; func = func->next_caller) {
    const uint64_t *required = func->is_kernel ? func->attributes.required.items : func->callers_require;
    if (!func->is_kernel && !func->is_called_by_kernel) continue;
    for (uint32_t i = 0; i < func->call_count; i++) {
      front_func *callee = func->calls[i].callee;
      for (int d = 0; d < 3; d++) {
        bool is_news = !callee->is_called_by_kernel || tells_more(required[d], callee->callers_require[d]);
        if (is_news) callee->callers_require[d] = required[d];
      }
      callee->is_called_by_kernel = true;
    }
  }
}

static void check_defined(front *f, const front_func *func) {
  for (uint32_t i = 0; i < func->call_count; i++) {
    front_func *callee = func->calls[i].callee;
    if (callee->is_defined || callee->is_missing_told) continue;
    callee->is_missing_told = true;
    pp_name *name = pp_intern(f->p, callee->name);
    if (name == NULL || front_is_doubtful_name(f, name)) continue;
    front_error(f, func->calls[i].loc, func->calls[i].length, "function '%.*s' is called but not defined",
                QN_SV_ARG(callee->name));
    front_note(f, callee->loc, callee->length, "it is only declared here");
  }
}

void front_check_calls(front *f) {
  uint32_t count = 0;
  for (front_func *func = f->funcs; func != NULL; func = func->next) count++;
  visit *stack = QN_ARENA_ARRAY(f->arena, visit, count + 1);
  if (stack == NULL) {
    f->failed = true;
    return;
  }
  front_func *callers = NULL;
  for (front_func *func = f->funcs; func != NULL; func = func->next) {
    check_defined(f, func);
    if (func->mark == MARK_NEW) search_cycles(f, func, stack, &callers);
  }
  spread_required(callers);
  for (const front_func *func = f->funcs; func != NULL; func = func->next) {
    if (!func->is_kernel) front_judge_barriers(f, func, func->callers_require);
  }
}

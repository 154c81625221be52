/* plan.h - what becomes of each instruction in a text: nothing, an expression where its value is used, or a statement of
 * its own, with a name when the value is used. Values that are used once become expressions when nothing that is written
 * between would change them and the place is not a loop further in; paths to memory do wherever they are used. A value that
 * is stored in a variable first, and used while it stays there, goes by the variable's name. */
#ifndef QUERN_COMPILER_TARGET_TEXT_PLAN_H
#define QUERN_COMPILER_TARGET_TEXT_PLAN_H

#include "compiler/target/text/effect.h"
#include "compiler/target/text/names.h"

typedef enum text_how { TEXT_DEAD, TEXT_INLINE, TEXT_STORED, TEXT_NAMED, TEXT_STATEMENT } text_how;

typedef struct text_planned {
  uint8_t how;           /* text_how */
  bool is_further_in;    /* a place where it is written is in a loop that it does not stand in */
  bool continues;        /* a loop that a continue leads to */
  uint16_t depth, size;  /* of the expression around it; of its own */
  uint32_t prints, last; /* how often it is written, and a number behind the last place */
  uint32_t loop;         /* index of the innermost loop around it; 0: none */
  const ir_inst *user;   /* the first one; STORED: the store that the expression stands in */
  const char *name;      /* NAMED: the emitter's */
} text_planned;

typedef struct text_plan {
  const text_function *function;
  text_effects effects;
  text_planned *values; /* by number less first_inst */
  struct text_loop *loops;
} text_plan;

/* What a language can't write as an expression, or writes several times. The functions may be NULL. */
typedef struct text_plan_rules {
  bool (*wants_name)(const ir_inst *inst);
  uint32_t (*copies)(const ir_inst *inst, uint32_t operand);
  bool
      plain_only; /* only variables that are loaded and stored whole stand for what they hold, and for no value that wants
                    a name */
} text_plan_rules;

/* In the module's arena. False: out of memory. */
bool text_plan_make(text_plan *plan, const text_function *function, const text_plan_rules *rules);

static inline text_planned *text_planned_of(const text_plan *plan, const ir_inst *inst) {
  return &plan->values[inst->id - plan->function->first_inst];
}
/* Whether anything stands in the text for the instruction at its own place. */
static inline bool text_is_written_down(const text_plan *plan, const ir_inst *inst) {
  return text_planned_of(plan, inst)->how >= TEXT_NAMED && inst->op != IR_FRESH;
}
/* Whether a value is written as an expression wherever it is used. */
static inline bool text_is_inline(const text_plan *plan, const ir_inst *value) {
  return value->parent && text_planned_of(plan, value)->how == TEXT_INLINE;
}
/* The variable by whose name a value goes; NULL: it doesn't. */
static inline const ir_var *text_stored_in(const text_plan *plan, const ir_inst *value) {
  if (!value->parent || text_planned_of(plan, value)->how != TEXT_STORED) return NULL;
  return text_planned_of(plan, value)->user->args[0]->u.var;
}
/* Whether what a store stores is written there as an expression. */
static inline bool text_is_inline_in(const text_plan *plan, const ir_inst *store) {
  const ir_inst *value = store->args[1];
  if (text_is_inline(plan, value)) return true;
  return value->parent && text_planned_of(plan, value)->how == TEXT_STORED &&
         text_planned_of(plan, value)->user == store;
}
/* Whether an insertion goes into the variable of the one that it is into, because nothing else uses that. */
static inline bool text_goes_on(const text_plan *plan, const ir_inst *insertion) {
  const ir_inst *base = insertion->args[0];
  return base->op == IR_INSERT && base->parent == insertion->parent && text_planned_of(plan, base)->prints == 1;
}
static inline bool text_is_plain_var(const text_plan *plan, const ir_var *var) {
  return text_var_facts(&plan->effects, var)->is_plain;
}

#endif

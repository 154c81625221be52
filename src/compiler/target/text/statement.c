#include "compiler/target/text/statement.h"

#include "compiler/target/text/writer.h"

void text_open_brace(qn_bytes *out, uint32_t *indent) {
  qn_bytes_append_str(out, "{\n");
  ++*indent;
}

void text_close_brace(qn_bytes *out, uint32_t *indent) {
  text_indent(out, --*indent);
  qn_bytes_append_str(out, "}");
}

static void put_in_braces(const text_body *b, const ir_block *block) {
  text_open_brace(b->out, b->indent);
  text_put_block(b, block, NULL);
  text_close_brace(b->out, b->indent);
}

static void put_if(const text_body *b, const ir_inst *inst) {
  ir_block *const *arms = inst->u.ctrl.blocks;
  bool no_then = text_is_empty(b->scopes, arms[0]), no_else = text_is_empty(b->scopes, arms[1]);
  bool swapped = no_then && !no_else;
  qn_bytes_append_str(b->out, "if (");
  b->writers->test(b->e, inst, !swapped);
  qn_bytes_append_str(b->out, ") ");
  put_in_braces(b, arms[swapped]);
  if (no_then || no_else) return;
  qn_bytes_append_str(b->out, " else ");
  const ir_inst *next = text_only_if(b->scopes, arms[1]);
  if (next)
    put_if(b, next);
  else
    put_in_braces(b, arms[1]);
}

static void put_control(const text_body *b, const ir_inst *inst) {
  switch (inst->op) {
    case IR_IF:
      put_if(b, inst);
      break;
    case IR_SWITCH:
      b->writers->choose(b->e, inst);
      break;
    case IR_LOOP:
      b->writers->loop(b->e, inst, NULL);
      break;
    case IR_BREAK:
      qn_bytes_append_str(b->out, "break;");
      break;
    case IR_CONTINUE:
      qn_bytes_append_str(b->out, "continue;");
      break;
    case IR_BREAK_IF:
      b->writers->leave_if(b->e, inst);
      break;
    case IR_RETURN:
      b->writers->leave(b->e, inst);
      break;
    case IR_TRAP: /* never comes here */
      b->writers->leave(b->e, NULL);
      break;
    default:
      b->writers->refuse(b->e, inst, "'%s'", ir_op_table[inst->op].text);
  }
}

static bool is_last_return(const text_body *b, const ir_inst *inst) {
  return inst->op == IR_RETURN && !inst->arg_count && !inst->next && inst->parent == b->scopes->plan->function->f->body;
}

static void put_control_line(const text_body *b, const ir_inst *inst, const ir_inst *init) {
  text_indent(b->out, *b->indent);
  if (init)
    b->writers->loop(b->e, inst, init);
  else
    put_control(b, inst);
  qn_bytes_append_str(b->out, "\n");
}

void text_put_block(const text_body *b, const ir_block *block, const ir_inst *skipped) {
  for (const ir_inst *inst = block->first; inst; inst = inst->next) {
    if (inst == skipped) continue;
    b->writers->declare(b->e, inst);
    if (!text_is_written_down(b->scopes->plan, inst)) continue;
    const ir_inst *loop = inst->op == IR_STORE ? b->writers->counted(b->e, inst) : NULL;
    if (loop) {
      put_control_line(b, loop, inst);
      inst = loop;
    } else if (ir_op_table[inst->op].cls != IR_CLASS_CTRL) {
      b->writers->effect(b->e, inst);
    } else if (!is_last_return(b, inst)) {
      put_control_line(b, inst, NULL);
    }
  }
}

/* layout.c - places static local memory: each variable at its alignment, in order. Larger ones start at a cache line, so
 * that vectors of them do not straddle two. */
#include "compiler/pass/pass.h"

enum { CACHE_LINE = 64 };

static uint64_t align_of(const ir_var *var) {
  uint64_t align = var->align > var->type->align ? var->align : var->type->align;
  return var->type->size >= CACHE_LINE && align < CACHE_LINE ? CACHE_LINE : align;
}

static void place(ir_function *f) {
  uint64_t at = 0;
  for (ir_var *var = f->locals; var; var = var->next) {
    uint64_t align = align_of(var);
    var->offset = (at + align - 1) / align * align;
    at = var->offset + var->type->size;
    if (at > IR_SIZE_LIMIT) at = IR_SIZE_LIMIT;
  }
  f->static_local_bytes = at;
}

qn_status pass_layout(ir_module *m) {
  for (ir_function *f = m->functions; f; f = f->next)
    if (f->is_kernel) place(f);
  return QN_OK;
}

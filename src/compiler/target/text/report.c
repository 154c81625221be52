#include "compiler/target/text/report.h"

#include <stdio.h>

void text_refuse(qn_diags *diags, const char *language, const text_function *function, const ir_inst *inst,
                 const char *format, va_list args) {
  char what[256];
  (void)vsnprintf(what, sizeof what, format, args);
  const ir_function *f = function ? function->f : NULL;
  qn_loc loc = inst && inst->loc ? inst->loc : f ? f->loc : 0;
  qn_diag(diags, QN_ERROR, loc, 0, "%s can't express %s%s%s%s", language, what, f ? ", in '" : "", f ? f->name : "",
          f ? "'" : "");
}

bool text_ran_out(const ir_module *m, const text_names *names, const qn_diags *diags) {
  return m->failed || names->failed || diags->out_of_memory || diags->text.failed;
}

#include "compiler/front/front.h"

#include <string.h>

#include "base/status.h"

#include "compiler/front/emit.h"
#include "compiler/front/parse.h"
#include "compiler/front/token.h"

static bool may_tell(const front *f) { return !f->failed && !f->is_fatal; }

void front_error(front *f, qn_loc loc, uint32_t length, const char *format, ...) {
  if (!may_tell(f)) return;
  va_list args;
  va_start(args, format);
  qn_diagv(f->diags, QN_ERROR, loc, length, format, args);
  va_end(args);
}

void front_warning(front *f, qn_loc loc, uint32_t length, const char *format, ...) {
  if (!may_tell(f)) return;
  va_list args;
  va_start(args, format);
  qn_diagv(f->diags, QN_WARNING, loc, length, format, args);
  va_end(args);
}

void front_note(front *f, qn_loc loc, uint32_t length, const char *format, ...) {
  if (!may_tell(f)) return;
  va_list args;
  va_start(args, format);
  qn_diagv(f->diags, QN_NOTE, loc, length, format, args);
  va_end(args);
}

static void read_program(front *f) {
  while (!front_at_end(f) && !f->failed) front_external_declaration(f);
}

static qn_status finish(const front *f) {
  if (f->failed || f->m->failed || f->diags->out_of_memory) {
    return qn_error_set(QN_ERROR_OUT_OF_HOST_MEMORY, "out of memory while compiling");
  }
  /* Silence is for what follows an error. */
  if (f->diags->structure_lost && f->diags->errors == 0) {
    return qn_error_set(QN_ERROR_INTERNAL, "a fault of the source was found and not told");
  }
  if (f->diags->errors > 0) return qn_error_set(QN_ERROR_COMPILE, "the program has errors");
  return QN_OK;
}

qn_status front_parse(pp *p, qn_diags *diags, const qn_compile_options *options, ir_module *module) {
  static const qn_compile_options no_options;
  front f = {.arena = module->arena, .p = p, .diags = diags, .m = module};
  f.options = options != NULL ? options : &no_options;
  if (f.options->fast_relaxed_math || f.options->unsafe_math) f.fp_flags = IR_FAST;
  module->fast_math = f.fp_flags != 0;
  if (front_scope_open(&f) && front_token_open(&f)) {
    read_program(&f);
    if (!f.is_fatal && !diags->stopped) front_check_calls(&f);
    if (diags->errors == 0 && !f.failed) front_emit_program(&f);
  } else {
    f.failed = true;
  }
  qn_map_free(&f.types);
  return finish(&f);
}

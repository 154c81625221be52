/* wgsl.c - see wgsl.h. */
#include "compiler/target/wgsl/wgsl.h"

#include <stdio.h>
#include <string.h>

#include "base/status.h"
#include "compiler/target/text/report.h"
#include "compiler/target/wgsl/emit.h"

/* ---- Errors and small writers ---- */

void wgsl_emit_refuse(emitter *e, const ir_inst *inst, const char *format, ...) {
  va_list args;
  va_start(args, format);
  text_refuse(&e->diags, "WGSL (target wgsl)", e->function, inst, format, args);
  va_end(args);
}

void wgsl_put_line_start(emitter *e) { text_indent(e->out, e->indent); }

const char *wgsl_text_of(emitter *e, const char *format, ...) {
  char small[512];
  va_list args;
  va_start(args, format);
  int length = vsnprintf(small, sizeof small, format, args);
  va_end(args);
  if (length >= 0 && (size_t)length < sizeof small) {
    const char *copy = qn_arena_copy(e->arena, qn_sv_make(small, (size_t)length));
    e->failed |= !copy;
    return copy ? copy : "";
  }
  char *large = length < 0 ? NULL : qn_arena_alloc(e->arena, (size_t)length + 1);
  if (!large) {
    e->failed = true;
    return "";
  }
  va_start(args, format);
  (void)vsnprintf(large, (size_t)length + 1, format, args);
  va_end(args);
  return large;
}

static qn_status no_memory(void) { return qn_error_set(QN_ERROR_OUT_OF_HOST_MEMORY, "out of memory for WGSL"); }

/* ---- What it has not ---- */

static bool is_double(const ir_type *type) {
  const ir_type *elem = ir_elem_of(type);
  return elem->kind == IR_FLOAT && elem->bits == 64;
}

/* The first one in a function tells it. */
static void refuse_double(emitter *e, text_function *t) {
  e->function = t;
  for (uint32_t i = 0; i < t->f->param_count; i++) {
    const ir_type *type = t->f->params[i].type;
    if (!is_double(type) && !(type->kind == IR_POINTER && is_double(type->elem))) continue;
    wgsl_emit_refuse(e, NULL, "double, which parameter '%s' is of", t->f->params[i].name);
    return;
  }
  for (uint32_t i = 0; i < text_inst_count(t); i++) {
    const ir_inst *inst = t->insts[i];
    bool is_it = is_double(inst->type);
    for (uint32_t k = 0; k < inst->arg_count; k++) is_it |= is_double(inst->args[k]->type);
    if (!is_it) continue;
    wgsl_emit_refuse(e, inst, "double (-cl-single-precision-constant makes constants float)");
    return;
  }
}

/* ---- The text ---- */

static void assemble(const emitter *e, qn_bytes *text) {
  qn_bytes_append_str(text, "// Made by Quern.\n");
  if (e->uses_half) qn_bytes_append_str(text, "enable f16;\n");
  if (e->uses_fused || e->uses_bits || e->uses_place || e->uses_shared) qn_bytes_append_char(text, '\n');
  if (e->uses_fused) qn_bytes_append_str(text, "override " QN_WGSL_FUSED ": bool = false;\n");
  if (e->uses_bits) qn_bytes_append_str(text, "var<private> quern_zero: u32 = 0u;\n");
  if (e->uses_place)
    qn_bytes_append_str(text, "var<private> quern_local_id: vec3<u32>;\nvar<private> quern_group_id: vec3<u32>;\n");
  if (e->uses_shared) qn_bytes_append_str(text, "var<workgroup> quern_shared: u32;\n");
  text_put_part(text, &e->globals);
  text_put_part(text, &e->helpers);
  text_put_part(text, &e->functions);
}

/* ---- All ---- */

static bool open(emitter *e) {
  text_names_init(&e->names, e->arena, wgsl_is_reserved_word, "quern_");
  e->constants = QN_ARENA_ARRAY(e->arena, wgsl_memory *, e->unit.constant_count + 1);
  e->asks = QN_ARENA_ARRAY(e->arena, uint8_t, e->unit.function_count + 1);
  e->out = &e->functions;
  return e->constants && e->asks && wgsl_flows_find(&e->unit, &e->flows);
}

static void close(emitter *e) {
  text_names_free(&e->names);
  qn_map_free(&e->made);
  qn_map_free(&e->instance_names);
  qn_bytes_free(&e->globals);
  qn_bytes_free(&e->helpers);
  qn_bytes_free(&e->functions);
}

/* Kernels first: theirs are how they are found. Then what they call, and what that calls. */
static bool write_functions(emitter *e, qn_wgsl_program *out) {
  out->kernels = QN_ARENA_ARRAY(e->arena, qn_wgsl_kernel, e->unit.kernel_count + 1);
  if (!out->kernels) return false;
  for (ir_function *f = e->m->functions; f; f = f->next)
    if (f->is_kernel) text_function_of(f)->name = text_name_global(&e->names, f->name);
  for (ir_function *f = e->m->functions; f && !e->failed; f = f->next)
    if (f->is_kernel) (void)wgsl_kernel_instance(e, text_function_of(f));
  for (const wgsl_instance *i = e->first; i && !e->failed; i = i->next)
    wgsl_put_instance(e, i, i->t->f->is_kernel ? &out->kernels[out->kernel_count++] : NULL);
  out->uses_half = e->uses_half;
  out->uses_fused = e->uses_fused;
  return !e->failed;
}

static bool has_failed(const emitter *e) {
  return e->failed || text_ran_out(e->m, &e->names, &e->diags) || e->globals.failed || e->helpers.failed ||
         e->functions.failed;
}

static qn_status write_all(emitter *e, qn_bytes *text, qn_wgsl_program *out) {
  if (!open(e)) return no_memory();
  for (uint32_t i = 0; i < e->unit.function_count; i++) refuse_double(e, &e->unit.functions[i]);
  wgsl_find_asking(e);
  bool done = e->diags.errors || write_functions(e, out);
  if (!done || has_failed(e)) return no_memory();
  if (e->diags.errors) return qn_error_set_text(QN_ERROR_COMPILE, e->diags.text.data, e->diags.text.size);
  assemble(e, text);
  return text->failed ? no_memory() : QN_OK;
}

static qn_status make(emitter *e, qn_bytes *text, qn_wgsl_program *out) {
  QN_TRY(wgsl_prepare(e->m, e->options->rounded_divide_sqrt));
  QN_TRY(wgsl_make_uniform(e->m, &e->diags));
  QN_TRY(text_unit_make(e->m, &e->unit));
  qn_status status = write_all(e, text, out);
  close(e);
  return status;
}

qn_status qn_target_wgsl(ir_module *m, const qn_wgsl_options *options, qn_bytes *text, qn_wgsl_program *out) {
  emitter e = {.m = m, .arena = m->arena, .options = options};
  *out = (qn_wgsl_program){0};
  if (m->model.address_bits != 32) return qn_error_set(QN_ERROR_INTERNAL, "WGSL is made of 32-bit modules");
  qn_sources_init(&e.none, e.arena);
  qn_diags_init(&e.diags, m->sources ? m->sources : &e.none);
  qn_status status = make(&e, text, out);
  qn_diags_free(&e.diags);
  return status;
}

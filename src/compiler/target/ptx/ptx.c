/* ptx.c - see ptx.h. */
#include "compiler/target/ptx/ptx.h"

#include <inttypes.h>

#include "base/status.h"
#include "compiler/target/ptx/emit.h"
#include "compiler/target/text/report.h"

/* ---- Targets ---- */

/* The first version of the language that has a capability, by the oldest driver that reads it. */
static const struct {
  uint32_t sm;
  const char *version;
} versions[] = {{70, "6.4"}, {72, "6.4"},  {75, "6.4"},  {80, "7.0"},  {86, "7.1"},  {87, "7.4"}, {89, "7.8"},
                {90, "7.8"}, {100, "8.6"}, {101, "8.6"}, {103, "8.8"}, {120, "8.7"}, {121, "8.8"}};
enum { VERSIONS = sizeof versions / sizeof *versions };

static const char *version_of(uint32_t sm) {
  for (size_t i = 0; i < VERSIONS; i++)
    if (versions[i].sm == sm) return versions[i].version;
  return NULL;
}

uint32_t qn_ptx_target(qn_sv name) {
  const qn_sv prefix = QN_SV(QN_PTX_TARGET_PREFIX);
  uint32_t sm = 0;
  if (!qn_sv_starts_with(name, prefix) || name.size > prefix.size + 3) return 0;
  for (size_t i = prefix.size; i < name.size; i++) {
    if (name.data[i] < '0' || name.data[i] > '9') return 0;
    sm = sm * 10 + (uint32_t)(name.data[i] - '0');
  }
  return version_of(sm) ? sm : 0;
}

/* ---- Errors ---- */

void ptx_refuse(emitter *e, const ir_inst *inst, const char *format, ...) {
  va_list args;
  va_start(args, format);
  text_refuse(&e->diags, "PTX (target cuda)", e->function, inst, format, args);
  va_end(args);
}

static qn_status no_memory(void) { return qn_error_set(QN_ERROR_OUT_OF_HOST_MEMORY, "out of memory for PTX"); }

/* ---- The text ---- */

static void assemble(const emitter *e, qn_bytes *text) {
  qn_bytes_printf(text, "// Made by Quern.\n.version %s\n.target sm_%" PRIu32 "\n.address_size 64\n",
                  version_of(e->options->sm), e->options->sm);
  if (e->uses_dynamic || e->globals.size) qn_bytes_append_char(text, '\n');
  if (e->uses_dynamic) qn_bytes_append_str(text, ".extern .shared .align 128 .b8 $shared[];\n");
  qn_bytes_append_sv(text, qn_bytes_view(&e->globals));
  qn_bytes_append_sv(text, qn_bytes_view(&e->functions));
}

static void close(emitter *e) {
  text_names_free(&e->names);
  qn_bytes_free(&e->globals);
  qn_bytes_free(&e->functions);
  qn_bytes_free(&e->body);
}

/* Kernels get their names first: theirs are how they are found. */
static bool write_functions(emitter *e, qn_ptx_program *out) {
  out->kernels = QN_ARENA_ARRAY(e->arena, qn_ptx_kernel, e->unit.kernel_count + 1);
  if (!out->kernels) return false;
  for (ir_function *f = e->m->functions; f; f = f->next)
    if (f->is_kernel) text_function_of(f)->name = text_name_global(&e->names, f->name);
  if (!ptx_place_constants(e)) return false;
  ptx_put_constants(e);
  for (uint32_t i = 0; i < e->unit.function_count && !e->failed; i++) {
    text_function *t = &e->unit.functions[i];
    if (t->f->is_kernel || ptx_is_native(e->m, t->f)) continue;
    t->name = text_name_global(&e->names, t->f->name);
    ptx_put_function(e, t, NULL);
  }
  for (ir_function *f = e->m->functions; f && !e->failed; f = f->next)
    if (f->is_kernel) ptx_put_function(e, text_function_of(f), &out->kernels[out->kernel_count++]);
  return !e->failed;
}

static bool has_failed(const emitter *e) {
  return e->failed || text_ran_out(e->m, &e->names, &e->diags) || e->globals.failed || e->body.failed ||
         e->functions.failed;
}

static qn_status write_all(emitter *e, qn_bytes *text, qn_ptx_program *out) {
  bool done = write_functions(e, out);
  if (!done || has_failed(e)) return no_memory();
  if (e->diags.errors) return qn_error_set_text(QN_ERROR_COMPILE, e->diags.text.data, e->diags.text.size);
  if (e->lost)
    return qn_error_set(QN_ERROR_INTERNAL, "PTX: a value of '%s' is used that was not written",
                        ir_op_table[e->lost->op].text);
  assemble(e, text);
  return text->failed ? no_memory() : QN_OK;
}

static qn_status make(emitter *e, qn_bytes *text, qn_ptx_program *out) {
  QN_TRY(ptx_prepare(e->m, e->options));
  QN_TRY(ptx_choose_banks(e->m, &e->constant_banked));
  QN_TRY(text_unit_make(e->m, &e->unit));
  text_names_init(&e->names, e->arena, ptx_is_reserved_word, "quern_");
  qn_status status = write_all(e, text, out);
  close(e);
  return status;
}

qn_status qn_target_ptx(ir_module *m, const qn_ptx_options *options, qn_bytes *text, qn_ptx_program *out) {
  emitter e = {.m = m, .arena = m->arena, .options = options};
  *out = (qn_ptx_program){0};
  if (m->model.address_bits != 64) return qn_error_set(QN_ERROR_INTERNAL, "PTX is made of 64-bit modules");
  if (!version_of(options->sm)) return qn_error_set(QN_ERROR_INTERNAL, "no PTX is made for sm_%" PRIu32, options->sm);
  qn_sources_init(&e.none, e.arena);
  qn_diags_init(&e.diags, m->sources ? m->sources : &e.none);
  qn_status status = make(&e, text, out);
  qn_diags_free(&e.diags);
  return status;
}

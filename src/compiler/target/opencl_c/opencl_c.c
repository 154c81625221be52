/* opencl_c.c - see opencl_c.h. */
#include "compiler/target/opencl_c/opencl_c.h"

#include "base/status.h"
#include "compiler/pass/pass.h"
#include "compiler/target/opencl_c/emit.h"
#include "compiler/target/text/report.h"

/* ---- Errors ---- */

void emit_refuse(emitter *e, const ir_inst *inst, const char *format, ...) {
  va_list args;
  va_start(args, format);
  text_refuse(&e->diags, "OpenCL C 1.2 (target opencl_c)", e->function, inst, format, args);
  va_end(args);
}

void put_line_start(emitter *e) { text_indent(e->out, e->indent); }

static qn_status no_memory(void) { return qn_error_set(QN_ERROR_OUT_OF_HOST_MEMORY, "out of memory for OpenCL C"); }

/* ---- Names ---- */

/* Kernels first: theirs are how they are found. */
static void name_functions(emitter *e) {
  for (int kernels = 1; kernels >= 0; kernels--) {
    for (uint32_t i = 0; i < e->unit.function_count; i++) {
      text_function *t = &e->unit.functions[i];
      if (t->f->is_kernel == (kernels == 1)) t->name = text_name_global(&e->names, t->f->name);
    }
  }
}

/* ---- What the driver is told ---- */

static bool computes(const ir_inst *inst) {
  bool is_float = inst->type->kind == IR_VECTOR ? inst->type->elem->kind == IR_FLOAT : inst->type->kind == IR_FLOAT;
  return is_float && inst->op >= IR_FADD && inst->op <= IR_COPYSIGN && inst->op != IR_FNEG && inst->op != IR_FABS &&
         inst->op != IR_COPYSIGN;
}

typedef struct float_facts {
  bool all_fast, rounds; /* every operation may be sloppy; some division or root must not */
} float_facts;

static float_facts find_float_facts(const text_unit *unit) {
  float_facts facts = {unit->m->fast_math, false};
  for (uint32_t i = 0; i < unit->function_count; i++) {
    const text_function *t = &unit->functions[i];
    for (uint32_t k = 0; k < text_inst_count(t); k++) {
      const ir_inst *inst = t->insts[k];
      if (!computes(inst)) continue;
      bool is_fast = inst->flags & IR_FAST;
      facts.all_fast &= is_fast;
      facts.rounds |= !is_fast && (inst->op == IR_FDIV || inst->op == IR_SQRT) && ir_elem_of(inst->type)->bits == 32;
    }
  }
  return facts;
}

static const char *build_options(emitter *e) {
  float_facts facts = find_float_facts(&e->unit);
  return qn_arena_printf(
      e->arena, "-cl-std=CL1.2%s%s%s", facts.all_fast ? " -cl-fast-relaxed-math" : "",
      facts.rounds && e->options->rounded_divide_sqrt ? " -cl-fp32-correctly-rounded-divide-sqrt" : "",
      e->options->opt_disable ? " -cl-opt-disable" : "");
}

/* ---- The text ---- */

static void put_extension(qn_bytes *text, bool is_used, const char *name) {
  if (is_used) qn_bytes_printf(text, "#pragma OPENCL EXTENSION %s : enable\n", name);
}

static void assemble(const emitter *e, const char *options, qn_bytes *text) {
  qn_bytes_printf(text, "/* Made by Quern. Build with: %s */\n", options);
  put_extension(text, e->uses_double, "cl_khr_fp64");
  put_extension(text, e->uses_half, "cl_khr_fp16");
  put_extension(text, e->uses_int64_base_atomics, "cl_khr_int64_base_atomics");
  put_extension(text, e->uses_int64_extended_atomics, "cl_khr_int64_extended_atomics");
  qn_bytes_append_str(text, "#pragma OPENCL FP_CONTRACT OFF\n");
  text_put_part(text, &e->types);
  text_put_part(text, &e->data);
  text_put_part(text, &e->helpers);
  text_put_part(text, &e->functions);
}

static bool describe(const emitter *e, qn_opencl_c_program *out) {
  out->kernels = QN_ARENA_ARRAY(e->arena, qn_opencl_c_kernel, e->unit.kernel_count + 1);
  if (!out->kernels) return false;
  for (const ir_function *f = e->m->functions; f; f = f->next) {
    if (!f->is_kernel) continue;
    const text_function *t = text_function_of(f);
    out->kernels[out->kernel_count++] =
        (qn_opencl_c_kernel){f->name, t->name, e->options->adapter_entries && t->asks_range};
  }
  return true;
}

/* ---- All ---- */

static bool open(emitter *e) {
  text_names_init(&e->names, e->arena, is_reserved_word, "quern_");
  qn_sources_init(&e->none, e->arena);
  qn_diags_init(&e->diags, e->m->sources ? e->m->sources : &e->none);
  e->structs = QN_ARENA_ARRAY(e->arena, const char *, e->unit.struct_limit + 1);
  e->constants = QN_ARENA_ARRAY(e->arena, const char *, e->unit.constant_count + 1);
  e->out = &e->functions;
  return e->structs && e->constants && text_signs_find(&e->signs, &e->unit);
}

static void close(emitter *e) {
  text_names_free(&e->names);
  qn_map_free(&e->made);
  qn_diags_free(&e->diags);
  qn_bytes_free(&e->types);
  qn_bytes_free(&e->data);
  qn_bytes_free(&e->helpers);
  qn_bytes_free(&e->functions);
}

static qn_status write_all(emitter *e, qn_bytes *text, qn_opencl_c_program *out) {
  if (!open(e)) return no_memory();
  name_functions(e);
  for (uint32_t i = 0; i < e->unit.function_count; i++) put_function(e, &e->unit.functions[i]);
  out->build_options = build_options(e);
  bool failed = e->failed || text_ran_out(e->m, &e->names, &e->diags) || e->types.failed || e->data.failed ||
                e->helpers.failed || e->functions.failed;
  if (failed || !out->build_options || !describe(e, out)) return no_memory();
  if (e->diags.errors) return qn_error_set_text(QN_ERROR_COMPILE, e->diags.text.data, e->diags.text.size);
  assemble(e, out->build_options, text);
  return text->failed ? no_memory() : QN_OK;
}

qn_status qn_target_opencl_c(ir_module *m, const qn_opencl_c_options *options, qn_bytes *text,
                             qn_opencl_c_program *out) {
  emitter e = {.m = m, .arena = m->arena, .options = options};
  *out = (qn_opencl_c_program){0};
  QN_TRY(qn_prepare_text(m, options->rounded_divide_sqrt));
  QN_TRY(text_unit_make(m, &e.unit));
  qn_status status = write_all(&e, text, out);
  close(&e);
  return status;
}

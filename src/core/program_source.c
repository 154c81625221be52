#include "core/program_source.h"

#include <string.h>

#include "base/pack.h"
#include "base/status.h"
#include "compiler/compiler.h"
#include "core/tracking.h"

static qn_status out_of_memory(void) { QN_FAIL(QN_ERROR_OUT_OF_HOST_MEMORY, "no memory for a program's description"); }

/* ---- From the module ---------------------------------------------------------------------------- */

uint32_t core_count_kernels(const ir_module *module) {
  uint32_t count = 0;
  for (const ir_function *f = module->functions; f; f = f->next) count += core_is_kernel(f);
  return count;
}

static qn_status describe_source(qn_arena *arena, const ir_function *f, core_kernel_source *out) {
  if (f->param_count > CORE_USES)
    QN_FAIL(QN_ERROR_LIMIT, "kernel '%s' has %u arguments; the limit is %d", f->name, f->param_count, CORE_USES);
  out->name = qn_arena_copy(arena, qn_sv_from(f->name));
  out->arguments = QN_ARENA_ARRAY(arena, qn_argument_info, f->param_count ? f->param_count : 1);
  if (!out->name || !out->arguments) return out_of_memory();
  out->argument_count = f->param_count;
  memcpy(out->required_local, f->required_local, sizeof out->required_local);
  memcpy(out->hinted_local, f->hinted_local, sizeof out->hinted_local);
  for (uint32_t i = 0; i < f->param_count; i++) {
    out->arguments[i].struct_size = sizeof out->arguments[i];
    QN_TRY(qn_reflect_argument(f, i, &out->arguments[i]));
  }
  return QN_OK;
}

/* Who calls which function isn't looked at: one that asks counts for all kernels. */
static void note_dimensions(const ir_module *module, core_source *source) {
  uint32_t of_functions = 0, i = 0;
  for (const ir_function *f = module->functions; f; f = f->next)
    if (!core_is_kernel(f) && f->body && qn_reflect_dimensions(f) > of_functions)
      of_functions = qn_reflect_dimensions(f);
  for (const ir_function *f = module->functions; f; f = f->next) {
    if (!core_is_kernel(f)) continue;
    uint32_t own = qn_reflect_dimensions(f);
    source->kernels[i++].asked_dimensions = own > of_functions ? own : of_functions;
  }
}

static qn_status keep_log(qn_arena *arena, qn_sv log, core_source *out) {
  const char *copy = log.size > 0 ? qn_arena_copy(arena, log) : "";
  if (!copy) return out_of_memory();
  out->log = copy;
  out->log_bytes = log.size;
  return QN_OK;
}

static core_kernel_source *make_kernels(qn_arena *arena, uint32_t count) {
  return QN_ARENA_ARRAY(arena, core_kernel_source, count ? count : 1);
}

qn_status core_source_describe(qn_arena *arena, const ir_module *module, qn_sv log, core_source *out) {
  core_source source = {.kernel_count = core_count_kernels(module)};
  uint32_t i = 0;
  source.kernels = make_kernels(arena, source.kernel_count);
  if (!source.kernels) return out_of_memory();
  for (const ir_function *f = module->functions; f; f = f->next)
    if (core_is_kernel(f)) QN_TRY(describe_source(arena, f, &source.kernels[i++]));
  note_dimensions(module, &source);
  QN_TRY(keep_log(arena, log, &source));
  *out = source;
  return QN_OK;
}

/* ---- As bytes ----------------------------------------------------------------------------------- */

/* The numbers of an argument, in the order of the bytes. */
enum { ARGUMENT_NUMBERS = 10 };
static void argument_numbers(qn_argument_info *a, uint32_t *numbers[ARGUMENT_NUMBERS]) {
  uint32_t *const all[ARGUMENT_NUMBERS] = {&a->kind,          &a->element_type, &a->vector_width,  &a->element_bytes,
                                           &a->element_align, &a->access,       &a->address_space, &a->is_const,
                                           &a->is_restrict,   &a->is_volatile};
  memcpy(numbers, all, sizeof all);
}

static void pack_argument(const qn_argument_info *given, qn_bytes *out) {
  qn_argument_info argument = *given;
  uint32_t *numbers[ARGUMENT_NUMBERS];
  argument_numbers(&argument, numbers);
  for (int i = 0; i < ARGUMENT_NUMBERS; i++) qn_pack_u32(out, *numbers[i]);
  qn_pack_text(out, qn_sv_from(argument.name));
  qn_pack_text(out, qn_sv_from(argument.type_name));
}

static void copy_name(qn_unpack *from, char *out, size_t capacity) {
  qn_sv text = qn_unpack_text(from);
  if (text.size >= capacity) from->failed = true;
  if (!from->failed) memcpy(out, text.data, text.size); /* the rest is zero */
}

static void unpack_argument(qn_unpack *from, qn_argument_info *out) {
  uint32_t *numbers[ARGUMENT_NUMBERS];
  *out = (qn_argument_info){.struct_size = sizeof *out};
  argument_numbers(out, numbers);
  for (int i = 0; i < ARGUMENT_NUMBERS; i++) *numbers[i] = qn_unpack_u32(from);
  copy_name(from, out->name, sizeof out->name);
  copy_name(from, out->type_name, sizeof out->type_name);
}

static void pack_kernel(const core_kernel_source *kernel, qn_bytes *out) {
  qn_pack_text(out, qn_sv_from(kernel->name));
  for (int i = 0; i < 3; i++) qn_pack_u64(out, kernel->required_local[i]);
  for (int i = 0; i < 3; i++) qn_pack_u64(out, kernel->hinted_local[i]);
  qn_pack_u32(out, kernel->asked_dimensions);
  qn_pack_u32(out, kernel->argument_count);
  for (uint32_t i = 0; i < kernel->argument_count; i++) pack_argument(&kernel->arguments[i], out);
}

static void unpack_kernel(qn_arena *arena, qn_unpack *from, core_kernel_source *out) {
  out->name = qn_unpack_string(from, arena);
  for (int i = 0; i < 3; i++) out->required_local[i] = qn_unpack_u64(from);
  for (int i = 0; i < 3; i++) out->hinted_local[i] = qn_unpack_u64(from);
  out->asked_dimensions = qn_unpack_u32(from);
  uint32_t count = qn_unpack_count(from, ARGUMENT_NUMBERS * 4);
  out->arguments = QN_ARENA_ARRAY(arena, qn_argument_info, count ? count : 1);
  if (!out->arguments || count > CORE_USES) from->failed = true;
  if (from->failed) return;
  out->argument_count = count;
  for (uint32_t i = 0; i < count; i++) unpack_argument(from, &out->arguments[i]);
}

void core_source_pack(const core_source *source, qn_bytes *out) {
  qn_pack_u32(out, source->kernel_count);
  for (uint32_t i = 0; i < source->kernel_count; i++) pack_kernel(&source->kernels[i], out);
  qn_pack_text(out, qn_sv_make(source->log, (size_t)source->log_bytes));
}

qn_status core_source_unpack(qn_arena *arena, qn_sv bytes, core_source *out) {
  qn_unpack from = qn_unpack_from(bytes);
  core_source source = {.kernel_count = qn_unpack_count(&from, 8 + 6 * 8 + 4)};
  source.kernels = make_kernels(arena, source.kernel_count);
  if (!source.kernels) return out_of_memory();
  for (uint32_t i = 0; i < source.kernel_count && !from.failed; i++) unpack_kernel(arena, &from, &source.kernels[i]);
  QN_TRY(keep_log(arena, qn_unpack_text(&from), &source));
  if (!qn_unpack_is_done(&from)) QN_FAIL(QN_ERROR_DATA, "what a program tells of its kernels makes no sense");
  *out = source;
  return QN_OK;
}

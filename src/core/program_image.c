#include "core/program_image.h"

#include <string.h>

#include "base/pack.h"
#include "base/status.h"
#include "compiler/compiler.h"
#include "compiler/pass/pass.h"
#include "compiler/target/target.h"
#include "core/program_source.h"

static qn_status out_of_memory(void) { QN_FAIL(QN_ERROR_OUT_OF_HOST_MEMORY, "no memory for a program's kernels"); }

/* ---- What launches need of the code ------------------------------------------------------------- */

static qn_status describe_parameters(qn_arena *arena, const ir_function *f, qn_adapter_kernel_description *out) {
  qn_adapter_parameter *parameters = QN_ARENA_ARRAY(arena, qn_adapter_parameter, f->param_count ? f->param_count : 1);
  if (!parameters) return out_of_memory();
  for (uint32_t i = 0; i < f->param_count; i++) {
    qn_argument_info info = {.struct_size = sizeof info};
    QN_TRY(qn_reflect_argument(f, i, &info));
    parameters[i] = (qn_adapter_parameter){.kind = info.kind,
                                           .size_bytes = info.kind == QN_ARGUMENT_VALUE ? info.element_bytes : 0,
                                           .alignment = info.element_align,
                                           .slot_offset = (uint32_t)qn_argument_offset(f, i)};
  }
  out->parameters = parameters;
  out->parameter_count = f->param_count;
  return QN_OK;
}

static qn_status describe_kernel(qn_arena *arena, const ir_function *f, qn_adapter_kernel_description *out) {
  *out = (qn_adapter_kernel_description){.struct_size = sizeof *out,
                                         .name = qn_arena_copy(arena, qn_sv_from(f->name)),
                                         .symbol = qn_arena_printf(arena, QN_KERNEL_SYMBOL_PREFIX "%s", f->name),
                                         .argument_block_bytes = qn_argument_block_bytes(f),
                                         .static_local_bytes = f->static_local_bytes,
                                         .scratch_bytes_per_item = f->scratch_bytes_per_item,
                                         .scratch_bytes_per_group = f->scratch_bytes_per_group};
  if (!out->name || !out->symbol) return out_of_memory();
  memcpy(out->required_local, f->required_local, sizeof out->required_local);
  return describe_parameters(arena, f, out);
}

qn_status core_kernels_describe(qn_arena *arena, const ir_module *module, core_kernel_list *out) {
  uint32_t i = 0;
  out->count = core_count_kernels(module);
  out->items = QN_ARENA_ARRAY(arena, qn_adapter_kernel_description, out->count ? out->count : 1);
  if (!out->items) return out_of_memory();
  for (const ir_function *f = module->functions; f; f = f->next)
    if (core_is_kernel(f)) QN_TRY(describe_kernel(arena, f, &out->items[i++]));
  return QN_OK;
}

/* ---- As bytes ----------------------------------------------------------------------------------- */

enum { PARAMETER_BYTES = 4 * 4, KERNEL_NUMBERS = 8, KERNEL_BYTES = 2 * 8 + 4 + KERNEL_NUMBERS * 8 };

/* The numbers of a description, in the order of the bytes. */
static void kernel_numbers(qn_adapter_kernel_description *k, uint64_t *numbers[KERNEL_NUMBERS]) {
  uint64_t *const all[KERNEL_NUMBERS] = {
      &k->argument_block_bytes, &k->static_local_bytes, &k->scratch_bytes_per_item, &k->scratch_bytes_per_group,
      &k->required_local[0],    &k->required_local[1],  &k->required_local[2],      &k->entry_flags};
  memcpy(numbers, all, sizeof all);
}

static void pack_kernel(const qn_adapter_kernel_description *given, qn_bytes *out) {
  qn_adapter_kernel_description kernel = *given;
  uint64_t *numbers[KERNEL_NUMBERS];
  kernel_numbers(&kernel, numbers);
  qn_pack_text(out, qn_sv_from(kernel.name));
  qn_pack_text(out, qn_sv_from(kernel.symbol));
  for (int i = 0; i < KERNEL_NUMBERS; i++) qn_pack_u64(out, *numbers[i]);
  qn_pack_u32(out, kernel.parameter_count);
  for (uint32_t i = 0; i < kernel.parameter_count; i++) {
    const qn_adapter_parameter *p = &kernel.parameters[i];
    qn_pack_u32(out, p->kind);
    qn_pack_u32(out, p->size_bytes);
    qn_pack_u32(out, p->alignment);
    qn_pack_u32(out, p->slot_offset);
  }
}

static void unpack_parameters(qn_arena *arena, qn_unpack *from, qn_adapter_kernel_description *out) {
  uint32_t count = qn_unpack_count(from, PARAMETER_BYTES);
  qn_adapter_parameter *parameters = QN_ARENA_ARRAY(arena, qn_adapter_parameter, count ? count : 1);
  if (!parameters) from->failed = true;
  if (from->failed) return;
  for (uint32_t i = 0; i < count; i++) {
    parameters[i].kind = qn_unpack_u32(from);
    parameters[i].size_bytes = qn_unpack_u32(from);
    parameters[i].alignment = qn_unpack_u32(from);
    parameters[i].slot_offset = qn_unpack_u32(from);
  }
  out->parameters = parameters;
  out->parameter_count = count;
}

static void unpack_kernel(qn_arena *arena, qn_unpack *from, qn_adapter_kernel_description *out) {
  uint64_t *numbers[KERNEL_NUMBERS];
  *out = (qn_adapter_kernel_description){.struct_size = sizeof *out};
  kernel_numbers(out, numbers);
  out->name = qn_unpack_string(from, arena);
  out->symbol = qn_unpack_string(from, arena);
  for (int i = 0; i < KERNEL_NUMBERS; i++) *numbers[i] = qn_unpack_u64(from);
  unpack_parameters(arena, from, out);
}

void core_image_pack(const core_kernel_list *kernels, const qn_adapter_code *code, qn_bytes *out) {
  qn_pack_u32(out, code->kind);
  qn_pack_text(out, qn_sv_from(code->options ? code->options : ""));
  qn_pack_text(out, qn_sv_make(code->bytes, (size_t)code->size_bytes));
  qn_pack_u32(out, kernels->count);
  for (uint32_t i = 0; i < kernels->count; i++) pack_kernel(&kernels->items[i], out);
}

qn_status core_image_unpack(qn_arena *arena, qn_sv bytes, core_kernel_list *out, qn_adapter_code *out_code) {
  qn_unpack from = qn_unpack_from(bytes);
  uint32_t kind = qn_unpack_u32(&from);
  const char *options = qn_unpack_string(&from, arena);
  qn_sv code = qn_unpack_text(&from);
  uint32_t count = qn_unpack_count(&from, KERNEL_BYTES);
  *out_code =
      (qn_adapter_code){.struct_size = sizeof *out_code, .kind = kind, .bytes = code.data, .size_bytes = code.size};
  out_code->options = options[0] ? options : NULL;
  out->items = QN_ARENA_ARRAY(arena, qn_adapter_kernel_description, count ? count : 1);
  if (!out->items) return out_of_memory();
  for (uint32_t i = 0; i < count && !from.failed; i++) unpack_kernel(arena, &from, &out->items[i]);
  if (!qn_unpack_is_done(&from)) QN_FAIL(QN_ERROR_DATA, "a cached program makes no sense");
  out->count = count;
  return QN_OK;
}

/* record.c - what a host must know, as bytes. */
#include "base/pack.h"
#include "base/status.h"
#include "compiler/target/wgsl/wgsl.h"

/* No length of a text takes less than 4 bytes. */
enum { RECORD_VERSION = 1, LEAST_ARGUMENT = 9 * 4, LEAST_KERNEL = 5 * 4 + 7 * 4 + 8 };

static void pack_string(qn_bytes *out, const char *text) { qn_pack_text(out, qn_sv_from(text ? text : "")); }

static void pack_argument(const qn_wgsl_argument *a, qn_bytes *out) {
  const uint32_t words[] = {a->kind, a->offset, a->size, a->binding, a->access, a->align, a->base_offset, a->unit};
  for (size_t i = 0; i < sizeof words / sizeof *words; i++) qn_pack_u32(out, words[i]);
  pack_string(out, a->name);
}

static void pack_kernel(const qn_wgsl_kernel *k, qn_bytes *out) {
  pack_string(out, k->name);
  pack_string(out, k->entry);
  for (int d = 0; d < 3; d++) {
    pack_string(out, k->group[d]);
    qn_pack_u32(out, k->fixed_group[d]);
  }
  qn_pack_u32(out, k->block_bytes);
  qn_pack_u32(out, k->takes_range);
  qn_pack_u32(out, k->bindings);
  qn_pack_u64(out, k->static_local_bytes);
  qn_pack_u32(out, k->argument_count);
  for (uint32_t i = 0; i < k->argument_count; i++) pack_argument(&k->arguments[i], out);
}

void qn_wgsl_pack(const qn_wgsl_program *program, qn_bytes *out) {
  qn_pack_u32(out, RECORD_VERSION);
  qn_pack_u32(out, program->uses_half);
  qn_pack_u32(out, program->uses_fused);
  qn_pack_u32(out, program->kernel_count);
  for (uint32_t i = 0; i < program->kernel_count; i++) pack_kernel(&program->kernels[i], out);
}

static void unpack_argument(qn_unpack *from, qn_arena *arena, qn_wgsl_argument *a) {
  uint32_t *const words[] = {&a->offset, &a->size, &a->binding, &a->access, &a->align, &a->base_offset, &a->unit};
  static const qn_wgsl_argument_kind kinds[] = {QN_WGSL_VALUE, QN_WGSL_BUFFER, QN_WGSL_LOCAL};
  uint32_t kind = qn_unpack_u32(from);
  if (kind > QN_WGSL_LOCAL) from->failed = true;
  a->kind = kinds[from->failed ? 0 : kind];
  for (size_t i = 0; i < sizeof words / sizeof *words; i++) *words[i] = qn_unpack_u32(from);
  a->name = qn_unpack_string(from, arena);
}

static bool unpack_kernel(qn_unpack *from, qn_arena *arena, qn_wgsl_kernel *k) {
  k->name = qn_unpack_string(from, arena);
  k->entry = qn_unpack_string(from, arena);
  for (int d = 0; d < 3; d++) {
    const char *name = qn_unpack_string(from, arena);
    k->fixed_group[d] = qn_unpack_u32(from);
    k->group[d] = name[0] ? name : NULL;
  }
  k->block_bytes = qn_unpack_u32(from);
  k->takes_range = qn_unpack_u32(from) != 0;
  k->bindings = qn_unpack_u32(from);
  k->static_local_bytes = qn_unpack_u64(from);
  k->argument_count = qn_unpack_count(from, LEAST_ARGUMENT);
  k->arguments = QN_ARENA_ARRAY(arena, qn_wgsl_argument, k->argument_count + 1);
  for (uint32_t i = 0; k->arguments && i < k->argument_count; i++) unpack_argument(from, arena, &k->arguments[i]);
  return k->arguments != NULL;
}

qn_status qn_wgsl_unpack(qn_sv bytes, qn_arena *arena, qn_wgsl_program *out) {
  qn_unpack from = qn_unpack_from(bytes);
  *out = (qn_wgsl_program){0};
  if (qn_unpack_u32(&from) != RECORD_VERSION) QN_FAIL(QN_ERROR_DATA, "a record of WGSL kernels of another version");
  out->uses_half = qn_unpack_u32(&from) != 0;
  out->uses_fused = qn_unpack_u32(&from) != 0;
  uint32_t count = qn_unpack_count(&from, LEAST_KERNEL);
  out->kernels = QN_ARENA_ARRAY(arena, qn_wgsl_kernel, count + 1);
  bool has_memory = out->kernels != NULL;
  for (uint32_t i = 0; has_memory && i < count; i++, out->kernel_count++)
    has_memory = unpack_kernel(&from, arena, &out->kernels[i]);
  if (!has_memory) QN_FAIL(QN_ERROR_OUT_OF_HOST_MEMORY, "no memory for a record of WGSL kernels");
  if (!qn_unpack_is_done(&from)) QN_FAIL(QN_ERROR_DATA, "a record of WGSL kernels that is damaged");
  return QN_OK;
}

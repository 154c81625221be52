#include "launch.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/status.h"
#include "compiler/compiler.h"
#include "compiler/pass/pass.h"
#include "quern/adapter.h"
#include "webgpu.h"

enum { MOST = 32 };

qn_model wgsl_model(void) { return (qn_model){.address_bits = 32}; }

/* `rounds` may be NULL: whether the options ask for division that is correctly rounded. */
static qn_status compile(qn_arena *arena, const char *source, const char *option_text, ir_module **out, bool *rounds) {
  static const qn_compile_options none;
  qn_compile_options options = none;
  qn_bytes log = {0};
  if (option_text) QN_TRY(qn_compile_options_parse(arena, option_text, &options));
  if (rounds) *rounds = options.fp32_correctly_rounded_divide_sqrt;
  const qn_compile_request request = {.source = qn_sv_from(source), .options = &options, .model = wgsl_model()};
  qn_status status = qn_compile(arena, &request, out, &log);
  qn_bytes_free(&log);
  return status;
}

static const ir_type *core_of(const ir_type *type) {
  while (type->kind == IR_POINTER || type->kind == IR_ARRAY || type->kind == IR_VECTOR || type->kind == IR_STRUCT)
    type = type->kind == IR_STRUCT ? type->fields[0].type : type->elem;
  return type;
}

/* In the order of the program's kernels. */
static bool note_floats(wgsl_made *w, const ir_module *m) {
  uint32_t kernels = 0, at = 0;
  for (const ir_function *f = m->functions; f; f = f->next) kernels += f->is_kernel && f->body;
  w->floats = QN_ARENA_ARRAY(&w->arena, uint8_t *, kernels + 1);
  if (!w->floats) return false;
  for (const ir_function *f = m->functions; f; f = f->next) {
    if (!f->is_kernel || !f->body) continue;
    uint8_t *floats = w->floats[at++] = QN_ARENA_ARRAY(&w->arena, uint8_t, f->param_count + 1);
    if (!floats) return false;
    for (uint32_t i = 0; i < f->param_count; i++) {
      const ir_type *core = core_of(f->params[i].type);
      floats[i] = core->kind == IR_FLOAT ? (uint8_t)core->bits : 0;
    }
  }
  return true;
}

qn_status wgsl_make(wgsl_made *w, const char *source, const char *options, bool merged) {
  ir_module *m = NULL;
  bool rounds = false;
  *w = (wgsl_made){0};
  qn_arena_init(&w->arena, 0);
  qn_status status = compile(&w->arena, source, options, &m, &rounds);
  if (status >= 0 && !note_floats(w, m)) status = qn_error_set(QN_ERROR_OUT_OF_HOST_MEMORY, "no memory");
  if (status >= 0)
    status =
        qn_target_wgsl(m, &(qn_wgsl_options){.merged = merged, .rounded_divide_sqrt = rounds}, &w->text, &w->program);
  if (m) ir_module_free(m);
  if (status < 0) wgsl_free(w);
  return status;
}

void wgsl_free(wgsl_made *w) {
  if (w->module) webgpu_module_free(w->module);
  qn_bytes_free(&w->text);
  qn_arena_free(&w->arena);
  *w = (wgsl_made){0};
}

qn_status wgsl_interpret(const char *source, const char *options, const char *kernel, const interp_launch *launch) {
  qn_arena arena;
  ir_module *m = NULL;
  qn_arena_init(&arena, 0);
  qn_status status = compile(&arena, source, options, &m, NULL);
  if (status >= 0) status = pass_link(m);
  const ir_function *f = status >= 0 ? ir_function_find(m, qn_sv_from(kernel)) : NULL;
  if (status >= 0) status = f ? interp_run(f, launch, NULL) : qn_error_set(QN_ERROR_NOT_FOUND, "no kernel %s", kernel);
  if (m) ir_module_free(m);
  qn_arena_free(&arena);
  return status;
}

/* ---- One kernel's pipeline ---- */

typedef struct prepared {
  webgpu_constant constants[MOST];
  webgpu_binding bindings[MOST];
  webgpu_dispatch dispatch;
  unsigned char *block;
} prepared;

static void add_constant(prepared *p, const char *name, uint64_t value) {
  if (p->dispatch.constant_count < MOST)
    p->constants[p->dispatch.constant_count++] = (webgpu_constant){name, (double)value};
}

static void add_binding(prepared *p, uint32_t binding, bool is_uniform, void *data, uint64_t size) {
  if (p->dispatch.binding_count < MOST)
    p->bindings[p->dispatch.binding_count++] = (webgpu_binding){binding, is_uniform, data, size};
}

static void put_word(unsigned char *at, uint32_t word) { memcpy(at, &word, 4); }

static void put_argument(prepared *p, const qn_wgsl_argument *a, const interp_argument *given, uint32_t *address,
                         const interp_argument *holder) {
  unsigned char *at = p->block + a->offset;
  if (holder) {
    put_word(at, (uint32_t)((const char *)given->memory - (const char *)holder->memory));
    return;
  }
  switch (a->kind) {
    case QN_WGSL_VALUE:
      memcpy(at, given->bytes, given->size_bytes);
      break;
    case QN_WGSL_BUFFER:
      put_word(at, given->memory ? 0 : QN_WGSL_NULL);
      if (a->base_offset) put_word(p->block + a->base_offset, given->memory ? *address : QN_WGSL_NULL);
      *address += (uint32_t)(given->size_bytes + 255) / 256 * 256 + 256;
      if (a->binding) add_binding(p, a->binding, false, given->memory, given->size_bytes);
      break;
    default:
      if (a->name[0]) add_constant(p, a->name, (given->size_bytes + a->unit - 1) / a->unit);
  }
}

/* ---- Arguments that overlap ---- */

/* The argument before `i` whose buffer holds its buffer; `i`: none does. */
static uint32_t holder_of(const interp_launch *launch, uint32_t i) {
  const interp_argument *given = &launch->arguments[i];
  for (uint32_t k = 0; k < i && given->kind == QN_ARGUMENT_BUFFER && given->memory; k++) {
    const interp_argument *other = &launch->arguments[k];
    if (other->kind != QN_ARGUMENT_BUFFER || !other->memory) continue;
    const char *from = other->memory, *at = given->memory;
    if (at >= from && at + given->size_bytes <= from + other->size_bytes) return k;
  }
  return i;
}

static bool is_name_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

/* The text with one name in another's place, without the line that declares it. */
static void share_binding(qn_bytes *text, const qn_wgsl_argument *from, const qn_wgsl_argument *to) {
  qn_bytes made = {0};
  char line[64];
  size_t size = strlen(from->name);
  (void)snprintf(line, sizeof line, "@group(0) @binding(%u) ", from->binding);
  for (const char *at = text->data; *at;) {
    bool starts = at == text->data || at[-1] == '\n', is_word = at == text->data || !is_name_letter(at[-1]);
    const char *end = strchr(at, '\n');
    if (starts && strncmp(at, line, strlen(line)) == 0 && end && memmem(at, (size_t)(end - at), from->name, size)) {
      at = end + 1;
    } else if (is_word && strncmp(at, from->name, size) == 0 && !is_name_letter(at[size])) {
      qn_bytes_append_str(&made, to->name);
      at += size;
    } else {
      qn_bytes_append_char(&made, *at++);
    }
  }
  qn_bytes_free(text);
  *text = made;
}

static void share_bindings(wgsl_made *w, const qn_wgsl_kernel *k, const interp_launch *launch) {
  for (uint32_t i = 0; i < k->argument_count; i++) {
    uint32_t holder = holder_of(launch, i);
    if (holder != i && k->arguments[i].binding) share_binding(&w->text, &k->arguments[i], &k->arguments[holder]);
  }
}

static void put_range(unsigned char *block, const interp_launch *launch) {
  qn_wgsl_launch_range range = {.work_dim = launch->dimensions};
  for (uint32_t d = 0; d < 3; d++) {
    bool is_used = d < launch->dimensions;
    uint64_t global = is_used ? launch->global[d] : 1, local = is_used ? launch->local[d] : 1;
    range.origin[d] = range.global_offset[d] = (uint32_t)launch->offset[d];
    range.global_size[d] = (uint32_t)global;
    range.num_groups[d] = (uint32_t)(global / local);
    range.enqueued_local[d] = range.local_size[d] = (uint32_t)local;
  }
  memcpy(block, &range, sizeof range);
}

static void put_groups(prepared *p, const qn_wgsl_kernel *k, const interp_launch *launch) {
  for (uint32_t d = 0; d < 3; d++) {
    bool is_used = launch && d < launch->dimensions;
    uint64_t global = is_used ? launch->global[d] : 1, local = is_used ? launch->local[d] : 1;
    p->dispatch.groups[d] = launch ? (uint32_t)(global / local) : 0;
    if (k->group[d]) add_constant(p, k->group[d], local);
  }
}

/* For a pipeline alone: longer than any index that kernels of the tests have. */
static void put_lengths(prepared *p, const qn_wgsl_kernel *k) {
  for (uint32_t i = 0; i < k->argument_count; i++)
    if (k->arguments[i].kind == QN_WGSL_LOCAL && k->arguments[i].name[0]) add_constant(p, k->arguments[i].name, 64);
}

static qn_status run(wgsl_made *w, const qn_wgsl_kernel *k, const interp_launch *launch) {
  prepared p = {.dispatch = {.entry = k->entry}};
  uint32_t address = QN_WGSL_FIRST_ADDRESS;
  p.block = calloc(1, k->block_bytes + 1);
  if (!p.block) QN_FAIL(QN_ERROR_OUT_OF_HOST_MEMORY, "no memory for an argument block");
  put_groups(&p, k, launch);
  if (!launch) put_lengths(&p, k);
  if (launch && k->takes_range) put_range(p.block, launch);
  for (uint32_t i = 0; launch && i < k->argument_count && i < launch->argument_count; i++)
    put_argument(&p, &k->arguments[i], &launch->arguments[i], &address,
                 holder_of(launch, i) == i ? NULL : &launch->arguments[holder_of(launch, i)]);
  if (launch && k->block_bytes) add_binding(&p, 0, true, p.block, k->block_bytes);
  p.dispatch.constants = p.constants;
  p.dispatch.bindings = p.bindings;
  bool good = webgpu_run(w->module, &p.dispatch);
  free(p.block);
  if (!good) QN_FAIL(QN_ERROR_COMPILE, "kernel %s: %s", k->name, webgpu_error());
  return QN_OK;
}

static qn_status make_module(wgsl_made *w) {
  const char *why;
  if (w->module) return QN_OK;
  if (!webgpu_open(&why)) QN_FAIL(QN_ERROR_NOT_FOUND, "no WebGPU library: %s", why);
  w->module = webgpu_module(qn_bytes_view(&w->text));
  if (!w->module) QN_FAIL(QN_ERROR_COMPILE, "%s", webgpu_error());
  return QN_OK;
}

qn_status wgsl_check(wgsl_made *w) {
  QN_TRY(make_module(w));
  for (uint32_t i = 0; i < w->program.kernel_count; i++) QN_TRY(run(w, &w->program.kernels[i], NULL));
  return QN_OK;
}

qn_status wgsl_launch(wgsl_made *w, const char *kernel, const interp_launch *launch) {
  for (uint32_t i = 0; i < w->program.kernel_count; i++) {
    const qn_wgsl_kernel *k = &w->program.kernels[i];
    if (strcmp(k->name, kernel) != 0) continue;
    if (!w->module) share_bindings(w, k, launch);
    QN_TRY(make_module(w));
    return run(w, k, launch);
  }
  QN_FAIL(QN_ERROR_NOT_FOUND, "no kernel %s", kernel);
}

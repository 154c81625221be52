#include "bytes.h"

#include <string.h>

#include "device.h"
#include "memory.h"

/* An item writes one word of the target, of which bytes from `first` up to `end` are meant. */
#define HEAD                                                                                        \
  "struct Task { first: u32, end: u32, origin: u32, cycle: u32, row: u32, a: u32, b: u32, c: u32, " \
  "words: array<vec4<u32>, 32> }\n"                                                                 \
  "@group(0) @binding(0) var<uniform> task: Task;\n"
#define MAIN                                                                              \
  "@compute @workgroup_size(64) fn run(@builtin(global_invocation_id) id: vec3<u32>) {\n" \
  "  let index = id.y * task.row + id.x;\n"                                               \
  "  let word = task.first / 4u + index;\n"                                               \
  "  if (id.x >= task.row || word > (task.end - 1u) / 4u) { return; }\n"                  \
  "  var mask = 0xffffffffu;\n"                                                           \
  "  if (word * 4u < task.first) { mask = mask << (task.first % 4u * 8u); }\n"            \
  "  if (word == task.end / 4u) { mask = mask & ((1u << (task.end % 4u * 8u)) - 1u); }\n" \
  "  let value = get_word(index, word);\n"                                                \
  "  if (mask == 0xffffffffu) { put_target(word, value); return; }\n"                     \
  "  put_target(word, (get_target(word) & ~mask) | (value & mask));\n"                    \
  "}\n"
#define PLAIN_TARGET                                                     \
  "@group(0) @binding(1) var<storage, read_write> memory: array<u32>;\n" \
  "fn get_target(i: u32) -> u32 { return memory[i]; }\n"                 \
  "fn put_target(i: u32, value: u32) { memory[i] = value; }\n"
/* Two words of the source, shifted together. An index may be one off at an end; what is read there is masked out. */
#define COPIED_WORD                                                     \
  "fn get_word(index: u32, word: u32) -> u32 {\n"                       \
  "  let at = task.origin + 4u + word * 4u - task.first;\n"             \
  "  let shift = at % 4u * 8u;\n"                                       \
  "  let low = get_source(at / 4u - 1u);\n"                             \
  "  if (shift == 0u) { return low; }\n"                                \
  "  return (low >> shift) | (get_source(at / 4u) << (32u - shift));\n" \
  "}\n"

/* Within one block other items may write the words that one reads: never the bytes that it wants, but the words are shared. */
static const char *const texts[WG_BYTES_KERNELS] = {
    [WG_BYTES_COPY] = HEAD PLAIN_TARGET
    "@group(0) @binding(2) var<storage, read> source: array<u32>;\n"
    "fn get_source(i: u32) -> u32 { return source[i]; }\n" COPIED_WORD MAIN,
    [WG_BYTES_COPY_WITHIN] = HEAD
    "@group(0) @binding(1) var<storage, read_write> memory: array<atomic<u32>>;\n"
    "fn get_target(i: u32) -> u32 { return atomicLoad(&memory[i]); }\n"
    "fn get_source(i: u32) -> u32 { return atomicLoad(&memory[i]); }\n"
    "fn put_target(i: u32, value: u32) { atomicStore(&memory[i], value); }\n" COPIED_WORD MAIN,
    [WG_BYTES_FILL] = HEAD PLAIN_TARGET
    "fn get_word(index: u32, word: u32) -> u32 {\n"
    "  let at = index % task.cycle;\n"
    "  return task.words[at / 4u][at % 4u];\n"
    "}\n" MAIN};

/* Struct Task. A fill's words repeat after `cycle`: the first is that of the target's first word. */
typedef struct task {
  uint32_t first, end, origin, cycle, row, reserved[3];
  unsigned char words[4 * WG_BYTES_MOST_PATTERN];
} task;

enum { ITEMS = 64 };

/* ---- Kernels ------------------------------------------------------------------------------------ */

static qn_status make(qn_adapter_device *device, uint32_t which, wg_failure *failure) {
  static const wgl_slot slots[] = {
      {.binding = 0, .kind = WGL_BIND_UNIFORM, .least_bytes = sizeof(task), .has_offset = 1},
      {.binding = 1, .kind = WGL_BIND_WRITE, .least_bytes = 4},
      {.binding = 2, .kind = WGL_BIND_READ, .least_bytes = 4}};
  wg_byte_kernel *k = &device->bytes.kernels[which];
  uint32_t count = which == WG_BYTES_COPY ? 3 : 2;
  wgl_pipeline *pipeline = NULL;
  wg_scope_begin(device);
  wgl_module *module = WGL(device, module_create, device->native, texts[which], strlen(texts[which]));
  if (!k->layout) k->layout = WGL(device, layout_create, device->native, slots, count);
  const wgl_pipeline_request request = {
      .struct_size = sizeof request, .module = module, .layout = k->layout, .entry = "run"};
  if (module && k->layout) pipeline = WGL(device, pipeline_create, device->native, &request);
  qn_status status = wg_scope_end(device, failure, "a kernel for unaligned bytes can't be made");
  if (module) WGL(device, module_release, module);
  if (status >= 0 && !pipeline)
    status = wg_fail(failure, QN_ERROR_DEVICE, 0, "a kernel for unaligned bytes can't be made");
  if (status < 0 && pipeline) WGL(device, pipeline_release, pipeline);
  if (status < 0) return status;
  k->pipeline = pipeline;
  k->groups.count = count - 1;
  return QN_OK;
}

static qn_status find_group(qn_adapter_device *device, wg_byte_kernel *k, const qn_adapter_memory *const *blocks,
                            wgl_group **out, wg_failure *failure) {
  uint64_t numbers[2] = {0};
  wgl_binding bindings[3] = {{.binding = 0, .buffer = device->stream.blocks, .size_bytes = sizeof(task)}};
  for (uint32_t i = 0; i < k->groups.count; i++) {
    numbers[i] = blocks[i]->number;
    bindings[i + 1] = (wgl_binding){.binding = i + 1, .buffer = blocks[i]->buffer, .size_bytes = blocks[i]->size};
  }
  *out = wg_groups_find(&k->groups, numbers);
  if (*out) return QN_OK;
  wg_scope_begin(device);
  wgl_group *group = WGL(device, group_create, device->native, k->layout, bindings, k->groups.count + 1);
  qn_status status = wg_scope_end(device, failure, "buffers can't be bound for a copy or fill");
  if (status >= 0 && (!group || !wg_groups_put(device, &k->groups, numbers, group)))
    return wg_fail(failure, QN_ERROR_OUT_OF_HOST_MEMORY, 0, "no memory for a bind group");
  if (status < 0 && group) WGL(device, group_release, group);
  *out = group;
  return status;
}

void wg_bytes_close(qn_adapter_device *device) {
  for (int i = 0; i < WG_BYTES_KERNELS; i++) {
    wg_byte_kernel *k = &device->bytes.kernels[i];
    wg_groups_close(device, &k->groups);
    if (k->pipeline) WGL(device, pipeline_release, k->pipeline);
    if (k->layout) WGL(device, layout_release, k->layout);
  }
}

/* ---- Dispatch ----------------------------------------------------------------------------------- */

static qn_status dispatch(qn_adapter_device *device, uint32_t which, const qn_adapter_memory *const *blocks, task *t,
                          wg_failure *failure) {
  wg_byte_kernel *k = &device->bytes.kernels[which];
  wgl_group *group = NULL;
  uint32_t offset = 0, most = device->found->description.max_groups;
  qn_status status = k->pipeline ? QN_OK : make(device, which, failure);
  if (status >= 0) status = find_group(device, k, blocks, &group, failure);
  if (status < 0) return status;
  uint32_t words = (t->end - 1) / 4 - t->first / 4 + 1, across = (words + ITEMS - 1) / ITEMS;
  if (across > most) across = most;
  t->row = across * ITEMS;
  const uint32_t groups[3] = {across, (words + t->row - 1) / t->row, 1};
  unsigned char *block = wg_stream_block(device, sizeof *t, &offset);
  if (!block) return wg_fail(failure, QN_ERROR_INTERNAL, 0, "no room for a copy's block");
  memcpy(block, t, sizeof *t);
  wg_stream_dispatch(device, k->pipeline, group, offset, groups);
  return QN_OK;
}

qn_status wg_bytes_copy(qn_adapter_device *device, const qn_adapter_memory *target, uint64_t target_offset,
                        const qn_adapter_memory *source, uint64_t source_offset, uint64_t size, wg_failure *failure) {
  const qn_adapter_memory *const blocks[] = {target, source};
  task t = {
      .first = (uint32_t)target_offset, .end = (uint32_t)(target_offset + size), .origin = (uint32_t)source_offset};
  return dispatch(device, target == source ? WG_BYTES_COPY_WITHIN : WG_BYTES_COPY, blocks, &t, failure);
}

qn_status wg_bytes_fill(qn_adapter_device *device, const qn_adapter_memory *target, uint64_t offset, uint64_t size,
                        const void *pattern, uint64_t pattern_size, wg_failure *failure) {
  task t = {.first = (uint32_t)offset, .end = (uint32_t)(offset + size)};
  const unsigned char *bytes = pattern;
  if (pattern_size == 0 || pattern_size > WG_BYTES_MOST_PATTERN)
    return wg_fail(failure, QN_ERROR_INVALID_ARGUMENT, 0, "a pattern has %llu bytes; it may have 1 to %d",
                   (unsigned long long)pattern_size, WG_BYTES_MOST_PATTERN);
  /* Words repeat when both the pattern and a word do. */
  t.cycle = (uint32_t)(pattern_size % 4 == 0   ? pattern_size / 4
                       : pattern_size % 2 == 0 ? pattern_size / 2
                                               : pattern_size);
  uint64_t phase = pattern_size - offset % 4 % pattern_size;
  for (uint32_t i = 0; i < t.cycle * 4; i++) t.words[i] = bytes[(phase + i) % pattern_size];
  return dispatch(device, WG_BYTES_FILL, &target, &t, failure);
}

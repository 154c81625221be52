/* launch.c - qn_launch. The hot path: pins, a compare an argument, the queue's lock, the adapter. Nothing is allocated;
 * the record is built on the stack. */
#include <stdbool.h>
#include <string.h>

#include "base/handle.h"
#include "base/status.h"
#include "core/buffer.h"
#include "core/exit.h"
#include "core/kernel.h"
#include "core/launch.h"
#include "core/local_size.h"
#include "core/options.h"
#include "core/queue.h"

/* One launch, as it is put together. Arguments come in the kernel's order. */
typedef struct launch {
  core_queue *queue;
  core_kernel *kernel;
  const qn_argument *given;
  uint32_t count;
  uint32_t use_count;   /* buffers that are pinned */
  uint64_t local_bytes; /* of the arguments */
  uint64_t values[CORE_USES];
  qn_launch_argument arguments[CORE_USES];
  core_use uses[CORE_USES + 1];  /* and the kernel's */
  const void *pinned[CORE_USES]; /* the handles behind `uses` */
} launch;

/* ---- Errors name the argument ------------------------------------------------------------------- */

static const core_argument_rule *rule_of(const launch *l, uint32_t i) { return &l->kernel->rules[i]; }

static const char *const kind_words[] = {"nothing", "a value", "a buffer", "local memory", "an image", "a sampler"};
static const char *const type_words[] = {"bytes",         "an 8-bit int", "an 8-bit uint", "a 16-bit int",
                                         "a 16-bit uint", "a 32-bit int", "a 32-bit uint", "a 64-bit int",
                                         "a 64-bit uint", "a half",       "a float",       "a double"};
static const char *kind_word(uint32_t kind) {
  return kind <= QN_ARGUMENT_SAMPLER ? kind_words[kind] : "of no known kind";
}
static const char *type_word(uint32_t type) { return type <= QN_TYPE_F64 ? type_words[type] : "of no known type"; }

/* "argument 1 'x' (float4*) of kernel 'scale'": puts it before the text. */
static qn_status name_argument(const launch *l, uint32_t i, qn_status status) {
  const qn_argument_info *info = &l->kernel->source->arguments[i];
  qn_error_prefix("argument %u '%s' (%s) of kernel '%s': ", i, info->name, info->type_name, l->kernel->name);
  return status;
}

/* ---- Values ------------------------------------------------------------------------------------- */

static bool is_integer(uint32_t type) { return type >= QN_TYPE_I8 && type <= QN_TYPE_U64; }
static bool is_signed(uint32_t type) {
  return type == QN_TYPE_I8 || type == QN_TYPE_I16 || type == QN_TYPE_I32 || type == QN_TYPE_I64;
}

/* Widens `size` bytes of an integer to 64 bits. */
static uint64_t widen(uint64_t bits, uint64_t size, bool has_sign) {
  unsigned shift = (unsigned)(64 - 8 * size);
  return has_sign ? (uint64_t)((int64_t)(bits << shift) >> shift) : bits << shift >> shift;
}

/* An integer of another width or sign, when its value fits. */
static qn_status convert_integer(const qn_argument *given, const core_argument_rule *rule, uint64_t *out) {
  bool from_signed = is_signed(given->type), to_signed = is_signed(rule->element_type);
  uint64_t value = widen(given->value.bits, given->size_bytes, from_signed);
  uint64_t back = widen(value, rule->element_bytes, to_signed);
  bool negative = from_signed && (int64_t)value < 0, read_as_negative = to_signed && (int64_t)back < 0;
  if (back != value || negative != read_as_negative) {
    if (negative) QN_FAIL(QN_ERROR_INVALID_ARGUMENT, "the value %lld does not fit", (long long)value);
    QN_FAIL(QN_ERROR_INVALID_ARGUMENT, "the value %llu does not fit", (unsigned long long)value);
  }
  *out = value;
  return QN_OK;
}

static uint64_t size_of_type(uint32_t type) {
  static const unsigned char sizes[] = {0, 1, 1, 2, 2, 4, 4, 8, 8, 2, 4, 8};
  return type <= QN_TYPE_F64 ? sizes[type] : 0;
}

static qn_status put_value(launch *l, uint32_t i) {
  const qn_argument *given = &l->given[i];
  const core_argument_rule *rule = rule_of(l, i);
  qn_launch_argument *out = &l->arguments[i];
  out->size_bytes = rule->element_bytes;
  out->bytes = &l->values[i];
  if (given->type == QN_TYPE_NONE || (given->type == rule->element_type && given->size_bytes > 8)) {
    if (given->size_bytes != rule->element_bytes)
      QN_FAIL(QN_ERROR_INVALID_ARGUMENT, "%llu bytes are given, it has %u", (unsigned long long)given->size_bytes,
              rule->element_bytes);
    l->values[i] = given->value.bits;
    if (given->size_bytes > 8) out->bytes = given->value.pointer;
    if (!out->bytes) QN_FAIL(QN_ERROR_INVALID_ARGUMENT, "value.pointer is NULL");
    return QN_OK;
  }
  if (!rule->is_scalar || size_of_type(given->type) != given->size_bytes || given->size_bytes == 0)
    QN_FAIL(QN_ERROR_INVALID_ARGUMENT, "%s of %llu bytes is given, it has %u bytes; use qn_arg_bytes",
            type_word(given->type), (unsigned long long)given->size_bytes, rule->element_bytes);
  if (given->type == rule->element_type) {
    l->values[i] = given->value.bits;
    return QN_OK;
  }
  if (is_integer(given->type) && is_integer(rule->element_type)) return convert_integer(given, rule, &l->values[i]);
  QN_FAIL(QN_ERROR_INVALID_ARGUMENT, "%s is given, it is %s", type_word(given->type), type_word(rule->element_type));
}

/* ---- Buffers ------------------------------------------------------------------------------------ */

/* Of the view that begins at `out->offset_bytes`; finds its size. */
static qn_status check_buffer(const launch *l, uint32_t i, uint64_t size_bytes, const core_buffer *buffer,
                              qn_launch_argument *out) {
  const core_device *device = l->queue->device;
  QN_TRY(core_device_match(device, buffer->device, "the buffer"));
  QN_TRY(core_buffer_range(buffer, out->offset_bytes, size_bytes, "the view", &out->size_bytes));
  uint32_t alignment = rule_of(l, i)->alignment;
  if (out->offset_bytes != 0 && out->offset_bytes % alignment != 0)
    QN_FAIL(QN_ERROR_INVALID_ARGUMENT, "offset_bytes is %llu; it must be a multiple of %u",
            (unsigned long long)out->offset_bytes, alignment);
  return QN_OK;
}

/* Each field is read once: the caller may write to it meanwhile. Not by a copy of the whole, which waits for the fields' stores. */
static qn_status put_buffer(launch *l, uint32_t i) {
  const volatile qn_argument *given = &l->given[i];
  qn_launch_argument *out = &l->arguments[i];
  const void *handle = given->value.pointer;
  core_buffer *buffer = NULL;
  out->access = rule_of(l, i)->access;
  if (!handle) return QN_OK; /* a null pointer */
  QN_TRY(core_buffer_pin((qn_buffer)handle, "the buffer", &buffer));
  l->pinned[l->use_count] = handle;
  core_buffer_use(buffer, out->access, &l->uses[l->use_count++]);
  out->offset_bytes = given->offset_bytes;
  QN_TRY(check_buffer(l, i, given->size_bytes, buffer, out));
  out->memory = buffer->block.memory;
  return QN_OK;
}

/* ---- Local memory ------------------------------------------------------------------------------- */

static qn_status put_local(launch *l, uint32_t i) {
  const qn_argument *given = &l->given[i];
  qn_launch_argument *out = &l->arguments[i];
  uint64_t available = l->queue->device->info.local_memory_bytes;
  uint64_t used = l->kernel->description->static_local_bytes + l->local_bytes;
  if (given->size_bytes == 0) QN_FAIL(QN_ERROR_INVALID_ARGUMENT, "size_bytes is 0; give the bytes of local memory");
  if (used > available || given->size_bytes > available - used)
    QN_FAIL(QN_ERROR_INVALID_ARGUMENT, "%llu bytes of local memory are asked for, %llu are taken, the device has %llu",
            (unsigned long long)given->size_bytes, (unsigned long long)used, (unsigned long long)available);
  l->local_bytes += given->size_bytes;
  out->size_bytes = given->size_bytes;
  out->alignment = rule_of(l, i)->alignment;
  return QN_OK;
}

/* ---- Arguments ---------------------------------------------------------------------------------- */

static qn_status put_argument(launch *l, uint32_t i) {
  uint32_t given = l->given[i].kind, wanted = rule_of(l, i)->kind;
  if (given != wanted) QN_FAIL(QN_ERROR_INVALID_ARGUMENT, "%s is given, it is %s", kind_word(given), kind_word(wanted));
  l->arguments[i] = (qn_launch_argument){.kind = wanted};
  switch (wanted) {
    case QN_ARGUMENT_VALUE:
      return put_value(l, i);
    case QN_ARGUMENT_BUFFER:
      return put_buffer(l, i);
    case QN_ARGUMENT_LOCAL:
      return put_local(l, i);
    default:
      QN_FAIL(QN_ERROR_UNSUPPORTED, "%s can't be given yet", kind_word(wanted));
  }
}

static qn_status put_arguments(launch *l) {
  uint32_t wanted = l->kernel->source->argument_count;
  if (l->count != wanted) {
    const char *missing = l->count < wanted ? l->kernel->source->arguments[l->count].name : "";
    QN_FAIL(QN_ERROR_INVALID_ARGUMENT, "kernel '%s' has %u arguments, %u are given%s%s%s", l->kernel->name, wanted,
            l->count, *missing ? "; '" : "", missing, *missing ? "' is the first that is missing" : "");
  }
  if (wanted > 0 && !l->given)
    QN_FAIL(QN_ERROR_INVALID_ARGUMENT, "arguments is NULL; kernel '%s' has %u", l->kernel->name, wanted);
  for (uint32_t i = 0; i < wanted; i++) {
    qn_status status = put_argument(l, i);
    if (status < 0) return name_argument(l, i, status);
  }
  return QN_OK;
}

static void unpin_arguments(const launch *l) {
  for (uint32_t i = 0; i < l->use_count; i++) qn_handle_unpin(l->pinned[i]);
}

/* ---- Range -------------------------------------------------------------------------------------- */

static qn_status check_range(const qn_range *range, uint32_t address_bits, bool *out_is_empty) {
  if (range->dimensions < 1 || range->dimensions > 3)
    QN_FAIL(QN_ERROR_INVALID_ARGUMENT, "range.dimensions is %u; it is 1, 2 or 3", range->dimensions);
  uint64_t limit = address_bits == 32 ? UINT32_MAX : UINT64_MAX;
  *out_is_empty = false;
  for (uint32_t d = 0; d < range->dimensions; d++) {
    uint64_t global = range->global[d];
    if (global > limit || range->offset[d] > limit - global)
      QN_FAIL(QN_ERROR_INVALID_ARGUMENT,
              "range.global[%u] %llu with range.offset[%u] %llu is past the device's %u bits", d,
              (unsigned long long)global, d, (unsigned long long)range->offset[d], address_bits);
    if (global == 0) *out_is_empty = true;
  }
  uint64_t total = 1;
  for (uint32_t d = 0; d < range->dimensions && !*out_is_empty; d++)
    if (__builtin_mul_overflow(total, range->global[d], &total))
      QN_FAIL(QN_ERROR_INVALID_ARGUMENT, "range.global has more work-items than 64 bits count");
  return QN_OK;
}

static qn_status choose_local(const launch *l, const qn_range *range, const uint64_t global[3], uint64_t out_local[3]) {
  qn_status status = core_local_size(&l->kernel->limits, range->dimensions, global, range->local, out_local);
  if (status < 0) qn_error_prefix("range of kernel '%s': ", l->kernel->name);
  return status;
}

static qn_status fill_range(const launch *l, const qn_range *range, qn_launch_record *record) {
  record->dimensions = range->dimensions;
  for (uint32_t d = 0; d < 3; d++) {
    record->global[d] = d < range->dimensions ? range->global[d] : 1;
    record->offset[d] = d < range->dimensions ? range->offset[d] : 0;
  }
  return choose_local(l, range, record->global, record->local);
}

/* ---- The launch --------------------------------------------------------------------------------- */

static qn_status record(launch *l, const qn_range *range, qn_point *out_point) {
  bool is_empty = false;
  const core_device *device = l->queue->device;
  QN_TRY(core_device_match(device, l->kernel->program->device, "kernel"));
  QN_TRY(check_range(range, device->info.address_bits, &is_empty));
  QN_TRY(put_arguments(l));
  if (is_empty) return core_queue_mark(l->queue, out_point);
  qn_launch_record launch_record = {.struct_size = sizeof launch_record,
                                    .kernel = l->kernel->native,
                                    .arguments = l->arguments,
                                    .argument_count = l->count};
  QN_TRY(fill_range(l, range, &launch_record));
  qn_adapter_command command = {.struct_size = sizeof command, .kind = QN_COMMAND_LAUNCH, .launch = &launch_record};
  l->uses[l->use_count] = (core_use){.uses = &l->kernel->uses};
  return core_queue_record(l->queue, l->uses, l->use_count + 1, &command, l->kernel->name, out_point);
}

static qn_status launch_pinned(core_queue *queue, core_kernel *kernel, const qn_range *range,
                               const qn_argument *arguments, uint32_t count, qn_point *out_point) {
  launch l; /* large and mostly unused: not cleared */
  l.queue = queue;
  l.kernel = kernel;
  l.given = arguments;
  l.count = count;
  l.use_count = 0;
  l.local_bytes = 0;
  qn_status status = record(&l, range, out_point);
  unpin_arguments(&l);
  return status;
}

qn_status core_launch(qn_queue queue_handle, qn_kernel kernel_handle, const qn_range *given,
                      const qn_argument *arguments, uint32_t count, qn_point *out_point) {
  core_queue *queue = NULL;
  core_kernel *kernel = NULL;
  qn_range range;
  if (!given) QN_FAIL(QN_ERROR_INVALID_ARGUMENT, "range is NULL");
  QN_TRY(CORE_OPTIONS_READ(&range, given, "qn_range"));
  QN_TRY(core_queue_pin(queue_handle, &queue));
  qn_status status = core_kernel_pin(kernel_handle, &kernel);
  if (status == QN_OK) {
    status = launch_pinned(queue, kernel, &range, arguments, count, out_point);
    qn_handle_unpin(kernel_handle);
  }
  qn_handle_unpin(queue_handle);
  return status;
}

qn_status qn_launch(qn_queue queue, qn_kernel kernel, const qn_range *range, const qn_argument *arguments,
                    uint32_t count, qn_point *out_point) {
  CORE_CALL(core_launch(queue, kernel, range, arguments, count, out_point));
}

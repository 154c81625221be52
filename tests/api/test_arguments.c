/* labels: threads */
/* Bad input (L7): NULL for each pointer that a function needs, sizes of 0 and 2^63, offsets past the end, what overlaps or
 * overflows. Each is an error that names the argument, and changes nothing. A pointer that a header declares and the table
 * lacks fails the test. */
#include "entries.h"

/* What a call would write to. A call that fails leaves all of it as it was. */
typedef struct outputs {
  uint32_t number;
  int32_t descriptor;
  uint64_t value;
  int64_t ns;
  const char *name;
  void *pointer;
  qn_runtime runtime;
  qn_device device;
  qn_queue queue;
  qn_buffer buffer;
  qn_program program;
  qn_kernel kernel;
  qn_point point;
  qn_artifact artifact;
  char text[64];
} outputs;

static outputs out;
static const uint64_t HALF = UINT64_C(1) << 63;

typedef struct bad_call {
  const char *function, *argument; /* the argument as a header names it */
  qn_status (*call)(void);
  qn_status status;
  const char *words; /* that the text must have; NULL: the argument's name */
} bad_call;

/* ---- Helpers of the tables ---------------------------------------------------------------------- */

static qn_view views[2];
static const qn_view *view(uint64_t offset, uint64_t size) {
  views[0] = test_view(live.buffer, offset, size);
  return &views[0];
}
static const qn_view *other_view(uint64_t offset, uint64_t size) {
  views[1] = test_view(live.buffer, offset, size);
  return &views[1];
}

static qn_buffer_options buffer_options;
static const qn_buffer_options *buffer_of(uint64_t size, uint32_t memory, void *host, uint64_t flags) {
  buffer_options = (qn_buffer_options){
      .struct_size = sizeof buffer_options, .size_bytes = size, .memory = memory, .host_pointer = host, .flags = flags};
  return &buffer_options;
}

static qn_range range;
static const qn_range *range_of(uint32_t dimensions, uint64_t x, uint64_t y, uint64_t local, uint64_t offset) {
  range = (qn_range){.struct_size = sizeof range,
                     .dimensions = dimensions,
                     .global = {x, y, 1},
                     .local = {local, local ? 1 : 0, local ? 1 : 0},
                     .offset = {offset, 0, 0}};
  return &range;
}
static const qn_range *one(void) { return range_of(1, 1, 1, 0, 0); }

static qn_argument argument;
static const qn_argument *part_of_buffer(uint64_t offset, uint64_t size) {
  argument = qn_arg_view(view(offset, size));
  return &argument;
}
static const qn_argument *whole(void) { return part_of_buffer(0, QN_WHOLE); }
static const qn_argument *a_value(void) {
  argument = qn_arg_i32(1);
  return &argument;
}

/* A struct that begins with its size, of a size that it has not. */
static union {
  uint32_t struct_size;
  char bytes[1 << 12];
} sized;
static void *of_size(uint32_t size) {
  sized.struct_size = size;
  return &sized;
}
/* A non-zero byte behind all that the library knows. */
static void *with_unknown_tail(uint32_t known) {
  memset(&sized, 0, sizeof sized);
  sized.bytes[known + 64] = 1;
  sized.struct_size = known + 128;
  return &sized;
}

static qn_program_options program_options;
static const qn_program_options *program_of(const char *source, uint64_t bytes, const char *options) {
  program_options = (qn_program_options){
      .struct_size = sizeof program_options, .source = source, .source_bytes = bytes, .options = options};
  return &program_options;
}

static qn_build_options build_options;
static const qn_build_options *build_of(uint32_t kind, const char *source, uint64_t bytes, const char *target) {
  build_options = (qn_build_options){
      .struct_size = sizeof build_options, .kind = kind, .source = source, .source_bytes = bytes, .target = target};
  return &build_options;
}

static qn_queue_options queue_options;
static const qn_queue_options *queue_of(uint64_t flags) {
  queue_options = (qn_queue_options){.struct_size = sizeof queue_options, .flags = flags};
  return &queue_options;
}

static qn_point points[2];
static const qn_point *not_given_out(void) {
  (void)!qn_queue_last(live.queue, &points[0]);
  points[0].value += 1000;
  return &points[0];
}
static const qn_point *of_no_queue(void) {
  points[1] = (qn_point){UINT64_MAX, 1};
  return &points[1];
}

static qn_output *const some_output = &(qn_output){.struct_size = sizeof(qn_output), .name = "x", .bytes = "x"};

static qn_status map_and_unmap(void *pointer) { return qn_buffer_unmap(live.buffer, pointer); }

/* ---- NULL for pointers -------------------------------------------------------------------------- */

#define ROWS_OF_NULL(X)                                                                                           \
  X(qn_handle_kind, out_kind, qn_handle_kind(live.queue, NULL))                                                   \
  X(qn_native_handle, out_native, qn_native_handle(live.buffer, 0, NULL))                                         \
  X(qn_runtime_open, out_runtime, qn_runtime_open(NULL, NULL))                                                    \
  X(qn_adapter_count, out_count, qn_adapter_count(live.t.runtime, NULL))                                          \
  X(qn_adapter_describe, out_info, qn_adapter_describe(live.t.runtime, 0, NULL))                                  \
  X(qn_device_count, out_count, qn_device_count(live.t.runtime, NULL))                                            \
  X(qn_device_describe, out_info, qn_device_describe(live.t.runtime, 0, NULL))                                    \
  X(qn_device_open, out_device, qn_device_open(live.t.runtime, "null", NULL))                                     \
  X(qn_device_query, out_info, qn_device_query(live.t.device, NULL))                                              \
  X(qn_device_statistics_get, out_statistics, qn_device_statistics_get(live.t.device, NULL))                      \
  X(qn_memory_statistics_get, out_statistics, qn_memory_statistics_get(live.t.device, NULL))                      \
  X(qn_memory_snapshot, buffer, qn_memory_snapshot(live.t.device, NULL, 100, &out.value))                         \
  X(qn_memory_snapshot, out_needed, qn_memory_snapshot(live.t.device, out.text, sizeof out.text, NULL))           \
  X(qn_queue_create, out_queue, qn_queue_create(live.t.device, NULL, NULL))                                       \
  X(qn_queue_last, out_point, qn_queue_last(live.queue, NULL))                                                    \
  X(qn_queue_wait, points, qn_queue_wait(live.queue, NULL, 1))                                                    \
  X(qn_queue_call, function, qn_queue_call(live.queue, NULL, NULL, NULL))                                         \
  X(qn_queue_descriptor, out_descriptor, qn_queue_descriptor(live.queue, NULL, NULL))                             \
  X(qn_point_wait, point, qn_point_wait(NULL, QN_POLL))                                                           \
  X(qn_point_elapsed, a, qn_point_elapsed(NULL, &nothing, &out.ns))                                               \
  X(qn_point_elapsed, b, qn_point_elapsed(&nothing, NULL, &out.ns))                                               \
  X(qn_point_elapsed, out_ns, qn_point_elapsed(&nothing, &nothing, NULL))                                         \
  X(qn_buffer_create, options, qn_buffer_create(live.t.device, NULL, &out.buffer))                                \
  X(qn_buffer_create, out_buffer, qn_buffer_create(live.t.device, buffer_of(8, QN_MEMORY_DEVICE, NULL, 0), NULL)) \
  X(qn_buffer_query, out_info, qn_buffer_query(live.buffer, NULL))                                                \
  X(qn_buffer_map, view, qn_buffer_map(NULL, QN_MAP_READ, QN_FOREVER, &out.pointer))                              \
  X(qn_buffer_map, out_pointer, qn_buffer_map(view(0, QN_WHOLE), QN_MAP_READ, QN_FOREVER, NULL))                  \
  X(qn_buffer_unmap, pointer, map_and_unmap(NULL))                                                                \
  X(qn_copy, target, qn_copy(live.queue, NULL, view(0, 8), &out.point))                                           \
  X(qn_copy, source, qn_copy(live.queue, view(0, 8), NULL, &out.point))                                           \
  X(qn_fill, target, qn_fill(live.queue, NULL, "x", 1, &out.point))                                               \
  X(qn_fill, pattern, qn_fill(live.queue, view(0, 8), NULL, 1, &out.point))                                       \
  X(qn_write, target, qn_write(live.queue, NULL, "12345678", &out.point))                                         \
  X(qn_write, source, qn_write(live.queue, view(0, 8), NULL, &out.point))                                         \
  X(qn_read, source, qn_read(live.queue, NULL, out.text, &out.point))                                             \
  X(qn_read, target, qn_read(live.queue, view(0, 8), NULL, &out.point))                                           \
  X(qn_program_build, options, qn_program_build(live.t.device, NULL, &out.program))                               \
  X(qn_program_build, out_program, qn_program_build(live.t.device, &some_program, NULL))                          \
  X(qn_program_load, image, qn_program_load(live.t.device, NULL, 100, &out.program))                              \
  X(qn_program_load, out_program, qn_program_load(live.t.device, entry_source, sizeof entry_source, NULL))        \
  X(qn_program_query, out_info, qn_program_query(live.program, NULL))                                             \
  X(qn_program_log, buffer, qn_program_log(live.program, NULL, 100))                                              \
  X(qn_program_kernel_name, buffer, qn_program_kernel_name(live.program, 0, NULL, 100))                           \
  X(qn_kernel_get, name, qn_kernel_get(live.program, NULL, &out.kernel))                                          \
  X(qn_kernel_get, out_kernel, qn_kernel_get(live.program, "k", NULL))                                            \
  X(qn_kernel_query, out_info, qn_kernel_query(live.kernel, NULL))                                                \
  X(qn_kernel_argument, out_info, qn_kernel_argument(live.kernel, 0, NULL))                                       \
  X(qn_launch, range, qn_launch(live.queue, live.kernel, NULL, whole(), 1, &out.point))                           \
  X(qn_launch, arguments, qn_launch(live.queue, live.kernel, one(), NULL, 1, &out.point))                         \
  X(qn_launch_image, image, qn_launch_image(live.queue, NULL, 100, 0, one(), whole(), 1, &out.point))             \
  X(qn_leak_report, text, qn_leak_report(NULL, 100, &out.value))                                                  \
  X(qn_leak_report, out_count, qn_leak_report(out.text, sizeof out.text, NULL))                                   \
  X(qn_build, options, qn_build(NULL, &out.artifact))                                                             \
  X(qn_build, out_artifact, qn_build(&some_build, NULL))                                                          \
  X(qn_outputs_write, directory, qn_outputs_write(NULL, &some_output, 1, 0))                                      \
  X(qn_outputs_write, outputs, qn_outputs_write("/nowhere", NULL, 1, 0))                                          \
  X(qn_cache_query, out_info, qn_cache_query(NULL))                                                               \
  X(qn_cache_summarize, out_summary, qn_cache_summarize(NULL))                                                    \
  X(qn_cache_counter, out_name, qn_cache_counter(0, NULL, &out.name, &out.ns))                                    \
  X(qn_cache_counter, out_text, qn_cache_counter(0, &out.name, NULL, &out.ns))                                    \
  X(qn_cache_counter, out_value, qn_cache_counter(0, &out.name, &out.name, NULL))                                 \
  X(qn_cache_list, visit, qn_cache_list(NULL, NULL))                                                              \
  X(qn_cache_verify, out_result, qn_cache_verify(NULL))                                                           \
  X(qn_cache_prune, out_result, qn_cache_prune(0, NULL))                                                          \
  X(qn_cache_clear, out_result, qn_cache_clear(NULL))                                                             \
  X(qn_cache_size, text, qn_cache_size(NULL, &out.value))                                                         \
  X(qn_cache_size, out_bytes, qn_cache_size("1", NULL))                                                           \
  X(qn_cache_export, path, qn_cache_export(NULL, NULL, 0, &out.value))                                            \
  X(qn_cache_export, names, qn_cache_export("/nowhere/at/all", NULL, 1, &out.value))                              \
  X(qn_cache_export, out_entries, qn_cache_export("/nowhere/at/all", NULL, 0, NULL))                              \
  X(qn_cache_import, path, qn_cache_import(NULL, &out.value))                                                     \
  X(qn_cache_import, out_entries, qn_cache_import("/nowhere/at/all", NULL))

#define FUNCTION_OF_NULL(function, argument, expression) \
  static qn_status null_##function##_##argument(void) { return expression; }
ROWS_OF_NULL(FUNCTION_OF_NULL)

#define ROW_OF_NULL(function, argument, expression) \
  {#function, #argument, null_##function##_##argument, QN_ERROR_INVALID_ARGUMENT, NULL},
static const bad_call nulls[] = {ROWS_OF_NULL(ROW_OF_NULL)};
enum { NULLS = sizeof nulls / sizeof *nulls };

/* Pointers that may be NULL, as the headers say. */
static const struct {
  const char *function, *argument;
} optional[] = {
    {"qn_runtime_open", "options"},
    {"qn_device_open", "selector"},
    {"qn_queue_create", "options"},
    {"qn_queue_call", "point"},
    {"qn_queue_call", "user"},
    {"qn_queue_descriptor", "point"},
    {"qn_memory_configure", "options"},
    {"qn_memory_trim", "out_freed_bytes"},
    {"qn_here", "file"},
    {"qn_copy", "out_point"},
    {"qn_fill", "out_point"},
    {"qn_write", "out_point"},
    {"qn_read", "out_point"},
    {"qn_launch", "out_point"},
    {"qn_launch_image", "out_point"},
    {"qn_launch_image", "range"}, /* looked at when the image is a good one */
    {"qn_launch_image", "arguments"},
    {"qn_artifact_free", "artifact"},
    {"qn_cache_list", "user"},
};
enum { OPTIONAL = sizeof optional / sizeof *optional };

/* ---- Values ------------------------------------------------------------------------------------- */

#define INVALID QN_ERROR_INVALID_ARGUMENT
/* X(function, what, status, words, expression) */
#define ROWS_OF_VALUES(X)                                                                                              \
  X(qn_buffer_create, size_0, INVALID, "size_bytes is 0",                                                              \
    qn_buffer_create(live.t.device, buffer_of(0, QN_MEMORY_DEVICE, NULL, 0), &out.buffer))                             \
  X(qn_buffer_create, size_2_63, QN_ERROR_LIMIT, "size_bytes",                                                         \
    qn_buffer_create(live.t.device, buffer_of(HALF, QN_MEMORY_DEVICE, NULL, 0), &out.buffer))                          \
  X(qn_buffer_create, size_2_63_of_the_host, QN_ERROR_LIMIT, "size_bytes",                                             \
    qn_buffer_create(live.t.device, buffer_of(HALF, QN_MEMORY_HOST, NULL, 0), &out.buffer))                            \
  X(qn_buffer_create, size_whole, QN_ERROR_LIMIT, "size_bytes",                                                        \
    qn_buffer_create(live.t.device, buffer_of(QN_WHOLE, QN_MEMORY_DEVICE, NULL, 0), &out.buffer))                      \
  X(qn_buffer_create, unknown_memory, INVALID, "memory is 9",                                                          \
    qn_buffer_create(live.t.device, buffer_of(8, 9, NULL, 0), &out.buffer))                                            \
  X(qn_buffer_create, unknown_flags, QN_ERROR_UNSUPPORTED, "flags",                                                    \
    qn_buffer_create(live.t.device, buffer_of(8, 0, NULL, HALF), &out.buffer))                                         \
  X(qn_buffer_create, wrap_without_pointer, INVALID, "host_pointer",                                                   \
    qn_buffer_create(live.t.device, buffer_of(8, QN_MEMORY_WRAP, NULL, 0), &out.buffer))                               \
  X(qn_buffer_create, wrap_past_the_end, INVALID, "host_pointer",                                                      \
    qn_buffer_create(live.t.device, buffer_of(QN_WHOLE, QN_MEMORY_WRAP, &out, 0), &out.buffer))                        \
  X(qn_buffer_create, pointer_without_wrap, INVALID, "host_pointer",                                                   \
    qn_buffer_create(live.t.device, buffer_of(8, QN_MEMORY_DEVICE, &out, 0), &out.buffer))                             \
  X(qn_queue_create, unknown_flags, QN_ERROR_UNSUPPORTED, "flags",                                                     \
    qn_queue_create(live.t.device, queue_of(HALF), &out.queue))                                                        \
  X(qn_queue_wait, not_given_out, INVALID, "not given out", qn_queue_wait(live.queue, not_given_out(), 1))             \
  X(qn_queue_wait, of_no_queue, INVALID, "not given out", qn_queue_wait(live.queue, of_no_queue(), 1))                 \
  X(qn_point_wait, not_given_out, INVALID, "not given out", qn_point_wait(not_given_out(), QN_FOREVER))                \
  X(qn_point_wait, of_no_queue, INVALID, "not given out", qn_point_wait(of_no_queue(), QN_FOREVER))                    \
  X(qn_point_elapsed, not_timed, QN_ERROR_UNSUPPORTED, "point a",                                                      \
    qn_point_elapsed(not_given_out(), &points[0], &out.ns))                                                            \
  X(qn_point_elapsed, of_no_queue, INVALID, "point a", qn_point_elapsed(of_no_queue(), &nothing, &out.ns))             \
  X(qn_queue_call, not_given_out, INVALID, "point", qn_queue_call(live.queue, not_given_out(), call_nothing, NULL))    \
  X(qn_queue_call, of_no_queue, INVALID, "point", qn_queue_call(live.queue, of_no_queue(), call_nothing, NULL))        \
  X(qn_queue_descriptor, of_no_queue, INVALID, "point",                                                                \
    qn_queue_descriptor(live.queue, of_no_queue(), &out.descriptor))                                                   \
  X(qn_buffer_map, offset_past_the_end, INVALID, "view",                                                               \
    qn_buffer_map(view(65, QN_WHOLE), QN_MAP_READ, QN_FOREVER, &out.pointer))                                          \
  X(qn_buffer_map, size_past_the_end, INVALID, "view",                                                                 \
    qn_buffer_map(view(60, 5), QN_MAP_READ, QN_FOREVER, &out.pointer))                                                 \
  X(qn_buffer_map, sum_overflows, INVALID, "view",                                                                     \
    qn_buffer_map(view(16, UINT64_MAX - 8), QN_MAP_READ, QN_FOREVER, &out.pointer))                                    \
  X(qn_buffer_map, no_access, INVALID, "access", qn_buffer_map(view(0, 8), 0, QN_FOREVER, &out.pointer))               \
  X(qn_buffer_map, unknown_access, INVALID, "access", qn_buffer_map(view(0, 8), 4, QN_FOREVER, &out.pointer))          \
  X(qn_buffer_unmap, never_mapped, INVALID, "pointer", qn_buffer_unmap(live.buffer, out.text))                         \
  X(qn_copy, overlap, INVALID, "overlap", qn_copy(live.queue, view(0, 32), other_view(16, 32), &out.point))            \
  X(qn_copy, same_place, INVALID, "overlap", qn_copy(live.queue, view(8, 8), other_view(8, 8), &out.point))            \
  X(qn_copy, unequal, INVALID, "equal size", qn_copy(live.queue, view(0, 8), other_view(16, 9), &out.point))           \
  X(qn_copy, target_past_the_end, INVALID, "target", qn_copy(live.queue, view(60, 8), other_view(0, 8), &out.point))   \
  X(qn_copy, source_past_the_end, INVALID, "source", qn_copy(live.queue, view(0, 8), other_view(60, 8), &out.point))   \
  X(qn_copy, size_2_63, INVALID, "target", qn_copy(live.queue, view(0, HALF), other_view(0, HALF), &out.point))        \
  X(qn_copy, sum_overflows, INVALID, "target",                                                                         \
    qn_copy(live.queue, view(8, UINT64_MAX - 7), other_view(0, 8), &out.point))                                        \
  X(qn_fill, no_pattern, INVALID, "pattern_bytes", qn_fill(live.queue, view(0, 8), "x", 0, &out.point))                \
  X(qn_fill, pattern_of_3, INVALID, "pattern_bytes", qn_fill(live.queue, view(0, 9), "xyz", 3, &out.point))            \
  X(qn_fill, pattern_of_256, INVALID, "pattern_bytes", qn_fill(live.queue, view(0, 8), entry_source, 256, &out.point)) \
  X(qn_fill, pattern_of_2_32, INVALID, "pattern_bytes",                                                                \
    qn_fill(live.queue, view(0, 8), entry_source, UINT32_MAX, &out.point))                                             \
  X(qn_fill, pattern_does_not_divide, INVALID, "target", qn_fill(live.queue, view(0, 9), "12", 2, &out.point))         \
  X(qn_fill, past_the_end, INVALID, "target", qn_fill(live.queue, view(64, 1), "x", 1, &out.point))                    \
  X(qn_write, past_the_end, INVALID, "target", qn_write(live.queue, view(1, 64), entry_source, &out.point))            \
  X(qn_write, size_2_63, INVALID, "target", qn_write(live.queue, view(0, HALF), entry_source, &out.point))             \
  X(qn_read, past_the_end, INVALID, "source", qn_read(live.queue, view(1, 64), out.text, &out.point))                  \
  X(qn_read, offset_2_63, INVALID, "source", qn_read(live.queue, view(HALF, HALF), out.text, &out.point))              \
  X(qn_launch, no_dimension, INVALID, "range.dimensions is 0",                                                         \
    qn_launch(live.queue, live.kernel, range_of(0, 1, 1, 0, 0), whole(), 1, &out.point))                               \
  X(qn_launch, four_dimensions, INVALID, "range.dimensions is 4",                                                      \
    qn_launch(live.queue, live.kernel, range_of(4, 1, 1, 0, 0), whole(), 1, &out.point))                               \
  X(qn_launch, global_overflows, INVALID, "range.global",                                                              \
    qn_launch(live.queue, live.kernel, range_of(2, HALF, 4, 0, 0), whole(), 1, &out.point))                            \
  X(qn_launch, offset_overflows, INVALID, "range.offset",                                                              \
    qn_launch(live.queue, live.kernel, range_of(1, 16, 1, 0, UINT64_MAX - 8), whole(), 1, &out.point))                 \
  X(qn_launch, local_does_not_divide, INVALID, "local",                                                                \
    qn_launch(live.queue, live.kernel, range_of(1, 16, 1, 5, 0), whole(), 1, &out.point))                              \
  X(qn_launch, local_2_63, INVALID, "local",                                                                           \
    qn_launch(live.queue, live.kernel, range_of(1, HALF, 1, HALF, 0), whole(), 1, &out.point))                         \
  X(qn_launch, no_arguments, INVALID, "'x'", qn_launch(live.queue, live.kernel, one(), NULL, 0, &out.point))           \
  X(qn_launch, too_many_arguments, INVALID, "has 1 arguments, 2 are given",                                            \
    qn_launch(live.queue, live.kernel, one(), whole(), 2, &out.point))                                                 \
  X(qn_launch, a_count_of_2_32, INVALID, "arguments",                                                                  \
    qn_launch(live.queue, live.kernel, one(), whole(), UINT32_MAX, &out.point))                                        \
  X(qn_launch, argument_past_the_end, INVALID, "argument 0 'x'",                                                       \
    qn_launch(live.queue, live.kernel, one(), part_of_buffer(64, 4), 1, &out.point))                                   \
  X(qn_launch, argument_overflows, INVALID, "argument 0 'x'",                                                          \
    qn_launch(live.queue, live.kernel, one(), part_of_buffer(HALF, HALF), 1, &out.point))                              \
  X(qn_launch, argument_misaligned, INVALID, "offset_bytes",                                                           \
    qn_launch(live.queue, live.kernel, one(), part_of_buffer(2, 4), 1, &out.point))                                    \
  X(qn_launch, argument_of_another_kind, INVALID, "argument 0 'x'",                                                    \
    qn_launch(live.queue, live.kernel, one(), a_value(), 1, &out.point))                                               \
  X(qn_launch_image, no_image, QN_ERROR_DATA, "image",                                                                 \
    qn_launch_image(live.queue, entry_source, sizeof entry_source, 0, one(), whole(), 1, &out.point))                  \
  X(qn_launch_image, image_of_0_bytes, QN_ERROR_DATA, "image",                                                         \
    qn_launch_image(live.queue, entry_source, 0, 0, one(), whole(), 1, &out.point))                                    \
  X(qn_launch_image, image_of_2_63_bytes, INVALID, "image_bytes",                                                      \
    qn_launch_image(live.queue, entry_source, HALF, 0, one(), whole(), 1, &out.point))                                 \
  X(qn_program_load, no_image, QN_ERROR_DATA, "image",                                                                 \
    qn_program_load(live.t.device, entry_source, sizeof entry_source, &out.program))                                   \
  X(qn_program_load, image_of_0_bytes, QN_ERROR_DATA, "image",                                                         \
    qn_program_load(live.t.device, entry_source, 0, &out.program))                                                     \
  X(qn_program_load, image_of_2_63_bytes, INVALID, "image_bytes",                                                      \
    qn_program_load(live.t.device, entry_source, HALF, &out.program))                                                  \
  X(qn_program_build, no_source, INVALID, "source",                                                                    \
    qn_program_build(live.t.device, program_of(NULL, 0, NULL), &out.program))                                          \
  X(qn_program_build, source_of_2_63_bytes, INVALID, "source_bytes",                                                   \
    qn_program_build(live.t.device, program_of("", HALF, NULL), &out.program))                                         \
  X(qn_program_build, unknown_option, INVALID, "-nonsense",                                                            \
    qn_program_build(live.t.device, program_of(entry_source, 0, "-nonsense"), &out.program))                           \
  X(qn_program_log, no_room, INVALID, "capacity", qn_program_log(live.program, out.text, 0))                           \
  X(qn_program_kernel_name, no_room, INVALID, "capacity", qn_program_kernel_name(live.program, 0, out.text, 0))        \
  X(qn_program_kernel_name, index_past_the_end, QN_ERROR_NOT_FOUND, "index",                                           \
    qn_program_kernel_name(live.program, 1, out.text, sizeof out.text))                                                \
  X(qn_kernel_get, unknown_name, QN_ERROR_NOT_FOUND, "'nonsense'",                                                     \
    qn_kernel_get(live.program, "nonsense", &out.kernel))                                                              \
  X(qn_kernel_get, empty_name, QN_ERROR_NOT_FOUND, "''", qn_kernel_get(live.program, "", &out.kernel))                 \
  X(qn_kernel_argument, index_past_the_end, QN_ERROR_NOT_FOUND, "index",                                               \
    qn_kernel_argument(live.kernel, 1, of_size(sizeof(qn_argument_info))))                                             \
  X(qn_kernel_argument, index_2_32, QN_ERROR_NOT_FOUND, "index",                                                       \
    qn_kernel_argument(live.kernel, UINT32_MAX, of_size(sizeof(qn_argument_info))))                                    \
  X(qn_adapter_describe, index_2_32, QN_ERROR_NOT_FOUND, "index",                                                      \
    qn_adapter_describe(live.t.runtime, UINT32_MAX, of_size(sizeof(qn_adapter_info))))                                 \
  X(qn_device_describe, index_2_32, QN_ERROR_NOT_FOUND, "index",                                                       \
    qn_device_describe(live.t.runtime, UINT32_MAX, of_size(sizeof(qn_device_info))))                                   \
  X(qn_device_open, unknown, QN_ERROR_NOT_FOUND, "'nonsense'",                                                         \
    qn_device_open(live.t.runtime, "nonsense", &out.device))                                                           \
  X(qn_device_open, no_number, INVALID, "'null:'", qn_device_open(live.t.runtime, "null:", &out.device))               \
  X(qn_device_open, number_2_64, QN_ERROR_NOT_FOUND, "null:18446744073709551616",                                      \
    qn_device_open(live.t.runtime, "null:18446744073709551616", &out.device))                                          \
  X(qn_device_open, number_past_the_end, QN_ERROR_NOT_FOUND, "'null:4294967295'",                                      \
    qn_device_open(live.t.runtime, "null:4294967295", &out.device))                                                    \
  X(qn_build, no_source, INVALID, "source", qn_build(build_of(QN_ARTIFACT_IR, NULL, 0, NULL), &out.artifact))          \
  X(qn_build, unknown_kind, INVALID, "kind", qn_build(build_of(0, entry_source, 0, NULL), &out.artifact))              \
  X(qn_build, kind_2_32, INVALID, "kind", qn_build(build_of(UINT32_MAX, entry_source, 0, NULL), &out.artifact))        \
  X(qn_build, source_of_2_63_bytes, INVALID, "source_bytes",                                                           \
    qn_build(build_of(QN_ARTIFACT_IR, "", HALF, NULL), &out.artifact))                                                 \
  X(qn_build, source_of_2_64_bytes, INVALID, "source_bytes",                                                           \
    qn_build(build_of(QN_ARTIFACT_IR, "", UINT64_MAX, NULL), &out.artifact))                                           \
  X(qn_build, unknown_target, INVALID, "'nonsense'",                                                                   \
    qn_build(build_of(QN_ARTIFACT_OBJECT, entry_source, 0, "nonsense"), &out.artifact))

#define FUNCTION_OF_VALUE(function, what, status, words, expression) \
  static qn_status value_##function##_##what(void) { return expression; }
ROWS_OF_VALUES(FUNCTION_OF_VALUE)

#define ROW_OF_VALUE(function, what, status, words, expression) \
  {#function, #what, value_##function##_##what, status, words},
static const bad_call values[] = {ROWS_OF_VALUES(ROW_OF_VALUE)};
enum { VALUES = sizeof values / sizeof *values };

/* ---- Structs of a wrong size -------------------------------------------------------------------- */

/* X(function, type, expression) with `s` for the struct. */
#define ROWS_OF_STRUCTS(X)                                                                  \
  X(qn_runtime_open, qn_runtime_options, qn_runtime_open(s, &out.runtime))                  \
  X(qn_queue_create, qn_queue_options, qn_queue_create(live.t.device, s, &out.queue))       \
  X(qn_buffer_create, qn_buffer_options, qn_buffer_create(live.t.device, s, &out.buffer))   \
  X(qn_memory_configure, qn_memory_options, qn_memory_configure(live.t.device, s))          \
  X(qn_program_build, qn_program_options, qn_program_build(live.t.device, s, &out.program)) \
  X(qn_launch, qn_range, qn_launch(live.queue, live.kernel, s, whole(), 1, &out.point))     \
  X(qn_build, qn_build_options, qn_build(s, &out.artifact))

#define FUNCTION_OF_STRUCT(function, type, expression) \
  static qn_status struct_##function(void *s) { return expression; }
ROWS_OF_STRUCTS(FUNCTION_OF_STRUCT)

#define ROW_OF_STRUCT(function, type, expression) {#function, struct_##function, sizeof(type)},
static const struct {
  const char *function;
  qn_status (*call)(void *s);
  uint32_t size;
} structs[] = {ROWS_OF_STRUCTS(ROW_OF_STRUCT)};
enum { STRUCTS = sizeof structs / sizeof *structs };

/* Those that results go into. */
#define ROWS_OF_RESULTS(X)                                                \
  X(qn_adapter_describe, qn_adapter_describe(live.t.runtime, 0, s))       \
  X(qn_device_describe, qn_device_describe(live.t.runtime, 0, s))         \
  X(qn_device_query, qn_device_query(live.t.device, s))                   \
  X(qn_device_statistics_get, qn_device_statistics_get(live.t.device, s)) \
  X(qn_memory_statistics_get, qn_memory_statistics_get(live.t.device, s)) \
  X(qn_buffer_query, qn_buffer_query(live.buffer, s))                     \
  X(qn_program_query, qn_program_query(live.program, s))                  \
  X(qn_kernel_query, qn_kernel_query(live.kernel, s))                     \
  X(qn_kernel_argument, qn_kernel_argument(live.kernel, 0, s))            \
  X(qn_build, qn_build(&some_build, s))

#define FUNCTION_OF_RESULT(function, expression) \
  static qn_status result_##function(void *s) { return expression; }
ROWS_OF_RESULTS(FUNCTION_OF_RESULT)

#define ROW_OF_RESULT(function, expression) {#function, result_##function},
static const struct {
  const char *function;
  qn_status (*call)(void *s);
} results[] = {ROWS_OF_RESULTS(ROW_OF_RESULT)};
enum { RESULTS = sizeof results / sizeof *results };

/* ---- Tests -------------------------------------------------------------------------------------- */

static void assert_bad(const bad_call *bad) {
  const char *words = bad->words ? bad->words : bad->argument;
  memset(&out, 0x5a, sizeof out);
  out.artifact.struct_size = sizeof out.artifact;
  const outputs before = out;
  qn_status status = bad->call();
  if (status != bad->status)
    fail_msg("%s, %s: gave %s (%s), not %s", bad->function, bad->argument, qn_status_name(status), qn_error_text(),
             qn_status_name(bad->status));
  if (!strstr(qn_error_text(), words))
    fail_msg("%s, %s: the text '%s' lacks '%s'", bad->function, bad->argument, qn_error_text(), words);
  if (memcmp(&before, &out, sizeof out) != 0) fail_msg("%s, %s: has changed an output", bad->function, bad->argument);
}

static void test_L7_null_is_an_error_that_names_the_argument(void **state) {
  (void)state;
  for (size_t i = 0; i < NULLS; i++) assert_bad(&nulls[i]);
}

static void test_L7_bad_values_are_errors_that_name_the_argument(void **state) {
  (void)state;
  for (size_t i = 0; i < VALUES; i++) assert_bad(&values[i]);
}

static void assert_size_is_told(const char *function, qn_status status) {
  if (status != QN_ERROR_INVALID_ARGUMENT || !strstr(qn_error_text(), "struct_size"))
    fail_msg("%s: gave %s: %s", function, qn_status_name(status), qn_error_text());
}

static void test_L7_a_struct_of_a_wrong_size_is_an_error(void **state) {
  static const uint32_t sizes[] = {0, 3, 7, UINT32_MAX};
  (void)state;
  for (size_t at = 0; at < sizeof sizes / sizeof *sizes; at++) {
    for (size_t i = 0; i < STRUCTS; i++) assert_size_is_told(structs[i].function, structs[i].call(of_size(sizes[at])));
    for (size_t i = 0; i < RESULTS; i++) assert_size_is_told(results[i].function, results[i].call(of_size(sizes[at])));
  }
}

static void test_L7_a_field_that_is_not_known_is_an_error(void **state) {
  (void)state;
  for (size_t i = 0; i < STRUCTS; i++) {
    qn_status status = structs[i].call(with_unknown_tail(structs[i].size));
    if (status != QN_ERROR_UNSUPPORTED || !strstr(qn_error_text(), "doesn't know"))
      fail_msg("%s: gave %s: %s", structs[i].function, qn_status_name(status), qn_error_text());
  }
}

/* A field of some structs is kept free. */
static void test_A2_a_reserved_field_that_is_not_zero_is_an_error(void **state) {
  static const struct {
    qn_status (*call)(void *s);
    uint32_t size, at;
    const char *words;
  } reserved[] = {{struct_qn_runtime_open, sizeof(qn_runtime_options), offsetof(qn_runtime_options, reserved),
                   "qn_runtime_options.reserved is 3"},
                  {struct_qn_queue_create, sizeof(qn_queue_options), offsetof(qn_queue_options, reserved),
                   "qn_queue_options.reserved is 3"},
                  {struct_qn_memory_configure, sizeof(qn_memory_options), offsetof(qn_memory_options, reserved),
                   "qn_memory_options.reserved is 3"},
                  {struct_qn_program_build, sizeof(qn_program_options), offsetof(qn_program_options, reserved),
                   "qn_program_options.reserved is 3"},
                  {struct_qn_build, sizeof(qn_build_options), offsetof(qn_build_options, reserved),
                   "qn_build_options.reserved is 3"}};
  (void)state;
  for (size_t i = 0; i < sizeof reserved / sizeof *reserved; i++) {
    uint32_t fields[128] = {reserved[i].size};
    fields[reserved[i].at / sizeof *fields] = 3;
    assert_true(reserved[i].size <= sizeof fields);
    qn_status status = reserved[i].call(fields);
    if (status != QN_ERROR_INVALID_ARGUMENT || !strstr(qn_error_text(), reserved[i].words))
      fail_msg("%s: gave %s: %s", reserved[i].words, qn_status_name(status), qn_error_text());
  }
}

/* What comes after the errors is as if they had not been. */
static void everything_still_works(void **state) {
  (void)state;
  qn_point point = {0, 0};
  OK(qn_launch(live.queue, live.kernel, one(), whole(), 1, &point));
  OK(qn_point_wait(&point, PATIENCE));
  qn_device_statistics s = test_statistics(live.t.device);
  assert_int_equal(s.buffers, 1);
  assert_int_equal(s.queues, 1);
  assert_int_equal(s.kernels, 1);
  assert_int_equal(s.programs, 1);
  assert_int_equal(s.launches, 1);
  assert_int_equal(s.copies + s.fills, 0);
}

/* ---- The tables are whole ----------------------------------------------------------------------- */

static bool is_name(char c) { return c == '_' || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'); }

static bool is_covered(const char *function, const char *name) {
  for (size_t i = 0; i < NULLS; i++)
    if (strcmp(nulls[i].function, function) == 0 && strcmp(nulls[i].argument, name) == 0) return true;
  for (size_t i = 0; i < OPTIONAL; i++)
    if (strcmp(optional[i].function, function) == 0 && strcmp(optional[i].argument, name) == 0) return true;
  return false;
}

/* One parameter, "const qn_point *points": a pointer that is no handle must be in a table. */
static int check_parameter(const char *function, char *from, char *end) {
  *end = '\0';
  bool is_pointer = strchr(from, '*') || strstr(from, "_fn ");
  while (end > from && !is_name(end[-1])) *--end = '\0';
  char *name = end;
  while (name > from && is_name(name[-1])) name--;
  if (!is_pointer || strcmp(name, "handle") == 0) return 0;
  if (!is_covered(function, name)) fail_msg("the tables of NULL lack %s's %s", function, name);
  return 1;
}

/* A declaration from its name to its closing parenthesis, written over. */
static int check_declaration(char *name) {
  int count = 0;
  char *from = strchr(name, '('), *end = from ? strchr(from, ')') : NULL;
  assert_non_null(end);
  *from++ = '\0';
  *end = '\0';
  for (char *comma; (comma = strchr(from, ',')) != NULL; from = comma + 1) count += check_parameter(name, from, comma);
  return count + check_parameter(name, from, end);
}

static int check_header(const char *path) {
  static char text[1 << 20];
  int count = 0;
  FILE *file = fopen(path, "rb");
  assert_non_null(file);
  size_t size = fread(text, 1, sizeof text - 1, file);
  fclose(file);
  text[size] = '\0';
  char *at = strstr(text, "\nQN_API ");
  while (at) {
    char *next = strstr(at + 1, "\nQN_API ");
    char *name = strchr(at, '(');
    assert_non_null(name);
    while (is_name(name[-1])) name--;
    count += check_declaration(name);
    at = next;
  }
  return count;
}

static void test_L7_the_tables_have_every_pointer(void **state) {
  (void)state;
  assert_true(check_header(QUERN_SOURCE_DIR "/include/quern/quern.h") > 60);
  assert_true(check_header(QUERN_SOURCE_DIR "/include/quern/quern_build.h") >= 3);
}

static int set_up(void **state) {
  (void)state;
  entries_open("check");
  return 0;
}

static int tear_down(void **state) {
  (void)state;
  entries_close();
  return 0;
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_L7_the_tables_have_every_pointer),
      cmocka_unit_test(test_L7_null_is_an_error_that_names_the_argument),
      cmocka_unit_test(test_L7_bad_values_are_errors_that_name_the_argument),
      cmocka_unit_test(test_L7_a_struct_of_a_wrong_size_is_an_error),
      cmocka_unit_test(test_L7_a_field_that_is_not_known_is_an_error),
      cmocka_unit_test(test_A2_a_reserved_field_that_is_not_zero_is_an_error),
      cmocka_unit_test(everything_still_works),
  };
  return cmocka_run_group_tests(tests, set_up, tear_down);
}

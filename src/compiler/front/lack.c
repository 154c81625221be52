/* lack.c - see lack.h. The names are those of OpenCL C 3.0, which has those of all versions before. */
#include "compiler/front/lack.h"

typedef enum lack { LACK_IMAGES, LACK_EVENTS, LACK_PRINTF, LACK_QUEUES, LACK_PIPES, LACK_ATOMICS, LACK_GROUPS } lack;

static const char *const lack_texts[] = {
    [LACK_IMAGES] = "images or samplers",
    [LACK_EVENTS] = "events or asynchronous copies",
    [LACK_PRINTF] = "printf",
    [LACK_QUEUES] = "kernels that enqueue kernels",
    [LACK_PIPES] = "pipes",
    [LACK_ATOMICS] = "atomics of OpenCL C 2.0; atomic_add and its like take int, uint, long and ulong",
    [LACK_GROUPS] = "functions of work-groups or sub-groups; share values in __local memory",
};

typedef struct lack_name {
  lack lack;
  const char *text; /* with '*' at its end: all that starts so */
} lack_name;

static const lack_name types[] = {
    {LACK_IMAGES, "image1d_t"},
    {LACK_IMAGES, "image1d_array_t"},
    {LACK_IMAGES, "image1d_buffer_t"},
    {LACK_IMAGES, "image2d_t"},
    {LACK_IMAGES, "image2d_array_t"},
    {LACK_IMAGES, "image2d_array_depth_t"},
    {LACK_IMAGES, "image2d_array_msaa_depth_t"},
    {LACK_IMAGES, "image2d_array_msaa_t"},
    {LACK_IMAGES, "image2d_depth_t"},
    {LACK_IMAGES, "image2d_msaa_depth_t"},
    {LACK_IMAGES, "image2d_msaa_t"},
    {LACK_IMAGES, "image3d_t"},
    {LACK_IMAGES, "sampler_t"},
    {LACK_EVENTS, "event_t"},
    {LACK_QUEUES, "queue_t"},
    {LACK_QUEUES, "clk_event_t"},
    {LACK_QUEUES, "clk_profiling_info"},
    {LACK_QUEUES, "kernel_enqueue_flags_t"},
    {LACK_QUEUES, "ndrange_t"},
    {LACK_PIPES, "pipe"},
    {LACK_PIPES, "reserve_id_t"},
    {LACK_ATOMICS, "atomic_double"},
    {LACK_ATOMICS, "atomic_flag"},
    {LACK_ATOMICS, "atomic_float"},
    {LACK_ATOMICS, "atomic_half"},
    {LACK_ATOMICS, "atomic_int"},
    {LACK_ATOMICS, "atomic_intptr_t"},
    {LACK_ATOMICS, "atomic_long"},
    {LACK_ATOMICS, "atomic_ptrdiff_t"},
    {LACK_ATOMICS, "atomic_size_t"},
    {LACK_ATOMICS, "atomic_uint"},
    {LACK_ATOMICS, "atomic_uintptr_t"},
    {LACK_ATOMICS, "atomic_ulong"},
    {LACK_ATOMICS, "memory_order"},
    {LACK_ATOMICS, "memory_scope"},
};

static const lack_name values[] = {
    {LACK_IMAGES, "read_image*"},
    {LACK_IMAGES, "write_image*"},
    {LACK_IMAGES, "get_image_*"},
    {LACK_IMAGES, "CLK_NORMALIZED_COORDS_*"},
    {LACK_IMAGES, "CLK_ADDRESS_*"},
    {LACK_IMAGES, "CLK_FILTER_*"},
    {LACK_IMAGES, "CLK_IMAGE_MEM_FENCE"},
    {LACK_IMAGES, "CLK_A"},
    {LACK_IMAGES, "CLK_ABGR"},
    {LACK_IMAGES, "CLK_ARGB"},
    {LACK_IMAGES, "CLK_BGRA"},
    {LACK_IMAGES, "CLK_DEPTH*"},
    {LACK_IMAGES, "CLK_INTENSITY"},
    {LACK_IMAGES, "CLK_LUMINANCE"},
    {LACK_IMAGES, "CLK_R"},
    {LACK_IMAGES, "CLK_RA"},
    {LACK_IMAGES, "CLK_RG"},
    {LACK_IMAGES, "CLK_RGB"},
    {LACK_IMAGES, "CLK_RGBA"},
    {LACK_IMAGES, "CLK_RGBx"},
    {LACK_IMAGES, "CLK_RGx"},
    {LACK_IMAGES, "CLK_Rx"},
    {LACK_IMAGES, "CLK_sBGRA"},
    {LACK_IMAGES, "CLK_sRGB*"},
    {LACK_IMAGES, "CLK_FLOAT"},
    {LACK_IMAGES, "CLK_HALF_FLOAT"},
    {LACK_IMAGES, "CLK_SIGNED_INT*"},
    {LACK_IMAGES, "CLK_SNORM_INT*"},
    {LACK_IMAGES, "CLK_UNORM_*"},
    {LACK_IMAGES, "CLK_UNSIGNED_INT*"},
    {LACK_EVENTS, "async_work_group_*"},
    {LACK_EVENTS, "wait_group_events"},
    {LACK_PRINTF, "printf"},
    {LACK_QUEUES, "^"}, /* a block */
    {LACK_QUEUES, "enqueue_kernel"},
    {LACK_QUEUES, "enqueue_marker"},
    {LACK_QUEUES, "get_default_queue"},
    {LACK_QUEUES, "get_kernel_*"},
    {LACK_QUEUES, "ndrange_1D"},
    {LACK_QUEUES, "ndrange_2D"},
    {LACK_QUEUES, "ndrange_3D"},
    {LACK_QUEUES, "create_user_event"},
    {LACK_QUEUES, "set_user_event_status"},
    {LACK_QUEUES, "retain_event"},
    {LACK_QUEUES, "release_event"},
    {LACK_QUEUES, "is_valid_event"},
    {LACK_QUEUES, "capture_event_profiling_info"},
    {LACK_QUEUES, "CLK_ENQUEUE_*"},
    {LACK_QUEUES, "CLK_NULL_EVENT"},
    {LACK_QUEUES, "CLK_NULL_QUEUE"},
    {LACK_QUEUES, "CLK_PROFILING_*"},
    {LACK_PIPES, "read_pipe"},
    {LACK_PIPES, "write_pipe"},
    {LACK_PIPES, "reserve_read_pipe"},
    {LACK_PIPES, "reserve_write_pipe"},
    {LACK_PIPES, "commit_read_pipe"},
    {LACK_PIPES, "commit_write_pipe"},
    {LACK_PIPES, "work_group_reserve_*"},
    {LACK_PIPES, "work_group_commit_*"},
    {LACK_PIPES, "sub_group_reserve_*"},
    {LACK_PIPES, "sub_group_commit_*"},
    {LACK_PIPES, "get_pipe_*"},
    {LACK_PIPES, "is_valid_reserve_id"},
    {LACK_PIPES, "CLK_NULL_RESERVE_ID"},
    {LACK_ATOMICS, "atomic_compare_exchange_*"},
    {LACK_ATOMICS, "atomic_exchange*"},
    {LACK_ATOMICS, "atomic_fetch_*"},
    {LACK_ATOMICS, "atomic_flag_*"},
    {LACK_ATOMICS, "atomic_init"},
    {LACK_ATOMICS, "atomic_load*"},
    {LACK_ATOMICS, "atomic_store*"},
    {LACK_ATOMICS, "atomic_work_item_fence"},
    {LACK_ATOMICS, "memory_order_*"},
    {LACK_ATOMICS, "memory_scope_*"},
    {LACK_ATOMICS, "ATOMIC_FLAG_INIT"},
    {LACK_ATOMICS, "ATOMIC_VAR_INIT"},
    {LACK_GROUPS, "work_group_all"},
    {LACK_GROUPS, "work_group_any"},
    {LACK_GROUPS, "work_group_broadcast"},
    {LACK_GROUPS, "work_group_reduce_*"},
    {LACK_GROUPS, "work_group_scan_*"},
    {LACK_GROUPS, "sub_group_*"},
    {LACK_GROUPS, "intel_sub_group_*"},
    {LACK_GROUPS, "get_sub_group_*"},
    {LACK_GROUPS, "get_max_sub_group_size"},
    {LACK_GROUPS, "get_num_sub_groups"},
    {LACK_GROUPS, "get_enqueued_num_sub_groups"},
};

static bool is_named(qn_sv name, const char *text) {
  qn_sv pattern = qn_sv_from(text);
  if (pattern.data[pattern.size - 1] != '*') return qn_sv_equal(name, pattern);
  pattern.size--;
  return name.size > pattern.size && qn_sv_starts_with(name, pattern);
}

static const lack_name *find(const lack_name *names, size_t count, qn_sv name) {
  for (size_t i = 0; i < count; i++) {
    if (is_named(name, names[i].text)) return &names[i];
  }
  return NULL;
}

static const lack_name *find_type(qn_sv name) { return find(types, sizeof(types) / sizeof(types[0]), name); }

bool front_is_lacking_type(qn_sv name) { return find_type(name) != NULL; }

bool front_tell_lack(front *f, qn_loc loc, uint32_t length, qn_sv name) {
  const lack_name *found = find_type(name);
  if (found == NULL) found = find(values, sizeof(values) / sizeof(values[0]), name);
  if (found == NULL) return false;
  uint32_t bit = 1u << found->lack;
  if ((f->lacks_told & bit) == 0) {
    front_error(f, loc, length, "'%.*s' is not supported: this version has no %s", QN_SV_ARG(name),
                lack_texts[found->lack]);
  }
  f->lacks_told |= bit;
  return true;
}

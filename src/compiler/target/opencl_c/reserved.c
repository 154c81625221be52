/* reserved.c - names that mean something in OpenCL C, of 1.2 and later versions and of drivers' extensions. */
#include "compiler/target/opencl_c/emit.h"

/* clang-format off */
/* Sorted by bytes. */
static const char *const words[] = {
    "CHAR_BIT", "CHAR_MAX", "CHAR_MIN", "EOF", "HUGE_VAL", "HUGE_VALF", "INFINITY", "INT_MAX", "INT_MIN", "LONG_MAX",
    "LONG_MIN", "MAXFLOAT", "NAN", "NULL", "SCHAR_MAX", "SCHAR_MIN", "SHRT_MAX", "SHRT_MIN", "UCHAR_MAX", "UINT_MAX",
    "ULONG_MAX", "USHRT_MAX", "abort", "abs", "abs_diff", "acos", "acosh", "acospi", "add_sat", "addrspace_cast",
    "alignas", "alignof", "all", "and", "any", "asin", "asinh", "asinpi", "asm", "atan", "atan2", "atan2pi", "atanh",
    "atanpi", "atomic", "auto", "barrier", "bit_reverse", "bitand", "bitor", "bitselect", "bool", "break",
    "capture_event_profiling_info", "case", "catch", "cbrt", "ceil", "char", "cl_mem_fence_flags", "clamp", "class",
    "clk_event_t", "clz", "commit_read_pipe", "commit_write_pipe", "compl", "complex", "const", "constant",
    "constexpr", "continue", "copysign", "cos", "cosh", "cospi", "create_user_event", "cross", "ctz", "default",
    "degrees", "delete", "distance", "do", "dot", "double", "else", "enqueue_kernel", "enqueue_marker", "enum", "erf",
    "erfc", "event_t", "exp", "exp10", "exp2", "explicit", "expm1", "export", "extern", "fabs", "false",
    "fast_distance", "fast_length", "fast_normalize", "fdim", "float", "floor", "fma", "fmax", "fmin", "fmod", "for",
    "fract", "frexp", "friend", "generic", "get_default_queue", "get_enqueued_local_size",
    "get_enqueued_num_sub_groups", "get_fence", "get_global_id", "get_global_linear_id", "get_global_offset",
    "get_global_size", "get_group_id", "get_local_id", "get_local_linear_id", "get_local_size",
    "get_max_sub_group_size", "get_num_groups", "get_num_sub_groups", "get_work_dim", "global", "goto", "hadd",
    "half", "hypot", "i386", "if", "ilogb", "image1d_array_t", "image1d_buffer_t", "image1d_t", "image2d_array_t",
    "image2d_t", "image3d_t", "imaginary", "inline", "int", "intptr_t", "is_valid_event", "is_valid_reserve_id",
    "isequal", "isfinite", "isgreater", "isgreaterequal", "isinf", "isless", "islessequal", "islessgreater", "isnan",
    "isnormal", "isnotequal", "isordered", "isunordered", "kernel", "ldexp", "length", "lgamma", "lgamma_r", "linux",
    "local", "log", "log10", "log1p", "log2", "logb", "long", "mad", "mad24", "mad_hi", "mad_sat", "main", "max",
    "maxmag", "mem_fence", "memory_order", "memory_order_acq_rel", "memory_order_acquire", "memory_order_relaxed",
    "memory_order_release", "memory_order_seq_cst", "memory_scope", "memory_scope_all_svm_devices",
    "memory_scope_device", "memory_scope_sub_group", "memory_scope_work_group", "memory_scope_work_item", "min",
    "minmag", "mix", "modf", "mul24", "mul_hi", "mutable", "namespace", "nan", "ndrange_1D", "ndrange_2D",
    "ndrange_3D", "ndrange_t", "new", "nextafter", "noreturn", "normalize", "not", "nullptr", "operator", "or",
    "pipe", "popcount", "pow", "pown", "powr", "prefetch", "printf", "private", "protected", "ptrdiff_t", "public",
    "quad", "queue_t", "radians", "read_mem_fence", "read_only", "read_write", "register", "release_event",
    "remainder", "remquo", "reserve_id_t", "reserve_read_pipe", "reserve_write_pipe", "restrict", "retain_event",
    "return", "rhadd", "rint", "rootn", "rotate", "round", "rsqrt", "sampler_t", "select", "set_user_event_status",
    "short", "shuffle", "shuffle2", "sign", "signbit", "signed", "sin", "sincos", "sinh", "sinpi", "size_t", "sizeof",
    "smoothstep", "sqrt", "static", "step", "struct", "sub_sat", "switch", "tan", "tanh", "tanpi", "template",
    "tgamma", "this", "throw", "to_global", "to_local", "to_private", "trap", "true", "trunc", "try", "typedef",
    "typename", "typeof", "uchar", "uint", "uintptr_t", "ulong", "uniform", "union", "unix", "unsigned", "upsample",
    "ushort", "using", "va_arg", "va_end", "va_list", "va_start", "vec_step", "virtual", "void", "volatile",
    "wait_group_events", "while", "write_mem_fence", "write_only", "xor",
};
/* What begins so. */
static const char *const prefixes[] = {
    "CLK_", "CL_", "DBL_", "FLT_", "FP_", "HALF_", "M_", "__", "amd_", "arm_", "as_", "async_", "atom_", "atomic_",
    "bitfield_", "cl_", "cles_", "clock_read_", "cluster_", "convert_", "dot_4x8packed", "dot_acc_sat", "get_image_",
    "get_kernel_", "get_pipe_", "get_sub_group_", "half_", "image1d", "image2d", "image3d", "intel_", "native_",
    "nv_", "nvidia_", "opencl_", "qcom_", "read_channel", "read_image", "read_mem", "read_pipe", "sub_group_",
    "vload", "vstore", "work_group_", "write_channel", "write_image", "write_mem", "write_pipe",
};
/* clang-format on */
/* With a number of lanes behind them they are vectors. */
static const char *const elements[] = {"bool", "char",  "double", "float", "half",  "int",   "long",
                                       "quad", "short", "uchar",  "uint",  "ulong", "ushort"};

enum {
  WORD_COUNT = sizeof words / sizeof *words,
  PREFIX_COUNT = sizeof prefixes / sizeof *prefixes,
  ELEMENT_COUNT = sizeof elements / sizeof *elements
};

static int compare(qn_sv name, const char *word) {
  size_t size = strlen(word);
  int order = memcmp(name.data, word, name.size < size ? name.size : size);
  return order ? order : (name.size > size) - (name.size < size);
}

static bool is_word(qn_sv name) {
  size_t low = 0, high = WORD_COUNT;
  while (low < high) {
    size_t middle = low + (high - low) / 2;
    int order = compare(name, words[middle]);
    if (order == 0) return true;
    if (order > 0)
      low = middle + 1;
    else
      high = middle;
  }
  return false;
}

static bool is_vector_name(qn_sv name) {
  size_t digits = 0;
  while (digits < name.size && name.data[name.size - 1 - digits] >= '0' && name.data[name.size - 1 - digits] <= '9')
    digits++;
  for (size_t i = 0; digits && i < ELEMENT_COUNT; i++)
    if (qn_sv_is(qn_sv_make(name.data, name.size - digits), elements[i])) return true;
  return false;
}

bool is_reserved_word(qn_sv name) {
  for (size_t i = 0; i < PREFIX_COUNT; i++)
    if (qn_sv_starts_with(name, qn_sv_from(prefixes[i]))) return true;
  return is_word(name) || is_vector_name(name);
}

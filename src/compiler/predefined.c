/* predefined.c - see predefined.h. docs/preprocessor.md lists what is here. */
#include "compiler/predefined.h"

#include "base/bytes.h"
#include "base/status.h"

/* What a macro hangs on. */
typedef enum condition { ALWAYS, DOUBLE, HALF, INT64_ATOMICS, FAST_MATH, CL30, CONDITION_COUNT } condition;

typedef struct row {
  condition condition;
  const char *text; /* name and replacement list */
} row;

static const row rows[] = {
    /* 6.10. The version is the device's; the language's follows -cl-std. Later versions have names too, as in Clang:
     * they are what one compares with. */
    {ALWAYS, "__OPENCL_VERSION__ 120"},
    {ALWAYS, "CL_VERSION_1_0 100"},
    {ALWAYS, "CL_VERSION_1_1 110"},
    {ALWAYS, "CL_VERSION_1_2 120"},
    {ALWAYS, "CL_VERSION_2_0 200"},
    {ALWAYS, "CL_VERSION_3_0 300"},
    {ALWAYS, "__ENDIAN_LITTLE__ 1"},
    {FAST_MATH, "__FAST_RELAXED_MATH__ 1"},
    {ALWAYS,
     "__kernel_exec(X, typen) __kernel __attribute__((work_group_size_hint(X, 1, 1))) "
     "__attribute__((vec_type_hint(typen)))"},
    {ALWAYS,
     "kernel_exec(X, typen) __kernel __attribute__((work_group_size_hint(X, 1, 1))) "
     "__attribute__((vec_type_hint(typen)))"},
    /* Clang's questions, which programs ask where they find them: nothing of it is here. */
    {ALWAYS, "__has_builtin(x) 0"},
    {ALWAYS, "__has_feature(x) 0"},
    {ALWAYS, "__has_extension(x) 0"},
    {ALWAYS, "__has_attribute(x) 0"},
    {ALWAYS, "__STDC__ 1"},
    {ALWAYS, "__STDC_VERSION__ 199901L"},
    {ALWAYS, "__STDC_HOSTED__ 0"},

    /* 9.1: extensions. */
    {ALWAYS, "cl_khr_byte_addressable_store 1"},
    {ALWAYS, "cl_khr_global_int32_base_atomics 1"},
    {ALWAYS, "cl_khr_global_int32_extended_atomics 1"},
    {ALWAYS, "cl_khr_local_int32_base_atomics 1"},
    {ALWAYS, "cl_khr_local_int32_extended_atomics 1"},
    {INT64_ATOMICS, "cl_khr_int64_base_atomics 1"},
    {INT64_ATOMICS, "cl_khr_int64_extended_atomics 1"},
    {DOUBLE, "cl_khr_fp64 1"},
    {HALF, "cl_khr_fp16 1"},
    {CL30, "__opencl_c_int64 1"},

    /* 6.1.1 and 6.1.9. */
    {ALWAYS, "true 1"},
    {ALWAYS, "false 0"},
    {ALWAYS, "NULL ((void *)0)"},

    /* 6.12.2: floating point. The quiet NaN that a fold gives is positive. */
    {ALWAYS, "MAXFLOAT 0x1.fffffep127f"},
    {ALWAYS, "HUGE_VALF (1.0f / 0.0f)"},
    {ALWAYS, "INFINITY (1.0f / 0.0f)"},
    {ALWAYS, "NAN (0.0f / 0.0f)"},
    {DOUBLE, "HUGE_VAL (1.0 / 0.0)"},
    {ALWAYS, "FP_ILOGB0 (-2147483647 - 1)"},
    {ALWAYS, "FP_ILOGBNAN 2147483647"},
    {ALWAYS, "FLT_DIG 6"},
    {ALWAYS, "FLT_MANT_DIG 24"},
    {ALWAYS, "FLT_MAX_10_EXP +38"},
    {ALWAYS, "FLT_MAX_EXP +128"},
    {ALWAYS, "FLT_MIN_10_EXP -37"},
    {ALWAYS, "FLT_MIN_EXP -125"},
    {ALWAYS, "FLT_RADIX 2"},
    {ALWAYS, "FLT_MAX 0x1.fffffep127f"},
    {ALWAYS, "FLT_MIN 0x1.0p-126f"},
    {ALWAYS, "FLT_EPSILON 0x1.0p-23f"},
    {ALWAYS, "M_E_F 2.71828182845904523536028747135266250f"},
    {ALWAYS, "M_LOG2E_F 1.44269504088896340735992468100189214f"},
    {ALWAYS, "M_LOG10E_F 0.434294481903251827651128918916605082f"},
    {ALWAYS, "M_LN2_F 0.693147180559945309417232121458176568f"},
    {ALWAYS, "M_LN10_F 2.30258509299404568401799145468436421f"},
    {ALWAYS, "M_PI_F 3.14159265358979323846264338327950288f"},
    {ALWAYS, "M_PI_2_F 1.57079632679489661923132169163975144f"},
    {ALWAYS, "M_PI_4_F 0.785398163397448309615660845819875721f"},
    {ALWAYS, "M_1_PI_F 0.318309886183790671537767526745028724f"},
    {ALWAYS, "M_2_PI_F 0.636619772367581343075535053490057448f"},
    {ALWAYS, "M_2_SQRTPI_F 1.12837916709551257389615890312154517f"},
    {ALWAYS, "M_SQRT2_F 1.41421356237309504880168872420969808f"},
    {ALWAYS, "M_SQRT1_2_F 0.707106781186547524400844362104849039f"},
    {DOUBLE, "DBL_DIG 15"},
    {DOUBLE, "DBL_MANT_DIG 53"},
    {DOUBLE, "DBL_MAX_10_EXP +308"},
    {DOUBLE, "DBL_MAX_EXP +1024"},
    {DOUBLE, "DBL_MIN_10_EXP -307"},
    {DOUBLE, "DBL_MIN_EXP -1021"},
    {DOUBLE, "DBL_RADIX 2"},
    {DOUBLE, "DBL_MAX 0x1.fffffffffffffp1023"},
    {DOUBLE, "DBL_MIN 0x1.0p-1022"},
    {DOUBLE, "DBL_EPSILON 0x1.0p-52"},
    {DOUBLE, "M_E 2.71828182845904523536028747135266250"},
    {DOUBLE, "M_LOG2E 1.44269504088896340735992468100189214"},
    {DOUBLE, "M_LOG10E 0.434294481903251827651128918916605082"},
    {DOUBLE, "M_LN2 0.693147180559945309417232121458176568"},
    {DOUBLE, "M_LN10 2.30258509299404568401799145468436421"},
    {DOUBLE, "M_PI 3.14159265358979323846264338327950288"},
    {DOUBLE, "M_PI_2 1.57079632679489661923132169163975144"},
    {DOUBLE, "M_PI_4 0.785398163397448309615660845819875721"},
    {DOUBLE, "M_1_PI 0.318309886183790671537767526745028724"},
    {DOUBLE, "M_2_PI 0.636619772367581343075535053490057448"},
    {DOUBLE, "M_2_SQRTPI 1.12837916709551257389615890312154517"},
    {DOUBLE, "M_SQRT2 1.41421356237309504880168872420969808"},
    {DOUBLE, "M_SQRT1_2 0.707106781186547524400844362104849039"},
    {HALF, "HALF_DIG 3"},
    {HALF, "HALF_MANT_DIG 11"},
    {HALF, "HALF_MAX_10_EXP +4"},
    {HALF, "HALF_MAX_EXP +16"},
    {HALF, "HALF_MIN_10_EXP -4"},
    {HALF, "HALF_MIN_EXP -13"},
    {HALF, "HALF_RADIX 2"},
    {HALF, "HALF_MAX 0x1.ffcp15h"},
    {HALF, "HALF_MIN 0x1.0p-14h"},
    {HALF, "HALF_EPSILON 0x1.0p-10h"},
    {HALF, "M_E_H 2.71828182845904523536028747135266250h"},
    {HALF, "M_LOG2E_H 1.44269504088896340735992468100189214h"},
    {HALF, "M_LOG10E_H 0.434294481903251827651128918916605082h"},
    {HALF, "M_LN2_H 0.693147180559945309417232121458176568h"},
    {HALF, "M_LN10_H 2.30258509299404568401799145468436421h"},
    {HALF, "M_PI_H 3.14159265358979323846264338327950288h"},
    {HALF, "M_PI_2_H 1.57079632679489661923132169163975144h"},
    {HALF, "M_PI_4_H 0.785398163397448309615660845819875721h"},
    {HALF, "M_1_PI_H 0.318309886183790671537767526745028724h"},
    {HALF, "M_2_PI_H 0.636619772367581343075535053490057448h"},
    {HALF, "M_2_SQRTPI_H 1.12837916709551257389615890312154517h"},
    {HALF, "M_SQRT2_H 1.41421356237309504880168872420969808h"},
    {HALF, "M_SQRT1_2_H 0.707106781186547524400844362104849039h"},

    /* 6.12.3: integers. */
    {ALWAYS, "CHAR_BIT 8"},
    {ALWAYS, "CHAR_MAX SCHAR_MAX"},
    {ALWAYS, "CHAR_MIN SCHAR_MIN"},
    {ALWAYS, "INT_MAX 2147483647"},
    {ALWAYS, "INT_MIN (-2147483647 - 1)"},
    {ALWAYS, "LONG_MAX 0x7fffffffffffffffL"},
    {ALWAYS, "LONG_MIN (-0x7fffffffffffffffL - 1)"},
    {ALWAYS, "SCHAR_MAX 127"},
    {ALWAYS, "SCHAR_MIN (-127 - 1)"},
    {ALWAYS, "SHRT_MAX 32767"},
    {ALWAYS, "SHRT_MIN (-32767 - 1)"},
    {ALWAYS, "UCHAR_MAX 255"},
    {ALWAYS, "USHRT_MAX 65535"},
    {ALWAYS, "UINT_MAX 0xffffffffU"},
    {ALWAYS, "ULONG_MAX 0xffffffffffffffffUL"},

    /* 6.12.8. */
    {ALWAYS, "CLK_LOCAL_MEM_FENCE 1"},
    {ALWAYS, "CLK_GLOBAL_MEM_FENCE 2"},
};

/* 120 for "CL1.2" and for none. */
static uint32_t language_version(const qn_compile_options *options) {
  const char *std = options->std;
  if (!std) return 120;
  return (uint32_t)(std[2] - '0') * 100 + (uint32_t)(std[4] - '0') * 10;
}

qn_status qn_predefined_macros(qn_arena *arena, const qn_model *model, const qn_compile_options *options, qn_sv *out) {
  uint32_t version = language_version(options);
  const bool holds[CONDITION_COUNT] = {[ALWAYS] = true,
                                       [DOUBLE] = model->has_double,
                                       [HALF] = model->has_half,
                                       [INT64_ATOMICS] = model->has_int64_atomics,
                                       [FAST_MATH] = options->fast_relaxed_math,
                                       [CL30] = version >= 300};
  qn_bytes lines = {0};
  qn_bytes_reserve(&lines, 8192);
  qn_bytes_printf(&lines, "#define __QUERN__ %u\n#define __OPENCL_C_VERSION__ %u\n",
                  QN_VERSION_MAJOR * 10000 + QN_VERSION_MINOR * 100 + QN_VERSION_PATCH, version);
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    if (!holds[rows[i].condition]) continue;
    qn_bytes_append_str(&lines, "#define ");
    qn_bytes_append_str(&lines, rows[i].text);
    qn_bytes_append_char(&lines, '\n');
  }
  char *text = lines.failed ? NULL : qn_arena_copy(arena, qn_bytes_view(&lines));
  *out = qn_sv_make(text, lines.size);
  qn_bytes_free(&lines);
  if (!text) QN_FAIL(QN_ERROR_OUT_OF_HOST_MEMORY, "no memory for the predefined macros");
  return QN_OK;
}

#include "core/build_target.h"

#include <string.h>

#include "base/bytes.h"
#include "base/status.h"

#define V2 "+cx16,+popcnt,+sse4.2,+ssse3"
#define V3 V2 ",+avx2,+bmi,+bmi2,+f16c,+fma,+lzcnt,+movbe"
#define V4 V3 ",+avx512f,+avx512bw,+avx512cd,+avx512dq,+avx512vl"

static const core_build_target targets[] = {
    {"x86-64-linux", "x86-64", "x86-64", "", QN_MACHINE_X86_64, 1},
    {"x86-64-v2-linux", "x86-64", "x86-64-v2", V2, QN_MACHINE_X86_64, 2},
    {"x86-64-v3-linux", "x86-64", "x86-64-v3", V3, QN_MACHINE_X86_64, 3},
    {"x86-64-v4-linux", "x86-64", "x86-64-v4", V4, QN_MACHINE_X86_64, 4},
    {"aarch64-linux", "aarch64", "generic", "", QN_MACHINE_AARCH64, 1},
    {"opencl", NULL, NULL, NULL, QN_MACHINE_X86_64, 0},
    {"webgpu", NULL, NULL, NULL, QN_MACHINE_X86_64, 0},
    {"cuda-sm_70", NULL, NULL, NULL, QN_MACHINE_X86_64, 70},
    {"cuda-sm_72", NULL, NULL, NULL, QN_MACHINE_X86_64, 72},
    {"cuda-sm_75", NULL, NULL, NULL, QN_MACHINE_X86_64, 75},
    {"cuda-sm_80", NULL, NULL, NULL, QN_MACHINE_X86_64, 80},
    {"cuda-sm_86", NULL, NULL, NULL, QN_MACHINE_X86_64, 86},
    {"cuda-sm_87", NULL, NULL, NULL, QN_MACHINE_X86_64, 87},
    {"cuda-sm_89", NULL, NULL, NULL, QN_MACHINE_X86_64, 89},
    {"cuda-sm_90", NULL, NULL, NULL, QN_MACHINE_X86_64, 90},
    {"cuda-sm_100", NULL, NULL, NULL, QN_MACHINE_X86_64, 100},
    {"cuda-sm_103", NULL, NULL, NULL, QN_MACHINE_X86_64, 103},
    {"cuda-sm_120", NULL, NULL, NULL, QN_MACHINE_X86_64, 120},
    {"cuda-sm_121", NULL, NULL, NULL, QN_MACHINE_X86_64, 121},
};
enum { COUNT = sizeof targets / sizeof *targets };

/* Targets whose code generators are not there yet. */
static const char *const later[] = {"vulkan"};

/* The level of this machine. */
static const core_build_target *host_level(void) {
#if defined(__x86_64__)
  __builtin_cpu_init();
  if (__builtin_cpu_supports("x86-64-v4")) return &targets[3];
  if (__builtin_cpu_supports("x86-64-v3")) return &targets[2];
  if (__builtin_cpu_supports("x86-64-v2")) return &targets[1];
  return &targets[0];
#elif defined(__aarch64__)
  return &targets[4];
#else
  return NULL;
#endif
}

static qn_status unknown(qn_sv name) {
  qn_bytes list = {0};
  for (size_t i = 0; i < sizeof later / sizeof *later; i++)
    if (qn_sv_starts_with(name, qn_sv_from(later[i])))
      QN_FAIL(QN_ERROR_UNSUPPORTED, "target '%.*s' is not supported yet", QN_SV_ARG(name));
  qn_bytes_append_str(&list, "host");
  for (size_t i = 0; i < COUNT; i++) qn_bytes_printf(&list, ", %s", targets[i].name);
  qn_status status = qn_error_set(QN_ERROR_INVALID_ARGUMENT, "target '%.*s' is not known; there are: %s",
                                  QN_SV_ARG(name), list.failed ? "" : list.data);
  qn_bytes_free(&list);
  return status;
}

qn_status core_build_target_find(qn_sv name, core_build_target *out) {
  if (qn_sv_is(name, "host") && host_level()) {
    *out = *host_level();
    return QN_OK;
  }
  for (size_t i = 0; i < COUNT; i++) {
    if (!qn_sv_is(name, targets[i].name)) continue;
    *out = targets[i];
    return QN_OK;
  }
  return unknown(name);
}

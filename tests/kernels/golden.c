/* golden.c - what the compiler makes of one file, on standard output, for comparison with a golden file.
 *
 *   golden pp FILE.cl    preprocessed text
 *   golden ir FILE.cl    the module's text
 *   golden err FILE.cl   what is told
 *   golden ocl.cl FILE.cl   OpenCL C
 *   golden wgsl FILE.cl     WGSL; of a model with 32 bits and no double, whatever the file says
 *   golden ptx FILE.cl      PTX
 *
 * The file's first lines may say more: setting.h, and
 *   // opencl_c: adapter inexact   entries for adapters; a driver whose division is inexact
 *   // wgsl: merged       the text for launches whose arguments overlap
 *   // ptx: 90 rounded    for sm_90, else sm_80; division and sqrt correctly rounded */
#include <stdio.h>
#include <string.h>

#include "base/os/files.h"
#include "base/status.h"
#include "compiler/compiler.h"
#include "compiler/target/opencl_c/opencl_c.h"
#include "compiler/target/ptx/ptx.h"
#include "compiler/target/wgsl/wgsl.h"
#include "kernels/setting.h"

typedef struct golden_setting {
  kernel_setting kernel;
  qn_opencl_c_options opencl_c;
  qn_wgsl_options wgsl;
  qn_ptx_options ptx;
} golden_setting;

static golden_setting setting;

static qn_status read_setting(qn_arena *arena, const char *text, golden_setting *out) {
  const char *opencl_c = kernel_header(arena, text, "opencl_c");
  out->opencl_c = (qn_opencl_c_options){.adapter_entries = opencl_c && strstr(opencl_c, "adapter"),
                                        .rounded_divide_sqrt = !(opencl_c && strstr(opencl_c, "inexact"))};
  const char *wgsl = kernel_header(arena, text, "wgsl");
  out->wgsl = (qn_wgsl_options){.merged = wgsl && strstr(wgsl, "merged")};
  const char *ptx = kernel_header(arena, text, "ptx");
  out->ptx =
      (qn_ptx_options){.sm = ptx && strstr(ptx, "90") ? 90 : 80, .rounded_divide_sqrt = ptx && strstr(ptx, "rounded")};
  return kernel_setting_read(arena, text, &out->kernel);
}

static int fail(const char *what) {
  fprintf(stderr, "golden: %s: %s\n", what, qn_error_text());
  return 1;
}

static int preprocess(qn_arena *arena, const qn_compile_request *request, qn_bytes *out) {
  return qn_preprocess(arena, request, out, NULL) < 0 ? fail("preprocessing failed") : 0;
}

static int compile(qn_arena *arena, const qn_compile_request *request, qn_bytes *out) {
  ir_module *module;
  qn_bytes log = {0};
  qn_status status = qn_compile(arena, request, &module, &log);
  if (status < 0) return fail("compilation failed");
  ir_print(module, out);
  if (log.size) fprintf(stderr, "%s", log.data);
  qn_bytes_free(&log);
  ir_module_free(module);
  return out->failed ? fail("no memory for the text") : 0;
}

/* What is told: errors, or the warnings of a program that compiles. */
static int tell(qn_arena *arena, const qn_compile_request *request, qn_bytes *out) {
  ir_module *module;
  qn_status status = qn_compile(arena, request, &module, out);
  if (status == QN_OK) {
    ir_module_free(module);
    return 0;
  }
  if (status != QN_ERROR_COMPILE) return fail("compilation failed");
  qn_bytes_append_str(out, qn_error_text());
  return 0;
}

static int write_opencl_c(qn_arena *arena, const qn_compile_request *request, qn_bytes *out) {
  ir_module *module;
  qn_opencl_c_program program;
  if (qn_compile(arena, request, &module, NULL) < 0) return fail("compilation failed");
  qn_status status = qn_target_opencl_c(module, &setting.opencl_c, out, &program);
  ir_module_free(module);
  return status < 0 ? fail("no OpenCL C") : 0;
}

static int write_ptx(qn_arena *arena, const qn_compile_request *request, qn_bytes *out) {
  ir_module *module;
  qn_ptx_program program;
  if (qn_compile(arena, request, &module, NULL) < 0) return fail("compilation failed");
  qn_status status = qn_target_ptx(module, &setting.ptx, out, &program);
  ir_module_free(module);
  return status < 0 ? fail("no PTX") : 0;
}

static int write_wgsl(qn_arena *arena, const qn_compile_request *given, qn_bytes *out) {
  ir_module *module;
  qn_wgsl_program program;
  qn_compile_request request = *given;
  request.model.address_bits = 32;
  request.model.has_double = request.model.has_int64_atomics = false;
  if (qn_compile(arena, &request, &module, NULL) < 0) return fail("compilation failed");
  qn_status status = qn_target_wgsl(module, &setting.wgsl, out, &program);
  ir_module_free(module);
  return status < 0 ? fail("no WGSL") : 0;
}

static const struct {
  const char *name;
  int (*run)(qn_arena *arena, const qn_compile_request *request, qn_bytes *out);
} modes[] = {{"pp", preprocess},         {"ir", compile},      {"err", tell},
             {"ocl.cl", write_opencl_c}, {"wgsl", write_wgsl}, {"ptx", write_ptx}};

int main(int argc, char **argv) {
  qn_arena arena;
  qn_bytes text = {0}, out = {0};
  int result = 2;
  qn_arena_init(&arena, 0);
  for (size_t i = 0; argc == 3 && i < sizeof modes / sizeof *modes; i++) {
    if (strcmp(argv[1], modes[i].name) != 0) continue;
    if (qn_file_read(argv[2], UINT64_C(1) << 28, &text) < 0 || read_setting(&arena, text.data, &setting) < 0)
      result = fail(argv[2]);
    else {
      qn_compile_request request = {.source = qn_bytes_view(&text),
                                    .file_name = argv[2],
                                    .options = &setting.kernel.options,
                                    .model = setting.kernel.model};
      result = modes[i].run(&arena, &request, &out);
    }
  }
  if (result == 2) fputs("usage: golden pp|ir|err|ocl.cl FILE.cl\n", stderr);
  if (out.size) fwrite(out.data, 1, out.size, stdout);
  qn_bytes_free(&out);
  qn_bytes_free(&text);
  qn_arena_free(&arena);
  return result;
}

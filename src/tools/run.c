/* run.c - `quern run`: one kernel, from a file, on real input. */
#include "run.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SOURCE_LIMIT (UINT64_C(1) << 28)

static const char help[] =
    "quern run FILE.cl --arg NAME=VALUE... [options]   run one kernel of an OpenCL C file\n"
    "\n"
    "  -a, --arg NAME=VALUE     give the kernel's argument NAME\n"
    "  -k, --kernel NAME        which kernel, when the file has several\n"
    "  -d, --device SELECTOR    cpu, check, ...; default: QUERN_DEVICE, else cpu; all: every device that runs kernels\n"
    "  -g, --global X[,Y[,Z]]   global size; default: the shape of the output, its last axis being X\n"
    "  -l, --local X[,Y[,Z]]    work-group size; must divide the global size; default: chosen\n"
    "  -o, --out NAME=@FILE     write the array NAME after the launch: .npy .png .jpg .jpeg .bin .raw\n"
    "  -p, --print NAME[:N]     print the first N elements of NAME\n"
    "  -r, --repeat N           time N launches after a warm-up, each on the arrays as given\n"
    "  -t, --time               tell the times of compilation, transfer and kernel\n"
    "      --compare            run on the device 'check' (an interpreter) as well, and compare\n"
    "      --json               one JSON object on standard output and nothing else: docs/command.md has its keys\n"
    "      --convert            convert element types of files that are not the kernel's\n"
    "  -D, --define NAME[=V]    define a macro\n"
    "  -I, --include DIR        look for included files there too\n"
    "  -P, --param NAME=V       set a parameter that the file declares (#pragma quern param)\n"
    "  -w, -Werror, -cl-...     options for the compiler;  -b, --build-option OPTION gives any other\n"
    "  -h, --help               this text\n"
    "\n"
    "VALUE for a pointer:  @FILE (.npy .png .jpg .jpeg .bin .raw), zeros:N, fill:N:V, range:N, random:N[:SEED], "
    "like:OTHER.\n"
    "                      N counts elements of the kernel's type; a shape such as 600x800 is rows x columns.\n"
    "VALUE for __local:    local:N (elements)\n"
    "VALUE for a number:   7, 0x1f, -2.5, inf, (1,2,3,4) for a vector, OTHER.width, OTHER.height, OTHER.depth,\n"
    "                      OTHER.size (elements), @FILE.bin for a struct\n"
    "A whole number named like a size (n, width, height, ...) may be left out when only one reading is possible.\n"
    "\n"
    "Examples\n"
    "  quern run examples/saxpy.cl --arg x=range:1000 --arg y=fill:1000:1 --arg a=2 --print y:3\n"
    "  quern run examples/blur.cl --arg src=@photo.jpg --arg dst=like:src --out dst=@out.png --time\n"
    "  quern run kernel.cl -k step -d check --arg grid=@in.npy --out grid=@out.npy --global 512,512 --json\n"
    "\n"
    "An option that takes one value, or a NAME, is given once: two values are wrong usage. Of two -D of a name the "
    "last "
    "counts.\n\n"
    "Exit status: 0 done; 1 a kernel, file or device failed; 2 wrong usage. Then a text is on standard error, also "
    "with\n"
    "--json, and no output was written.\n";

typedef struct job {
  run_options options;
  run_arguments arguments;
  char *source;
  uint64_t source_bytes;
  bool resolved;
  char *told; /* diagnostics of the compiler */
} job;

/* Compiles and runs on one device. The arguments are made once, for the first. */
static tool_status run_on(job *j, qn_runtime runtime, const char *selector, run_result *r) {
  run_session session;
  qn_range range;
  tool_status status =
      run_session_open(runtime, selector, &j->options, j->source, j->source_bytes, &j->told, &session, r);
  if (status == TOOL_OK && !j->resolved) {
    status = run_arguments_resolve(session.kernel, session.info.name, &j->options, &j->arguments);
    j->resolved = status == TOOL_OK;
  }
  if (status == TOOL_OK) status = run_range_choose(&j->options, &session.info, &j->arguments, &range);
  if (status == TOOL_OK) status = run_execute(&session, &j->options, &j->arguments, &range, r);
  run_session_close(&session);
  return status;
}

static tool_status run_one(job *j, qn_runtime runtime, const char *selector, run_result *reference) {
  run_result *r = tool_alloc(1, sizeof *r);
  tool_status status = run_on(j, runtime, selector, r);
  if (status == TOOL_OK && j->options.compare && !reference->outputs[0].data && !reference->kernel[0])
    status = run_on(j, runtime, "check", reference);
  if (status == TOOL_OK) status = run_report(&j->options, &j->arguments, r);
  if (status == TOOL_OK && j->options.compare) status = run_compare(&j->arguments, r, reference, j->options.json);
  run_result_free(r);
  free(r);
  return status;
}

/* Every device that runs kernels; goes on after a failure and tells it at the end. */
static tool_status run_all(job *j, qn_runtime runtime, run_result *reference) {
  uint32_t count = 0, ran = 0;
  tool_status result = TOOL_OK;
  qn_status status = qn_device_count(runtime, &count);
  if (status < 0) return tool_library_error(status, "devices");
  for (uint32_t i = 0; i < count; i++) {
    qn_device_info info = QN_INIT(qn_device_info);
    if (qn_device_describe(runtime, i, &info) < 0 || !(info.features & QN_FEATURE_KERNELS)) continue;
    if (j->options.compare && info.type == QN_DEVICE_CHECK) continue;
    tool_status one = run_one(j, runtime, info.selector, reference);
    ran++;
    if (one == TOOL_USAGE) return one;
    if (one != TOOL_OK) result = one;
  }
  return ran ? result : tool_error(TOOL_FAILED, "no device runs kernels; quern devices -v says why");
}

static tool_status run_job(job *j) {
  qn_runtime runtime;
  TOOL_TRY(tool_read_file(j->options.file, SOURCE_LIMIT, &j->source, &j->source_bytes));
  if (!j->source_bytes) return tool_error(TOOL_FAILED, "%s: is empty", j->options.file);
  qn_status status = qn_runtime_open(NULL, &runtime);
  if (status < 0) return tool_library_error(status, "starting");
  run_result *reference = tool_alloc(1, sizeof *reference);
  bool all = run_is_on_all(&j->options);
  tool_status result;
  if (all && !j->options.compare && (j->options.out_count || j->options.json))
    result = tool_error(
        TOOL_USAGE,
        "-d all with --out or --json would give one result for several devices; add --compare, or choose a device");
  else if (all)
    result = run_all(j, runtime, reference);
  else
    result = run_one(j, runtime, j->options.device, reference);
  run_result_free(reference);
  free(reference);
  status = qn_runtime_close(runtime, QN_FOREVER);
  if (status < 0 && result == TOOL_OK) result = tool_library_error(status, "closing");
  return result;
}

int command_run(int argc, char **argv) {
  tool_command = "quern run";
  job *j = tool_alloc(1, sizeof *j);
  tool_status status = run_options_parse(argc, argv, &j->options);
  if (status == TOOL_OK && j->options.help)
    fputs(help, stdout);
  else if (status == TOOL_OK)
    status = run_job(j);
  run_arguments_free(&j->arguments);
  run_options_free(&j->options);
  free(j->source);
  free(j->told);
  free(j);
  return (int)status;
}

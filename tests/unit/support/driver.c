#include "driver.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/status.h"
#include "quern/adapter.h"

#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>

#define FUNCTIONS(X)         \
  X(GetPlatformIDs)          \
  X(GetPlatformInfo)         \
  X(GetDeviceIDs)            \
  X(GetDeviceInfo)           \
  X(CreateContext)           \
  X(CreateCommandQueue)      \
  X(CreateBuffer)            \
  X(CreateProgramWithSource) \
  X(BuildProgram)            \
  X(GetProgramBuildInfo)     \
  X(CreateKernel)            \
  X(SetKernelArg)            \
  X(EnqueueNDRangeKernel)    \
  X(EnqueueReadBuffer)       \
  X(Finish)                  \
  X(ReleaseMemObject)        \
  X(ReleaseKernel)           \
  X(ReleaseProgram)

static struct {
  bool tried, rounds;
  const char *why; /* NULL: open */
#define X(name) __typeof__(&cl##name) name;
  FUNCTIONS(X)
#undef X
  cl_device_id device;
  cl_context context;
  cl_command_queue queue;
  char name[300];
} cl;

struct driver_program {
  cl_program program;
  uint32_t launches;
};

/* Where arguments begin in their allocations, at every second launch and where the entry takes the range. */
enum { OFFSET = 256, MAX_ARGUMENTS = 16 };

static const char *load(void) {
  void *library = dlopen("libOpenCL.so.1", RTLD_NOW | RTLD_LOCAL);
  if (!library) return "no libOpenCL.so.1";
#define X(function)                                        \
  *(void **)&cl.function = dlsym(library, "cl" #function); \
  if (!cl.function) return "no cl" #function;
  FUNCTIONS(X)
#undef X
  return NULL;
}

static const char *find_device(void) {
  const char *wanted = getenv("QUERN_TEST_PLATFORM");
  cl_platform_id platforms[16];
  cl_uint count = 0;
  cl.GetPlatformIDs(16, platforms, &count);
  for (cl_uint i = 0; i < count && i < 16; i++) {
    char platform[120] = "", device[120] = "";
    cl.GetPlatformInfo(platforms[i], CL_PLATFORM_NAME, sizeof platform, platform, NULL);
    if (!strstr(platform, wanted ? wanted : "Portable")) continue;
    if (cl.GetDeviceIDs(platforms[i], CL_DEVICE_TYPE_ALL, 1, &cl.device, NULL) != CL_SUCCESS) continue;
    cl.GetDeviceInfo(cl.device, CL_DEVICE_NAME, sizeof device, device, NULL);
    (void)snprintf(cl.name, sizeof cl.name, "%s, %s", platform, device);
    return NULL;
  }
  return "no OpenCL device of the platform";
}

static const char *open_all(void) {
  cl_int status = 0;
  cl_device_fp_config config = 0;
  const char *why = load();
  if (!why) why = find_device();
  if (why) return why;
  cl.GetDeviceInfo(cl.device, CL_DEVICE_SINGLE_FP_CONFIG, sizeof config, &config, NULL);
  cl.rounds = config & CL_FP_CORRECTLY_ROUNDED_DIVIDE_SQRT;
  cl.context = cl.CreateContext(NULL, 1, &cl.device, NULL, NULL, &status);
  if (status == CL_SUCCESS) cl.queue = cl.CreateCommandQueue(cl.context, cl.device, 0, &status);
  return status == CL_SUCCESS ? NULL : "no context or queue";
}

bool driver_open(const char **out_why) {
  if (!cl.tried) cl.why = open_all();
  cl.tried = true;
  if (out_why) *out_why = cl.why;
  return !cl.why;
}

const char *driver_name(void) { return cl.name; }
bool driver_rounds(void) { return cl.rounds; }

static qn_status tell(cl_int status, const char *what) {
  if (status == CL_SUCCESS) return QN_OK;
  return qn_error_set_driver(QN_ERROR_DEVICE, status, "%s: OpenCL's error %d", what, (int)status);
}

driver_program *driver_build(const char *text, const char *options) {
  static char log[1 << 16];
  cl_int status;
  driver_program *p = calloc(1, sizeof *p);
  p->program = cl.CreateProgramWithSource(cl.context, 1, &text, NULL, &status);
  status = cl.BuildProgram(p->program, 1, &cl.device, options, NULL, NULL);
  if (status == CL_SUCCESS) return p;
  log[0] = 0;
  cl.GetProgramBuildInfo(p->program, cl.device, CL_PROGRAM_BUILD_LOG, sizeof log - 1, log, NULL);
  (void)!qn_error_set(QN_ERROR_COMPILE, "%s: error %d\n%s", cl.name, (int)status, log);
  driver_close(p);
  return NULL;
}

void driver_close(driver_program *p) {
  if (!p) return;
  cl.ReleaseProgram(p->program);
  free(p);
}

/* ---- One launch ---- */

typedef struct run {
  cl_kernel kernel;
  const interp_launch *launch;
  uint64_t offset; /* of every buffer in its allocation */
  cl_mem buffers[MAX_ARGUMENTS];
} run;

static qn_status make_buffer(run *r, uint32_t i) {
  const interp_argument *a = &r->launch->arguments[i];
  cl_int status;
  if (!a->memory) return tell(cl.SetKernelArg(r->kernel, i, sizeof(cl_mem), NULL), "clSetKernelArg");
  char *copy = calloc(1, a->size_bytes + OFFSET);
  memcpy(copy + r->offset, a->memory, a->size_bytes);
  r->buffers[i] = cl.CreateBuffer(cl.context, CL_MEM_COPY_HOST_PTR, a->size_bytes + OFFSET, copy, &status);
  free(copy);
  QN_TRY(tell(status, "clCreateBuffer"));
  return tell(cl.SetKernelArg(r->kernel, i, sizeof(cl_mem), &r->buffers[i]), "clSetKernelArg");
}

static qn_status set_argument(run *r, uint32_t i) {
  const interp_argument *a = &r->launch->arguments[i];
  if (a->kind == QN_ARGUMENT_BUFFER) return make_buffer(r, i);
  const void *bytes = a->kind == QN_ARGUMENT_LOCAL ? NULL : a->bytes;
  return tell(cl.SetKernelArg(r->kernel, i, a->size_bytes, bytes), "clSetKernelArg");
}

/* Appends what an entry takes beside the source's own parameters. */
static size_t hidden(const run *r, bool takes_range, uint64_t *out) {
  const interp_launch *l = r->launch;
  size_t count = 0;
  if (takes_range) {
    qn_opencl_range range = {{0}, {0}, {0}, {0}, {0}};
    for (int d = 0; d < 3; d++) {
      range.global_size[d] = l->global[d];
      range.global_offset[d] = l->offset[d];
      range.num_groups[d] = l->global[d] / l->local[d];
      range.enqueued_local[d] = l->local[d];
    }
    memcpy(out, &range, sizeof range);
    count = sizeof range / sizeof *out;
  }
  for (uint32_t i = 0; i < l->argument_count; i++)
    if (l->arguments[i].kind == QN_ARGUMENT_BUFFER) out[count++] = l->arguments[i].memory ? r->offset : 0;
  return count;
}

static qn_status set_hidden(run *r, bool takes_range) {
  uint64_t words[sizeof(qn_opencl_range) / 8 + MAX_ARGUMENTS];
  size_t count = r->offset ? hidden(r, takes_range, words) : 0;
  if (!count) return QN_OK;
  return tell(cl.SetKernelArg(r->kernel, r->launch->argument_count, count * sizeof *words, words),
              "clSetKernelArg of the launch");
}

static qn_status enqueue(run *r) {
  const interp_launch *l = r->launch;
  size_t global[3], local[3], offset[3];
  for (int d = 0; d < 3; d++) {
    global[d] = l->global[d];
    local[d] = l->local[d];
    offset[d] = l->offset[d];
  }
  QN_TRY(tell(cl.EnqueueNDRangeKernel(cl.queue, r->kernel, l->dimensions, offset, global, local, 0, NULL, NULL),
              "clEnqueueNDRangeKernel"));
  QN_TRY(tell(cl.Finish(cl.queue), "clFinish"));
  for (uint32_t i = 0; i < l->argument_count; i++) {
    const interp_argument *a = &l->arguments[i];
    if (!r->buffers[i]) continue;
    QN_TRY(
        tell(cl.EnqueueReadBuffer(cl.queue, r->buffers[i], CL_TRUE, r->offset, a->size_bytes, a->memory, 0, NULL, NULL),
             "clEnqueueReadBuffer"));
  }
  return QN_OK;
}

static bool has_buffers(const interp_launch *l) {
  bool some = false;
  for (uint32_t i = 0; i < l->argument_count; i++) some = some || l->arguments[i].kind == QN_ARGUMENT_BUFFER;
  return some;
}

/* An entry without the range and with buffers comes in two: one has no offsets. */
static qn_status open_kernel(driver_program *program, const driver_launch *launch, run *r) {
  cl_int status;
  char name[256];
  bool has_two = !launch->is_plain && !launch->takes_range && has_buffers(&launch->launch);
  bool takes_offsets = launch->takes_range || (has_two && program->launches++ % 2 == 1);
  r->offset = takes_offsets ? OFFSET : 0;
  snprintf(name, sizeof name, "%s%s", has_two && takes_offsets ? QN_OPENCL_OFFSET_ENTRY : "", launch->symbol);
  r->kernel = cl.CreateKernel(program->program, name, &status);
  return tell(status, "clCreateKernel");
}

qn_status driver_run(driver_program *program, const driver_launch *launch) {
  run r = {.launch = &launch->launch};
  if (r.launch->argument_count > MAX_ARGUMENTS) QN_FAIL(QN_ERROR_LIMIT, "too many arguments");
  qn_status result = open_kernel(program, launch, &r);
  for (uint32_t i = 0; i < r.launch->argument_count && result >= 0; i++) result = set_argument(&r, i);
  if (result >= 0) result = set_hidden(&r, launch->takes_range);
  if (result >= 0) result = enqueue(&r);
  for (uint32_t i = 0; i < MAX_ARGUMENTS; i++)
    if (r.buffers[i]) cl.ReleaseMemObject(r.buffers[i]);
  if (r.kernel) cl.ReleaseKernel(r.kernel);
  return result;
}

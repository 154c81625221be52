/* bench_opencl - what the opencl adapter adds to a launch: beside the same launches made by hand, of the same device, in the
 * same process. By number of arguments, half of them buffers; one value changes from launch to launch, and each side sets no
 * more arguments than it must. `adapter` is the adapter's table of functions, `runtime` the whole way from qn_launch on. */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"
#include "opencl.h"
#include "quern/adapter.h"

#define ROUNDS 1000 /* launches a turn */
#define TURNS 41
#define BUDGET 1.10
#define LIMIT_NS UINT64_C(5000000000)

enum { MOST = 32 };
static const uint32_t counts[] = {0, 1, 4, 8, 16, 32};
enum { COUNTS = sizeof counts / sizeof *counts };

/* ---- The adapter, as the core uses it ----------------------------------------------------------- */

static qn_status set_error(qn_status status, int64_t code, const char *text) {
  (void)code;
  fprintf(stderr, "%s\n", text);
  return status;
}
static void log_nothing(const char *text) { (void)text; }
static const char *environment(const char *name) { return getenv(name); }
static const qn_adapter_host host = {sizeof host, QN_ADAPTER_ABI_VERSION, set_error, log_nothing, environment};

static const qn_adapter_table *table;

static void check(qn_status status, const char *what) {
  if (status < 0) bench_fail("%s: status %d", what, status);
}

static void load_adapter(void) {
  void *library = dlopen(QUERN_BENCH_ADAPTER, RTLD_NOW | RTLD_LOCAL);
  qn_adapter_entry_fn entry = NULL;
  if (!library) bench_fail("%s", dlerror());
  *(void **)&entry = dlsym(library, QN_ADAPTER_ENTRY_NAME);
  if (!entry) bench_fail("%s has no entry", QUERN_BENCH_ADAPTER);
  table = entry(QN_ADAPTER_ABI_VERSION);
}

/* ---- Kernels ------------------------------------------------------------------------------------ */

static char *put_kernel(char *at, const char *end, const char *prefix, uint32_t count, uint32_t offsets) {
  if (offsets) at += snprintf(at, (size_t)(end - at), "typedef struct { ulong at[%u]; } h%u;\n", offsets, count);
  at += snprintf(at, (size_t)(end - at), "kernel void %sk%u(", prefix, count);
  for (uint32_t i = 0; i < count; i++)
    at += snprintf(at, (size_t)(end - at), "%s%s a%u", i ? ", " : "", i % 2 ? "int" : "global int *", i);
  if (offsets) at += snprintf(at, (size_t)(end - at), ", h%u hidden", count);
  return at + snprintf(at, (size_t)(end - at), ") {}\n");
}

/* Parameters alternate: a buffer, a value. `all`: with the entries that the adapter takes for launches with offsets. */
static char *kernel_source(bool all) {
  static char text[32768];
  char *at = text, *end = text + sizeof text;
  for (uint32_t k = 0; k < COUNTS; k++) {
    at = put_kernel(at, end, "", counts[k], 0);
    if (all && counts[k] > 0) at = put_kernel(at, end, QN_OPENCL_OFFSET_ENTRY, counts[k], (counts[k] + 1) / 2);
  }
  return text;
}

/* One kernel on all sides. */
typedef struct launch {
  opencl *cl;
  uint32_t count;
  int32_t values[MOST];

  cl_kernel by_hand;
  cl_mem buffers[MOST];

  qn_adapter_device *device;
  qn_adapter_queue *queue;
  uint64_t value;
  qn_adapter_kernel *kernel;
  qn_launch_argument arguments[MOST];

  qn_device whole_device;
  qn_queue whole_queue;
  qn_kernel whole_kernel;
  qn_argument whole_arguments[MOST];
} launch;

static void make_by_hand(launch *l, const char *name) {
  cl_int status;
  l->by_hand = opencl_build(l->cl, kernel_source(false), "", name);
  for (uint32_t i = 0; i < l->count; i++) {
    if (i % 2 == 0) {
      l->buffers[i] = l->cl->CreateBuffer(l->cl->context, CL_MEM_READ_WRITE, 4096, NULL, &status);
      opencl_check(status, "clCreateBuffer");
      opencl_check(l->cl->SetKernelArg(l->by_hand, i, sizeof(cl_mem), &l->buffers[i]), "clSetKernelArg");
    } else {
      opencl_check(l->cl->SetKernelArg(l->by_hand, i, 4, &l->values[i]), "clSetKernelArg");
    }
  }
}

static void make_in_adapter(launch *l, const char *name) {
  qn_adapter_parameter parameters[MOST] = {{0}};
  const char *source = kernel_source(true);
  const qn_adapter_code code = {
      .struct_size = sizeof code, .kind = QN_CODE_OPENCL_C, .bytes = source, .size_bytes = strlen(source)};
  qn_adapter_program *program;
  check(table->program_create(l->device, &code, &program), "program_create");
  for (uint32_t i = 0; i < l->count; i++) {
    parameters[i].kind = i % 2 ? QN_ARGUMENT_VALUE : QN_ARGUMENT_BUFFER;
    parameters[i].size_bytes = i % 2 ? 4 : 0;
    l->arguments[i] = (qn_launch_argument){.kind = parameters[i].kind, .bytes = &l->values[i], .size_bytes = 4};
    if (i % 2) continue;
    const qn_adapter_memory_request request = {.struct_size = sizeof request, .size_bytes = 4096, .alignment = 1};
    qn_adapter_memory_info info = {.struct_size = sizeof info};
    check(table->memory_create(l->device, &request, &l->arguments[i].memory, &info), "memory_create");
    l->arguments[i].size_bytes = 4096;
  }
  const qn_adapter_kernel_description d = {
      .struct_size = sizeof d, .parameter_count = l->count, .name = name, .symbol = name, .parameters = parameters};
  qn_adapter_kernel_info info = {.struct_size = sizeof info};
  check(table->kernel_create(l->device, program, &d, &l->kernel, &info), "kernel_create");
}

static void make_in_runtime(launch *l, const char *name) {
  qn_program_options options = QN_INIT(qn_program_options);
  qn_program program;
  options.source = kernel_source(false);
  bench_check(qn_program_build(l->whole_device, &options, &program), "qn_program_build");
  bench_check(qn_kernel_get(program, name, &l->whole_kernel), name);
  for (uint32_t i = 0; i < l->count; i++) {
    qn_buffer_options buffer = QN_INIT(qn_buffer_options);
    qn_buffer made;
    buffer.size_bytes = 4096;
    l->whole_arguments[i] = qn_arg_i32(0);
    if (i % 2) continue;
    bench_check(qn_buffer_create(l->whole_device, &buffer, &made), "qn_buffer_create");
    l->whole_arguments[i] = qn_arg_buffer(made);
  }
}

/* ---- Launches ----------------------------------------------------------------------------------- */

static void launch_by_hand(launch *l, int32_t step) {
  size_t global = 64, local = 64;
  l->values[1] = step;
  if (l->count > 1) opencl_check(l->cl->SetKernelArg(l->by_hand, 1, 4, &l->values[1]), "clSetKernelArg");
  opencl_check(l->cl->EnqueueNDRangeKernel(l->cl->queue, l->by_hand, 1, NULL, &global, &local, 0, NULL, NULL),
               "clEnqueueNDRangeKernel");
}

static void launch_in_adapter(launch *l, int32_t step) {
  const qn_launch_record record = {.struct_size = sizeof record,
                                   .dimensions = 1,
                                   .global = {64, 1, 1},
                                   .local = {64, 1, 1},
                                   .kernel = l->kernel,
                                   .arguments = l->arguments,
                                   .argument_count = l->count};
  l->values[1] = step;
  const qn_adapter_command command = {
      .struct_size = sizeof command, .kind = QN_COMMAND_LAUNCH, .value = l->value + 1, .launch = &record};
  qn_status status = table->queue_submit(l->queue, &command, 1);
  check(status == QN_NOT_READY ? QN_ERROR_LIMIT : status, "queue_submit"); /* a turn is shorter than the queue */
  l->value++;
}

static void launch_in_runtime(launch *l, int32_t step, qn_point *done) {
  const qn_range range = {.struct_size = sizeof range, .dimensions = 1, .global = {64}, .local = {64}};
  if (l->count > 1) l->whole_arguments[1] = qn_arg_i32(step);
  bench_check(qn_launch(l->whole_queue, l->whole_kernel, &range, l->whole_arguments, l->count, done), "qn_launch");
}

static void wait_in_adapter(launch *l, uint64_t limit_ns) {
  check(table->queue_wait(l->queue, l->value, limit_ns), "queue_wait");
}

/* Many launches, then one wait: time divided by launches. */
static double batch_by_hand(void *given) {
  launch *l = given;
  uint64_t start = bench_now_ns();
  for (int32_t i = 0; i < ROUNDS; i++) launch_by_hand(l, i);
  opencl_check(l->cl->Finish(l->cl->queue), "clFinish");
  return (double)(bench_now_ns() - start) / ROUNDS;
}
static double batch_in_adapter(void *given) {
  launch *l = given;
  uint64_t start = bench_now_ns();
  for (int32_t i = 0; i < ROUNDS; i++) launch_in_adapter(l, i);
  wait_in_adapter(l, QN_FOREVER);
  return (double)(bench_now_ns() - start) / ROUNDS;
}
static double batch_in_runtime(void *given) {
  launch *l = given;
  qn_point done;
  uint64_t start = bench_now_ns();
  for (int32_t i = 0; i < ROUNDS; i++) launch_in_runtime(l, i, &done);
  bench_check(qn_point_wait(&done, QN_FOREVER), "qn_point_wait");
  return (double)(bench_now_ns() - start) / ROUNDS;
}

/* The host's time for a launch of a batch: the wait is not in it. */
static double enqueue_by_hand(void *given) {
  launch *l = given;
  uint64_t start = bench_now_ns();
  for (int32_t i = 0; i < ROUNDS; i++) launch_by_hand(l, i);
  double ns = (double)(bench_now_ns() - start) / ROUNDS;
  opencl_check(l->cl->Finish(l->cl->queue), "clFinish");
  return ns;
}
static double enqueue_in_adapter(void *given) {
  launch *l = given;
  uint64_t start = bench_now_ns();
  for (int32_t i = 0; i < ROUNDS; i++) launch_in_adapter(l, i);
  double ns = (double)(bench_now_ns() - start) / ROUNDS;
  wait_in_adapter(l, QN_FOREVER);
  return ns;
}

/* The median of single launches, each with its wait. */
static double waited_by_hand(void *given) {
  static bench_samples samples;
  launch *l = given;
  samples.count = 0;
  for (int32_t i = 0; i < ROUNDS; i++) {
    uint64_t start = bench_now_ns();
    launch_by_hand(l, i);
    opencl_check(l->cl->Finish(l->cl->queue), "clFinish");
    bench_add(&samples, (double)(bench_now_ns() - start));
  }
  return bench_median(&samples);
}
static double waited_with_limit(launch *l, uint64_t limit_ns) {
  static bench_samples samples;
  samples.count = 0;
  for (int32_t i = 0; i < ROUNDS; i++) {
    uint64_t start = bench_now_ns();
    launch_in_adapter(l, i);
    wait_in_adapter(l, limit_ns);
    bench_add(&samples, (double)(bench_now_ns() - start));
  }
  return bench_median(&samples);
}
static double waited_in_adapter(void *given) { return waited_with_limit(given, QN_FOREVER); }
static double limited_in_adapter(void *given) { return waited_with_limit(given, LIMIT_NS); }
static double waited_in_runtime(void *given) {
  static bench_samples samples;
  launch *l = given;
  samples.count = 0;
  for (int32_t i = 0; i < ROUNDS; i++) {
    qn_point done;
    uint64_t start = bench_now_ns();
    launch_in_runtime(l, i, &done);
    bench_check(qn_point_wait(&done, QN_FOREVER), "qn_point_wait");
    bench_add(&samples, (double)(bench_now_ns() - start));
  }
  return bench_median(&samples);
}

/* ---- The bench ---------------------------------------------------------------------------------- */

typedef struct side {
  const char *name;
  bench_turn ours, by_hand;
  double budget;
} side;

static const side sides[] = {{"adapter/batch", batch_in_adapter, batch_by_hand, BUDGET},
                             {"adapter/enqueue", enqueue_in_adapter, enqueue_by_hand, 0},
                             {"adapter/wait", waited_in_adapter, waited_by_hand, BUDGET},
                             /* OpenCL has no wait with a limit: beside the one without. */
                             {"adapter/wait-with-limit", limited_in_adapter, waited_by_hand, BUDGET},
                             {"runtime/batch", batch_in_runtime, batch_by_hand, 0},
                             {"runtime/wait", waited_in_runtime, waited_by_hand, 0}};

static void measure(launch *l, const bench_options *options) {
  for (size_t i = 0; i < sizeof sides / sizeof *sides; i++) {
    char line[64];
    double ours, theirs;
    snprintf(line, sizeof line, "%s/%u-arguments", sides[i].name, l->count);
    if (!bench_wanted(options, line) || (strncmp(line, "runtime", 7) == 0 && !l->whole_kernel)) continue;
    bench_alternate(sides[i].ours, sides[i].by_hand, l, options->turns ? options->turns : TURNS, &ours, &theirs);
    bench_report_cost(line, ours, theirs, sides[i].budget);
  }
}

/* The whole way, where the runtime has the device. */
static void open_runtime(launch *l) {
  qn_runtime runtime;
  bench_check(qn_runtime_open(NULL, &runtime), "qn_runtime_open");
  if (qn_device_open(runtime, "opencl:0", &l->whole_device) < 0) {
    printf("runtime: not measured: %s\n", qn_error_text());
    l->whole_device = NULL;
    return;
  }
  bench_check(qn_queue_create(l->whole_device, NULL, &l->whole_queue), "qn_queue_create");
}

static bool open_adapter(launch *l) {
  qn_adapter_instance *instance;
  const qn_adapter_queue_options options = {.struct_size = sizeof options, .id = 1};
  load_adapter();
  if (table->instance_open(&host, &instance) < 0) return false;
  check(table->device_open(instance, 0, &l->device), "device_open");
  check(table->queue_create(l->device, &options, &l->queue), "queue_create");
  return true;
}

int main(int count, char **arguments) {
  bench_options options = bench_read_options(count, arguments, "what the opencl adapter adds to a launch");
  static opencl cl;
  static launch base;
  uint64_t id = 0;
  if (!open_adapter(&base)) return BENCH_NO_PEER;
  check(table->native(QN_KIND_DEVICE, base.device, 0, &id), "native");
  if (!opencl_open_device(&cl, (cl_device_id)(uintptr_t)id)) return BENCH_NO_PEER;
  base.cl = &cl;
  printf("quern: the adapter opencl\npeer:  %s\n", cl.name);
  open_runtime(&base);
  for (int i = 0; i < COUNTS; i++) {
    char name[16];
    static launch l;
    uint64_t submitted = l.value;
    l = base;
    l.value = submitted; /* the queue is one for all */
    l.count = counts[i];
    snprintf(name, sizeof name, "k%u", counts[i]);
    make_by_hand(&l, name);
    make_in_adapter(&l, name);
    if (l.whole_device) make_in_runtime(&l, name);
    measure(&l, &options);
  }
  return bench_exit_status();
}

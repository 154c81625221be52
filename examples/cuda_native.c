/* cuda_native.c - another library's work between two launches, on the same stream and memory: cuBLAS where it is installed, else a call
 * of the CUDA driver. Neither header nor toolkit is needed to build.
 *
 *   cc cuda_native.c $(pkg-config --cflags --libs quern) -ldl -o cuda_native && ./cuda_native [LIBCUBLAS.so]
 *
 * A queue is a CUstream, a buffer a CUdeviceptr, the device's context the GPU's primary one, in which cuBLAS works as well. What
 * is put on the stream by hand stands in order with the launches around it; a point of the launch behind it covers it too. */
#include <dlfcn.h>
#include <quern/quern.h>
#include <stdio.h>
#include <stdlib.h>

#define CHECK(call)                                                                     \
  do {                                                                                  \
    qn_status status_ = (call);                                                         \
    if (status_ < 0) {                                                                  \
      fprintf(stderr, "%s: %s: %s\n", #call, qn_status_name(status_), qn_error_text()); \
      return 1;                                                                         \
    }                                                                                   \
  } while (0)
#define CUDA(call)                                                  \
  do {                                                              \
    int code_ = (call);                                             \
    if (code_ != 0) {                                               \
      fprintf(stderr, "%s: the library's code %d\n", #call, code_); \
      return 1;                                                     \
    }                                                               \
  } while (0)

enum { N = 1000 };

static const char source[] =
    "kernel void saxpy(global const float *x, global float *y, float a, uint n) {\n"
    "  size_t i = get_global_id(0);\n"
    "  if (i < n) y[i] = a * x[i] + y[i];\n"
    "}\n";

/* What a function is given that works on the stream by itself. */
typedef struct native {
  void *context, *stream;
  uint64_t y;
} native;

static int get_native(qn_device device, qn_queue queue, qn_buffer y, native *out) {
  uint64_t context, stream;
  CHECK(qn_native_handle(device, 0, &context));
  CHECK(qn_native_handle(queue, 0, &stream));
  CHECK(qn_native_handle(y, 0, &out->y));
  out->context = (void *)(uintptr_t)context;
  out->stream = (void *)(uintptr_t)stream;
  return 0;
}

/* y = y / 2 by cuBLAS. */
static int halve(void *cublas, const native *n) {
  int (*create)(void **), (*set_stream)(void *, void *), (*scale)(void *, int, const float *, float *, int);
  int (*destroy)(void *);
  void *handle;
  const float half = 0.5f;
  *(void **)&create = dlsym(cublas, "cublasCreate_v2");
  *(void **)&set_stream = dlsym(cublas, "cublasSetStream_v2");
  *(void **)&scale = dlsym(cublas, "cublasSscal_v2");
  *(void **)&destroy = dlsym(cublas, "cublasDestroy_v2");
  if (!create || !set_stream || !scale || !destroy) return 1;
  CUDA(create(&handle));
  CUDA(set_stream(handle, n->stream));
  CUDA(scale(handle, N, &half, (float *)(uintptr_t)n->y, 1));
  CUDA(destroy(handle));
  return 0;
}

/* y = 0 by the driver. */
static int clear(void *cuda, const native *n) {
  int (*push)(void *), (*pop)(void **), (*set)(uintptr_t, unsigned, size_t, void *);
  void *ours;
  *(void **)&push = dlsym(cuda, "cuCtxPushCurrent_v2");
  *(void **)&pop = dlsym(cuda, "cuCtxPopCurrent_v2");
  *(void **)&set = dlsym(cuda, "cuMemsetD32Async");
  if (!push || !pop || !set) return 1;
  CUDA(push(n->context));
  CUDA(set((uintptr_t)n->y, 0, N, n->stream));
  CUDA(pop(&ours));
  return 0;
}

static int between(const char *library, const native *n, float *out_kept) {
  const char *driver = getenv("QUERN_CUDA_LIBRARY");
  void *cublas = dlopen(library, RTLD_NOW | RTLD_LOCAL);
  *out_kept = cublas ? 0.5f : 0;
  printf("between the launches: %s\n", cublas ? "cuBLAS" : "the CUDA driver, for there is no cuBLAS");
  return cublas ? halve(cublas, n) : clear(dlopen(driver ? driver : "libcuda.so.1", RTLD_NOW | RTLD_LOCAL), n);
}

int main(int count, char **arguments) {
  float x[N], y[N], kept;
  for (int i = 0; i < N; i++) x[i] = (float)i, y[i] = 1;

  qn_runtime runtime;
  qn_device device;
  qn_queue queue;
  qn_program program;
  qn_kernel kernel;
  CHECK(qn_runtime_open(NULL, &runtime));
  CHECK(qn_device_open(runtime, "cuda:0", &device));
  CHECK(qn_queue_create(device, NULL, &queue));
  qn_program_options options = QN_INIT(qn_program_options);
  options.source = source;
  CHECK(qn_program_build(device, &options, &program));
  CHECK(qn_kernel_get(program, "saxpy", &kernel));

  qn_buffer buffer_x, buffer_y;
  qn_buffer_options wanted = QN_INIT(qn_buffer_options);
  wanted.size_bytes = sizeof x;
  CHECK(qn_buffer_create(device, &wanted, &buffer_x));
  CHECK(qn_buffer_create(device, &wanted, &buffer_y));
  const qn_view view_x = {buffer_x, 0, QN_WHOLE}, view_y = {buffer_y, 0, QN_WHOLE};
  uint32_t n = N;
  native handles;
  CHECK(qn_write(queue, &view_x, x, NULL));
  CHECK(qn_write(queue, &view_y, y, NULL));
  CHECK(qn_launch(queue, kernel, QN_RANGE_1D(N), QN_ARGS(buffer_x, buffer_y, 2.0f, n), NULL)); /* y = 2 x + 1 */
  if (get_native(device, queue, buffer_y, &handles) != 0) return 1;
  if (between(count > 1 ? arguments[1] : "libcublas.so", &handles, &kept) != 0) return 1;
  CHECK(qn_launch(queue, kernel, QN_RANGE_1D(N), QN_ARGS(buffer_x, buffer_y, 2.0f, n), NULL));
  CHECK(qn_read(queue, &view_y, y, NULL));
  CHECK(qn_queue_finish(queue, QN_FOREVER));

  for (int i = 0; i < N; i++)
    if (y[i] != 2 * x[i] + kept * (2 * x[i] + 1)) {
      fprintf(stderr, "y[%d] is %g\n", i, (double)y[i]);
      return 1;
    }
  printf("y[1] = %g, y[2] = %g\n", (double)y[1], (double)y[2]);
  CHECK(qn_runtime_close(runtime, QN_FOREVER));
  return 0;
}

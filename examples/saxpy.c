/* saxpy.c - a first host program:  cc saxpy.c $(pkg-config --cflags --libs quern) -o saxpy && ./saxpy */
#include <quern/quern.h>
#include <stdio.h>

static const char source[] =
    "kernel void saxpy(global const float *x, global float *y, float a) {\n"
    "  size_t i = get_global_id(0);\n"
    "  y[i] = a * x[i] + y[i];\n"
    "}\n";

#define CHECK(call)                                                                     \
  do {                                                                                  \
    qn_status status_ = (call);                                                         \
    if (status_ < 0) {                                                                  \
      fprintf(stderr, "%s: %s: %s\n", #call, qn_status_name(status_), qn_error_text()); \
      return 1;                                                                         \
    }                                                                                   \
  } while (0)

int main(void) {
  enum { N = 1000 };
  float x[N], y[N];
  for (int i = 0; i < N; i++) {
    x[i] = (float)i;
    y[i] = 1;
  }

  qn_runtime runtime;
  qn_device device;
  qn_queue queue;
  CHECK(qn_runtime_open(NULL, &runtime));
  CHECK(qn_device_open(runtime, NULL, &device)); /* QUERN_DEVICE, else the CPU */
  CHECK(qn_queue_create(device, NULL, &queue));

  qn_program program;
  qn_kernel kernel;
  qn_program_options options = QN_INIT(qn_program_options);
  options.source = source;
  CHECK(qn_program_build(device, &options, &program));
  CHECK(qn_kernel_get(program, "saxpy", &kernel));

  qn_buffer buffer_x, buffer_y;
  qn_buffer_options size = QN_INIT(qn_buffer_options);
  size.size_bytes = sizeof x;
  CHECK(qn_buffer_create(device, &size, &buffer_x));
  CHECK(qn_buffer_create(device, &size, &buffer_y));
  qn_view view_x = {buffer_x, 0, QN_WHOLE}, view_y = {buffer_y, 0, QN_WHOLE};

  qn_point done;
  CHECK(qn_write(queue, &view_x, x, NULL));
  CHECK(qn_write(queue, &view_y, y, NULL));
  CHECK(qn_launch(queue, kernel, QN_RANGE_1D(N), QN_ARGS(buffer_x, buffer_y, 2.0f), NULL));
  CHECK(qn_read(queue, &view_y, y, &done));
  CHECK(qn_point_wait(&done, QN_FOREVER));

  printf("y[0] = %g, y[1] = %g, y[999] = %g\n", y[0], y[1], y[999]);
  CHECK(qn_runtime_close(runtime, QN_FOREVER)); /* frees everything that is left */
  return y[999] == 2 * 999 + 1 ? 0 : 1;
}

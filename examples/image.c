/* image.c - runs a kernel of an image on the device that is named, with neither a source nor a compiler:
 *
 *   quern build saxpy.cl --emit image --target x86-64-linux,opencl -o .
 *   cc image.c $(pkg-config --cflags --libs quern) -o image && ./image saxpy.qni opencl:0 */
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

enum { N = 1000, MOST_BYTES = 1 << 24 };

/* Returns the number of bytes, 0 when the file can't be read. */
static size_t read_file(const char *path, void *bytes) {
  FILE *file = fopen(path, "rb");
  size_t size = file ? fread(bytes, 1, MOST_BYTES, file) : 0;
  if (file) fclose(file);
  return size;
}

static int run(const void *image, size_t size, const char *selector) {
  float x[N], y[N];
  for (int i = 0; i < N; i++) {
    x[i] = (float)i;
    y[i] = 1;
  }

  qn_runtime runtime;
  qn_device device;
  qn_queue queue;
  CHECK(qn_runtime_open(NULL, &runtime));
  CHECK(qn_device_open(runtime, selector, &device));
  CHECK(qn_queue_create(device, NULL, &queue));

  qn_program program;
  qn_kernel kernel;
  CHECK(qn_program_load(device, image, size, &program));
  CHECK(qn_kernel_get(program, "saxpy", &kernel));

  qn_buffer buffer_x, buffer_y;
  qn_buffer_options options = QN_INIT(qn_buffer_options);
  options.size_bytes = sizeof x;
  CHECK(qn_buffer_create(device, &options, &buffer_x));
  CHECK(qn_buffer_create(device, &options, &buffer_y));
  qn_view view_x = {buffer_x, 0, QN_WHOLE}, view_y = {buffer_y, 0, QN_WHOLE};

  qn_point done;
  uint32_t n = N;
  CHECK(qn_write(queue, &view_x, x, NULL));
  CHECK(qn_write(queue, &view_y, y, NULL));
  CHECK(qn_launch(queue, kernel, QN_RANGE_1D(N), QN_ARGS(buffer_x, buffer_y, 2.0f, n), NULL));
  CHECK(qn_read(queue, &view_y, y, &done));
  CHECK(qn_point_wait(&done, QN_FOREVER));

  printf("y[0] = %g, y[1] = %g, y[999] = %g\n", y[0], y[1], y[999]);
  CHECK(qn_runtime_close(runtime, QN_FOREVER)); /* frees everything that is left */
  return y[999] == 2 * 999 + 1 ? 0 : 1;
}

int main(int count, char **arguments) {
  if (count < 2) {
    fprintf(stderr, "usage: image FILE.qni [DEVICE]\n");
    return 2;
  }
  void *image = malloc(MOST_BYTES);
  size_t size = image ? read_file(arguments[1], image) : 0;
  int status = 1;
  if (size == 0)
    fprintf(stderr, "%s can't be read\n", arguments[1]);
  else
    status = run(image, size, count > 2 ? arguments[2] : NULL);
  free(image);
  return status;
}

/* Launches a kernel that was compiled with the program. No file is read and no compiler is needed when it runs. */
#include <stdio.h>
#include <stdlib.h>

#include "scale.h"

static void check(qn_status status) {
  if (status >= 0) return;
  fprintf(stderr, "%s: %s\n", qn_status_name(status), qn_error_text());
  exit(1);
}

enum { COUNT = 1000 };

int main(void) {
  qn_runtime runtime;
  qn_device device;
  qn_queue queue;
  qn_buffer buffers[2];
  qn_point done;
  int numbers[COUNT];
  for (int i = 0; i < COUNT; i++) numbers[i] = i;

  check(qn_runtime_open(NULL, &runtime));
  check(qn_device_open(runtime, NULL, &device));
  check(qn_queue_create(device, NULL, &queue));
  for (int i = 0; i < 2; i++) {
    qn_buffer_options options = QN_INIT(qn_buffer_options);
    options.size_bytes = sizeof numbers;
    check(qn_buffer_create(device, &options, &buffers[i]));
  }
  const qn_view in = {.buffer = buffers[0], .size_bytes = QN_WHOLE},
                out = {.buffer = buffers[1], .size_bytes = QN_WHOLE};

  check(qn_write(queue, &in, numbers, NULL));
  check(scale_launch(queue, QN_RANGE_1D(COUNT), &in, &out, COUNT, NULL));
  check(qn_read(queue, &out, numbers, &done));
  check(qn_point_wait(&done, QN_FOREVER));
  printf("out[0] = %d, out[999] = %d\n", numbers[0], numbers[999]);
  check(qn_runtime_close(runtime, QN_FOREVER));
  return 0;
}

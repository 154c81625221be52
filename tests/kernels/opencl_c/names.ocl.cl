/* Made by Quern. Build with: -cl-std=CL1.2 */
#pragma OPENCL FP_CONTRACT OFF

struct my_struct {
  int int2_;
  int f1;
  int x;
};
typedef char quern_size_of_struct[sizeof(struct my_struct) == 12 ? 1 : -1];

constant int my_queue_t[2] = {1, 2};

int quern_div_int(int a, int b) {
  int by = b == 0 || (b == -1 && a == (-2147483647 - 1)) ? 1 : b;
  return b == 0 ? 0 : a / by;
}

int twice(int x) {
  return x * 2;
}

#pragma OPENCL FP_CONTRACT ON

float twice_1(float x) {
  return x * 2.0f;
}

kernel void vec_step_(global int *get_x, global float *f, int my_atomic_int, struct my_struct event) {
  const int t = get_x[0];
  const int t_1 = get_x[1];
  const int t_2 = twice(get_x[2]) * 3;
  get_x[3] = t_2 + t_2 * t_2;
  for (int my_pipe = 0; my_pipe < 2; my_pipe++) {
    get_x[my_pipe] += quern_div_int(t, t_1) + my_atomic_int + event.f1 + my_queue_t[my_pipe];
  }
  f[0] = twice_1(f[1]);
}

kernel void my_uniform(global int *kernel_) {
  kernel_[get_global_id(0)] = 1;
}

kernel void x3(global int *p) {
  p[0] = 3;
}

// Names that mean something to other compilers are changed, and only those; a name is one thing.
typedef struct {
  int int2_, sampler_t, x;
} image_t;
int __attribute__((overloadable)) twice(int x) { return x * 2; }
float __attribute__((overloadable)) twice(float x) { return x * 2.0f; }
constant int queue_t[2] = {1, 2};
kernel void vec_step_(global int *get_x, global float *quern_f, int atomic_int, image_t event) {
  int t = get_x[0], t_1 = get_x[1];
  {
    int t = twice(get_x[2]) * 3;
    get_x[3] = t + t * t;
  }
  for (int pipe = 0; pipe < 2; pipe++) get_x[pipe] += t / t_1 + atomic_int + event.sampler_t + queue_t[pipe];
  quern_f[0] = twice(quern_f[1]);
}
kernel void uniform(global int *kernel_) { kernel_[get_global_id(0)] = 1; }
kernel void _3(global int *p) { p[0] = 3; }

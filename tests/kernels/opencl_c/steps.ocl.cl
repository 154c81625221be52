/* Made by Quern. Build with: -cl-std=CL1.2 */
#pragma OPENCL FP_CONTRACT OFF

struct my_struct {
  int a;
  int b[3];
};
typedef char quern_size_of_struct[sizeof(struct my_struct) == 16 ? 1 : -1];

void my_step(int *p, struct my_struct *q, int *const *r) {
  (*p)++;
  q->a++;
  q->b[1]--;
  int *t = *r;
  (*t)--;
  p[1]++;
}

kernel void written(global int *out, struct my_struct v) {
  struct my_struct v_1 = v;
  int x[2];
  x[0] = 1;
  x[1] = 2;
  int *r = x;
  my_step(x, &v_1, &r);
  out[3]++;
  out[0] = x[0] + x[1] + v_1.a + v_1.b[1];
}

void fill(int *b) {
  b[2] = 1;
}

kernel void decayed(global int *out, struct my_struct v) {
  struct my_struct v_1 = v;
  fill(v_1.b);
  out[0] = v_1.b[2];
}

kernel void read(global int *out, struct my_struct v, int n) {
  out[0] = v.a + v.b[n] + v.b[0];
}

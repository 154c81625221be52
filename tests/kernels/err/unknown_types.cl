// errors: 17
struct members {
  uint_a a;
};
kernel void parameter(global float *y, uint_c *given) { y[0] = given[0]; }
kernel void declarations(global float *y) {
  uint_d *q = 0;
  uint_e *r, **s, t[2];
  uint_f *const u = 0;
  const uint_g *v = 0;
  y[0] = q[0] + *r + **s + t[1] + *u + *v;
}
kernel void statements(global float *y) {
  for (uint_h i = 0; i < 3; i++) y[i] = i;
  for (uint_i *i = 0; i != 0; i++) y[0] = *i;
  switch (1) {
    case 1: uint_j *q = 0; y[0] = q[0];
  }
}
kernel void casts(global float *y) {
  y[0] = (uint_k)y[1];
  y[0] = (uint_l)(y[1]);
  y[0] = *(uint_m *)y;
  y[0] = *(global uint_n *)y;
  y[0] = *(uint_o const *)y;
  y[0] = sizeof(uint_p *);
}
kernel void values(global float *y) {
  y[0] = (value_a) * y[1];
  value_b *y;
}

// ptx: 90
// Operations that PTX has not as they are: division by zero, shifts modulo the width, small integers, saturation, bools as values.
kernel void integers(global int *a, global char *c, global ulong *l, global uchar *u) {
  size_t i = get_global_id(0);
  a[i] = a[i] / a[i + 1] + (a[i + 2] % 7) + (a[i + 3] << a[i + 4]) + (a[i + 5] >> a[i + 6]);
  c[i] = (char)(c[i] / c[i + 1] + add_sat(c[i + 2], c[i + 3])) >> 1;
  u[i] = rotate(u[i], (uchar)3) + clz(u[i + 1]) + popcount(u[i + 2]);
  l[i] = rotate(l[i], l[i + 1]) + sub_sat(l[i + 2], 5ul) + mul_hi(l[i + 3], l[i + 4]) + (l[i] << l[i + 5]);
  bool p = a[i] > 3, q = c[i] != 0;
  a[i + 1] = (p ^ q) + convert_int_sat(as_float(a[i + 2])) + (p ? 3 : a[i + 7]);
}
kernel void floats(global float *x, global double *d) {
  size_t i = get_global_id(0);
  x[i] = x[i] / x[i + 1] + sqrt(x[i + 2]) + round(x[i + 3]) + fmin(floor(x[i + 4]), copysign(x[i + 5], x[i + 6]));
  d[i] = d[i] / d[i + 1] + fma(d[i + 2], d[i + 3], sqrt(d[i + 4]));
}

// model: 64 half
// Halves: the machine's own sums and products, others by float; pairs of them are words.
#pragma OPENCL EXTENSION cl_khr_fp16 : enable
kernel void halves(global half *h, global half4 *v, global float *f, global short *s) {
  size_t i = get_global_id(0);
  half a = h[i], b = h[i + 1];
  h[i] = a * b + a / b - (half)s[i] * -a;
  v[i] = v[i].wzyx * (half)0.5f + (half4)(a < b ? a : b);
  f[i] = (float)a + vload_half(i, h) + as_short(b) + convert_int_sat(a);
  s[i] = as_short(a) + (a == b);
}

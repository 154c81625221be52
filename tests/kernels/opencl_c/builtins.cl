// Functions of the library come with the text, and nothing that isn't called does; what drivers have exactly is theirs.
float unused(float x) { return tan(x); }
kernel void builtins(global float *f, global half *h, global double *d, float x) {
  f[0] = exp(x) + sqrt(f[1]) + fma(x, 2.0f, f[2]) + floor(x) + rint(x) + fmax(x, f[3]);
  f[4] = vload_half(3, h) + native_divide(x, 3.0f);
  vstore_half(x, 1, h);
  f[5] = INFINITY + NAN + as_float(0x7fc12345) + MAXFLOAT - 0.0f + 1e-40f;
  d[0] = d[1] * 0.1 + trunc(d[2]);
  d[2] = rsqrt(d[4]) + 1 / sqrt(d[5]);
  f[6] = convert_int_sat(x) + convert_uint(f[7]) + isnan(x) + (float)d[3] + fract(x, &f[8]);
}

// What WGSL leaves open is spelt out; NaN and infinity are told by bits.
kernel void floats(global float *f, global int *i, float x, float y) {
  i[0] = isnan(x) + isinf(y) * 2 + isfinite(x) * 4 + (x != x) * 8;
  f[0] = fma(x, y, 1.0f);
  f[1] = x / y;
  f[2] = sqrt(x);
  f[3] = fmod(x, y);
  f[4] = fmin(x, y) + fmax(x, 2.0f);
  f[5] = round(x) + rint(y) + floor(x) + trunc(y);
  f[6] = copysign(x, y) - fabs(y);
  i[1] = (int)x + convert_int_sat(y);
  f[7] = INFINITY;
  f[8] = -0.0f;
  f[9] = 1e-40f;
  i[2] = (x < INFINITY) + (x == y) + (x <= y);
}

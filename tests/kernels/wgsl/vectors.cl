// Eight and sixteen lanes are several vectors of four.
kernel void vectors(global float8 *f, global int16 *i, global long4 *l, float16 given, int n) {
  float8 x = f[0] * f[1] + 2.0f;
  x.s07 = x.s70;
  f[2] = select(x, f[0], isless(x, f[1]));
  i[1] = i[0] + convert_int16(given);
  l[1] = l[0].wzyx + n;
  i[2].s3 = i[0][n & 15];
  f[3].lo = x.even;
}

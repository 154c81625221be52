// Integers of 64 bits are two words.
kernel void wide(global long *a, global ulong *b, global float *f, int n) {
  long x = a[0], y = a[1];
  ulong u = b[0], v = b[1];
  a[2] = x + y * 3 - (x ^ y);
  a[3] = x / y + x % y;
  b[2] = u / v + u % v;
  a[4] = (x << n) + (x >> n) + (long)(u >> 40);
  a[5] = x < y ? -x : (long)n;
  b[3] = mul_hi(u, v) + rotate(u, v) + (u == v);
  f[0] = (float)x + (float)u;
  a[6] = convert_long_sat(f[1]);
  f[2] = as_float2(u).y;
  switch (x) {
    case -1: a[7] = 1; break;
    case 0x100000002: a[7] = 2; break;
    default: a[7] = 3;
  }
}

// Division is total, shifts are masked, narrow numbers are cut.
kernel void integers(global int *a, global uint *b, global char *c, global ushort *d, int n) {
  int x = a[0], y = a[1];
  uint u = b[0], v = b[1];
  a[2] = x / y + x % y + x / 7 - x % -3;
  b[2] = u / v + u % v + u / 7;
  a[3] = (x << y) ^ (x >> n) ^ (x >> 3);
  b[3] = rotate(u, v) + mul_hi(u, v) + add_sat(u, v) - sub_sat(u, 5u);
  a[4] = mul_hi(x, y) + add_sat(x, y) + sub_sat(x, y) + clz(x) + popcount(y) + abs(x);
  a[5] = max(x, y) + min(x, y) + (int)max(u, v);
  c[0] = add_sat(c[1], c[2]);
  c[3] = c[4] / c[5] + rotate(c[6], c[7]);
  c[8] = mul_hi(c[9], c[10]) + (char)clz(c[11]);
  d[0] = d[1] * d[2] - (ushort)ctz(d[3]);
  a[6] = (x < y) + (u < v) + (c[12] < c[13]);
}

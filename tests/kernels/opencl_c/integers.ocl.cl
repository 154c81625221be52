/* Made by Quern. Build with: -cl-std=CL1.2 */
#pragma OPENCL FP_CONTRACT OFF

int quern_div_int(int a, int b) {
  int by = b == 0 || (b == -1 && a == (-2147483647 - 1)) ? 1 : b;
  return b == 0 ? 0 : a / by;
}
uint quern_rem_uint(uint a, uint b) {
  uint by = b == 0 ? 1 : b;
  return b == 0 ? a : a % by;
}
uint quern_ctz_uint(uint x) { return popcount((uint)(~x & (x - 1))); }
int4 quern_div_int4(int4 a, int4 b) {
  int4 none = b == (int4)(0);
  int4 past = (b == (int4)(-1)) & (a == (int4)((-2147483647 - 1)));
  return select(a / select(b, (int4)(1), none | past), (int4)(0), none);
}

kernel void integers(global int *r, global uint *u, global char *c, global ushort *s, global long *l, int a, uint b, char d, short4 v, int4 w) {
  r[0] = a * 3 + 1;
  r[1] = quern_div_int(a, (int)b) + a % 7;
  r[2] = (a >> 3) ^ (int)(b >> (a & 31)) ^ (int)((uint)a << (b & 31));
  u[0] = b * 0x9e3779b9u + (b << 13);
  u[1] = b / 10 + quern_rem_uint(b, (uint)a);
  u[2] = rotate(b, 7u) + clz(b) + popcount(b) + quern_ctz_uint(b);
  c[0] = (char)((int)d + (int)c[1]);
  c[1] = (char)((int)c[1] + 3);
  c[2] = (char)((int)c[0] * (int)d);
  s[0] = (ushort)((int)s[1] * (int)s[2]);
  s[3] = (ushort)((0 - (int)s[4]) >> 1);
  l[0] = l[1] + (long)a;
  l[2] = (ulong)((long)b * l[3]) + (long)a;
  l[4] = (-9223372036854775807L - 1) + l[5];
  const int4 w_1 = as_int4(as_uint4(quern_div_int4(w, (int4)(a))) + (as_uint4(w) << 2u) - (as_uint4(max(w, (int4)(5))) - as_uint4(min(w, (int4)(5)))).x);
  r[3] = (int)(short)(as_ushort4(v) * as_ushort4(v) + (ushort4)(1, 2, 3, 4)).x + w_1.y + min(a, 5) + max(w_1, (int4)(3)).z + add_sat(a, 2147483647) + mul_hi(a, 3);
  r[4] = a == (-2147483647 - 1) ? -1 : a > 7;
}

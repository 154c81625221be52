// Sums that wrap are unsigned, shifts masked, division total; narrow types are cut. Signs are those of the source.
kernel void integers(global int *r, global uint *u, global char *c, global ushort *s, global long *l, int a, uint b,
                     char d, short4 v, int4 w) {
  r[0] = a * 3 + 1;
  r[1] = a / (int)b + a % 7;
  r[2] = (a >> 3) ^ (int)(b >> a) ^ (a << (int)b);
  u[0] = b * 0x9e3779b9u + (b << 13);
  u[1] = b / 10u + b % (uint)a;
  u[2] = rotate(b, 7u) + clz(b) + popcount(b) + ctz(b);
  c[0] = d + c[1];
  c[1] += 3;
  c[2] = c[0] * d;
  s[0] = s[1] * s[2];
  s[3] = -s[4] >> 1;
  l[0] = l[1] + a;
  l[2] = (long)b * l[3] + (ulong)a;
  l[4] = (-9223372036854775807L - 1) + l[5];
  v = v * v + (short4)(1, 2, 3, 4);
  w = w / a + (w << 2) - abs_diff(w, 5).xyzw.s0;
  r[3] = v.x + w.y + min(a, 5) + max(w, 3).z + add_sat(a, 2147483647) + mul_hi(a, 3);
  r[4] = a == -2147483647 - 1 ? -1 : a > 7;
}

/* Integer promotion, signs, shifts, comparisons as int. */
kernel void scalar(global int *r, uint u, char c, uchar uc, long l, float f) {
  r[0] = c + uc;
  r[1] = (int)(u / 3u) + -r[0];
  r[2] = c / uc % r[1];
  r[3] = u >> c;
  r[4] = r[3] >> 40;
  r[5] = c << 33;
  r[6] = (u < r[0]) + (c < uc) + (l >= u) + (f != 0);
  r[7] = ~uc ^ (r[0] & r[1] | 0xff);
  r[8] = !f + !u + +c;
  r[9] = l * u;
  r[10] = f * c - 1.0f / f;
}

kernel void vector(global int4 *r, float4 a, float4 b, uchar4 c, int s) {
  r[0] = a < b;
  r[1] = (a == b) && (a != 0.0f) || !b;
  r[2] = r[0] << s;
  r[3] = r[1] >> r[2];
  r[4] = ~r[0] & 7;
  uchar4 d = c * (uchar)3 + c;
  r[5] = (int4)(d.x, r[0].yzw.zy, s) / s;
}

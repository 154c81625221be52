kernel void scalars(global float *f, global int *i, global bool *b, uchar uc, short s, ulong ul, double d) {
  f[0] = uc;
  f[1] = s;
  f[2] = ul;
  f[3] = d;
  i[0] = f[0];
  i[1] = (uint)f[1];
  i[2] = (char)ul;
  i[3] = d > 1;
  b[0] = i[0];
  b[1] = f[0];
  b[2] = i != 0;
  i[4] = b[0] + b[1];
  f[4] = b[0];
}

kernel void vectors(global float4 *v, global int2 *w, float s, int n) {
  bool q = n;
  v[0] = s;
  v[1] = (float4)(1, s, (float2)(2));
  v[2] = v[0] * 2 + 1.5;
  w[0] = (int2)(q);
  w[1] = (int2)(q, s);
  v[3] = (float4)(v[0].xy, v[1].zw).wzyx;
}

kernel void pointers(global uchar *p, global float *f, local int *l, ulong address) {
  global uint *u = (global uint *)p;
  u[1] = *(global uint *)(f + 3);
  global void *any = f;
  f[0] = ((global float *)any)[1];
  *(global int *)address = (int)(ulong)p;
  private int x[2] = {1, 2};
  uchar *bytes = (uchar *)x;
  p[0] = bytes[5];
  l[0] = l != 0 && p;
}

// Functions that take pointers: one for each memory that they are called with.
constant float weights[3] = {0.25f, 0.5f, 0.25f};
float sum(const float *p, int n) {
  float s = 0;
  for (int i = 0; i < n; i++) s += p[i];
  return s;
}
void swap(int *a, int *b) {
  int t = *a;
  *a = *b;
  *b = t;
}
float first(global const float *p) { return p[get_local_size(0)]; }
typedef struct { int x; float v[4]; } pack;
float by_value(pack p) {
  p.v[0] += p.x;
  return sum(p.v, 4);
}
kernel void helpers(global float *out, global const float *in, int n) {
  float mine[8];
  int x = n, y = 2 * n;
  pack p;
  for (int i = 0; i < 8; i++) mine[i] = in[i];
  swap(&x, &y);
  p.x = x;
  for (int i = 0; i < 4; i++) p.v[i] = mine[i] * weights[i % 3];
  float c, s = sincos(in[0], &c);
  out[0] = sum(mine, y) + first(in) + first(out) + by_value(p) + p.v[0] + s * c;
}

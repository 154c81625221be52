#define R 3
kernel void a(global float *p) {
  float total = 0;
  for (int i = 0; i <= 2 * R R; i++) total += p[i];
  p[1] = total;
}

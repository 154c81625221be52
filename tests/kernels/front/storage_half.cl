typedef struct {
  half a;
  float b;
} pair;
kernel void k(global half *h, global pair *p, int n) {
  global half *q = h + n;
  p[0].b = sizeof(*q) + (q - h);
  p[1] = p[0];
}

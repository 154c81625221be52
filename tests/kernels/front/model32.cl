// model: 32 nodouble
kernel void k(global float *r, uint given, global char *p) {
  size_t n = given;
  r[n] = 0.1 * sizeof(n) + sizeof(void *);
  r[(uint)p] = p - (global char *)n;
}

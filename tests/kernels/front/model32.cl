// model: 32 nodouble
kernel void k(global float *r, size_t n, global char *p) {
  r[n] = 0.1 * sizeof(n) + sizeof(void *);
  r[(uint)p] = p - (global char *)n;
}

// A function that is asked not to be inlined: values go by words, a bool as a number.
__attribute__((noinline)) float4 choose(float4 a, bool c, double d) { return c ? a : a * (float)d; }
kernel void calls(global float4 *x, global double *d) {
  size_t i = get_global_id(0);
  x[i] = choose(x[i], d[i] > 1, d[i + 1]) + choose(x[i + 1], true, 2);
}

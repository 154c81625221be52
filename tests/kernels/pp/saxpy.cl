// options: -DWIDTH=4 -D SCALE=2.5f
// A kernel as people write them: constants, a vector type by pasting, an unrolled loop.
#ifndef WIDTH
#define WIDTH 1
#endif
#define CAT_(a, b) a##b
#define CAT(a, b) CAT_(a, b)
#if WIDTH == 1
typedef float real;
#define LOAD(p, i) (p)[i]
#define STORE(v, p, i) (p)[i] = (v)
#else
typedef CAT(float, WIDTH) real;
#define LOAD(p, i) CAT(vload, WIDTH)(i, p)
#define STORE(v, p, i) CAT(vstore, WIDTH)(v, i, p)
#endif

/* y = a * x + y */
__kernel void saxpy(const __global float *x, __global float *y, const int n) {
  const int i = get_global_id(0);
  if (i * WIDTH >= n) return;
#pragma unroll WIDTH
  for (int k = 0; k < 1; k++)
    STORE(SCALE * LOAD(x, i) + LOAD(y, i), y, i);
}

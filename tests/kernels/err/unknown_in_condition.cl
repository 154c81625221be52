__kernel void k(__global int *p, int n) {
  for (int i = 0; i < limit; i++)
    if (i > limit)
      while (limit) p[i] = limit;
}

// A pointer that may lead into one of several buffers is an address.
constant int table[4] = {1, 2, 3, 4};
kernel void flat(global int *a, global int *b, global uchar *bytes, constant int *c, int n) {
  global int *p = n > 3 ? a : b;
  for (int i = 0; i < n; i++) *p++ += i;
  atomic_add(p, 5);
  constant int *q = n & 1 ? table : c;
  b[0] = q[n & 3] + (p == a) + (n > 3 ? (int)(p - a) : 0);
  if (bytes != 0 && ((uintptr_t)bytes & 3) == 0) bytes[n] = 1;
}

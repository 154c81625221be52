kernel void pointers(global const uchar *bytes, global float *out, int n) {
  global const int *words = (global const int *)(bytes + 8);
  int i = get_global_id(0);
  if (i >= n) return;
  global const int *p = words + 2 * i;
  out[i] = as_float(p[1]) + *(global const ushort *)((global const uchar *)p + 2);
}

__kernel void inner(__global int *p) {
  __local int t[4];
  t[get_local_id(0) & 3] = 1;
  p[0] = t[0];
}
__kernel void outer(__global int *p) { inner(p); }

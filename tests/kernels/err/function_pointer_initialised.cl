__kernel void k(__global int *p) {
  void (*call)(__global int *) = 0;
  call(p);
}

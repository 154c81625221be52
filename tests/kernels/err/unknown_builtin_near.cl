__kernel void k(__global int *p, int n) {
  p[get_gobal_id(0)] = n;
}

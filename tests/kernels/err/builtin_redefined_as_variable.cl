__kernel void k(__global int *p, int n) {
  int get_global_id = 3;
  p[get_global_id(0)] = 1;
}

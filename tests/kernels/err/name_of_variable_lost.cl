__kernel void a(__global int *p) {
  int = 3;
  p[0] = count + 1;
  p[1] = count + 2;
}

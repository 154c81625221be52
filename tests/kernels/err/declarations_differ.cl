int f(int a);
int f(float a) { return (int)a; }
__kernel void k(__global int *p, int n) {
  p[0] = n;
}

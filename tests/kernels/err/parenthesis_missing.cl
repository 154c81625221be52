// errors: 3
__kernel void a(__global int *p) {
  p[0] = max(p[1], (p[2] + 3);
  p[1] = 4;
  if ((p[1] > 3) p[2] = 1;
  else p[2] = 3;
  while (p[0] < 3 { p[0]++; }
}

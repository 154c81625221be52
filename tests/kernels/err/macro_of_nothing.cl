// errors: 2
#define RADIUS
__kernel void a(__global int *p) {
  p[0] = RADIUS;
  p[1] = RADIUS + ;
  p[2] = p[1] * RADIUS;
}

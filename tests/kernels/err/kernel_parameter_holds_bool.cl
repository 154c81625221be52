struct flags {
  bool x[3];
};
__kernel void k(__global int *p, struct flags f) { p[0] = f.x[1]; }

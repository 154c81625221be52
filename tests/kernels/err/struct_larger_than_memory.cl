struct large {
  char a[2000000000];
  char b[2000000000];
};
__kernel void k(__global struct large *p) {
  p[0].a[1] = 1;
  struct large x;
  x.b[0] = p[0].a[2];
}

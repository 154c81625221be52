// errors: 11
// What an open literal took in is told of no further: arguments, labels, names.
int f(int a, int b) { return a + b; }
kernel void k(global int *o) {
  o[1] = f("abc, 3);
  o[2] = f('a, 3);
  int q = 'a, r = 3;
  o[3] = r;
  int2 v = (int2)('x, 3);
  switch (o[0]) {
    case 'a: break;
    case 'b: break;
  }
  char s[] = "abc;
  char t[] = {"abc};
  int u['x];
  o[4] = o[0] ? "abc : 3;
  o[5] = unknown;
}

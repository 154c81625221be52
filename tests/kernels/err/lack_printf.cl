kernel void k(global int *p) {
  printf("%d\n", p[0]);
  if (p[1]) printf("twice");
}
kernel void l(global int *p) { int n = printf("again"); p[0] = n; }

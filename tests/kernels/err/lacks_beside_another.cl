// errors: 3
// Two things that aren't here are two, and a fault of another kind is told, too.
kernel void k(global int *p) {
  printf("%d\n", p[0]);
  event_t e = async_work_group_copy(p, p, 3, 0);
  p[0] = unknown;
  printf("%d\n", e);
}

kernel void k(local int *l, global int *p) {
  event_t e[2], *at = e;
  e[0] = async_work_group_copy(l, p, 3, 0);
  e[1] = async_work_group_strided_copy(l, p, 3, 2, e[0]);
  wait_group_events(2, at);
  p[0] = l[0];
}
void helper(event_t *e) { wait_group_events(1, e); }

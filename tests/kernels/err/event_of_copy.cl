// errors: 1
kernel void k(local int *l, global int *p) {
  event_t e = async_work_group_copy(l, p, 3, 0);
  wait_group_events(1, &e);
  async_work_group_copy(l, p, 4, 0);
}

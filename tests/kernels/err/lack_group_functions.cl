kernel void k(global int *p) {
  int sum = work_group_reduce_add(p[get_global_id(0)]);
  p[get_global_id(0)] = sum + sub_group_scan_inclusive_max(p[1]) + get_sub_group_id();
}

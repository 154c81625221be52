kernel void f(global uint *x, uint d) {
  x[0] = get_global_id(0) + get_local_id(1) + get_group_id(2) + get_num_groups(3);
  x[1] = get_local_size(d);
  x[2] = get_work_dim();
}

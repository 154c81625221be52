size_t place(void) { return get_global_id(0) + get_local_id(1) * get_num_groups(2); }
kernel void queries(global int *out) {
  out[get_global_id(1)] = get_work_dim() + get_global_offset(0) + get_global_size(1) + get_group_id(2);
  out[place()] = get_local_size(0) + get_num_groups(1);
}
kernel __attribute__((reqd_work_group_size(8, 4, 1))) void fixed(global int *out) {
  out[get_local_id(0) + get_local_size(0) * get_local_id(1)] = get_global_id(0);
}

// errors: 11
// What an item is asked by way of variables, of groups whose size is known, and below conditions that say nothing.
kernel void e14(global int *o) { const uint i = get_local_id(0), j = i; if (j < 1) barrier(1); }
kernel void e15(global int *o) { int i = (int)get_global_id(0); if (i >= 1) return; barrier(1); }
kernel void e16(global int *o) { bool first = get_local_id(0) == 0; if (first) barrier(1); }
kernel void e17(global int *o) { const int rest = !(get_local_id(0) < 1); if (!rest) barrier(1); }
kernel void e18(global int *o) { while (get_local_id(0) < 1) barrier(1); }
kernel void e19(global int *o) { if (get_local_linear_id() == 0) barrier(1); }
__attribute__((reqd_work_group_size(8, 1, 1)))
kernel void e20(global int *o) { if (get_local_id(0) < 4) barrier(1); }
__attribute__((reqd_work_group_size(8, 1, 1)))
kernel void e21(global int *o) { const int half_of = 4; if (get_local_id(0) > half_of) return; barrier(1); }
__attribute__((reqd_work_group_size(1, 8, 1)))
kernel void e22(global int *o) { if (get_local_id(1) > 6) barrier(1); }
// A condition around it that keeps nothing hides none within.
kernel void e23(global int *o) {
  int i = get_local_id(0);
  if (i == 0) {
    if (get_local_id(0) == 0) barrier(1);
  }
  i = 0;
}
kernel void e24(global int *o, int n) {
  int i = get_local_id(0);
  do { if (i == 0) { do { barrier(1); } while (get_local_id(0) < 1); } i = n; } while (n);
}

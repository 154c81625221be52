// errors: 13
// All that is an if below: each form of a condition, and what leaves by one.
kernel void e1(global int *o) {
  get_local_id(0) == 0 ? barrier(1) : (void)0;
}
kernel void e2(global int *o) {
  get_local_id(0) != 0 ? (void)0 : barrier(1);
}
kernel void e3(global int *o) {
  get_local_id(0) == 0 && (barrier(1), 1);
}
kernel void e4(global int *o) {
  get_local_id(0) != 0 || (barrier(1), 1);
}
kernel void e5(global int *o, int n) {
  get_local_id(0) == 0 && n && (barrier(1), 1);
}
kernel void e10(global int *o, int n) {
  for (int i = 0; i < n; i++) { if (get_local_id(0) == 0) break; barrier(1); }
}
kernel void e11(global int *o, int n) {
  for (int i = 0; i < n; i++) { if (get_local_id(0) == 0) continue; barrier(1); }
}
__attribute__((reqd_work_group_size(4,1,1)))
kernel void e12(global int *o, int n) {
  do { barrier(1); } while (get_local_id(0) == 3);
}
kernel void e13(global int *o, int n) {
  for (; get_local_id(0) == 0; barrier(1)) o[0] = 1;
}
kernel void e14(global int *o, int n) {
  if (n > 0 && get_local_id(0) == 0) barrier(1);
}
kernel void e15(global int *o, int n) {
  if (get_local_id(0) == 0) { o[0] = 1; } else return; barrier(1);
}
kernel void e18(global int *o, int n) {
  if (n || get_local_id(0) == 0) o[0] = 1; else barrier(1);
}
__attribute__((reqd_work_group_size(4,1,1)))
kernel void e19(global int *o) {
  get_local_id(0) == 1 ? barrier(1) : (void)0;
}

// errors: 7
// As an if for each of its labels. Two barriers are not the same one, even if each item comes to one of them.
kernel void e6(global int *o) {
  switch (get_local_id(0)) { case 0: barrier(1); }
}
__attribute__((reqd_work_group_size(4,1,1)))
kernel void e7(global int *o) {
  switch (get_local_id(0)) { case 2: case 3: barrier(1); break; default: o[0] = 1; }
}
__attribute__((reqd_work_group_size(4,1,1)))
kernel void e8(global int *o) {
  switch (get_local_id(0)) { case 2: o[0] = 1; break; default: barrier(1); }
}
kernel void e9(global int *o) {
  switch (get_local_id(0)) { case 0: barrier(1); break; default: barrier(1); }
}
kernel void e16(global int *o, int n) {
  switch (n) { case 0: if (get_local_id(0) == 0) break; barrier(1); }
}
kernel void e17(global int *o, int n) {
  const int i = get_local_id(0); switch (i) { case 0: if (n) barrier(1); }
}

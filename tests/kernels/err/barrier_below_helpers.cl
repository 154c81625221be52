// errors: 3
// A function's barriers are judged by the kernels that call it: the one that says most of its groups.
void first(void) {
  if (get_local_id(0) == 0) barrier(1);
}
void third(void) {
  if (get_local_id(1) == 3) barrier(1);
}
void fourth(void) {
  if (get_local_id(1) == 4) barrier(1);
}
void uncalled(void) {
  if (get_local_id(0) == 0) barrier(1);
}
void all(void) {
  first();
  third();
  fourth();
}
__attribute__((reqd_work_group_size(1, 4, 1)))
kernel void k(global int *o) { all(); }
__attribute__((reqd_work_group_size(2, 1, 1)))
kernel void l(global int *o) { all(); }

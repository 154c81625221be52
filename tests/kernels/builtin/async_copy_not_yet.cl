kernel void f(global float *x) {
  local float l[16];
  async_work_group_copy(l, x, 16, 0);
}

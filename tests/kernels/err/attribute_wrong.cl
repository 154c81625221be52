__kernel __attribute__((reqd_work_group_size(16,, 1)))
void a(__global int *p) {
  __local int shared[16];
  shared[get_local_id(0)] = 1;
  barrier(CLK_LOCAL_MEM_FENCE);
  p[0] = shared[3];
}

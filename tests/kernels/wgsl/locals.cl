// Local memory: arrays, arguments whose size an override says, a pointer into either.
kernel void locals(global int *out, local int *a, local float4 *b, int n) {
  local int own[64];
  local short narrow[8];
  int lid = get_local_id(0);
  own[lid] = n;
  narrow[lid & 7] = lid;
  b[lid] = (float4)(lid);
  local int *p = n & 1 ? own : a;
  p[lid] += 1;
  barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
  out[lid] = own[lid ^ 1] + narrow[lid & 7] + (int)b[lid ^ 1].x;
}

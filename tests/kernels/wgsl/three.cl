kernel void three(global const float *packed, global float3 *padded, global float *out) {
  size_t i = get_global_id(0);
  float3 v = vload3(i, packed);
  v.zx = v.xy * 2;
  padded[i].yz = v.zy;
  vstore3(v + padded[i], i, out);
}

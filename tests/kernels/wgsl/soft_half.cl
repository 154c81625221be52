kernel void soft_half(global half *h, global float *f) {
  vstore_half(vload_half(1, h) * 2, 0, h);
  f[0] = vload_half4(1, h).w;
}

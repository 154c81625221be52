// Names like convert_int4 are conversions, not a family of functions with numbers.
__kernel void k(__global float4 *a, __global int4 *o) {
  o[0] = convert_int4(a[0]);
  o[1] = convert_int4_sat(a[0]);
  o[2] = as_int4(a[0]);
}

kernel void f(global float4 *x, global uchar4 *y, global int *z) {
  y[0] = convert_uchar4_sat_rte(x[0]);
  x[1] = convert_float4_rtz(as_int4(x[0]));
  z[0] = convert_int_sat(z[1]) + convert_int(x[0].x) + as_int(x[0].y);
}

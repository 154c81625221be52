kernel void f(global float2 *x) { x[0] = cross(x[0], x[1]); }

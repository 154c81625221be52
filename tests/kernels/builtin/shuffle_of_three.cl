kernel void f(global float3 *x, global uint4 *m) { shuffle(x[0], m[0]); }

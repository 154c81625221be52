// wgsl: merged
// For arguments that overlap: every buffer of a kernel is declared alike.
kernel void merged(global float4 *a, global const float *b, global const int *c) { a[0] = b[1] + c[2]; }

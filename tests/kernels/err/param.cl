// options: -DDEFINED=1 -P N=x -P UNKNOWN=1 -P L=1 -P L=2 -P L=2
// errors: 8
#pragma quern param(N, int, 4, "how many")
#pragma quern param(BIG, uchar, 256, "too large")
#pragma quern param(SHAPE, float4, 1, "no such type")
#pragma quern param(DEFINED, int, 4, "twice")
#pragma quern param(
#pragma quern param(M, int)
#pragma quern param(L, int, 0, "how long")
kernel void k(global int *a) { a[0] = N; }

// errors: 3
#pragma quern param(A, int, 1, "the first")
#pragma quern param(A, int, 1, "the same again, as a header that is included twice has it")
#pragma quern param(A, int, 2, "another default")
#pragma quern param(B, float, -1.0, "negative")
#pragma quern param(B, double, -1.0, "another type")
#pragma quern param(C, int, -1, "negative")
#pragma quern param(C, int, 1, "positive")
kernel void k(global int *x) { *x = A + B + C; }

// options: -P N=6 -P SCALE=-2.5
#pragma quern param(N, int, 4, "how many")
#pragma quern param(N, int, 4, "how many")
#pragma quern param(SCALE, float, 1, "scale")
#pragma quern param(LOWEST, int, -2147483648, "no literal of its own")
#pragma quern param(MASK, ulong, 0xffffffffffffffff)
#pragma quern param(ON, bool, true, "a flag")
#if N > 5 && ON
int n = N, low = LOWEST;
ulong mask = MASK;
float scale = SCALE;
#else
#error "the value of -P is not seen"
#endif

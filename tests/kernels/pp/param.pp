# 2 "param.cl"
#pragma quern param(N, int, 4, "how many")
#pragma quern param(N, int, 4, "how many")
#pragma quern param(SCALE, float, 1, "scale")
#pragma quern param(LOWEST, int, -2147483648, "no literal of its own")
#pragma quern param(MASK, ulong, 0xffffffffffffffff)
#pragma quern param(ON, bool, true, "a flag")

int n = 6, low = (-2147483647 - 1);
ulong mask = 18446744073709551615UL;
float scale = (-0x1.4p+1f);

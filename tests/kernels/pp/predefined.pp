# 3 "predefined.cl"
120 200 120 200 100 1 1
1 1 1 __IMAGE_SUPPORT__
(-2147483647 - 1) 0xffffffffU (-0x7fffffffffffffffL - 1) 0xffffffffffffffffUL (-127 - 1) 0x1.fffffep127f 0x1.0p-52 0x1.ffcp15h 3.14159265358979323846264338327950288f 3.14159265358979323846264338327950288 3.14159265358979323846264338327950288h
(1.0f / 0.0f) (0.0f / 0.0f) (1.0f / 0.0f) 0x1.fffffep127f (-2147483647 - 1) ((void *)0) 1 0 1
__kernel __attribute__((work_group_size_hint(64, 1, 1))) __attribute__((vec_type_hint(float4))) void f(void);

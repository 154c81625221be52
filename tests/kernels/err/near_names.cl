// errors: 11
kernel void a(global int *p) { p[0] = convert_int_rtee(1.0f); }
kernel void b(global int *p) { p[0] = convert_int5(1.0f); }
kernel void c(global int *p) { barrier(CLK_LOCAL_MEMFENCE); }
kernel void d(gloabl int *p) { p[0] = 1; }
kernel void e(global float *p) { p[0] = sinn(1.0f); }
kernel void f(global float *p) { p[0] = vload5(0, p).x; }
kernel void g(global float *p) { retrun; }
kernel void h(global float *p) { whlie (1) { p[0] = 1; } }
kernel void i(global float *p) { p[0] = (flaot)3; }
kernel void kk(global float *p) { p[0] = M_PI_FF; }
kernel void l(global float5 *p) { p[0] = vstore_half_rtee(1); }

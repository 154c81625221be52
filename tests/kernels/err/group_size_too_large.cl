// errors: 5
__attribute__((reqd_work_group_size(4294967297, 1, 1))) kernel void a(global int *p) { p[0] = 1; }
__attribute__((reqd_work_group_size(1, 65536, 65536))) kernel void b(global int *p) { p[0] = 1; }
__attribute__((reqd_work_group_size(1, 4294967296UL, 4294967296UL))) kernel void c(global int *p) { p[0] = 1; }
__attribute__((reqd_work_group_size(1, -4, 1))) kernel void d(global int *p) { p[0] = 1; }
__attribute__((work_group_size_hint(1, 1, 0x100000000))) kernel void e(global int *p) { p[0] = 1; }
// What no device may be asked for is refused here; what this one has not is at the launch.
__attribute__((reqd_work_group_size(65536, 65535, 1))) kernel void f(global int *p) { p[0] = 1; }

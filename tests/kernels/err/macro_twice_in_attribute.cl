#define R 3
kernel __attribute__((reqd_work_group_size(R R, 1, 1))) void a(global float *p) { p[0] = 1; }

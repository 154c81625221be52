// errors: 3
// The same twice is one; another one is told where it stands, wherever that is.
__attribute__((reqd_work_group_size(4, 1, 1))) __attribute__((reqd_work_group_size(4, 1, 1)))
kernel void fine(global int *p);
__attribute__((reqd_work_group_size(2 + 2, 1, 1))) kernel void fine(global int *p) { p[0] = 1; }

__attribute__((reqd_work_group_size(4, 1, 1), reqd_work_group_size(8, 1, 1)))
kernel void list(global int *p) { p[0] = 1; }

__attribute__((reqd_work_group_size(4, 1, 1)))
kernel void before(global int *p) __attribute__((reqd_work_group_size(4, 2, 1)));
kernel void before(global int *p) { p[0] = 1; }

kernel void prototype(global int *p) __attribute__((reqd_work_group_size(1, 1, 4)));
__attribute__((reqd_work_group_size(1, 1, 5))) kernel void prototype(global int *p) { p[0] = 1; }

__attribute__((work_group_size_hint(4, 1, 1), work_group_size_hint(8, 1, 1)))
kernel void hint(global int *p) { p[0] = 1; }

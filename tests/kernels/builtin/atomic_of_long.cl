kernel void f(global long *x) { atom_add(x, 1); }

kernel void k(global int *o) {
  o[0] = "abc; }

int helper(int i) {
  int part[1 << 17];
  part[i] = i;
  return part[i / 2];
}
kernel void small(global int *p) { p[0] = helper(p[1]); }
kernel void large(global int *p) {
  int all[1 << 18];
  all[p[0]] = 1;
  p[1] = all[p[2]] + helper(3);
}

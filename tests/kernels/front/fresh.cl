// Variables declared in a loop's body start anew each time around.
kernel void fresh(global int *x, int n) {
  for (int i = 0; i < n; i++) {
    int t, a[4], b[2] = {i, 1}, s = i;
    if (i) t = 1;
    a[i & 3] = t;
    s += b[1];
    x[i] = a[0] + s;
  }
  int outside[2];
  outside[n & 1] = 1;
  x[0] = outside[0];
}

// Loops keep their shape: counted, guarded, do, endless; `continue` before a step that is no assignment.
kernel void loops(global int *out, global const int *in, int n) {
  int sum = 0;
  for (int i = 0; i < n; i++) {
    if (in[i] < 0) continue;
    for (int k = 0, m = n; k < m; k += 2, m--) sum += in[k] * k;
    if (sum > 1000) break;
  }
  int left = sum;
  while (left > 10) left /= 2;
  do {
    left += 3;
    if (left == 7) continue;
    out[left & 7] = left;
  } while (left < n);
  for (;;) {
    if (left-- == 0) break;
  }
  int k = 0;
  for (k = 3; k < n; k = in[k] > 5 ? k + 1 : k * 2) {
    if (in[k] == 2) continue;
    sum ^= k;
  }
  out[8] = sum + k;
}

/* Made by Quern. Build with: -cl-std=CL1.2 */
#pragma OPENCL FP_CONTRACT OFF

kernel void loops(global int *out, global const int *in, int n) {
  int sum = 0;
  for (int i = 0; i < n; i++) {
    if (in[i] < 0) {
      continue;
    }
    int k = 0;
    for (int m = n; k < m; k += 2, m--) {
      sum += in[k] * k;
    }
    if (sum > 1000) {
      break;
    }
  }
  int left = sum;
  while (left > 10) {
    left = left / 2;
  }
  do {
    left += 3;
    if (left == 7) {
      continue;
    }
    out[left & 7] = left;
  } while (left < n);
  for (;;) {
    const int t = left;
    left = t - 1;
    if (t == 0) {
      break;
    }
  }
  int k_1 = 0;
  k_1 = 3;
  for (; k_1 < n; k_1 = in[k_1] > 5 ? k_1 + 1 : k_1 * 2) {
    if (in[k_1] == 2) {
      continue;
    }
    sum ^= k_1;
  }
  out[8] = sum + k_1;
}

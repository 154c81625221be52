// Loops that stay, a switch of few cases and one of many, leaving early.
kernel void control(global int *out, global const int *in, int n) {
  int i = get_global_id(0), sum = 0;
  for (int k = 0; k < n; k += get_local_size(0)) {
    if (in[k] < 0) continue;
    if (in[k] == 1000) break;
    switch (in[k] & 3) {
      case 0: sum += 2; break;
      case 2: sum ^= 5;
      default: sum -= 1;
    }
  }
  switch (sum) {
    case 1: sum = 7; break;
    case 5: sum = 11; break;
    case -3: return;
    case 20: sum = 1; break;
    case 21: sum = 9; break;
    case 30: sum = 8; break;
    case 31: sum = 2; break;
    case 32: sum = 3; break;
  }
  do sum = sum * 3 + 1; while (sum < n);
  out[i] = sum;
}

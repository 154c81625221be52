kernel void control(global int *out, int n) {
  int i = 0, sum = 0;
  while (i < n) {
    if (i == 3) {
      i += 2;
      continue;
    }
    for (int k = 0; k < i; k++) {
      if (k == 5) break;
      sum += k;
    }
    i++;
  }
  do sum -= i; while (--i > 2);
  switch (n) {
    case 1:
    case 2:
      sum = 1;
      break;
    case -3:
      sum = 2;
    default:
      sum += 3;
  }
  for (;;) {
    if (sum & 1) break;
    sum = sum / 2 + 7;
    if (sum == 100) return;
  }
  out[get_global_id(0)] = sum;
}

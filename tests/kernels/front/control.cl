kernel void loops(global int *r, int n) {
  int s = 0;
  for (int i = 0; i < n; i++) {
    if (i == 3) continue;
    if (i == r[i]) break;
    s += i;
  }
  while (s > n)
    s -= n;
  do {
    s--;
    if (s == 5) continue;
    n--;
  } while (s);
  do
    s = n;
  while (0);
  for (;;) {
    if (s++ > 9) break;
  }
  if (1)
    r[0] = s;
  else
    r[1] = s;
}

kernel void short_circuit(global int *r, int n) {
  int a = n > 1 && n < 5, b = n && r[n] > 2 || r[0];
  r[1] = a ? n : b;
  r[2] = n > 2 ? r[n] : -1;
  n > 3 ? (void)r[4]++ : (void)0;
  if (!(n == 1 && r[7])) r[3] = a, r[5] = b;
}

int early(int x) {
  if (x > 3) return 1;
  return 2;
  x = 4;
}

int falls_off(int x) {
  if (x) return early(x);
}

kernel void calls(global int *r) { r[0] = falls_off(r[1]); }

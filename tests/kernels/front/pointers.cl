kernel void walk(global int *p, int n, constant int (*rows)[4]) {
  global int *end = p + n, *q = end - 1;
  while (p < end) *p++ = *q--;
  p[0] = end - p;
  p[1] = rows[n][2] + (*rows)[1] + *rows[3];
  int a[2][3];
  int(*row)[3] = a;
  row[1][2] = 4;
  int *x = a[0], **xx = &x;
  **xx = 5;
  (*xx)++;
  2 [p] = *x + a[1][2] + (&a[1][0] - &a[0][0]);
  p += n;
  p -= 2;
  --p;
  *(p - n) = n[p];
}

void swap(local int *a, local int *b) {
  int t = *a;
  *a = *b, *b = t;
}

kernel void locals(local int *dynamic, global int *r) {
  local int tile[4][5], one;
  one = 3;
  swap(&tile[1][2], dynamic + 1);
  swap(tile[0], &one);
  r[0] = tile[1][2] + dynamic[1] + one;
}

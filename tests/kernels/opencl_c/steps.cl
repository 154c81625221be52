// What a pointer points to is counted, not the pointer; a struct by value is copied where anything may write to it.
typedef struct {
  int a, b[3];
} box;
void step(int *p, box *q, int **r) {
  (*p)++;
  q->a++;
  --q->b[1];
  (**r)--;
  p[1]++;
}
void fill(int *b) { b[2] = 1; }
kernel void written(global int *out, box v) {
  int x[2] = {1, 2}, *r = x;
  step(x, &v, &r);
  (*(out + 3))++;
  out[0] = x[0] + x[1] + v.a + v.b[1];
}
kernel void decayed(global int *out, box v) {
  fill(v.b);
  out[0] = v.b[2];
}
kernel void read(global int *out, box v, int n) { out[0] = v.a + v.b[n] + *v.b; }

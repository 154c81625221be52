// Structs with their layout, unions, arrays of arrays, pointers to pointers, constants that point, packed members.
typedef struct {
  uchar tag;
  float3 at;
  short count[3];
} part;
typedef struct __attribute__((packed)) {
  uchar tag;
  int word;
  float4 v;
} tight;
typedef union {
  float f;
  uint u;
  uchar c[4];
} any;
struct list {
  int value;
  const struct list *next;
};
constant float weights[2][3] = {{0.25f, 0.5f, 0.1f}, {1.0f, -2.0f}};
constant part first = {7, (float3)(1.0f, 2.0f, 3.0f), {1, 2}};
constant float *constant middle = &weights[1][1];
void swap(int *a, int *b) {
  int t = *a;
  *a = *b;
  *b = t;
}
part moved(part p, float by) {
  p.at += by;
  p.count[p.tag % 3]++;
  return p;
}
kernel void memory(global part *parts, global tight *tights, global float *out, local float *tile, any a, int n) {
  local float square[4][5];
  int pair[2] = {n, 3}, *p = pair;
  swap(p, &pair[1]);
  part own = parts[n], other = moved(own, 2.0f);
  other.count[1] = own.count[2];
  parts[n + 1] = other;
  tights[1] = tights[0];
  tights[2].word = tights[n].word + tights[n].tag;
  tights[3].v.y = a.f;
  any b = a;
  b.c[1] = 3;
  struct list tail = {4, 0}, head = {5, &tail};
  square[n & 3][1] = tile[n];
  barrier(CLK_LOCAL_MEM_FENCE);
  int rows[3][2] = {{1, 2}, {3, 4}, {5, n}};
  out[0] = square[1][n & 3] + weights[n & 1][2] + *middle + first.at.y + b.u + head.next->value + rows[n % 3][1];
  volatile global float *hot = out + 5;
  *hot = *hot + 1.0f;
  long address = (long)out;
  ((global float *)address)[6] = p - pair + (float)(out < hot);
}

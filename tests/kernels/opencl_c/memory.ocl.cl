/* Made by Quern. Build with: -cl-std=CL1.2 */
#pragma OPENCL FP_CONTRACT OFF

struct my_struct {
  uchar tag;
  float3 at;
  short count[3];
};
typedef char quern_size_of_struct[sizeof(struct my_struct) == 48 ? 1 : -1];
struct struct_1 {
  uchar tag;
  int word;
  float4 v;
} __attribute__((packed));
typedef char quern_size_of_struct_1[sizeof(struct struct_1) == 21 ? 1 : -1];
union my_union {
  float f;
  uint u;
  char c[4];
};
typedef char quern_size_of_union[sizeof(union my_union) == 4 ? 1 : -1];
struct quern_packed_float {
  float value;
} __attribute__((packed));
struct list {
  int value;
  struct list *next;
};
typedef char quern_size_of_list[sizeof(struct list) == 16 ? 1 : -1];

constant float weights[2][3] = {{0.25f, 0.5f, 0x1.99999ap-4f}, {1.0f, -2.0f}};
constant float *constant middle = (constant float *)((constant char *)&weights + 16);
constant uint first[12] __attribute__((aligned(16))) = {7, 0, 0, 0, 0x3f800000, 0x40000000, 0x40400000, 0,
    0x20001, 0, 0, 0};

void swap(int *a, int *b) {
  const int t = *a;
  *a = *b;
  *b = t;
}

#pragma OPENCL FP_CONTRACT ON

void moved(struct my_struct *result, struct my_struct *p, float by) {
  p->at += (float3)(by);
  const int t = (int)p->tag % 3;
  p->count[t] = (short)((int)p->count[t] + 1);
  *result = *p;
}

kernel void memory(global struct my_struct *parts, global struct struct_1 *tights, global float *out, local const float *tile, union my_union a, int n) {
  local float square[4][5];
  int pair[2];
  pair[0] = n;
  pair[1] = 3;
  swap(pair, &pair[1]);
  struct my_struct own = parts[n];
  struct my_struct argument = own;
  struct my_struct result;
  moved(&result, &argument, 2.0f);
  struct my_struct other = result;
  other.count[1] = own.count[2];
  parts[n + 1] = other;
  tights[1] = tights[0];
  tights[2].word = tights[n].word + (int)tights[n].tag;
  ((global struct quern_packed_float *)((global float *)&tights[3].v + 1))->value = a.f;
  union my_union b = a;
  b.c[1] = 3;
  struct list tail;
  tail.value = 4;
  tail.next = (struct list *)0;
  struct list head;
  head.value = 5;
  head.next = &tail;
  square[n & 3][1] = tile[n];
  barrier(CLK_LOCAL_MEM_FENCE);
  int rows[3][2];
  rows[0][0] = 1;
  rows[0][1] = 2;
  rows[1][0] = 3;
  rows[1][1] = 4;
  rows[2][0] = 5;
  rows[2][1] = n;
  out[0] = square[1][n & 3] + weights[n & 1][2] + *middle + ((constant float *)&(*(constant struct my_struct *)first).at)[1] + (float)b.u + (float)head.next->value + (float)rows[n % 3][1];
  const float t = *(global volatile float *)(out + 5);
  *(global volatile float *)(out + 5) = t + 1.0f;
  ((global float *)(ulong)(ulong)(long)(ulong)out)[6] = (float)(pair - pair) + (float)(out < out + 5);
}

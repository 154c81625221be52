typedef unsigned int word;
typedef struct {
  int x;
} item;
kernel void k(const global float4 *restrict a, volatile global word *b, constant uchar *c, local short3 *d,
              global item *e, item f, const uint g, ulong h, global void *i, unsigned char j, global const double *k,
              global half *l, word m, long long n) __attribute__((work_group_size_hint(64, 1, 1))) {}

__attribute__((reqd_work_group_size(8, 4, 2))) __attribute__((vec_type_hint(float4))) kernel void sized(void) {}

typedef unsigned char byte;
typedef float float4x __attribute__((aligned(16)));
enum color { RED, GREEN = 5, BLUE };
enum { BELOW = -1 };
static inline int helper(enum color c) { return c; }
int unused(int x) { return x * 2; }
int clamp(int x);
int clamp(int x) { return x; }
kernel void k(global int *r) {
  int x = 1;
  {
    int x = 2;
    r[0] = x;
    typedef int byte;
    byte b = -1;
    r[1] = b;
    struct p {
      int a;
    } s = {7};
    r[2] = s.a;
  }
  for (int x = 3; x < 5; x++) r[x] = x;
  r[5] = x + BLUE + BELOW + helper(GREEN) + clamp(3);
  byte b = 300;
  r[6] = b;
  int float4 = 3;
  r[7] = float4;
  extern int later(int);
  r[8] = later(1) + sizeof(typeof(x)) + vec_step(float3) + vec_step(r[0]) + __alignof__(double);
  _Static_assert(sizeof(int) == 4, "int");
}
int later(int x) { return x + 1; }

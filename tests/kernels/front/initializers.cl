#define N 3
constant float weights[] = {0.25f, 0.5f, 0.25f};
constant struct {
  int a[2][2];
  float4 v;
  union {
    char c;
    double d;
  };
} table = {.v = (float4)(1, 2, 3, 4), .a[1] = {[1] = N * 2}, .d = 0.5};
constant int count = sizeof weights / sizeof weights[0];
constant float2 pairs[2] = {1, 2, (float2)(3, 4)};
constant float *constant middle = weights + 1;
constant int *constant corner = &table.a[1][0];
constant char text[8] = "abc";
constant uint mask = ~0u >> 4, shifted = -1 >> 28, big = 1 ? 3000000000 : 2;
constant double third = 1.0 / 3;
constant bool yes = 1 < 2 && count;

kernel void use(global float *r, int n) {
  int few[4] = {1, n};
  int many[40] = {[3] = n, 4, [30] = 5};
  float4 v = {1, 2, n}, splat = 2;
  int2 grid[2][2] = {{{1, 2}, {3, n}}, 5, 6, 7};
  const int size = 4;
  float tile[size + 1] = {};
  struct {
    char name[6];
    float x;
  } s = {"hi", .x = n};
  r[0] = weights[n] + table.a[n][1] + table.v.y + count + pairs[1].y + *middle + corner[1];
  r[1] = few[n] + many[n] + v.z + splat.w + grid[n][0].x + tile[n] + s.name[1] + s.x;
  r[2] = text[n] + mask + shifted + third + yes + big;
  r[3] = ((struct { int a, b; }){n, 2}).b + (float2){n, 4}.y;
}

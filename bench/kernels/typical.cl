// 100 lines as they are found in programs: what bench_compile reads once, and a hundred times with other numbers for _0.

#define TILE_0 16
#define SQUARE_0(x) ((x) * (x))

typedef struct {
  float4 position;
  float4 velocity;
  float mass;
  int kind;
} particle_0;

constant float weights_0[5] = {0.0625f, 0.25f, 0.375f, 0.25f, 0.0625f};

// What a body at `at` feels of another one.
float3 pull_0(float3 at, float4 other, float softening) {
  float3 d = other.xyz - at;
  float r2 = dot(d, d) + softening;
  float inv = rsqrt(r2);
  return d * (other.w * inv * inv * inv);
}

kernel void step_0(global particle_0 *particles, global const float4 *bodies, int count, float softening, float dt) {
  int i = get_global_id(0);
  if (particles[i].kind < 0) return;
  float3 at = particles[i].position.xyz;
  float3 force = (float3)(0.0f);
  for (int j = 0; j < count; j++) {
    force += pull_0(at, bodies[j], softening);
  }
  float4 velocity = particles[i].velocity;
  velocity.xyz += force * (dt / particles[i].mass);
  particles[i].velocity = velocity;
  particles[i].position.xyz = at + velocity.xyz * dt;
}

// One tile of a product of matrices.
kernel void product_0(global float *c, global const float *a, global const float *b, int n) {
  local float left[TILE_0][TILE_0];
  local float right[TILE_0][TILE_0];
  int lx = get_local_id(0);
  int ly = get_local_id(1);
  int x = get_global_id(0);
  int y = get_global_id(1);
  float sum = 0;
  for (int t = 0; t < n; t += TILE_0) {
    left[ly][lx] = a[y * n + t + lx];
    right[ly][lx] = b[(t + ly) * n + x];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int k = 0; k < TILE_0; k++) {
      sum = mad(left[ly][k], right[k][lx], sum);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  c[y * n + x] = sum;
}

// A blur along one axis, with the edge's pixels repeated.
kernel void blur_0(global uchar4 *out, global const uchar4 *in, int width, int height) {
  int x = get_global_id(0);
  int y = get_global_id(1);
  if (x >= width || y >= height) {
    return;
  }
  float4 sum = (float4)(0.0f, 0.0f, 0.0f, 0.0f);
  for (int i = -2; i <= 2; i++) {
    int u = clamp(x + i, 0, width - 1);
    sum += weights_0[i + 2] * convert_float4(in[y * width + u]);
  }
  out[y * width + x] = convert_uchar4_sat_rte(sum);
}

// How far a point is inside of the set.
uint depth_0(float cx, float cy, uint limit) {
  float zx = 0;
  float zy = 0;
  uint n = 0;
  while (n < limit && SQUARE_0(zx) + SQUARE_0(zy) < 4.0f) {
    float t = SQUARE_0(zx) - SQUARE_0(zy) + cx;
    zy = 2 * zx * zy + cy;
    zx = t;
    n++;
  }
  return n;
}

kernel void count_0(global uint *bins, global const float2 *points, uint limit) {
  local uint mine[64];
  int l = get_local_id(0);
  for (int i = l; i < 64; i += get_local_size(0)) {
    mine[i] = 0;
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  float2 at = points[get_global_id(0)];
  atomic_inc(&mine[depth_0(at.x, at.y, limit) & 63]);
  barrier(CLK_LOCAL_MEM_FENCE);
  for (int i = l; i < 64; i += get_local_size(0)) {
    if (mine[i] != 0) atomic_add(&bins[i], mine[i]);
  }
}

// Arithmetic: physics, finance, hashing, clusters.

kernel void nbody(global float4 *out, global const float4 *body, int count, float softening) {
  int i = get_global_id(0);
  float4 me = body[i];
  float ax = 0, ay = 0, az = 0;
  for (int j = 0; j < count; j++) {
    float4 other = body[j];
    float dx = other.x - me.x, dy = other.y - me.y, dz = other.z - me.z;
    float r2 = dx * dx + dy * dy + dz * dz + softening;
    float inv = rsqrt(r2);
    float s = other.w * inv * inv * inv;
    ax += dx * s;
    ay += dy * s;
    az += dz * s;
  }
  out[i] = (float4)(ax, ay, az, me.w);
}

float normal(float d) {
  const float a1 = 0.31938153f, a2 = -0.356563782f, a3 = 1.781477937f, a4 = -1.821255978f, a5 = 1.330274429f;
  float k = 1.0f / (1.0f + 0.2316419f * fabs(d));
  float tail = 0.39894228f * exp(-0.5f * d * d) * (k * (a1 + k * (a2 + k * (a3 + k * (a4 + k * a5)))));
  return d > 0 ? 1.0f - tail : tail;
}

kernel void black_scholes(global float *call, global float *put, global const float *price, global const float *strike,
                          global const float *years, float rate, float volatility) {
  size_t i = get_global_id(0);
  float s = 5.0f + 25.0f * price[i], x = 1.0f + 99.0f * strike[i], t = 0.25f + 9.75f * years[i];
  float root = sqrt(t);
  float d1 = (log(s / x) + (rate + 0.5f * volatility * volatility) * t) / (volatility * root);
  float d2 = d1 - volatility * root;
  float n1 = normal(d1), n2 = normal(d2), discounted = x * exp(-rate * t);
  call[i] = s * n1 - discounted * n2;
  put[i] = discounted * (1.0f - n2) - s * (1.0f - n1);
}

kernel void sines(global float *out, global const float *in) {
  size_t i = get_global_id(0);
  float x = in[i] * 20.0f;
  out[i] = sin(x) * cos(0.5f * x) + pow(fabs(x) + 0.1f, 0.3f);
}

uint rotate_left(uint x, uint n) { return x << n | x >> (32 - n); }

// Many rounds of a hash of 32 bits.
kernel void hash(global uint *out, global const uint *in, int rounds) {
  size_t i = get_global_id(0);
  uint h = in[i];
  for (int r = 0; r < rounds; r++) {
    h ^= h >> 16;
    h *= 0x85ebca6bu;
    h = rotate_left(h, 13) ^ (uint)i;
    h *= 0xc2b2ae35u;
  }
  out[i] = h;
}

// The nearest of `count` centres of 4 dimensions.
kernel void nearest(global int *out, global const float4 *points, global const float4 *centres, int count) {
  size_t i = get_global_id(0);
  float4 p = points[i];
  float best = FLT_MAX;
  int which = 0;
  for (int c = 0; c < count; c++) {
    float4 d = p - centres[c];
    float distance = dot(d, d);
    if (distance < best) {
      best = distance;
      which = c;
    }
  }
  out[i] = which;
}

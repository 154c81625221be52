struct __attribute__((packed)) mixed {
  char c;
  int i;
  float3 v;
};
typedef struct body {
  float4 position;
  struct {
    float mass;
    union {
      int id;
      float bits;
    };
  };
  struct body_link *link;
  short tags[3];
} body;
struct aligned_one {
  float x;
} __attribute__((aligned(32)));

body move(body b, float4 by) {
  b.position += by;
  return b;
}

float weigh(const body *b) { return b->mass * b->bits; }

kernel void use(global body *bodies, global struct mixed *m, struct aligned_one one) {
  size_t i = get_global_id(0);
  body b = bodies[i], none = {0};
  b = move(b, (float4)(one.x));
  bodies[i] = i > 4 ? b : none;
  bodies[i + 1].tags[2] += 1;
  bodies[i].mass = move(bodies[3], 1).mass + weigh(&b);
  b.id = 3;
  m[i].i = b.id;
  m[i].v.y = m[i].v.x;
  m[i].v = b.position.xyz;
  m[1] = m[0];
  (*m).c = sizeof(body) + sizeof(struct mixed) + sizeof one;
}

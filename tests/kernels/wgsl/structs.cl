typedef struct { float4 position; float mass; short tag[3]; } particle;
typedef struct { float4 gravity; float step; } world;
kernel void structs(global particle *all, world w) {
  size_t i = get_global_id(0);
  particle p = all[i];
  p.position = (p.position + w.gravity) * w.step;
  p.tag[1] = p.mass > 1;
  all[i] = p;
}

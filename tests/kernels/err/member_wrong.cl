struct body {
  float4 position velocity;
  float mass;
};
__kernel void a(__global struct body *p) {
  p[0].mass = 1;
  p[1].position = p[0].velocity;
  struct body x = p[3];
  p[4] = x;
}

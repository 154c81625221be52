/* One step of n bodies that attract each other. A body is (x, y, z, mass); velocities are (x, y, z, unused). */
kernel void nbody(global const float4 *bodies, global float4 *velocities, global float4 *moved, uint n, float dt) {
  const size_t i = get_global_id(0);
  if (i >= n) return;
  const float4 me = bodies[i];
  float3 force = 0;
  for (uint j = 0; j < n; j++) {
    const float4 other = bodies[j];
    const float3 d = other.xyz - me.xyz;
    const float inverse = rsqrt(dot(d, d) + 1e-6f);
    force += d * (other.w * inverse * inverse * inverse);
  }
  const float3 velocity = velocities[i].xyz + force * dt;
  velocities[i].xyz = velocity;
  moved[i] = (float4)(me.xyz + velocity * dt, me.w);
}

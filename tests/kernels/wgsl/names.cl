// Words that WGSL has taken.
kernel void fn(global int *var, int let, local int *loop, int local_id) {
  int vec2 = let, f32 = local_id;
  for (int override = 0; override < vec2; override++) var[override] = f32 + loop[override];
}
kernel void main2(global int *var, int quern_zero) { var[0] = quern_zero; }

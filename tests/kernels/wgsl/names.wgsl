// Made by Quern.

override my_fn_group_x: u32 = 1u;
override my_fn_group_y: u32 = 1u;
override my_fn_group_z: u32 = 1u;
struct my_fn_arguments {
  var_at: u32,
  my_let: u32,
  my_local_id: u32,
}
@group(0) @binding(0) var<uniform> my_fn_args: my_fn_arguments;
@group(0) @binding(1) var<storage, read_write> my_fn_var: array<u32>;
override my_fn_loop_length: u32 = 1u;
var<workgroup> my_fn_loop: array<u32, my_fn_loop_length>;

override main2_group_x: u32 = 1u;
override main2_group_y: u32 = 1u;
override main2_group_z: u32 = 1u;
struct main2_arguments {
  var_at: u32,
  zero: u32,
}
@group(0) @binding(0) var<uniform> main2_args: main2_arguments;
@group(0) @binding(1) var<storage, read_write> main2_var: array<u32>;

@compute @workgroup_size(my_fn_group_x, my_fn_group_y, my_fn_group_z)
fn my_fn(@builtin(local_invocation_id) local_id: vec3<u32>, @builtin(workgroup_id) group_id: vec3<u32>,
    @builtin(global_invocation_id) global_id: vec3<u32>, @builtin(local_invocation_index) local_index: u32) {
  let var_from = my_fn_args.var_at >> 2u;
  let my_let = my_fn_args.my_let;
  let my_local_id = my_fn_args.my_local_id;
  let end = u32(max(i32(my_let), 0i));
  for (var my_override = 0u; my_override < end; my_override = my_override + 1u) {
    my_fn_var[var_from + my_override] = my_local_id + my_fn_loop[my_override];
  }
}

@compute @workgroup_size(main2_group_x, main2_group_y, main2_group_z)
fn main2(@builtin(local_invocation_id) local_id: vec3<u32>, @builtin(workgroup_id) group_id: vec3<u32>,
    @builtin(global_invocation_id) global_id: vec3<u32>, @builtin(local_invocation_index) local_index: u32) {
  let var_from = main2_args.var_at >> 2u;
  let zero = main2_args.zero;
  main2_var[var_from] = zero;
}

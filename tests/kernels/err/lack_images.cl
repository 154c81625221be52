// Each of these hangs on the first: there are no images.
constant sampler_t s = CLK_NORMALIZED_COORDS_FALSE | CLK_ADDRESS_CLAMP | CLK_FILTER_NEAREST;
const sampler_t t = CLK_FILTER_LINEAR | 0x10;
float4 at(image2d_t in, int2 c) { return read_imagef(in, s, c); }
kernel void k(__read_only image2d_t in, __write_only image2d_array_t out, global float4 *p) {
  int2 c = (int2)(get_global_id(0), get_global_id(1));
  float4 v = read_imagef(in, s, c);
  if (get_image_channel_order(in) == CLK_RGBA && get_image_channel_data_type(in) == CLK_UNORM_INT8) v.x = 1;
  write_imagef(out, c, v * 2);
  p[0] = at(in, c) + v;
}
kernel void l(sampler_t sampler, read_only image3d_t in, global uint4 *p) {
  const sampler_t inner = CLK_ADDRESS_NONE;
  p[0] = read_imageui(in, inner, (int4)(0)) + read_imageui(in, sampler, (int4)(1));
  int w = get_image_width(in);
  p[w].x = get_image_dim(in).y;
}

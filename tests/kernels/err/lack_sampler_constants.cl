// The constants come first.
#define NEAREST (CLK_ADDRESS_CLAMP_TO_EDGE | CLK_FILTER_NEAREST)
constant int flags = NEAREST;
constant sampler_t s = NEAREST;
kernel void k(global int *p, image1d_t i) { p[0] = flags; }

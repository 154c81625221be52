// A block is no expression that is damaged: what stands behind it is read.
kernel void k(global int *p, queue_t q) {
  clk_event_t e = CLK_NULL_EVENT;
  ndrange_t n = ndrange_1D(4);
  enqueue_kernel(q, CLK_ENQUEUE_FLAGS_NO_WAIT, n, ^{
    p[0] = 1;
  });
}
kernel void l(global int *p) {
  int before = p[0];
  enqueue_kernel(get_default_queue(), CLK_ENQUEUE_FLAGS_WAIT_KERNEL, ndrange_2D(p), 0, 0, 0, ^(local void *t) {
    p[1] = before;
  }, 4);
  p[2] = before;
}

// What isn't here leaves its names to the program.
typedef struct { int pipe; } pipe;
typedef int event_t;
#define CLK_RGBA 4
#define printf(...)
enum memory_order { relaxed };
int sub_group_size(int queue_t) { return queue_t; }
kernel void k(global int *p, int image2d_t, pipe q) {
  event_t sampler_t = q.pipe + CLK_RGBA;
  printf("%d", 3);
  p[0] = sampler_t + image2d_t + sub_group_size(3);
}

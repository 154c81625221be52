// Enumerations' constants are ints where they fit; wider ones keep their value, as in other compilers.
enum small { A, B = 7, C, D = -2, E };
enum large { WIDE = 0x736f6d6570736575UL, NEXT, TOP = 0xffffffffffffffffUL };
__kernel void k(__global ulong *out, __global int *sizes) {
  enum large value = NEXT;
  out[0] = value;
  out[1] = WIDE + C;
  out[2] = TOP;
  sizes[0] = sizeof(enum small);
  sizes[1] = sizeof(enum large);
  sizes[2] = D + E;
  sizes[3] = D < A;
}

// errors: 4
kernel void k(global int *o) {
  for (int i = 0, i < 3, i++)
    o[0] = unknown1;
  for (int j = 0, j < 3; j++) {
    o[j] = unknown2;
  }
}

// Conditions and switches; a switch that falls through.
kernel void choices(global int *out, global const uint *in, int n) {
  int i = get_global_id(0);
  if (i >= n) return;
  uint x = in[i];
  if (x < 3) {
    out[i] = 1;
  } else if (x < 10 && in[i + 1] > 2) {
    out[i] = 2;
  } else if (x == 12) {
  } else {
    out[i] = x > 100 ? -1 : 4;
  }
  if (x != 5) {
  } else {
    out[i]++;
  }
  switch (x & 7) {
    case 0:
      out[n + i] = 10;
      break;
    case 1:
      out[n + i] = 11;
    case 2:
      out[n + i] += 2;
      break;
    case 5:
      return;
    default:
      out[n + i] = (int)x;
  }
  bool both = x > 7 && out[i] < 4, either = both || i == 3;
  if (!either) out[i] = both;
}

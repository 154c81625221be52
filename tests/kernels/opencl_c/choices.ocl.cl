/* Made by Quern. Build with: -cl-std=CL1.2 */
#pragma OPENCL FP_CONTRACT OFF

kernel void choices(global int *out, global const uint *in, int n) {
  const int i = (int)get_global_id(0);
  if (n <= i) {
    return;
  }
  const uint x = in[i];
  if (x < 3) {
    out[i] = 1;
  } else {
    bool truth = x < 10;
    if (truth) {
      truth = in[i + 1] > 2;
    }
    if (truth) {
      out[i] = 2;
    } else if (x != 12) {
      out[i] = x > 100 ? -1 : 4;
    }
  }
  if (x == 5) {
    out[i]++;
  }
  int group = 3;
  uint at = 4;
  switch (x & 7) {
    case 0: {
      group = 0;
      at = 0;
      break;
    }
    case 1: {
      group = 1;
      at = 1;
      break;
    }
    case 2: {
      group = 1;
      at = 2;
      break;
    }
    case 5: {
      group = 2;
      at = 3;
      break;
    }
  }
  switch (group) {
    case 0: {
      out[n + i] = 10;
      break;
    }
    case 1: {
      if (at <= 1) {
        out[n + i] = 11;
      }
      const int t = n + i;
      out[t] += 2;
      break;
    }
    case 2: {
      return;
    }
    case 3: {
      out[n + i] = x;
      break;
    }
  }
  bool truth_1 = x > 7;
  if (truth_1) {
    truth_1 = out[i] < 4;
  }
  if (!(truth_1 | (i == 3))) {
    out[i] = (int)truth_1;
  }
}

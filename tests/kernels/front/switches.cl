kernel void plain(global int *r, uchar c) {
  switch (c) {
    case 1:
      r[0] = 1;
      break;
    case 'A': {
      r[0] = 2;
      break;
    }
    case -1:
    default:
      r[0] = 3;
  }
}

kernel void falling(global int *r, long n) {
  for (int i = 0; i < 9; i++) {
    switch (n + i) {
      int unreached;
      case 1:
        r[0] = 1;
      case 2:
      case 3:
        if (i == 2) break;
        r[0] += 2;
        continue;
      case 1L << 40:
        r[1] = 1;
        break;
      case 5:
        unreached = 7;
        r[2] = unreached;
    }
  }
}

kernel void strange(global int *r) {
  switch (r[0]) {}
  switch (r[1])
  case 3:
    r[1] = 2;
  switch (r[2]) {
    default:
      if (r[3])
        break;
      else
        return;
    case 7:
      r[4] = 1;
  }
}

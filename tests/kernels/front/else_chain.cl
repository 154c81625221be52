// A chain of else-ifs that is cut, so that blocks do not nest as deep as it is long.
kernel void k(global int *y, int n) {
  if (n == 0) *y = 10;
  else if (n == 1) *y = 11;
  else if (n == 2) *y = 12;
  else if (n == 3) *y = 13;
  else if (n == 4) *y = 14;
  else if (n == 5) *y = 15;
  else if (n == 6) *y = 16;
  else if (n == 7) *y = 17;
  else if (n == 8) *y = 18;
  else if (n == 9) *y = 19;
  else if (n == 10) *y = 20;
  else if (n == 11) *y = 21;
  else if (n == 12) *y = 22;
  else if (n == 13) *y = 23;
  else if (n == 14) *y = 24;
  else if (n == 15) *y = 25;
  else if (n == 16) *y = 26;
  else if (n == 17) *y = 27;
  else *y = 0;
}

// errors: 2
#define TEXT "abc
kernel void k(global int *o) {
  o[0] = TEXT; o[1] = unknown;
  o[2] = TEXT;
}

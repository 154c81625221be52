// errors: 4
// Once in a statement, whatever there is of it.
half2 f(half a, half b);
kernel void k(global int *o) {
  half h = 1.0h;
  half4 a = (half4)(1.0h), b = a * 2.0h;
  o[0] = (int)(2.0h * 3.0h);
}

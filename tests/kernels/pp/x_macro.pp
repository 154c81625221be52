# 7 "x_macro.cl"
enum operation { OP_add, OP_sub, OP_mul, OP_COUNT };




float apply(int what, float a, float b) {
  switch (what) { case OP_add: return a + b; case OP_sub: return a - b; case OP_mul: return a * b; }
  return 0.0f;
}


__constant char *const names[] = {"add" ": " "addition" ", " "+", "sub" ": " "subtraction" ", " "-", "mul" ": " "product" ", " "*",};

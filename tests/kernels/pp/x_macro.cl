// Tables as macros.
#define OPERATIONS(X)      \
  X(add, +, "addition")    \
  X(sub, -, "subtraction") \
  X(mul, *, "product")
#define ENUM(name, op, text) OP_##name,
enum operation { OPERATIONS(ENUM) OP_COUNT };
#undef ENUM
#define CASE(name, op, text)                                   \
  case OP_##name: /* text */                                   \
    return a op b;
float apply(int what, float a, float b) {
  switch (what) { OPERATIONS(CASE) }
  return 0.0f;
}
#undef CASE
#define NAME(name, op, text) #name ": " text ", " #op,
__constant char *const names[] = {OPERATIONS(NAME)};

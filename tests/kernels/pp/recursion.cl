// What is named within its own replacement stays.
#define f(x) x + f(x)
#define g g(1)
#define even(n) odd(n - 1)
#define odd(n) even(n - 1)
#define get_global_id(d) ((int)get_global_id(d))
f(f(1)) | g | even(4) | get_global_id(get_global_id(0))
#define EMPTY
#define DEFER(m) m EMPTY
#define EXPAND(x) x
DEFER(f)(2) | EXPAND(DEFER(f)(2))

/* expect: A1: f: parameter 1 'enum e' */
#include <stdint.h>

enum e { A, B };
void f(enum e a);

/* math.cl - the math library: OpenCL C of our own, compiled into every target.
 *
 * Functions are scalar, named NAME__f32 and NAME__f64; they become the library functions "NAME.f32" and "NAME.f64". A
 * family is written once, in the words of math/real32.clh and math/real64.clh. Rules that all of it keeps, so that it
 * compiles for every target and vectorises: float functions use nothing wider than 32 bits; the common path has no branch
 * but selects; no pointer but to private variables; a * b + c may be fused or not; where exactness matters, fma is called.
 */
/* clang-format off: the order counts */
#include "math/coefficients.clh"

#include "math/real32.clh"
#include "math/families.clh"
#include "math/real_end.clh"

#include "math/native.clh"

#include "math/real64.clh"
#include "math/families.clh"
#include "math/real_end.clh"

/* library.cl - everything that the embedded library holds, as one text. */

/* clang-format off: the order counts */
#include "math.cl"

#include "math/real32.clh"
#include "math/geometric.clh"
#include "math/rounded.clh"
#include "math/real_end.clh"

#include "math/real64.clh"
#include "math/geometric.clh"
#include "math/real_end.clh"

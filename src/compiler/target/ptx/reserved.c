/* reserved.c - what no identifier of ours may be. PTX's directives begin with a point, its registers with %, and words of
 * instructions are names all the same. */
#include "compiler/target/ptx/emit.h"

bool ptx_is_reserved_word(qn_sv name) { return qn_sv_is(name, "WARP_SZ") || qn_sv_is(name, "_"); }

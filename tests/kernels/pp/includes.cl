// options: -I include
#include "include/tile.h"
#include <types.h>
#define HEADER <tile.h>
#include HEADER
#if __has_include(<tile.h>) && !__has_include("tile.h")
__kernel void f(__local real *t) { t[0] = tile_sum(t); }
#endif

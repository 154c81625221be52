#ifndef TILE_H
#define TILE_H
#include "../include/types.h"
#define TILE 16
inline real tile_sum(__local const real *t) { return t[0] + t[TILE - 1]; }
#endif

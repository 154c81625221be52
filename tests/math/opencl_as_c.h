/* opencl_as_c.h - enough of OpenCL C for a C compiler to take src/compiler/lib/math.cl: the library is tested apart
 * from Quern's own compiler too. Vectors are structs. */
#ifndef OPENCL_AS_C_H
#define OPENCL_AS_C_H

#include <math.h>
#include <stdint.h>
#include <string.h>

#pragma GCC diagnostic ignored "-Wconversion"
#pragma GCC diagnostic ignored "-Wfloat-conversion"
#pragma GCC diagnostic ignored "-Wunused-function"
#pragma GCC diagnostic ignored "-Wmissing-prototypes"

#define constant static const
#define uint uint32_t
#define ulong uint64_t
#define ushort uint16_t

typedef struct float2 {
  float x, y;
} float2;
typedef struct double2 {
  double x, y;
} double2;

#define REINTERPRET(name, to, from)                 \
  static inline to name(from x) {                   \
    to r;                                           \
    _Static_assert(sizeof(to) == sizeof(from), ""); \
    memcpy(&r, &x, sizeof r);                       \
    return r;                                       \
  }
REINTERPRET(as_int, int32_t, float)
REINTERPRET(as_uint, uint32_t, float)
REINTERPRET(as_float, float, uint32_t)
REINTERPRET(as_long, int64_t, double)
REINTERPRET(as_ulong, uint64_t, double)
REINTERPRET(as_double, double, uint64_t)

static inline uint32_t mul_hi32(uint32_t a, uint32_t b) { return (uint32_t)((uint64_t)a * b >> 32); }
static inline uint64_t mul_hi64(uint64_t a, uint64_t b) { return (uint64_t)((unsigned __int128)a * b >> 64); }

#undef INFINITY
#define INFINITY __builtin_inff()
#define OF_TYPE(x, name) _Generic((x), float: __builtin_##name##f, double: __builtin_##name)
#define fabs(x) OF_TYPE(x, fabs)(x)
#define rint(x) OF_TYPE(x, rint)(x)
#define floor(x) OF_TYPE(x, floor)(x)
#define sqrt(x) OF_TYPE(x, sqrt)(x)
#define copysign(x, y) OF_TYPE(x, copysign)(x, y)
#define fma(x, y, z) OF_TYPE(x, fma)(x, y, z)
#define mul_hi(x, y) _Generic((x), uint32_t: mul_hi32, uint64_t: mul_hi64)(x, y)

#endif

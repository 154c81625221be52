/* helper.c - small functions of our own in the text: what WGSL leaves open or has not. Each is there once for a number of
 * lanes, when something asks for it, with those that it calls. */
#include <string.h>

#include "compiler/target/wgsl/emit.h"

/* In the texts, which begin behind the function's name: $T the lanes as u32, $I as i32, $F as f32, $B as bool; $S what stands
 * behind names of functions for this number of lanes. `scalar`: its parameters' and result's letters, when lanes are done one by one. */
typedef struct helper_text {
  const char *name, *scalar, *text;
} helper_text;

static const helper_text texts[] = {
    /* ---- Integers of 32 bits ---- */
    {"quern_udiv", NULL,
     "(a: $T, b: $T) -> $T {\n"
     "  let none = b == $T(0u);\n"
     "  return select(a / select(b, $T(1u), none), $T(0u), none);\n"
     "}\n"},
    {"quern_urem", NULL,
     "(a: $T, b: $T) -> $T {\n"
     "  let none = b == $T(0u);\n"
     "  return select(a % select(b, $T(1u), none), a, none);\n"
     "}\n"},
    {"quern_sdiv", NULL,
     "(a: $T, b: $T) -> $T {\n"
     "  let none = b == $T(0u);\n"
     "  let past = (b == $T(0xffffffffu)) & (a == $T(0x80000000u));\n"
     "  let by = select($I(b), $I(1), none | past);\n"
     "  return select($T($I(a) / by), $T(0u), none);\n"
     "}\n"},
    {"quern_srem", NULL,
     "(a: $T, b: $T) -> $T {\n"
     "  let none = b == $T(0u);\n"
     "  let past = (b == $T(0xffffffffu)) & (a == $T(0x80000000u));\n"
     "  let by = select($I(b), $I(1), none | past);\n"
     "  return select($T($I(a) % by), a, none);\n"
     "}\n"},
    {"quern_rotl", NULL,
     "(x: $T, n: $T, bits: u32) -> $T {\n"
     "  let up = n & $T(bits - 1u);\n"
     "  return (x << up) | (x >> (($T(bits) - up) & $T(31u)));\n"
     "}\n"},
    {"quern_umulhi", NULL,
     "(a: $T, b: $T) -> $T {\n"
     "  let low = $T(0xffffu);\n"
     "  let half = $T(16u);\n"
     "  let ll = (a & low) * (b & low);\n"
     "  let lh = (a & low) * (b >> half);\n"
     "  let hl = (a >> half) * (b & low);\n"
     "  let middle = (ll >> half) + (lh & low) + (hl & low);\n"
     "  return (a >> half) * (b >> half) + (lh >> half) + (hl >> half) + (middle >> half);\n"
     "}\n"},
    {"quern_smulhi", NULL,
     "(a: $T, b: $T) -> $T {\n"
     "  let less = select($T(0u), b, $I(a) < $I(0)) + select($T(0u), a, $I(b) < $I(0));\n"
     "  return quern_umulhi$S(a, b) - less;\n"
     "}\n"},
    {"quern_saddsat", NULL,
     "(a: $T, b: $T) -> $T {\n"
     "  let sum = a + b;\n"
     "  let past = $I((a ^ sum) & (b ^ sum)) < $I(0);\n"
     "  return select(sum, select($T(0x7fffffffu), $T(0x80000000u), $I(a) < $I(0)), past);\n"
     "}\n"},
    {"quern_ssubsat", NULL,
     "(a: $T, b: $T) -> $T {\n"
     "  let difference = a - b;\n"
     "  let past = $I((a ^ b) & (a ^ difference)) < $I(0);\n"
     "  return select(difference, select($T(0x7fffffffu), $T(0x80000000u), $I(a) < $I(0)), past);\n"
     "}\n"},
    {"quern_uaddsat", NULL,
     "(a: $T, b: $T) -> $T {\n"
     "  let sum = a + b;\n"
     "  return select(sum, $T(0xffffffffu), sum < a);\n"
     "}\n"},
    {"quern_usubsat", NULL, "(a: $T, b: $T) -> $T { return a - min(a, b); }\n"},
    /* ---- Floats ---- */
    /* Not by bitcast, which naga does not take of vec2<f16>. Both are exact. */
    {"quern_half", NULL, "(bits: u32) -> f16 { return f16(unpack2x16float(bits).x); }\n"},
    {"quern_half_bits", NULL, "(x: f16) -> u32 { return pack2x16float(vec2<f32>(f32(x), 0.0f)); }\n"},
    {"quern_is_nan", NULL, "(x: $F) -> $B { return (bitcast<$T>(x) & $T(0x7fffffffu)) > $T(0x7f800000u); }\n"},
    /* Bits in the order of the numbers; zeros are one. */
    {"quern_order", NULL,
     "(x: $F) -> $I {\n"
     "  let bits = bitcast<$I>(x);\n"
     "  return select(bits, -(bits & $I(0x7fffffff)), bits < $I(0));\n"
     "}\n"},
    {"quern_less", NULL,
     "(a: $F, b: $F) -> $B {\n"
     "  return (quern_order$S(a) < quern_order$S(b)) & !(quern_is_nan$S(a) | quern_is_nan$S(b));\n"
     "}\n"},
    {"quern_equal", NULL,
     "(a: $F, b: $F) -> $B {\n"
     "  return (quern_order$S(a) == quern_order$S(b)) & !(quern_is_nan$S(a) | quern_is_nan$S(b));\n"
     "}\n"},
    {"quern_fmin", NULL,
     "(a: $F, b: $F) -> $F { return select(select(min(a, b), b, quern_is_nan$S(a)), a, quern_is_nan$S(b)); }\n"},
    {"quern_fmax", NULL,
     "(a: $F, b: $F) -> $F { return select(select(max(a, b), b, quern_is_nan$S(a)), a, quern_is_nan$S(b)); }\n"},
    /* WGSL's 2.5 ULP are for divisors from 2^-126 to 2^126. */
    {"quern_divide", NULL,
     "(x: $F, y: $F) -> $F {\n"
     "  let down = select($F(1.0f), $F(0x1p-24f), abs(y) > $F(0x1p126f));\n"
     "  let by = select(down, $F(0x1p24f), abs(y) < $F(0x1p-126f));\n"
     "  return x / (y * by) * by;\n"
     "}\n"},
    /* WGSL's may be 4.5 ULP off, and so is x by inverseSqrt: one step nearer. The product that is subtracted is off by half an ULP,
       which makes a quarter to half of one in the root. */
    {"quern_sqrt", NULL,
     "(x: $F) -> $F {\n"
     "  let is_small = x < $F(0x1p-60f);\n"
     "  let scaled = x * select($F(1.0f), $F(0x1p60f), is_small);\n"
     "  let r = inverseSqrt(scaled);\n"
     "  let y = scaled * r;\n"
     "  let half = y * $F(0.5f);\n"
     "  let rest = scaled * $F(0.25f) - half * half;\n"
     "  let near = (y + rest * (r + r)) * select($F(1.0f), $F(0x1p-30f), is_small);\n"
     "  return select(near, scaled, (scaled == $F(0.0f)) | (bitcast<$T>(scaled) == $T(0x7f800000u)));\n"
     "}\n"},
    {"quern_fround", NULL,
     "(x: $F) -> $F {\n"
     "  let whole = trunc(x);\n"
     "  return select(whole, whole + select($F(1.0f), $F(-1.0f), x < $F(0.0f)), abs(x - whole) >= $F(0.5f));\n"
     "}\n"},
    {"quern_copysign", NULL,
     "(a: $F, b: $F) -> $F {\n"
     "  return bitcast<$F>((bitcast<$T>(a) & $T(0x7fffffffu)) | (bitcast<$T>(b) & $T(0x80000000u)));\n"
     "}\n"},
    {"quern_ftos_sat", NULL,
     "(x: $F) -> $T {\n"
     "  let near = $T($I(clamp(x, $F(-2147483648.0f), $F(2147483520.0f))));\n"
     "  return select(select(near, $T(0x7fffffffu), x >= $F(2147483648.0f)), $T(0u), quern_is_nan$S(x));\n"
     "}\n"},
    {"quern_ftou_sat", NULL,
     "(x: $F) -> $T {\n"
     "  let near = $T(clamp(x, $F(0.0f), $F(4294967040.0f)));\n"
     "  return select(select(near, $T(0xffffffffu), x >= $F(4294967296.0f)), $T(0u), quern_is_nan$S(x));\n"
     "}\n"},
    {"quern_clamp_whole", NULL,
     "(x: $F, least: f32, most: f32) -> $I {\n"
     "  return select($I(clamp(x, $F(least), $F(most))), $I(0), quern_is_nan$S(x));\n"
     "}\n"},
    /* The significand's top bit is bit 63, e its biased exponent: rounded to nearest even. */
    {"quern_pack", NULL,
     "(significand: vec2<u32>, e: i32) -> u32 {\n"
     "  var m = significand;\n"
     "  var base = 0u;\n"
     "  if (e < 1) {\n"
     "    m = quern_shift_down(m, u32(1 - e));\n"
     "  } else if (e > 254) {\n"
     "    return 0x7f800000u;\n"
     "  } else {\n"
     "    base = u32(e - 1) << 23u;\n"
     "  }\n"
     "  let kept = m.y >> 8u;\n"
     "  let rest = (m.y & 0x7fu) | m.x | (kept & 1u);\n"
     "  return base + kept + select(0u, 1u, (m.y & 0x80u) != 0u && rest != 0u);\n"
     "}\n"},
    /* What is lost stays in the last bit. */
    {"quern_shift_down", NULL,
     "(x: vec2<u32>, n: u32) -> vec2<u32> {\n"
     "  if (n > 63u) {\n"
     "    return vec2<u32>(select(0u, 1u, (x.x | x.y) != 0u), 0u);\n"
     "  }\n"
     "  let kept = quern_lshr64(x, n);\n"
     "  let lost = any(quern_shl64(kept, n) != x);\n"
     "  return vec2<u32>(kept.x | select(0u, 1u, lost), kept.y);\n"
     "}\n"},
    {"quern_fma", "FFFF",
     "(a: f32, b: f32, c: f32) -> f32 {\n"
     "  if (quern_fused) {\n"
     "    return fma(a, b, c);\n"
     "  }\n"
     "  let bits = vec3<u32>(bitcast<u32>(a), bitcast<u32>(b), bitcast<u32>(c));\n"
     "  var e = vec3<i32>((bits >> vec3<u32>(23u)) & vec3<u32>(0xffu));\n"
     "  var m = bits & vec3<u32>(0x7fffffu);\n"
     "  if (e.x == 255 || e.y == 255) {\n"
     "    return a * b + c;\n"
     "  }\n"
     "  if (e.z == 255) {\n"
     "    return c;\n"
     "  }\n"
     "  if ((bits.x << 1u) == 0u || (bits.y << 1u) == 0u) {\n"
     "    return a * b + c;\n"
     "  }\n"
     "  if ((bits.z << 1u) == 0u) {\n"
     "    return a * b;\n"
     "  }\n"
     "  let up = countLeadingZeros(m) - vec3<u32>(8u);\n"
     "  let is_small = e == vec3<i32>(0);\n"
     "  m = select(m | vec3<u32>(0x800000u), m << (up & vec3<u32>(31u)), is_small);\n"
     "  e = select(e, vec3<i32>(1) - vec3<i32>(up), is_small);\n"
     "  var product = quern_shl64(vec2<u32>(m.x * m.y, quern_umulhi(m.x, m.y)), 14u);\n"
     "  var sum = vec2<u32>(0u, m.z << 6u);\n"
     "  var x = e.x + e.y - 314;\n"
     "  let apart = x - (e.z - 188);\n"
     "  if (apart >= 0) {\n"
     "    sum = quern_shift_down(sum, u32(apart));\n"
     "  } else {\n"
     "    product = quern_shift_down(product, u32(-apart));\n"
     "    x = e.z - 188;\n"
     "  }\n"
     "  var sign = (bits.x ^ bits.y) & 0x80000000u;\n"
     "  if (sign == (bits.z & 0x80000000u)) {\n"
     "    sum = quern_add64(product, sum);\n"
     "  } else if (quern_ult64(product, sum)) {\n"
     "    sum = quern_sub64(sum, product);\n"
     "    sign = sign ^ 0x80000000u;\n"
     "  } else {\n"
     "    sum = quern_sub64(product, sum);\n"
     "  }\n"
     "  if ((sum.x | sum.y) == 0u) {\n"
     "    return 0.0f;\n"
     "  }\n"
     "  let top = quern_clz64(sum).x;\n"
     "  return bitcast<f32>(sign | quern_pack(quern_shl64(sum, top), x - i32(top) + 190));\n"
     "}\n"},
    {"quern_frem", "FFF",
     "(a: f32, b: f32) -> f32 {\n"
     "  let sign = bitcast<u32>(a) & 0x80000000u;\n"
     "  let x = bitcast<u32>(a) & 0x7fffffffu;\n"
     "  let y = bitcast<u32>(b) & 0x7fffffffu;\n"
     "  if (x >= 0x7f800000u || y > 0x7f800000u || y == 0u) {\n"
     "    return bitcast<f32>(quern_zero ^ 0x7fc00000u);\n"
     "  }\n"
     "  if (x < y) {\n"
     "    return a;\n"
     "  }\n"
     "  var e = vec2<i32>(i32(x >> 23u), i32(y >> 23u));\n"
     "  var m = vec2<u32>(x, y) & vec2<u32>(0x7fffffu);\n"
     "  let up = countLeadingZeros(m) - vec2<u32>(8u);\n"
     "  let is_small = e == vec2<i32>(0);\n"
     "  m = select(m | vec2<u32>(0x800000u), m << (up & vec2<u32>(31u)), is_small);\n"
     "  e = select(e, vec2<i32>(1) - vec2<i32>(up), is_small);\n"
     "  var rest = m.x;\n"
     "  for (var i = e.x; i > e.y; i = i - 1) {\n"
     "    rest = select(rest, rest - m.y, rest >= m.y) << 1u;\n"
     "  }\n"
     "  rest = select(rest, rest - m.y, rest >= m.y);\n"
     "  if (rest == 0u) {\n"
     "    return bitcast<f32>(sign);\n"
     "  }\n"
     "  let top = countLeadingZeros(rest);\n"
     "  return bitcast<f32>(sign | quern_pack(vec2<u32>(0u, rest << top), e.y + 8 - i32(top)));\n"
     "}\n"},
    /* ---- Halves as bits ---- */
    {"quern_from_half", "FT",
     "(h: u32) -> f32 {\n"
     "  let sign = (h & 0x8000u) << 16u;\n"
     "  let e = (h >> 10u) & 31u;\n"
     "  let m = h & 0x3ffu;\n"
     "  if (e == 0u) {\n"
     "    return bitcast<f32>(sign | bitcast<u32>(f32(m) * 0x1p-24f));\n"
     "  }\n"
     "  return bitcast<f32>(sign | (select(e + 112u, 255u, e == 31u) << 23u) | (m << 13u));\n"
     "}\n"},
    {"quern_to_half", "TF",
     "(x: f32) -> u32 {\n"
     "  let sign = (bitcast<u32>(x) >> 16u) & 0x8000u;\n"
     "  let a = bitcast<u32>(x) & 0x7fffffffu;\n"
     "  if (a > 0x7f800000u) {\n"
     "    return sign | 0x7e00u;\n"
     "  }\n"
     "  if (a >= 0x477ff000u) {\n"
     "    return sign | 0x7c00u;\n"
     "  }\n"
     "  if (a >= 0x38800000u) {\n"
     "    let r = a - 0x38000000u;\n"
     "    return sign | ((r + 0xfffu + ((r >> 13u) & 1u)) >> 13u);\n"
     "  }\n"
     "  if (a <= 0x33000000u) {\n"
     "    return sign;\n"
     "  }\n"
     "  let m = (a & 0x7fffffu) | 0x800000u;\n"
     "  let down = 126u - (a >> 23u);\n"
     "  let kept = m >> down;\n"
     "  let rest = m - (kept << down);\n"
     "  let half = 1u << (down - 1u);\n"
     "  return sign | (kept + select(0u, 1u, rest > half || (rest == half && (kept & 1u) != 0u)));\n"
     "}\n"},
    /* ---- Integers of 64 bits: low word, high word ---- */
    {"quern_add64", NULL,
     "(a: vec2<u32>, b: vec2<u32>) -> vec2<u32> {\n"
     "  let low = a.x + b.x;\n"
     "  return vec2<u32>(low, a.y + b.y + select(0u, 1u, low < a.x));\n"
     "}\n"},
    {"quern_sub64", NULL,
     "(a: vec2<u32>, b: vec2<u32>) -> vec2<u32> {\n"
     "  return vec2<u32>(a.x - b.x, a.y - b.y - select(0u, 1u, a.x < b.x));\n"
     "}\n"},
    {"quern_neg64", NULL, "(a: vec2<u32>) -> vec2<u32> { return quern_sub64(vec2<u32>(0u, 0u), a); }\n"},
    {"quern_mul64", NULL,
     "(a: vec2<u32>, b: vec2<u32>) -> vec2<u32> {\n"
     "  return vec2<u32>(a.x * b.x, quern_umulhi(a.x, b.x) + a.x * b.y + a.y * b.x);\n"
     "}\n"},
    {"quern_shl64", NULL,
     "(a: vec2<u32>, n: u32) -> vec2<u32> {\n"
     "  let by = n & 31u;\n"
     "  if ((n & 32u) != 0u) {\n"
     "    return vec2<u32>(0u, a.x << by);\n"
     "  }\n"
     "  return vec2<u32>(a.x << by, (a.y << by) | ((a.x >> 1u) >> (31u - by)));\n"
     "}\n"},
    {"quern_lshr64", NULL,
     "(a: vec2<u32>, n: u32) -> vec2<u32> {\n"
     "  let by = n & 31u;\n"
     "  if ((n & 32u) != 0u) {\n"
     "    return vec2<u32>(a.y >> by, 0u);\n"
     "  }\n"
     "  return vec2<u32>((a.x >> by) | ((a.y << 1u) << (31u - by)), a.y >> by);\n"
     "}\n"},
    {"quern_ashr64", NULL,
     "(a: vec2<u32>, n: u32) -> vec2<u32> {\n"
     "  let by = n & 31u;\n"
     "  let high = u32(i32(a.y) >> by);\n"
     "  if ((n & 32u) != 0u) {\n"
     "    return vec2<u32>(high, u32(i32(a.y) >> 31u));\n"
     "  }\n"
     "  return vec2<u32>((a.x >> by) | ((a.y << 1u) << (31u - by)), high);\n"
     "}\n"},
    {"quern_rotl64", NULL,
     "(a: vec2<u32>, n: u32) -> vec2<u32> { return quern_shl64(a, n) | quern_lshr64(a, (64u - n) & 63u) ; }\n"},
    {"quern_ult64", NULL, "(a: vec2<u32>, b: vec2<u32>) -> bool { return a.y < b.y || (a.y == b.y && a.x < b.x); }\n"},
    {"quern_ule64", NULL, "(a: vec2<u32>, b: vec2<u32>) -> bool { return !quern_ult64(b, a); }\n"},
    {"quern_slt64", NULL,
     "(a: vec2<u32>, b: vec2<u32>) -> bool {\n"
     "  return i32(a.y) < i32(b.y) || (a.y == b.y && a.x < b.x);\n"
     "}\n"},
    {"quern_sle64", NULL, "(a: vec2<u32>, b: vec2<u32>) -> bool { return !quern_slt64(b, a); }\n"},
    {"quern_umin64", NULL, "(a: vec2<u32>, b: vec2<u32>) -> vec2<u32> { return select(b, a, quern_ult64(a, b)); }\n"},
    {"quern_umax64", NULL, "(a: vec2<u32>, b: vec2<u32>) -> vec2<u32> { return select(a, b, quern_ult64(a, b)); }\n"},
    {"quern_smin64", NULL, "(a: vec2<u32>, b: vec2<u32>) -> vec2<u32> { return select(b, a, quern_slt64(a, b)); }\n"},
    {"quern_smax64", NULL, "(a: vec2<u32>, b: vec2<u32>) -> vec2<u32> { return select(a, b, quern_slt64(a, b)); }\n"},
    {"quern_clz64", NULL,
     "(a: vec2<u32>) -> vec2<u32> {\n"
     "  return vec2<u32>(select(countLeadingZeros(a.y), 32u + countLeadingZeros(a.x), a.y == 0u), 0u);\n"
     "}\n"},
    {"quern_ctz64", NULL,
     "(a: vec2<u32>) -> vec2<u32> {\n"
     "  return vec2<u32>(select(countTrailingZeros(a.x), 32u + countTrailingZeros(a.y), a.x == 0u), 0u);\n"
     "}\n"},
    {"quern_popcount64", NULL,
     "(a: vec2<u32>) -> vec2<u32> { return vec2<u32>(countOneBits(a.x) + countOneBits(a.y), 0u); }\n"},
    /* Quotient and remainder; of a division by zero 0 and the dividend. */
    {"quern_divide64", NULL,
     "(a: vec2<u32>, b: vec2<u32>) -> vec4<u32> {\n"
     "  if ((b.x | b.y) == 0u) {\n"
     "    return vec4<u32>(0u, 0u, a);\n"
     "  }\n"
     "  if ((a.y | b.y) == 0u) {\n"
     "    return vec4<u32>(a.x / b.x, 0u, a.x % b.x, 0u);\n"
     "  }\n"
     "  var quotient = vec2<u32>(0u, 0u);\n"
     "  var rest = vec2<u32>(0u, 0u);\n"
     "  var left = a;\n"
     "  for (var i = 0u; i < 64u; i++) {\n"
     "    let carry = (rest.y >> 31u) != 0u;\n"
     "    rest = vec2<u32>((rest.x << 1u) | (left.y >> 31u), (rest.y << 1u) | (rest.x >> 31u));\n"
     "    left = vec2<u32>(left.x << 1u, (left.y << 1u) | (left.x >> 31u));\n"
     "    quotient = vec2<u32>(quotient.x << 1u, (quotient.y << 1u) | (quotient.x >> 31u));\n"
     "    if (carry || !quern_ult64(rest, b)) {\n"
     "      rest = quern_sub64(rest, b);\n"
     "      quotient.x = quotient.x | 1u;\n"
     "    }\n"
     "  }\n"
     "  return vec4<u32>(quotient, rest);\n"
     "}\n"},
    {"quern_abs64", NULL, "(a: vec2<u32>) -> vec2<u32> { return select(a, quern_neg64(a), i32(a.y) < 0); }\n"},
    {"quern_udiv64", NULL, "(a: vec2<u32>, b: vec2<u32>) -> vec2<u32> { return quern_divide64(a, b).xy; }\n"},
    {"quern_urem64", NULL, "(a: vec2<u32>, b: vec2<u32>) -> vec2<u32> { return quern_divide64(a, b).zw; }\n"},
    {"quern_sdiv64", NULL,
     "(a: vec2<u32>, b: vec2<u32>) -> vec2<u32> {\n"
     "  let size = quern_divide64(quern_abs64(a), quern_abs64(b)).xy;\n"
     "  return select(size, quern_neg64(size), i32(a.y ^ b.y) < 0);\n"
     "}\n"},
    {"quern_srem64", NULL,
     "(a: vec2<u32>, b: vec2<u32>) -> vec2<u32> {\n"
     "  let size = quern_divide64(quern_abs64(a), quern_abs64(b)).zw;\n"
     "  return select(size, quern_neg64(size), i32(a.y) < 0);\n"
     "}\n"},
    {"quern_umulhi64", NULL,
     "(a: vec2<u32>, b: vec2<u32>) -> vec2<u32> {\n"
     "  let lh = vec2<u32>(a.x * b.y, quern_umulhi(a.x, b.y));\n"
     "  let hl = vec2<u32>(a.y * b.x, quern_umulhi(a.y, b.x));\n"
     "  let hh = vec2<u32>(a.y * b.y, quern_umulhi(a.y, b.y));\n"
     "  let middle = quern_add64(quern_add64(lh, vec2<u32>(quern_umulhi(a.x, b.x), 0u)), vec2<u32>(hl.x, 0u));\n"
     "  return quern_add64(quern_add64(hh, vec2<u32>(hl.y, 0u)), vec2<u32>(middle.y, 0u));\n"
     "}\n"},
    {"quern_smulhi64", NULL,
     "(a: vec2<u32>, b: vec2<u32>) -> vec2<u32> {\n"
     "  let none = vec2<u32>(0u, 0u);\n"
     "  let less = quern_add64(select(none, b, i32(a.y) < 0), select(none, a, i32(b.y) < 0));\n"
     "  return quern_sub64(quern_umulhi64(a, b), less);\n"
     "}\n"},
    {"quern_limit64", NULL,
     "(a: vec2<u32>) -> vec2<u32> {\n"
     "  return select(vec2<u32>(0xffffffffu, 0x7fffffffu), vec2<u32>(0u, 0x80000000u), i32(a.y) < 0);\n"
     "}\n"},
    {"quern_saddsat64", NULL,
     "(a: vec2<u32>, b: vec2<u32>) -> vec2<u32> {\n"
     "  let sum = quern_add64(a, b);\n"
     "  return select(sum, quern_limit64(a), i32((a.y ^ sum.y) & (b.y ^ sum.y)) < 0);\n"
     "}\n"},
    {"quern_ssubsat64", NULL,
     "(a: vec2<u32>, b: vec2<u32>) -> vec2<u32> {\n"
     "  let difference = quern_sub64(a, b);\n"
     "  return select(difference, quern_limit64(a), i32((a.y ^ b.y) & (a.y ^ difference.y)) < 0);\n"
     "}\n"},
    {"quern_uaddsat64", NULL,
     "(a: vec2<u32>, b: vec2<u32>) -> vec2<u32> {\n"
     "  let sum = quern_add64(a, b);\n"
     "  return select(sum, vec2<u32>(0xffffffffu, 0xffffffffu), quern_ult64(sum, a));\n"
     "}\n"},
    {"quern_usubsat64", NULL,
     "(a: vec2<u32>, b: vec2<u32>) -> vec2<u32> {\n"
     "  return select(quern_sub64(a, b), vec2<u32>(0u, 0u), quern_ult64(a, b));\n"
     "}\n"},
    {"quern_u64_to_f32", NULL,
     "(a: vec2<u32>) -> f32 {\n"
     "  if ((a.x | a.y) == 0u) {\n"
     "    return 0.0f;\n"
     "  }\n"
     "  let top = quern_clz64(a).x;\n"
     "  return bitcast<f32>(quern_pack(quern_shl64(a, top), 190 - i32(top)));\n"
     "}\n"},
    {"quern_s64_to_f32", NULL,
     "(a: vec2<u32>) -> f32 {\n"
     "  return bitcast<f32>(bitcast<u32>(quern_u64_to_f32(quern_abs64(a))) | (a.y & 0x80000000u));\n"
     "}\n"},
    {"quern_f32_to_u64", NULL,
     "(x: f32) -> vec2<u32> {\n"
     "  let bits = bitcast<u32>(x);\n"
     "  let e = i32((bits >> 23u) & 0xffu) - 127;\n"
     "  if (quern_is_nan(x) || (bits >> 31u) != 0u || e < 0) {\n"
     "    return vec2<u32>(0u, 0u);\n"
     "  }\n"
     "  if (e > 63) {\n"
     "    return vec2<u32>(0xffffffffu, 0xffffffffu);\n"
     "  }\n"
     "  return quern_lshr64(vec2<u32>(0u, (bits << 8u) | 0x80000000u), u32(63 - e));\n"
     "}\n"},
    {"quern_f32_to_s64", NULL,
     "(x: f32) -> vec2<u32> {\n"
     "  let size = quern_f32_to_u64(abs(x));\n"
     "  let is_negative = (bitcast<u32>(x) >> 31u) != 0u;\n"
     "  if (i32(size.y) < 0) {\n"
     "    return select(vec2<u32>(0xffffffffu, 0x7fffffffu), vec2<u32>(0u, 0x80000000u), is_negative);\n"
     "  }\n"
     "  return select(size, quern_neg64(size), is_negative);\n"
     "}\n"},
    /* ---- The group ---- */
    /* What the group's first item has, in a way that WGSL finds uniform. */
    {"quern_same", NULL,
     "(value: u32, index: u32) -> u32 {\n"
     "  if (index == 0u) {\n"
     "    quern_shared = value;\n"
     "  }\n"
     "  return workgroupUniformLoad(&quern_shared);\n"
     "}\n"},
};
enum { COUNT = sizeof texts / sizeof *texts };

static const helper_text *find(qn_sv name) {
  for (size_t i = 0; i < COUNT; i++)
    if (qn_sv_is(name, texts[i].name)) return &texts[i];
  return NULL;
}

/* ---- Functions that are there once ---- */

const char *wgsl_made_name(emitter *e, const char *key) { return qn_map_get(&e->made, qn_sv_from(key)); }

const char *wgsl_make_function(emitter *e, const char *key, const char *wish) {
  const char *name = text_name_own(&e->names, wish), *kept = wgsl_text_of(e, "%s", key);
  if (!qn_map_set(&e->made, qn_sv_from(kept), (void *)(uintptr_t)name)) e->failed = true;
  return name;
}

void wgsl_add_function(emitter *e, const qn_bytes *text) {
  e->failed |= text->failed;
  if (e->helpers.size) qn_bytes_append_char(&e->helpers, '\n');
  qn_bytes_append_sv(&e->helpers, qn_bytes_view(text));
}

/* ---- Texts ---- */

static bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_'; }

/* A name of ours in a text: what it calls is made first. */
static const char *put_called(emitter *e, qn_bytes *out, const char *at, uint32_t lanes) {
  size_t length = 0;
  while (is_letter(at[length])) length++;
  qn_sv name = qn_sv_make(at, length);
  bool for_lanes = at[length] == '$' && at[length + 1] == 'S';
  const helper_text *called = find(name);
  if (qn_sv_is(name, QN_WGSL_FUSED)) e->uses_fused = true;
  if (qn_sv_is(name, "quern_zero")) e->uses_bits = true;
  if (qn_sv_is(name, "quern_shared")) e->uses_shared = true;
  if (called)
    qn_bytes_append_str(out, wgsl_helper(e, called->name, for_lanes ? lanes : 1));
  else
    qn_bytes_append_sv(out, name);
  return at + length + (for_lanes ? 2 : 0);
}

static void put_text(emitter *e, qn_bytes *out, const char *text, uint32_t lanes) {
  for (const char *at = text; *at;) {
    if (strncmp(at, "quern_", 6) == 0) {
      at = put_called(e, out, at, lanes);
    } else if (*at != '$') {
      qn_bytes_append_char(out, *at++);
    } else {
      const char *elem = at[1] == 'T' ? "u32" : at[1] == 'I' ? "i32" : at[1] == 'F' ? "f32" : "bool";
      qn_bytes_append_str(out, wgsl_shaped(e, elem, lanes));
      at += 2;
    }
  }
}

/* Lane by lane. */
static void put_lanewise(emitter *e, qn_bytes *out, const helper_text *t, uint32_t lanes) {
  const char *scalar = wgsl_helper(e, t->name, 1);
  qn_bytes_append_str(out, "(");
  for (const char *p = t->scalar + 1; *p; p++)
    qn_bytes_printf(out, "%s%c: %s", p == t->scalar + 1 ? "" : ", ", 'a' + (int)(p - t->scalar - 1),
                    wgsl_shaped(e, *p == 'F' ? "f32" : "u32", lanes));
  const char *result = wgsl_shaped(e, t->scalar[0] == 'F' ? "f32" : "u32", lanes);
  qn_bytes_printf(out, ") -> %s {\n  return %s(", result, result);
  for (uint32_t i = 0; i < lanes; i++) {
    qn_bytes_printf(out, "%s%s(", i ? ", " : "", scalar);
    for (const char *p = t->scalar + 1; *p; p++)
      qn_bytes_printf(out, "%s%c.%c", p == t->scalar + 1 ? "" : ", ", 'a' + (int)(p - t->scalar - 1), "xyzw"[i]);
    qn_bytes_append_str(out, ")");
  }
  qn_bytes_append_str(out, ");\n}\n");
}

const char *wgsl_helper(emitter *e, const char *name, uint32_t lanes) {
  const helper_text *t = find(qn_sv_from(name));
  const char *own = lanes == 1 ? name : wgsl_text_of(e, "%s_x%u", name, lanes);
  if (wgsl_made_name(e, own)) return own;
  if (!qn_map_set(&e->made, qn_sv_from(own), (void *)(uintptr_t)own)) e->failed = true;
  qn_bytes text = {0};
  qn_bytes_printf(&text, "fn %s", own);
  if (t->scalar && lanes > 1)
    put_lanewise(e, &text, t, lanes);
  else
    put_text(e, &text, t->text, lanes);
  wgsl_add_function(e, &text);
  qn_bytes_free(&text);
  return own;
}

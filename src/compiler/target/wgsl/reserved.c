/* reserved.c - what no identifier of ours may be: WGSL's keywords, reserved words, and predeclared names, which a variable
 * would hide from what the emitter writes. */
#include "compiler/target/wgsl/emit.h"

/* clang-format off */
static const char *const words[] = {
  /* keywords */
  "alias", "break", "case", "const", "const_assert", "continue", "continuing", "default", "diagnostic", "discard", "else", "enable",
  "false", "fn", "for", "if", "let", "loop", "override", "requires", "return", "struct", "switch", "true", "var", "while",
  /* reserved words */
  "NULL", "Self", "abstract", "active", "alignas", "alignof", "as", "asm", "asm_fragment", "async", "attribute", "auto", "await",
  "become", "cast", "catch", "class", "co_await", "co_return", "co_yield", "coherent", "column_major", "common", "compile",
  "compile_fragment", "concept", "const_cast", "consteval", "constexpr", "constinit", "crate", "debugger", "decltype", "delete",
  "demote", "demote_to_helper", "do", "dynamic_cast", "enum", "explicit", "export", "extends", "extern", "external", "fallthrough",
  "filter", "final", "finally", "friend", "from", "fxgroup", "get", "goto", "groupshared", "highp", "impl", "implements", "import",
  "inline", "instanceof", "interface", "layout", "lowp", "macro", "macro_rules", "match", "mediump", "meta", "mod", "module",
  "move", "mut", "mutable", "namespace", "new", "nil", "noexcept", "noinline", "nointerpolation", "non_coherent", "noncoherent",
  "noperspective", "null", "nullptr", "of", "operator", "package", "packoffset", "pass", "patch", "pixelfragment", "precise",
  "precision", "premerge", "priv", "protected", "pub", "public", "readonly", "ref", "regardless", "register", "reinterpret_cast",
  "require", "resource", "restrict", "self", "set", "shared", "sizeof", "smooth", "snorm", "static", "static_assert",
  "static_cast", "std", "subroutine", "super", "target", "template", "this", "thread_local", "throw", "trait", "try", "type",
  "typedef", "typeid", "typename", "typeof", "union", "unless", "unorm", "unsafe", "unsized", "use", "using", "varying", "virtual",
  "volatile", "wgsl", "where", "with", "writeonly", "yield",
  /* types */
  "array", "atomic", "bool", "f16", "f32", "f64", "i32", "i64", "u32", "u64", "i8", "u8", "i16", "u16", "mat2x2", "mat2x3",
  "mat2x4", "mat3x2", "mat3x3", "mat3x4", "mat4x2", "mat4x3", "mat4x4", "ptr", "ref", "sampler", "sampler_comparison", "vec2",
  "vec3", "vec4", "vec2f", "vec3f", "vec4f", "vec2h", "vec3h", "vec4h", "vec2i", "vec3i", "vec4i", "vec2u", "vec3u", "vec4u",
  /* built-in functions that the emitter's text calls, and enumerants */
  "abs", "all", "any", "atomicAdd", "atomicAnd", "atomicCompareExchangeWeak", "atomicExchange", "atomicLoad", "atomicMax",
  "atomicMin", "atomicOr", "atomicStore", "atomicSub", "atomicXor", "bitcast", "ceil", "clamp", "countLeadingZeros",
  "countOneBits", "countTrailingZeros", "extractBits", "floor", "fma", "inverseSqrt", "max", "min", "round", "select", "sign", "sqrt",
  "storageBarrier", "trunc", "workgroupBarrier", "workgroupUniformLoad", "function", "private", "read", "read_write",
  "storage", "uniform", "workgroup", "write", "main", "_",
  /* of an entry */
  "local_id", "group_id", "global_id", "local_index",
};
/* clang-format on */

bool wgsl_is_reserved_word(qn_sv name) {
  for (size_t i = 0; i < sizeof words / sizeof *words; i++)
    if (qn_sv_is(name, words[i])) return true;
  return name.size >= 2 && name.data[0] == '_' && name.data[1] == '_';
}

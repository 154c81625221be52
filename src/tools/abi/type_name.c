/* type_name.c - what the names of types mean. */
#include "type_name.h"

#include <string.h>

typedef struct meaning {
  const char *name;
  abi_type_kind kind;
} meaning;

static const meaning typedefs[] = {
    {"int32_t", ABI_FIXED},     {"uint32_t", ABI_FIXED},     {"int64_t", ABI_FIXED},     {"uint64_t", ABI_FIXED},
    {"__int32_t", ABI_FIXED},   {"__uint32_t", ABI_FIXED},   {"__int64_t", ABI_FIXED},   {"__uint64_t", ABI_FIXED},
    {"int_least32_t", ABI_INT}, {"uint_least32_t", ABI_INT}, {"int_least64_t", ABI_INT}, {"uint_least64_t", ABI_INT},
    {"intmax_t", ABI_INT},      {"uintmax_t", ABI_INT},      {"char32_t", ABI_INT},      {"int8_t", ABI_SMALL},
    {"uint8_t", ABI_SMALL},     {"int16_t", ABI_SMALL},      {"uint16_t", ABI_SMALL},    {"char16_t", ABI_SMALL},
    {"int_fast8_t", ABI_SMALL}, {"uint_fast8_t", ABI_SMALL}, {"int_fast16_t", ABI_LONG}, {"uint_fast16_t", ABI_LONG},
    {"int_fast32_t", ABI_LONG}, {"uint_fast32_t", ABI_LONG}, {"int_fast64_t", ABI_LONG}, {"uint_fast64_t", ABI_LONG},
    {"size_t", ABI_SIZE},       {"ssize_t", ABI_SIZE},       {"rsize_t", ABI_SIZE},      {"ptrdiff_t", ABI_SIZE},
    {"intptr_t", ABI_SIZE},     {"uintptr_t", ABI_SIZE},     {"__size_t", ABI_SIZE},     {"__ssize_t", ABI_SIZE},
    {"wchar_t", ABI_WCHAR},     {"wint_t", ABI_WCHAR},
};

static const meaning bases[] = {
    {"_Bool", ABI_BOOL},
    {"bool", ABI_BOOL},
    {"char", ABI_SMALL},
    {"signed char", ABI_SMALL},
    {"unsigned char", ABI_SMALL},
    {"short", ABI_SMALL},
    {"short int", ABI_SMALL},
    {"unsigned short", ABI_SMALL},
    {"short unsigned int", ABI_SMALL},
    {"int", ABI_INT},
    {"unsigned int", ABI_INT},
    {"long long", ABI_INT},
    {"long long int", ABI_INT},
    {"unsigned long long", ABI_INT},
    {"long long unsigned int", ABI_INT},
    {"long", ABI_LONG},
    {"long int", ABI_LONG},
    {"unsigned long", ABI_LONG},
    {"long unsigned int", ABI_LONG},
    {"__int128", ABI_WIDE},
    {"unsigned __int128", ABI_WIDE},
    {"__int128 unsigned", ABI_WIDE},
    {"wchar_t", ABI_WCHAR},
    {"float", ABI_FLOAT},
    {"double", ABI_FLOAT},
    {"_Float32", ABI_FLOAT},
    {"_Float64", ABI_FLOAT},
    {"long double", ABI_EXTENDED},
    {"_Float16", ABI_EXTENDED},
    {"__fp16", ABI_EXTENDED},
    {"__bf16", ABI_EXTENDED},
    {"_Float64x", ABI_EXTENDED},
    {"_Float128", ABI_EXTENDED},
    {"__float128", ABI_EXTENDED},
};

static bool look_up(const meaning *table, size_t count, const char *name, abi_type_kind *out_kind) {
  for (size_t i = 0; i < count; i++) {
    if (strcmp(table[i].name, name) != 0) continue;
    *out_kind = table[i].kind;
    return true;
  }
  return false;
}

bool abi_typedef_kind(const char *name, abi_type_kind *out_kind) {
  return look_up(typedefs, sizeof typedefs / sizeof *typedefs, name, out_kind);
}

bool abi_base_kind(const char *name, abi_type_kind *out_kind) {
  return look_up(bases, sizeof bases / sizeof *bases, name, out_kind);
}

/* header_type.c - types of libclang's as ours. */
#include "header_type.h"

#include <string.h>

#include "type_name.h"

/* Longer chains of typedefs are not followed: no real header has them, and each step takes its time. */
enum { MAX_STEPS = 8192 };

const char *header_text(CXString string) {
  const char *text = clang_getCString(string);
  const char *copy = pool_copy(text ? text : "", text ? strlen(text) : 0);
  clang_disposeString(string);
  return copy;
}

static const struct {
  enum CXTypeKind clang;
  abi_type_kind kind;
} builtin_kinds[] = {
    {CXType_Void, ABI_VOID},
    {CXType_Bool, ABI_BOOL},
    {CXType_Char_U, ABI_SMALL},
    {CXType_Char_S, ABI_SMALL},
    {CXType_SChar, ABI_SMALL},
    {CXType_UChar, ABI_SMALL},
    {CXType_Short, ABI_SMALL},
    {CXType_UShort, ABI_SMALL},
    {CXType_Int, ABI_INT},
    {CXType_UInt, ABI_INT},
    {CXType_LongLong, ABI_INT},
    {CXType_ULongLong, ABI_INT},
    {CXType_Long, ABI_LONG},
    {CXType_ULong, ABI_LONG},
    {CXType_Int128, ABI_WIDE},
    {CXType_UInt128, ABI_WIDE},
    {CXType_WChar, ABI_WCHAR},
    {CXType_Char16, ABI_SMALL},
    {CXType_Char32, ABI_INT},
    {CXType_Float, ABI_FLOAT},
    {CXType_Double, ABI_FLOAT},
    {CXType_LongDouble, ABI_EXTENDED},
    {CXType_Float128, ABI_EXTENDED},
    {CXType_Half, ABI_EXTENDED},
    {CXType_Float16, ABI_EXTENDED},
    {CXType_BFloat16, ABI_EXTENDED},
    {CXType_Ibm128, ABI_EXTENDED},
    {CXType_Complex, ABI_COMPLEX},
    {CXType_Vector, ABI_VECTOR},
    {CXType_ExtVector, ABI_VECTOR},
    {CXType_Pointer, ABI_POINTER},
    {CXType_BlockPointer, ABI_POINTER},
    {CXType_NullPtr, ABI_POINTER},
    {CXType_Enum, ABI_ENUM},
    {CXType_FunctionProto, ABI_POINTER},
    {CXType_FunctionNoProto, ABI_POINTER},
};

static abi_type_kind builtin_kind(CXType type) {
  if (type.kind == CXType_Record)
    return clang_getCursorKind(clang_getTypeDeclaration(type)) == CXCursor_UnionDecl ? ABI_UNION : ABI_STRUCT;
  for (size_t i = 0; i < sizeof builtin_kinds / sizeof *builtin_kinds; i++)
    if (builtin_kinds[i].clang == type.kind) return builtin_kinds[i].kind;
  return ABI_OTHER;
}

/* One step from what a type is written as to what it is: false when it is that. */
static bool step(CXType *type) {
  CXType to;
  switch (type->kind) {
    case CXType_Elaborated:
      to = clang_Type_getNamedType(*type);
      break;
    case CXType_Attributed:
      to = clang_Type_getModifiedType(*type);
      break;
    case CXType_Typedef:
      to = clang_getTypedefDeclUnderlyingType(clang_getTypeDeclaration(*type));
      break;
    case CXType_Unexposed:
      to = clang_getCanonicalType(*type);
      break;
    default:
      return false;
  }
  if (to.kind == CXType_Invalid || clang_equalTypes(to, *type)) return false;
  *type = to;
  return true;
}

static bool is_array(CXType type) {
  return type.kind == CXType_ConstantArray || type.kind == CXType_IncompleteArray || type.kind == CXType_VariableArray;
}

/* Multiplies; what is too large for any machine stays so. */
static uint64_t times(uint64_t a, uint64_t b) {
  uint64_t product;
  return __builtin_mul_overflow(a, b, &product) ? UINT64_MAX : product;
}

bool header_is_nameless(const char *spelling) { return strstr(spelling, "(unnamed") || strstr(spelling, "(anonymous"); }

/* As written; what has no name would be called after its file. */
static const char *spelling(CXType type) {
  const char *text = header_text(clang_getTypeSpelling(type));
  size_t keyword = strcspn(text, " ");
  return header_is_nameless(text) ? pool_format("%.*s {...}", (int)keyword, text) : text;
}

abi_type header_type(CXType type, bool passed) {
  long long size = clang_Type_getSizeOf(type);
  abi_type out = {.kind = ABI_OTHER, .count = 1, .size = size > 0 ? (uint64_t)size : 0};
  out.text = spelling(type);
  for (int steps = 0; steps < MAX_STEPS; steps++) {
    if (type.kind == CXType_Typedef && abi_typedef_kind(header_text(clang_getTypedefName(type)), &out.kind)) return out;
    if (is_array(type)) {
      if (passed) return out.kind = ABI_POINTER, out.size = 0, out;
      out.is_array = true;
      if (type.kind == CXType_IncompleteArray) out.is_flexible = true;
      long long count = clang_getArraySize(type);
      out.count = times(out.count, count > 0 ? (uint64_t)count : 0);
      type = clang_getArrayElementType(type);
    } else if (!step(&type)) {
      out.kind = builtin_kind(type);
      return out;
    }
  }
  return out;
}

CXCursor header_type_declaration(CXType type) {
  type = clang_getCanonicalType(type);
  while (is_array(type)) type = clang_getArrayElementType(type);
  return type.kind == CXType_Record || type.kind == CXType_Enum ? clang_getTypeDeclaration(type)
                                                                : clang_getNullCursor();
}

bool header_function_type(CXType type, CXType *out) {
  for (int steps = 0; steps < MAX_STEPS; steps++) {
    if (type.kind == CXType_Elaborated) {
      type = clang_Type_getNamedType(type);
    } else if (type.kind == CXType_Attributed) {
      type = clang_Type_getModifiedType(type);
    } else if (type.kind == CXType_Pointer || type.kind == CXType_BlockPointer) {
      type = clang_getPointeeType(type);
    } else if (is_array(type)) {
      type = clang_getArrayElementType(type);
    } else {
      /* In parentheses it is Unexposed, and its own parts are as they were written. */
      enum CXTypeKind canonical = clang_getCanonicalType(type).kind;
      *out = type;
      return type.kind != CXType_Typedef && (canonical == CXType_FunctionProto || canonical == CXType_FunctionNoProto);
    }
  }
  return false;
}

const char *header_tag_name(CXCursor declaration) {
  static const char *const keywords[] = {"struct ", "union ", "enum "};
  if (clang_Cursor_isAnonymous(declaration)) return NULL;
  const char *name = header_text(clang_getTypeSpelling(clang_getCursorType(declaration)));
  for (size_t i = 0; i < sizeof keywords / sizeof *keywords; i++)
    if (!strncmp(name, keywords[i], strlen(keywords[i]))) name += strlen(keywords[i]);
  return *name ? name : NULL;
}

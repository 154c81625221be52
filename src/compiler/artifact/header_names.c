#include "compiler/artifact/header_names.h"

#include <string.h>

/* ---- What is reserved --------------------------------------------------------------------------- */

/* Words of C up to C23 and of C++ up to C++23, and macros that compilers and common headers define without arguments. */
static const char *const words[] = {"CONST",
                                    "EOF",
                                    "I",
                                    "IN",
                                    "NAN",
                                    "NULL",
                                    "OUT",
                                    "VOID",
                                    "alignas",
                                    "alignof",
                                    "and",
                                    "and_eq",
                                    "asm",
                                    "auto",
                                    "bitand",
                                    "bitor",
                                    "bool",
                                    "break",
                                    "case",
                                    "catch",
                                    "char",
                                    "class",
                                    "co_await",
                                    "co_return",
                                    "co_yield",
                                    "compl",
                                    "complex",
                                    "concept",
                                    "const",
                                    "const_cast",
                                    "consteval",
                                    "constexpr",
                                    "constinit",
                                    "continue",
                                    "decltype",
                                    "default",
                                    "delete",
                                    "do",
                                    "double",
                                    "dynamic_cast",
                                    "else",
                                    "enum",
                                    "errno",
                                    "explicit",
                                    "export",
                                    "extern",
                                    "false",
                                    "far",
                                    "float",
                                    "for",
                                    "friend",
                                    "goto",
                                    "i386",
                                    "if",
                                    "imaginary",
                                    "inline",
                                    "int",
                                    "interface",
                                    "linux",
                                    "long",
                                    "math_errhandling",
                                    "mutable",
                                    "namespace",
                                    "near",
                                    "new",
                                    "noexcept",
                                    "noreturn",
                                    "not",
                                    "not_eq",
                                    "nullptr",
                                    "operator",
                                    "or",
                                    "or_eq",
                                    "private",
                                    "protected",
                                    "public",
                                    "register",
                                    "reinterpret_cast",
                                    "requires",
                                    "restrict",
                                    "return",
                                    "short",
                                    "signed",
                                    "sizeof",
                                    "small",
                                    "static",
                                    "static_assert",
                                    "static_cast",
                                    "stderr",
                                    "stdin",
                                    "stdout",
                                    "struct",
                                    "switch",
                                    "template",
                                    "this",
                                    "thread_local",
                                    "throw",
                                    "true",
                                    "try",
                                    "typedef",
                                    "typeid",
                                    "typename",
                                    "typeof",
                                    "typeof_unqual",
                                    "union",
                                    "unix",
                                    "unsigned",
                                    "using",
                                    "virtual",
                                    "void",
                                    "volatile",
                                    "while",
                                    "xor",
                                    "xor_eq"};

/* How names of quern.h and of the standard headers' macros begin. None of them ends in an underscore. */
static const char *const beginnings[] = {
    "BUFSIZ",   "CHAR_",  "CLOCKS_", "DBL_",   "DECIMAL_", "EXIT_",  "FE_",   "FLT_", "FP_",   "HUGE_",
    "INFINITY", "INT",    "LC_",     "LDBL_",  "LLONG_",   "LONG_",  "MB_",   "M_",   "PRI",   "PTRDIFF_",
    "QN_",      "QUERN_", "RAND_",   "SCHAR_", "SCN",      "SEEK_",  "SHRT_", "SIG",  "SIZE_", "TMP_",
    "UCHAR_",   "UINT",   "ULLONG_", "ULONG_", "USHRT_",   "WCHAR_", "WINT_", "qn_",  "quern_"};

static bool ends_with(const char *name, const char *end) {
  size_t size = strlen(name), tail = strlen(end);
  return size >= tail && strcmp(name + size - tail, end) == 0;
}

bool header_name_is_reserved(const char *name) {
  for (size_t i = 0; i < sizeof words / sizeof *words; i++)
    if (strcmp(name, words[i]) == 0) return true;
  if (ends_with(name, "_t")) return true; /* a type's */
  if (name[0] == '_') return name[1] == '_' || (name[1] >= 'A' && name[1] <= 'Z');
  if (ends_with(name, "_")) return false;
  for (size_t i = 0; i < sizeof beginnings / sizeof *beginnings; i++)
    if (strncmp(name, beginnings[i], strlen(beginnings[i])) == 0) return true;
  return false;
}

static bool is_identifier_byte(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

static bool is_identifier(const char *name) {
  if (!name[0] || (name[0] >= '0' && name[0] <= '9')) return false;
  for (; *name; name++)
    if (!is_identifier_byte(*name)) return false; /* OpenCL C's may have a '$' */
  return true;
}

/* ---- Scopes ------------------------------------------------------------------------------------- */

void header_names_free(header_names *names) { qn_map_free(&names->taken); }

static const char *add(header_names *names, const char *name) {
  char *copy = qn_arena_copy(names->arena, qn_sv_from(name));
  if (copy && qn_map_set(&names->taken, qn_sv_from(copy), copy)) return copy;
  names->failed = true;
  return "";
}

void header_names_take(header_names *names, const char *name) { (void)add(names, name); }

static bool is_free(const header_names *names, const char *name) {
  return !header_name_is_reserved(name) && !qn_map_get(&names->taken, qn_sv_from(name));
}

bool header_names_keep(header_names *names, const char *name) {
  if (!is_identifier(name) || !is_free(names, name)) return false;
  (void)add(names, name);
  return true;
}

/* Underscores in front can't be made harmless by more behind. */
static bool begins_badly(const char *name) {
  bool is_digit = name[0] >= '0' && name[0] <= '9';
  bool is_compilers = name[0] == '_' && (name[1] == '_' || (name[1] >= 'A' && name[1] <= 'Z'));
  return !name[0] || is_digit || is_compilers;
}

const char *header_names_choose(header_names *names, const char *wanted) {
  char *name = qn_arena_printf(names->arena, "%s%s", begins_badly(wanted) ? "arg" : "", wanted);
  for (char *at = name; at && *at; at++)
    if (!is_identifier_byte(*at)) *at = '_';
  while (name && !is_free(names, name)) name = qn_arena_printf(names->arena, "%s_", name);
  if (name) return add(names, name);
  names->failed = true;
  return "";
}

/* violation.c - kinds and lists of violations. */
#include "violation.h"

#include <stdlib.h>
#include <string.h>

#define AGGREGATE_WHY                                                                                              \
  "x86-64 Linux passes up to 16 bytes in registers and more on the stack, aarch64 passes more than 16 bytes as a " \
  "pointer "                                                                                                       \
  "to a copy, x86-64 Windows all but 1, 2, 4 and 8 bytes so, i386 all on the stack"

const violation_text violation_texts[VIOLATION_KINDS] = {
    [V_STRUCT_BY_VALUE] = {"struct-by-value", "A1", AGGREGATE_WHY, "pass a pointer to it"},
    [V_UNION_BY_VALUE] = {"union-by-value", "A1", AGGREGATE_WHY, "pass a pointer to it, or its 64 bits as uint64_t"},
    [V_BOOL_BY_VALUE] =
        {"bool-by-value", "A1",
         "who clears the upper bits differs: the callee on aarch64 Linux, the caller elsewhere; any value but 0 and "
         "1 is undefined",
         "use uint32_t, zero being false"},
    [V_ENUM_BY_VALUE] =
        {"enum-by-value", "A1",
         "its width and sign are the compiler's choice: 1 or 2 bytes with -fshort-enums and on bare armv7, "
         "signed on Windows and unsigned on Linux",
         "use uint32_t or int32_t and let the enum name its values"},
    [V_SMALL_BY_VALUE] =
        {"small-by-value", "A1",
         "who extends it to a register differs: the caller on x86-64, i386, armv7 and macOS, the callee on "
         "aarch64 Linux and x86-64 Windows; char is signed on x86-64 and unsigned on armv7 and aarch64 Linux",
         "use int32_t or uint32_t"},
    [V_LONG_BY_VALUE] =
        {"long-by-value", "A1",
         "it has 64 bits on x86-64 and aarch64 Linux and macOS, 32 on x86-64 Windows, i386, armv7 and wasm32",
         "use int64_t or uint64_t"},
    [V_SIZE_BY_VALUE] = {"size-by-value", "A1", "it has 32 bits on i386, armv7 and wasm32, 64 elsewhere",
                         "use uint64_t or int64_t"},
    [V_WCHAR_BY_VALUE] = {"wchar-by-value", "A1",
                          "it has 16 bits on Windows, 32 elsewhere, unsigned on armv7 and aarch64 Linux",
                          "use uint32_t"},
    [V_INT_BY_VALUE] =
        {"int-by-value", "A1",
         "it has its 32 or 64 bits on all seven targets, but nothing promises that (--fixed-width asks for it)",
         "use int32_t, uint32_t, int64_t or uint64_t"},
    [V_WIDE_BY_VALUE] =
        {"wide-by-value", "A1",
         "x86-64 Linux takes two registers, x86-64 Windows a pointer or a vector register, 32-bit targets lack it",
         "pass a pointer to two uint64_t"},
    [V_FLOAT_BY_VALUE] =
        {"float-by-value", "A1",
         "it is in a floating-point register on x86-64, aarch64 and hard-float armv7, in an integer register on "
         "soft-float armv7, on the stack or in the x87 on i386; long double differs in format too",
         "pass a pointer to it, or its bits as uint32_t or uint64_t"},
    [V_COMPLEX_BY_VALUE] = {"complex-by-value", "A1",
                            "one register on x86-64 Linux, two on aarch64, memory on Windows and i386",
                            "pass a pointer to two numbers"},
    [V_VECTOR_BY_VALUE] = {"vector-by-value", "A1",
                           "its register depends on the instruction set that caller and callee were compiled for",
                           "pass a pointer to its elements"},
    [V_OTHER_BY_VALUE] = {"other-by-value", "A1", "no ABI of the seven says the same of it", "pass a pointer to it"},
    [V_VARIADIC] = {"variadic", "A1",
                    "variadic arguments are all on the stack on arm64 macOS, in registers on aarch64 Linux; x86-64 "
                    "Linux wants the "
                    "number of vector registers in al; bindings and callbacks can't forward them",
                    "take a pointer to an array of arguments and its count"},
    [V_UNPROTOTYPED] =
        {"unprototyped", "A1",
         "without a prototype the caller promotes as it likes: it may be called as variadic, which arm64 macOS "
         "and wasm32 do another way",
         "write (void), or its parameters"},

    [V_STRUCT_SIZE] =
        {"struct-size", "A2", "it can't grow: a library of another version sees no difference on any ABI",
         "begin it with `uint32_t struct_size`, or say `plain data` in the comment before it when its size is fixed "
         "for ever"},
    [V_BIT_FIELD] =
        {"bit-field", "A2",
         "Windows begins a new unit when the type changes, Linux packs on; the order of bits is the machine's",
         "use a uint32_t and masks"},
    [V_BOOL_FIELD] = {"bool-field", "A2", "any byte but 0 and 1 in it is undefined behaviour, on every ABI",
                      "use uint32_t"},
    [V_ENUM_FIELD] = {"enum-field", "A2",
                      "its width is the compiler's choice: 1 or 2 bytes with -fshort-enums and on bare armv7",
                      "use uint32_t or int32_t"},
    [V_LONG_FIELD] =
        {"long-field", "A2",
         "it has 8 bytes on x86-64 and aarch64 Linux and macOS, 4 on x86-64 Windows, i386, armv7 and wasm32",
         "use int64_t or uint64_t"},
    [V_SIZE_FIELD] = {"size-field", "A2", "it has 4 bytes on i386, armv7 and wasm32, 8 elsewhere",
                      "use uint64_t or int64_t"},
    [V_WCHAR_FIELD] = {"wchar-field", "A2", "it has 2 bytes on Windows, 4 elsewhere", "use uint16_t or uint32_t"},
    [V_INT_FIELD] =
        {"int-field", "A2",
         "it has its 4 or 8 bytes on all seven targets, but nothing promises that (--fixed-width asks for it)",
         "use int32_t, uint32_t, int64_t or uint64_t"},
    [V_OTHER_FIELD] =
        {"other-field", "A2",
         "its size and format are the machine's: long double has 16, 12 or 8 bytes, vectors and __int128 another "
         "alignment, or none",
         "use integers, float or double"},
    [V_POINTER_SLOT] = {"pointer-slot", "A2",
                        "it has 4 bytes on i386, armv7 and wasm32, 8 elsewhere: what stands behind it moves",
                        "put `uint32_t NAME_upper` behind it on 32-bit targets (QN_SLOT does)"},
    [V_POINTER_ARRAY] = {"pointer-array", "A2",
                         "its elements have 4 bytes on i386, armv7 and wasm32 and no room for upper halves",
                         "use an array of structs with a slot each, or of uint64_t"},
    [V_UNION_FIRST] =
        {"union-first", "A2",
         "{0} zeroes the first member alone, so upper bits of the others are left as they were, a pointer's on 32-bit "
         "targets for example",
         "make a uint64_t or int64_t that fills it the first member"},
    [V_MISALIGNED] = {"misaligned", "A2", "i386 Linux aligns it to 4, the others to 8: what is aligned by chance moves",
                      "order the fields, or put a reserved uint32_t before it"},
    [V_PADDING] = {"padding", "A2", "its bytes are not set by anyone, and other targets may put them elsewhere",
                   "fill the gap with a reserved field that must be zero"},
    [V_TAIL_PADDING] =
        {"tail-padding", "A2",
         "its bytes are not set by anyone; a later field would go there unseen, and i386 Linux may have none",
         "fill it with a reserved field that must be zero"},
    [V_SIZE_MULTIPLE] = {"size-multiple", "A2",
                         "an array of it, or a struct with it, has another stride on i386 than elsewhere once "
                         "it has a 64-bit field",
                         "fill it up to a multiple of 8 bytes"},
    [V_OVER_ALIGNED] = {"over-aligned", "A2",
                        "malloc on i386, armv7 and wasm32 gives 8 or 16 bytes, stacks less: callers must know",
                        "align to 8 at most"},

    [V_LOWERS_DIFFERENTLY] = {"lowers-differently", "A3",
                              "a caller and a callee that were compiled for different ABIs crash",
                              "give and take pointers and integers of fixed width"},
    [V_LAYOUT_DIFFERS] = {"layout-differs", "A3", "what one target writes another reads elsewhere", "follow A2"},
    [V_ALIGNMENT_DIFFERS] = {"alignment-differs", "A3", "what holds it in a struct or an array has it elsewhere",
                             "follow A2"},
    [V_VALUE_DIFFERS] = {"value-differs", "A3", "the two sides of a call mean different things by it",
                         "give it a value of its own that int32_t can hold, without #if"},
    [V_ENUM_DIFFERS] = {"enum-differs", "A3", "its values take another width", "keep its values within int32_t"},
    [V_VARIABLE_DIFFERS] = {"variable-differs", "A3", "what one target writes another reads elsewhere",
                            "use a type of fixed width, or a function"},
    [V_MISSING] = {"missing", "A3", "who uses it elsewhere finds nothing there", "declare it for all, or for none"},

    [V_REMOVED] = {"removed", "growth", "programs that use it no longer link or load", "keep it"},
    [V_FUNCTION_CHANGED] = {"function-changed", "growth", "programs that were compiled before call it the old way",
                            "give the new one a new name"},
    [V_FIELD_REMOVED] = {"field-removed", "growth", "programs that were compiled before still write and read it",
                         "keep it"},
    [V_FIELD_CHANGED] = {"field-changed", "growth", "programs that were compiled before write and read it the old way",
                         "put the new one at the end"},
    [V_FIELD_INSERTED] = {"field-inserted", "growth", "programs that were compiled before have something else there",
                          "put it at the end, or where a reserved field was"},
    [V_STRUCT_SHRANK] = {"struct-shrank", "growth", "programs that were compiled before write behind its end",
                         "keep its size"},
    [V_STRUCT_GREW] =
        {"struct-grew", "growth",
         "without struct_size nobody can tell the old from the new one: the end of the old one is read or written "
         "over",
         "make a new struct with a new name"},
    [V_ALIGNMENT_CHANGED] = {"alignment-changed", "growth", "programs that were compiled before place it the old way",
                             "keep it"},
    [V_VALUE_CHANGED] = {"value-changed", "growth", "programs that were compiled before use the old number",
                         "keep its value"},
    [V_VALUE_REMOVED] = {"value-removed", "growth",
                         "programs that use it no longer compile, and its number may come back with "
                         "another meaning",
                         "keep it"},
    [V_VALUE_REUSED] = {"value-reused", "growth", "programs that were compiled before mean the old name by this number",
                        "take a number that was never used"},
    [V_ENUM_RESIZED] = {"enum-resized", "growth", "programs that were compiled before keep it in the old width",
                        "keep its width"},
    [V_VARIABLE_CHANGED] = {"variable-changed", "growth", "programs that were compiled before copy the old size of it",
                            "give the new one a new name"},
};

violation_kind violation_kind_named(const char *name) {
  unsigned kind = 0;
  while (kind < VIOLATION_KINDS && strcmp(violation_texts[kind].name, name) != 0) kind++;
  return (violation_kind)kind;
}

void violation_add(violations *list, violation_kind kind, abi_place place, size_t target, const char *subject,
                   const char *format, ...) {
  va_list args;
  va_start(args, format);
  const char *what = pool_format_list(format, args);
  va_end(args);
  const abi_set *input = list->input;
  const char *key = pool_format("%s:%u %u %s", place.file ? place.file : input->path, place.line, kind, what);
  size_t at = pool_find(&list->keys, key);
  if (at == POOL_NONE) {
    at = list->count;
    violation *v = POOL_PUSH(list);
    *v = (violation){.kind = kind, .place = place, .path = input->path, .subject = subject, .what = what};
    v->targets = input->targets;
    v->target_count = input->count;
    pool_put(&list->keys, key, at);
  }
  list->items[at].on |= UINT64_C(1) << target;
}

static int by_place(const void *a, const void *b) {
  const violation *x = a, *y = b;
  int order = strcmp(x->place.file ? x->place.file : x->path, y->place.file ? y->place.file : y->path);
  if (order) return order;
  if (x->place.line != y->place.line) return x->place.line < y->place.line ? -1 : 1;
  return x->kind < y->kind ? -1 : x->kind > y->kind ? 1 : strcmp(x->what, y->what);
}

void violations_sort(violations *list) {
  if (list->count) qsort(list->items, list->count, sizeof *list->items, by_place);
  list->keys = (pool_map){0};
}

/* header.c - reads a header for one target. */
#include "header.h"

#include <clang-c/Index.h>
#include <stdio.h>
#include <string.h>

#include "header_declare.h"
#include "header_type.h"
#include "lowering.h"

/* Faults of one header and target that are told; the rest follow from them most of the time. */
enum { MAX_TOLD = 5 };

clang_words header_arguments(const header_options *options, const abi_target *target) {
  clang_words words = {0};
  clang_add(&words, pool_format("--target=%s", target->triple));
  /* The C library's headers of this machine are of its own target alone: none has them. */
  clang_add(&words, "-ffreestanding");
  clang_add(&words, "-resource-dir");
  clang_add(&words, options->resources);
  clang_add(&words, "-nostdlibinc");
  clang_add(&words, "-std=gnu17");
  clang_add(&words, "-w");
  clang_add(&words, "-ferror-limit=0");
  /* Before the user's own -idirafter, which may hold this machine's C library. */
  if (options->stand_ins) clang_add(&words, "-idirafter"), clang_add(&words, options->stand_ins);
  for (size_t i = 0; i < options->arguments.count; i++) clang_add(&words, options->arguments.items[i]);
  clang_add(&words, "-xc");
  return words;
}

const char *header_include(const char *path) { return pool_format("#include \"%s\"\n", path); }

/* What it said that stops it, a line each. */
static const char *errors_of(CXTranslationUnit unit) {
  pool_text text = {0};
  unsigned told = 0, count = clang_getNumDiagnostics(unit);
  for (unsigned i = 0; i < count; i++) {
    CXDiagnostic diagnostic = clang_getDiagnostic(unit, i);
    if (clang_getDiagnosticSeverity(diagnostic) >= CXDiagnostic_Error && told++ < MAX_TOLD) {
      const char *line = header_text(clang_formatDiagnostic(diagnostic, CXDiagnostic_DisplaySourceLocation));
      pool_add(&text, "%s%s", text.length ? "\n" : "", line + (strncmp(line, "./", 2) ? 0 : 2));
    }
    clang_disposeDiagnostic(diagnostic);
  }
  if (told > MAX_TOLD) pool_add(&text, "\nand %u more", told - MAX_TOLD);
  return text.data;
}

static const char *first_lines(const char *text) {
  size_t length = 0;
  for (int lines = 0; lines < MAX_TOLD && text[length]; lines++) {
    length += strcspn(text + length, "\n");
    if (text[length]) length++;
  }
  while (length && text[length - 1] == '\n') length--;
  return pool_copy(text, length);
}

/* libclang says no more than that it refuses: clang says what of the options it is. */
static const char *refusal_of(const header_options *options, const clang_words *words) {
  clang_words again = {0};
  const char *text, *errors;
  for (size_t i = 0; i < words->count; i++) clang_add(&again, words->items[i]);
  clang_add(&again, "-fsyntax-only");
  clang_add(&again, "-");
  if (clang_run(options->clang, &again, "", &text, &errors)) return "libclang refuses the options or the file";
  return first_lines(errors);
}

static bool parse(CXIndex index, const char *path, const header_options *options, abi_interface *out,
                  header_spellings *spellings, const char **out_error) {
  clang_words words = header_arguments(options, out->target);
  clang_add(&words, "-fparse-all-comments");
  const char *text = header_include(path);
  struct CXUnsavedFile main_file = {"quern-abi.c", text, strlen(text)};
  CXTranslationUnit unit = NULL;
  enum CXErrorCode code =
      clang_parseTranslationUnit2(index, main_file.Filename, words.items, (int)words.count, &main_file, 1,
                                  CXTranslationUnit_SkipFunctionBodies | CXTranslationUnit_KeepGoing, &unit);
  if (code != CXError_Success || !unit) {
    *out_error = code == CXError_Crashed ? "libclang crashed over it" : refusal_of(options, &words);
    return false;
  }
  *out_error = errors_of(unit);
  if (!*out_error) header_declare(unit, out, spellings);
  clang_disposeTranslationUnit(unit);
  return *out_error == NULL;
}

static bool lower(const char *path, const header_options *options, const header_spellings *spellings,
                  abi_interface *out, const char **out_error) {
  const char *ir = NULL, *errors = NULL;
  clang_words words = header_arguments(options, out->target);
  static const char *const more[] = {"-", "-S", "-emit-llvm", "-o", "-"};
  for (size_t i = 0; i < sizeof more / sizeof *more; i++) clang_add(&words, more[i]);
  const char *probe = lowering_probe(header_include(path), out, spellings);
  if (!clang_run(options->clang, &words, probe, &ir, &errors)) {
    *out_error = pool_format("%s doesn't take the probe: %s", options->clang, first_lines(errors));
    return false;
  }
  lowering_read(ir, out);
  for (size_t i = 0; i < out->functions.count; i++) {
    if (!spellings->items[i] || out->functions.items[i].lowered) continue;
    *out_error = pool_format("%s: the IR of %s has no declaration of it", out->functions.items[i].name, options->clang);
    return false;
  }
  return true;
}

bool header_read(const char *path, const header_options *options, abi_interface *out, const char **out_error) {
  header_spellings spellings = {0};
  CXIndex index = clang_createIndex(0, 0);
  if (!index) return *out_error = "libclang could not be started", false;
  bool read = parse(index, path, options, out, &spellings, out_error);
  clang_disposeIndex(index);
  return read && lower(path, options, &spellings, out, out_error);
}

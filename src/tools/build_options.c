#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "build.h"
#include "depfile.h"
#include "option.h"

static const build_kind kinds[] = {
    {"object", QN_ARTIFACT_OBJECT, "", ".o", false},
    {"static_library", QN_ARTIFACT_STATIC_LIBRARY, "lib", ".a", false},
    {"shared_library", QN_ARTIFACT_SHARED_LIBRARY, "lib", ".so", false},
    {"c_header", QN_ARTIFACT_C_HEADER, "", ".h", false},
    {"image", QN_ARTIFACT_IMAGE, "", ".qni", false},
    {"ir", QN_ARTIFACT_IR, "", ".ir", false},
    {"llvm_ir", QN_ARTIFACT_LLVM_IR, "", ".ll", true},
    {"assembly", QN_ARTIFACT_ASSEMBLY, "", ".s", true},
    {"opencl_c", QN_ARTIFACT_OPENCL_C, "", ".ocl.cl", false},
    {"wgsl", QN_ARTIFACT_WGSL, "", ".wgsl", false},
    {"ptx", QN_ARTIFACT_PTX, "", ".ptx", true},
    {"spirv", 0, "", ".spv", true},
};
#define KIND_COUNT (sizeof kinds / sizeof *kinds)

enum { NAME, TARGET, EMIT, PARAMETER, DEFINE, INCLUDE, BUILD_OPTION, DIRECTORY, PARAMS, DEPFILE, TOUCH, JOBS, HELP };
static const tool_option options[] = {
    {"--name", "-n", NAME, true},
    {"--target", NULL, TARGET, true},
    {"--emit", "-e", EMIT, true, true},
    {"--param", "-P", PARAMETER, true, true},
    {"--define", "-D", DEFINE, true, true},
    {"--include", "-I", INCLUDE, true, true},
    {"--build-option", "-b", BUILD_OPTION, true, true},
    {"--out", "-o", DIRECTORY, true},
    {"--params", NULL, PARAMS, false},
    {"--depfile", NULL, DEPFILE, true},
    {"--touch", NULL, TOUCH, false},
    {"--jobs", "-j", JOBS, true},
    {"--help", "-h", HELP, false},
};
#define OPTION_COUNT (sizeof options / sizeof *options)

/* ---- Lists -------------------------------------------------------------------------------------- */

static tool_status add_kind(build_options *o, const char *word, size_t length) {
  const char *names[KIND_COUNT];
  for (size_t i = 0; i < KIND_COUNT; i++) {
    names[i] = kinds[i].name;
    if (strlen(names[i]) != length || strncmp(names[i], word, length) != 0) continue;
    if (!kinds[i].kind)
      return tool_error(TOOL_USAGE, "--emit %s: this version has no target for that yet", kinds[i].name);
    for (size_t j = 0; j < o->kind_count; j++)
      if (o->kinds[j] == &kinds[i]) return TOOL_OK;
    o->kinds[o->kind_count++] = &kinds[i];
    return TOOL_OK;
  }
  char *copy = tool_copy(word, length);
  const char *near = tool_nearest(copy, names, KIND_COUNT);
  tool_status status = tool_error(TOOL_USAGE,
                                  "--emit: unknown kind '%s'%s%s%s; there are object, static_library, shared_library, "
                                  "c_header, image, ir, llvm_ir, assembly, opencl_c, wgsl, ptx",
                                  copy, near ? "; did you mean '" : "", near ? near : "", near ? "'?" : "");
  free(copy);
  return status;
}

static tool_status add_target(build_options *o, const char *word, size_t length) {
  for (size_t i = 0; i < o->target_count; i++)
    if (strlen(o->targets[i]) == length && strncmp(o->targets[i], word, length) == 0) return TOOL_OK;
  if (o->target_count == BUILD_TARGETS) return tool_error(TOOL_USAGE, "more than %d targets", BUILD_TARGETS);
  o->targets[o->target_count++] = tool_copy(word, length);
  return TOOL_OK;
}

static tool_status each(build_options *o, const char *list, tool_status (*add)(build_options *, const char *, size_t)) {
  for (;;) {
    size_t length = strcspn(list, ",");
    TOOL_TRY(add(o, list, length));
    if (!list[length]) return TOOL_OK;
    list += length + 1;
  }
}

/* ---- Words -------------------------------------------------------------------------------------- */

static tool_status set(const char **slot, const char *option, const char *word) {
  if (!*word) return tool_error(TOOL_USAGE, "%s needs a word that isn't empty", option);
  *slot = word;
  return TOOL_OK;
}

static void note_odd(build_options *o, const char *word) {
  if (strpbrk(word, "\n\r")) o->odd_word = word;
}

static tool_status apply(build_options *o, int id, const char *word) {
  switch (id) {
    case NAME:
      return set(&o->name, "--name", word);
    case TARGET:
      TOOL_TRY(set(&o->target, "--target", word));
      return each(o, word, add_target);
    case EMIT:
      return each(o, word, add_kind);
    case PARAMETER:
      tool_add_build_option(&o->build, "-P", word);
      return TOOL_OK;
    case DEFINE:
      tool_add_build_option(&o->build, "-D", word);
      return TOOL_OK;
    case INCLUDE:
      note_odd(o, word);
      tool_add_build_option(&o->build, "-I", word);
      return TOOL_OK;
    case BUILD_OPTION:
      note_odd(o, word);
      tool_add_build_option(&o->build, "", word);
      return TOOL_OK;
    case DIRECTORY:
      return set(&o->directory, "-o", word);
    case DEPFILE:
      return set(&o->depfile, "--depfile", word);
    case JOBS:
      if (!tool_parse_u64(word, &o->jobs) || o->jobs == 0 || o->jobs > 1024)
        return tool_error(TOOL_USAGE, "-j %s: expected a whole number from 1 to 1024", word);
      return TOOL_OK;
    case PARAMS:
      o->lists_params = true;
      return TOOL_OK;
    case TOUCH:
      o->touch = true;
      return TOOL_OK;
    default:
      o->help = true;
      return TOOL_OK;
  }
}

static tool_status check(build_options *o) {
  if (o->file_count == 0)
    return tool_error(TOOL_USAGE, "which file? quern build FILE.cl... -o DIR; quern build --help shows examples");
  if (o->lists_params) return TOOL_OK;
  if (!o->directory) return tool_error(TOOL_USAGE, "where to? -o DIR");
  if (o->name && o->file_count > 1)
    return tool_error(TOOL_USAGE, "--name is for one file, and there are %zu", o->file_count);
  if (o->depfile) TOOL_TRY(depfile_check(o));
  if (o->kind_count == 0) return each(o, "object,c_header", add_kind);
  return TOOL_OK;
}

tool_status build_options_parse(int argc, char **argv, build_options *o) {
  memset(o, 0, sizeof *o);
  long cores = sysconf(_SC_NPROCESSORS_ONLN);
  o->jobs = cores > 0 ? (uint64_t)cores : 1;
  o->files = tool_alloc((size_t)argc, sizeof *o->files);
  const char *given[OPTION_COUNT] = {0};
  bool only_words = false;
  const tool_options table = {options, OPTION_COUNT, given};
  for (int i = 1; i < argc; i++) {
    const char *word = argv[i];
    int id = 0;
    if (!only_words && strcmp(word, "--") == 0) {
      only_words = true;
      continue;
    }
    if (only_words || word[0] != '-' || !word[1]) {
      o->files[o->file_count++] = word;
      continue;
    }
    if (tool_is_build_option(word)) {
      tool_add_build_option(&o->build, "", word);
      continue;
    }
    TOOL_TRY(tool_option_take(&table, argc, argv, &i, &id, &word));
    TOOL_TRY(apply(o, id, word));
    if (o->help) return TOOL_OK;
  }
  return check(o);
}

void build_options_free(build_options *o) {
  free(o->files);
  free(o->build);
  for (size_t i = 0; i < o->target_count; i++) free(o->targets[i]);
}

/* build.h - what the parts of `quern build` share. */
#ifndef QUERN_TOOLS_BUILD_H
#define QUERN_TOOLS_BUILD_H

#include "quern/quern_build.h"
#include "tool.h"

enum { BUILD_KINDS = 12, BUILD_TARGETS = 32 };

/* What --emit knows: "object" is lib/NAME.o, and so on. */
typedef struct build_kind {
  const char *name;
  uint32_t kind; /* QN_ARTIFACT_...; 0: comes with a later version */
  const char *prefix, *suffix;
  bool per_target; /* one output a target */
} build_kind;

typedef struct build_options {
  const char **files;
  size_t file_count;
  const char *name, *directory, *depfile;
  const char *target;           /* as given, NULL: host */
  char *targets[BUILD_TARGETS]; /* one by one */
  size_t target_count;
  const build_kind *kinds[BUILD_KINDS];
  size_t kind_count;
  char *build;          /* the compiler's options */
  const char *odd_word; /* one of them that has a line break; NULL: none */
  uint64_t jobs;
  bool touch, lists_params, help;
} build_options;

tool_status build_options_parse(int argc, char **argv, build_options *out);
void build_options_free(build_options *o);

/* One output to be made. */
typedef struct build_job {
  const char *file;
  const char *source;
  uint64_t source_bytes;
  const build_kind *kind;
  const char *target;
  char *output; /* its name */
  qn_artifact artifact;
  qn_status status;
  char *error; /* the library's text */
} build_job;

/* Every job, on up to `threads` threads. */
void build_run_jobs(const build_options *o, build_job *jobs, size_t count);
/* Puts every output in its place, the depfile with them, or none. */
tool_status build_write(const build_options *o, const build_job *jobs, size_t count);
/* Prints the parameters of a file. */
tool_status build_list_parameters(const build_options *o, const char *file, const char *source, uint64_t size);

#endif

/* build.h - one build of an artifact. What build.c and build_image.c share. */
#ifndef QUERN_CORE_BUILD_H
#define QUERN_CORE_BUILD_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/bytes.h"
#include "compiler/compiler.h"
#include "core/build_target.h"
#include "core/program_source.h"
#include "quern/quern_build.h"
#include "store/image.h"
#include "store/manifest.h"
#include "store/store.h"

/* What the source means with one data model. */
typedef struct core_build_module {
  ir_module *module;
  core_source description;
  qn_bytes text; /* canonical */
} core_build_module;

typedef struct core_build {
  qn_build_options given;
  const char *name; /* of an image */
  core_build_target targets[QN_IMAGE_CODES];
  uint32_t target_count;
  qn_store *store;
  qn_arena arena;
  qn_compile_options options;
  qn_sv source;
  qn_manifest seen;
  qn_key lookup, key;
  qn_store_before before; /* what the look-up before parsing said */
  core_build_module usual;
  core_build_module small; /* of images for webgpu: 32 address bits, no double */
  qn_bytes log, out;
  bool is_found;
} core_build;

static inline bool core_build_is_image(uint32_t kind) {
  return kind >= QN_ARTIFACT_IMAGE && kind <= QN_ARTIFACT_C_HEADER;
}

/* Whether one of the targets is webgpu. */
bool core_build_has_wgsl(const core_build *build);
/* Reads `target` and `name` of the options. Errors: INVALID_ARGUMENT, UNSUPPORTED, LIMIT. */
QN_MUST_USE qn_status core_build_read_targets(core_build *build);
/* For kinds that have no use for targets: names that don't exist are errors all the same. */
QN_MUST_USE qn_status core_build_check_targets(const char *list);
QN_MUST_USE qn_status core_build_read_name(core_build *build);

/* A module of its own from the build's text, for what changes it. Freed with ir_module_free. */
QN_MUST_USE qn_status core_build_copy_module(core_build *build, ir_module **out);
/* Appends code of a target. `m` is changed. */
QN_MUST_USE qn_status core_build_code(const core_build *build, ir_module *m, const core_build_target *target,
                                      uint32_t kind, qn_bytes *out);
/* Appends an image, or what carries one, to build->out. */
QN_MUST_USE qn_status core_build_image(core_build *build);

#endif

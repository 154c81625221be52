/* webgpu.h - WGSL made into compute pipelines and run, by a library that implements webgpu.h (Dawn's generation of May 2025).
 * QUERN_TEST_WEBGPU names it; ci/webgpu.sh brings one. One thread at a time. */
#ifndef QUERN_TESTS_WGSL_WEBGPU_H
#define QUERN_TESTS_WGSL_WEBGPU_H

#include <stdbool.h>
#include <stdint.h>

#include "base/string_view.h"

typedef struct webgpu_binding {
  uint32_t binding;
  bool is_uniform;
  void *data; /* a storage buffer's bytes are read back into it */
  uint64_t size_bytes;
} webgpu_binding;

typedef struct webgpu_constant {
  const char *name;
  double value;
} webgpu_constant;

typedef struct webgpu_dispatch {
  const char *entry;
  const webgpu_constant *constants;
  uint32_t constant_count;
  const webgpu_binding *bindings;
  uint32_t binding_count;
  uint32_t groups[3]; /* 0 in the first: the pipeline is made, and nothing runs */
} webgpu_dispatch;

/* Opens at the first call. False: `*why` says what is missing. */
bool webgpu_open(const char **why);
/* What the last call that failed was told; "" when there was none. */
const char *webgpu_error(void);
/* A shader module; NULL: webgpu_error(). */
void *webgpu_module(qn_sv text);
void webgpu_module_free(void *module);
bool webgpu_run(void *module, const webgpu_dispatch *dispatch);

#endif

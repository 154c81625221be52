/* artifact.h - artifacts that carry an image into other programs: an object, a static library, a shared library, and the
 * C header that launches its kernels. Written here, byte by byte, so that no compiler and no linker is needed, and the same
 * input gives the same bytes everywhere. */
#ifndef QUERN_COMPILER_ARTIFACT_ARTIFACT_H
#define QUERN_COMPILER_ARTIFACT_ARTIFACT_H

#include <stdint.h>

#include "base/bytes.h"
#include "base/string_view.h"
#include "quern/quern.h"

/* What the object formats need to know of a machine. */
typedef enum qn_artifact_machine { QN_MACHINE_X86_64, QN_MACHINE_AARCH64 } qn_artifact_machine;

/* Bytes under two symbols: `quern_image_NAME`, and `quern_image_NAME_size`, a uint64_t. No symbol is undefined. */
typedef struct qn_artifact_data {
  const char *name; /* a C identifier */
  qn_sv bytes;
  qn_artifact_machine machine;
} qn_artifact_data;

/* A relocatable ELF object. Failure of memory: out->failed. */
void qn_artifact_object(const qn_artifact_data *data, qn_bytes *out);
/* A shared library, libNAME.so. */
void qn_artifact_shared_library(const qn_artifact_data *data, qn_bytes *out);
/* An archive with one member, NAME.o, and an index of its symbols. */
void qn_artifact_static_library(const qn_artifact_data *data, qn_bytes *out);

/* One kernel, as its header declares it. */
typedef struct qn_artifact_kernel {
  const char *name;
  const qn_argument_info *arguments;
  uint32_t argument_count;
} qn_artifact_kernel;

/* The C header of an image: declarations of its bytes, NAME_load, and for each kernel a typed launch function under two names,
 * KERNEL_launch and NAME_KERNEL_launch. Compiles as C11 and C++, whatever kernels and parameters are called, and beside headers
 * of other images. */
void qn_artifact_header(const char *name, const qn_artifact_kernel *kernels, uint32_t count, qn_bytes *out);

#endif

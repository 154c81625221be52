/* quern_build.h - compile to artifacts, without a device. Experimental until 1.0: names and structs may change.
 *
 * The rules of quern.h hold here: pointers and 32- or 64-bit integers only, errors by status and qn_error_text. */
#ifndef QUERN_QUERN_BUILD_H
#define QUERN_QUERN_BUILD_H

#include "quern/quern.h"

#ifdef __cplusplus
extern "C" {
#endif

enum {
  QN_ARTIFACT_PREPROCESSED = 1, /* OpenCL C after the preprocessor, text with line markers */
  QN_ARTIFACT_IR = 2,           /* Quern's intermediate representation, text (docs/ir.md) */
  QN_ARTIFACT_LLVM_IR = 3,      /* text */
  QN_ARTIFACT_ASSEMBLY = 4,     /* of the target, text */
  QN_ARTIFACT_OBJECT = 5        /* relocatable object of the target, without undefined symbols */
};

typedef struct qn_build_options {
  uint32_t struct_size;
  uint32_t kind;                    /* QN_ARTIFACT_... */
  QN_SLOT(const char *, source);    /* OpenCL C */
  uint64_t source_bytes;            /* 0: `source` ends with NUL */
  QN_SLOT(const char *, file_name); /* for diagnostics and relative includes; NULL: "<source>" */
  QN_SLOT(const char *, options);   /* as in qn_program_options */
  QN_SLOT(const char *,
          target); /* "host", "x86-64-linux", "x86-64-v2-linux", -v3, -v4, "aarch64-linux"; NULL: "host" */
  uint32_t scalar; /* 1: code that is not vectorised, for comparing */
  uint32_t reserved;
} qn_build_options;

/* What a build gives. Owned by the library until qn_artifact_free. */
typedef struct qn_artifact {
  uint32_t struct_size;
  uint32_t kind;
  QN_SLOT(const void *, bytes); /* text has a NUL behind it */
  uint64_t size_bytes;
  QN_SLOT(const char *, log); /* warnings, "" when there are none */
  uint64_t log_bytes;
} qn_artifact;

/* Compiles. Any thread, in parallel. The preprocessed text and the IR need no LLVM; the others load libquern-llvm.
 * Errors: COMPILE (the text is the diagnostics), INVALID_ARGUMENT (an unknown kind, target or option is named),
 * NOT_FOUND when libquern-llvm is missing, OUT_OF_HOST_MEMORY. */
QN_API QN_MUST_USE qn_status qn_build(const qn_build_options *options, qn_artifact *out_artifact);

/* Frees what an artifact points to and clears it. NULL and a cleared artifact are allowed. */
QN_API void qn_artifact_free(qn_artifact *artifact);

#ifdef __cplusplus
}
#endif

#endif /* QUERN_QUERN_BUILD_H */

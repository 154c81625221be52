/* quern_build.h - compile to artifacts, write them as a transaction, and look after the store. Without a device.
 * Experimental until 1.0: names and structs may change.
 *
 * The rules of quern.h hold here: pointers and 32- or 64-bit integers only, errors by status and qn_error_text. */
#ifndef QUERN_QUERN_BUILD_H
#define QUERN_QUERN_BUILD_H

#include "quern/quern.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Artifacts ---------------------------------------------------------------------------------- */

enum {
  QN_ARTIFACT_PREPROCESSED = 1, /* OpenCL C after the preprocessor, text with line markers */
  QN_ARTIFACT_IR = 2,           /* Quern's intermediate representation, text (docs/ir.md) */
  QN_ARTIFACT_LLVM_IR = 3,      /* text */
  QN_ARTIFACT_ASSEMBLY = 4,     /* of the target, text */
  QN_ARTIFACT_CODE = 5, /* relocatable object of the target: the kernels' code alone, without undefined symbols */
  /* An image holds code for every target asked for and the IR, for qn_program_load (docs/images.md). The next three carry one,
   * as `quern_image_NAME` and `quern_image_NAME_size`, and leave no symbol undefined. */
  QN_ARTIFACT_IMAGE = 6,
  QN_ARTIFACT_OBJECT = 7,         /* relocatable */
  QN_ARTIFACT_STATIC_LIBRARY = 8, /* an archive of that object */
  QN_ARTIFACT_SHARED_LIBRARY = 9,
  QN_ARTIFACT_C_HEADER =
      10, /* NAME_load, and KERNEL_launch for each kernel: queue, range, the kernel's own arguments */
  /* OpenCL C 1.2 for any driver, text: the same meaning everywhere, built-in functions included (docs/opencl-c.md). */
  QN_ARTIFACT_OPENCL_C = 11,
  /* WGSL, text, of the model with 32 address bits and no double (docs/wgsl.md). */
  QN_ARTIFACT_WGSL = 12,
  /* PTX for NVIDIA's assembler, text, of the one target given, cuda-sm_NN; NULL: cuda-sm_70, which later GPUs run as well. */
  QN_ARTIFACT_PTX = 13
};

/* An image's hit is neither counted nor logged by qn_build: qn_outputs_write does both when the output is in its place. */
#define QN_BUILD_DEFER_HIT (UINT64_C(1) << 0)
/* A wait for another process is told on standard error, a terminal, when it has lasted a second: for what, and which process that
 * is. QUERN_LOG=cache tells it in any case. */
#define QN_BUILD_SHOW_WAITS (UINT64_C(1) << 1)

typedef struct qn_build_options {
  uint32_t struct_size;
  uint32_t kind;                    /* QN_ARTIFACT_... */
  QN_SLOT(const char *, source);    /* OpenCL C */
  uint64_t source_bytes;            /* 0: `source` ends with NUL */
  QN_SLOT(const char *, file_name); /* for diagnostics and relative includes; NULL: "<source>" */
  QN_SLOT(const char *, options);   /* as in qn_program_options */
  /* "host", "x86-64-linux", "x86-64-v2-linux", -v3, -v4, "aarch64-linux"; NULL: "host". An image's may be several, with ','
   * between, and "webgpu" (WGSL), and "opencl", whose code is made from the IR where it is loaded. */
  QN_SLOT(const char *, target);
  QN_SLOT(const char *, name); /* of an image: a C identifier; NULL: from file_name */
  uint64_t flags;              /* QN_BUILD_... */
  uint32_t scalar;             /* 1, or QUERN_CPU_SCALAR=1: CPU code that is not vectorised, for comparing */
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
  QN_SLOT(const char *, dependencies); /* the files that were read beside the source, one a line; "" */
  uint64_t dependency_bytes;
  uint32_t cached; /* 0: made now; 2: found in the store */
  uint32_t reserved;
  char key[72]; /* in hexadecimal; "" for what isn't stored */
} qn_artifact;

/* Compiles, or finds it in the store. Any thread, in parallel. The preprocessed text, the IR and the C header need no LLVM;
 * others load libquern-llvm when they are not found. Errors: COMPILE (the text is the diagnostics), INVALID_ARGUMENT (an
 * unknown kind, target, option or parameter, or two kernels of one name: named, with the place), NOT_FOUND when libquern-llvm
 * is missing, OUT_OF_HOST_MEMORY. */
QN_API QN_MUST_USE qn_status qn_build(const qn_build_options *options, qn_artifact *out_artifact);

/* Frees what an artifact points to and clears it. NULL and a cleared artifact are allowed. */
QN_API void qn_artifact_free(qn_artifact *artifact);

/* ---- Outputs ------------------------------------------------------------------------------------ */

enum {
  QN_OUTPUT_OLD = 0,  /* as it was before the call */
  QN_OUTPUT_SAME = 1, /* had these bytes already, and was left alone */
  QN_OUTPUT_NEW = 2,
  QN_OUTPUT_UNKNOWN = 3 /* could not be put back: the error text says what is there */
};

typedef struct qn_output {
  uint32_t struct_size;
  uint32_t state;              /* filled in: QN_OUTPUT_... */
  QN_SLOT(const char *, name); /* in the directory, without '/' */
  QN_SLOT(const void *, bytes);
  uint64_t size_bytes;
  QN_SLOT(const qn_artifact *, artifact); /* where the bytes are from; NULL: elsewhere. Its hit is told on success */
  QN_SLOT(const char *, directory);       /* where it goes; NULL: to the directory of the call */
} qn_output;

#define QN_OUTPUTS_TOUCH (UINT64_C(1) << 0)      /* outputs that are the same get a new time */
#define QN_OUTPUTS_SHOW_WAITS (UINT64_C(1) << 1) /* as QN_BUILD_SHOW_WAITS */

/* Replaces all outputs, or none of them, in a directory or in several, which are made when they aren't there. Waits for another
 * process that does the same. A file that has an output's bytes already is left alone; a link is replaced; a device, pipe or socket
 * at an output's place is an error. Errors: INVALID_ARGUMENT (a name; a directory that is
 * none), IO (the path and the reason), TIMEOUT. */
QN_API QN_MUST_USE qn_status qn_outputs_write(const char *directory, qn_output *const *outputs, uint32_t count,
                                              uint64_t flags);

/* ---- The store ---------------------------------------------------------------------------------- */

typedef struct qn_cache_info {
  uint32_t struct_size;
  uint32_t counter_count;
  char directory[1024];
  char mode[16];      /* "write", "read", "recache", "off" */
  char reason[512];   /* why it is off, "" when that was asked for or it isn't */
  uint64_t max_bytes; /* 0: no limit */
} qn_cache_info;

/* Errors: INVALID_ARGUMENT for an environment variable with a wrong value, which is named. */
QN_API QN_MUST_USE qn_status qn_cache_query(qn_cache_info *out_info);
/* Counter `index`, counted over all processes: its name, what it counts, its value. Static texts. Errors: NOT_FOUND past the
 * end; DATA, IO when the file of the counters is damaged: the texts are there then, and the next use of the store begins it anew. */
QN_API QN_MUST_USE qn_status qn_cache_counter(uint32_t index, const char **out_name, const char **out_text,
                                              int64_t *out_value);

/* What is in the store now. Names and sizes are read, no entry. */
typedef struct qn_cache_summary {
  uint32_t struct_size;
  uint32_t reserved;
  uint64_t entries, bytes;
  uint64_t programs, program_bytes;
  uint64_t manifests, manifest_bytes;
  uint64_t artifacts, artifact_bytes;
  uint64_t oldest_ns, newest_ns; /* the last use of the entry that was used longest ago, and latest; 0: there is none */
} qn_cache_summary;
/* Errors: IO, OUT_OF_HOST_MEMORY. */
QN_API QN_MUST_USE qn_status qn_cache_summarize(qn_cache_summary *out_summary);

typedef struct qn_cache_entry {
  uint32_t struct_size;
  uint32_t reserved;
  char key[72];
  char kind[16];                      /* "program", "manifest", "artifact" */
  char label[256];                    /* what it was made from, as much of it as there is room for */
  uint64_t file_bytes;                /* on disk */
  uint64_t raw_bytes;                 /* unpacked */
  uint64_t used_ns;                   /* of its last use, since 1970 by the store's clock */
  QN_SLOT(const char *, whole_label); /* all of it; as long as the visit */
} qn_cache_entry;
/* A result other than 0 stops the walk. */
typedef int32_t (*qn_cache_visit_fn)(void *user, const qn_cache_entry *entry);
/* Every entry, in the order of the keys. */
QN_API QN_MUST_USE qn_status qn_cache_list(qn_cache_visit_fn visit, void *user);

typedef struct qn_cache_result {
  uint32_t struct_size;
  uint32_t reserved;
  uint64_t entries, bytes;                 /* that are there now */
  uint64_t removed_entries, removed_bytes; /* by this call */
  uint64_t swept;                          /* files that dead processes had left */
} qn_cache_result;
/* Reads every entry and removes damaged ones. Errors of the three: TIMEOUT when another process is at it, IO, UNSUPPORTED when
 * the cache is off. */
QN_API QN_MUST_USE qn_status qn_cache_verify(qn_cache_result *out_result);
/* Removes what was used longest ago until no more than max_bytes are left; QN_WHOLE: the limit of the environment. */
QN_API QN_MUST_USE qn_status qn_cache_prune(uint64_t max_bytes, qn_cache_result *out_result);
QN_API QN_MUST_USE qn_status qn_cache_clear(qn_cache_result *out_result);

/* Reads a size as QUERN_CACHE_MAX_SIZE does: "1.5G", "500M", "64KiB". Errors: INVALID_ARGUMENT. */
QN_API QN_MUST_USE qn_status qn_cache_size(const char *text, uint64_t *out_bytes);

/* Writes entries to a file, for another machine: those whose key begins with one of `count` prefixes (8 digits or more) or whose
 * label is one of them; count 0: all. Errors: NOT_FOUND when one of them names nothing, IO. */
QN_API QN_MUST_USE qn_status qn_cache_export(const char *path, const char *const *names, uint32_t count,
                                             uint64_t *out_entries);
/* Takes entries in. The whole file is checked before the first is. They stay: when the store becomes too large, older entries go.
 * Errors: DATA, NOT_FOUND, IO, LIMIT when they are larger than the store may be. */
QN_API QN_MUST_USE qn_status qn_cache_import(const char *path, uint64_t *out_entries);

#ifdef __cplusplus
}
#endif

#endif /* QUERN_QUERN_BUILD_H */

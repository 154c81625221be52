/* image.h - an image: one program for many devices, as bytes that programs carry with them (docs/images.md).
 *
 * For each data model it holds what its source told of the kernels, and the IR, from which code for any device can still be
 * made; and code that is made already, each with the model, the target and what a processor must have to run it. A hash over
 * everything names it. Nothing in it depends on when or where it was made. */
#ifndef QUERN_STORE_IMAGE_H
#define QUERN_STORE_IMAGE_H

#include <stdint.h>

#include "base/bytes.h"
#include "base/string_view.h"
#include "quern/quern.h"
#include "store/key.h"

enum { QN_IMAGE_MODELS = 4, QN_IMAGE_CODES = 16 };

typedef struct qn_image_model {
  uint32_t address_bits;
  uint32_t features; /* bit 0: double, 1: half, 2: 64-bit atomics */
  uint64_t options;  /* what shapes code beyond the IR's text (core/program_make.h) */
  qn_sv source;      /* core/program_source.h */
  qn_sv ir;          /* to pack: the text; opened: packed (qn_image_ir) */
} qn_image_model;

typedef struct qn_image_code {
  uint32_t model;
  qn_sv target;   /* "x86-64-v3-linux" */
  qn_sv arch;     /* "x86-64" */
  qn_sv cpu;      /* LLVM's name */
  qn_sv features; /* what the processor must have: "+avx2,+fma" */
  qn_sv bytes;    /* core/program_image.h */
} qn_image_code;

typedef struct qn_image {
  qn_key id;
  uint32_t model_count, code_count;
  qn_image_model models[QN_IMAGE_MODELS];
  qn_image_code codes[QN_IMAGE_CODES]; /* the best first */
} qn_image;

/* Appends the image; sets its id. */
void qn_image_pack(qn_image *image, qn_bytes *out);
/* Views into `bytes`, which must stay. Everything is checked but the code itself. Errors: DATA with the reason. */
QN_MUST_USE qn_status qn_image_open(qn_sv bytes, qn_image *out);
/* Whether the bytes begin as an image does, and its id, without reading on: for a look-up. Errors: DATA. */
QN_MUST_USE qn_status qn_image_look(qn_sv bytes, qn_key *out_id);
/* Appends a model's IR text. Errors: DATA, OUT_OF_HOST_MEMORY. */
QN_MUST_USE qn_status qn_image_ir(const qn_image_model *model, qn_bytes *out);

#endif

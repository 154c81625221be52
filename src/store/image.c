#include "store/image.h"

#include <string.h>
#include <zstd.h>

#include "base/pack.h"
#include "base/status.h"

static const char magic[8] = "QNIMAGE2";
/* Levels above 9 take more than linear time: 19 packs a megabyte of text 50 times as slowly, and 6% smaller. */
enum { HEAD_BYTES = sizeof magic + 8 + QN_KEY_BYTES, ZSTD_LEVEL = 9 };
static const uint64_t ir_limit = UINT64_C(1) << 30;

/* ---- Packing ------------------------------------------------------------------------------------ */

static void pack_ir(qn_sv text, qn_bytes *out) {
  qn_bytes small = {0};
  size_t bound = ZSTD_compressBound(text.size);
  if (!qn_bytes_reserve(&small, bound + 1)) {
    out->failed = true;
    return;
  }
  size_t size = ZSTD_compress(small.data, bound, text.data, text.size, ZSTD_LEVEL);
  if (ZSTD_isError(size)) out->failed = true;
  qn_pack_u64(out, 8 + (ZSTD_isError(size) ? 0 : size));
  qn_pack_u64(out, text.size);
  if (!ZSTD_isError(size)) qn_bytes_append(out, small.data, size);
  qn_bytes_free(&small);
}

static void pack_model(const qn_image_model *m, qn_bytes *out) {
  qn_pack_u32(out, m->address_bits);
  qn_pack_u32(out, m->features);
  qn_pack_u64(out, m->options);
  qn_pack_text(out, m->source);
  pack_ir(m->ir, out);
}

static void pack_code(const qn_image_code *c, qn_bytes *out) {
  qn_pack_u32(out, c->model);
  qn_pack_text(out, c->target);
  qn_pack_text(out, c->arch);
  qn_pack_text(out, c->cpu);
  qn_pack_text(out, c->features);
  qn_pack_text(out, c->bytes);
}

static void name_body(qn_sv body, qn_key *out_id) {
  qn_key_maker maker;
  qn_key_start(&maker);
  qn_key_add_str(&maker, "image");
  qn_key_add_sv(&maker, body);
  qn_key_end(&maker, out_id);
}

void qn_image_pack(qn_image *image, qn_bytes *out) {
  qn_bytes body = {0};
  qn_pack_u32(&body, image->model_count);
  for (uint32_t i = 0; i < image->model_count; i++) pack_model(&image->models[i], &body);
  qn_pack_u32(&body, image->code_count);
  for (uint32_t i = 0; i < image->code_count; i++) pack_code(&image->codes[i], &body);
  name_body(qn_bytes_view(&body), &image->id);
  qn_bytes_append(out, magic, sizeof magic);
  qn_pack_u64(out, body.size);
  qn_bytes_append(out, image->id.bytes, QN_KEY_BYTES);
  qn_bytes_append_sv(out, qn_bytes_view(&body));
  out->failed |= body.failed;
  qn_bytes_free(&body);
}

/* ---- Opening ------------------------------------------------------------------------------------ */

qn_status qn_image_look(qn_sv bytes, qn_key *out_id) {
  if (bytes.size < HEAD_BYTES || memcmp(bytes.data, magic, sizeof magic) != 0)
    QN_FAIL(QN_ERROR_DATA, "the %zu bytes are no image: they don't begin with '%.8s'", bytes.size, magic);
  qn_unpack from = qn_unpack_from(qn_sv_make(bytes.data + sizeof magic, 8));
  uint64_t size = qn_unpack_u64(&from);
  if (size != bytes.size - HEAD_BYTES)
    QN_FAIL(QN_ERROR_DATA, "the image has %zu bytes, and says %llu", bytes.size, (unsigned long long)size + HEAD_BYTES);
  memcpy(out_id->bytes, bytes.data + sizeof magic + 8, QN_KEY_BYTES);
  return QN_OK;
}

static void unpack_model(qn_unpack *from, qn_image_model *out) {
  out->address_bits = qn_unpack_u32(from);
  out->features = qn_unpack_u32(from);
  out->options = qn_unpack_u64(from);
  out->source = qn_unpack_text(from);
  out->ir = qn_unpack_text(from);
  if (out->address_bits != 32 && out->address_bits != 64) from->failed = true;
}

static void unpack_code(qn_unpack *from, uint32_t models, qn_image_code *out) {
  out->model = qn_unpack_u32(from);
  out->target = qn_unpack_text(from);
  out->arch = qn_unpack_text(from);
  out->cpu = qn_unpack_text(from);
  out->features = qn_unpack_text(from);
  out->bytes = qn_unpack_text(from);
  if (out->model >= models) from->failed = true;
}

static uint32_t unpack_count(qn_unpack *from, uint32_t most) {
  uint32_t count = qn_unpack_u32(from);
  if (count <= most) return count;
  from->failed = true;
  return 0;
}

qn_status qn_image_open(qn_sv bytes, qn_image *out) {
  qn_key sum;
  *out = (qn_image){0};
  QN_TRY(qn_image_look(bytes, &out->id));
  qn_unpack from = qn_unpack_from(qn_sv_make(bytes.data + HEAD_BYTES, bytes.size - HEAD_BYTES));
  name_body(from.rest, &sum);
  if (memcmp(sum.bytes, out->id.bytes, QN_KEY_BYTES) != 0)
    QN_FAIL(QN_ERROR_DATA, "the image is damaged: its hash is another");
  out->model_count = unpack_count(&from, QN_IMAGE_MODELS);
  for (uint32_t i = 0; i < out->model_count; i++) unpack_model(&from, &out->models[i]);
  out->code_count = unpack_count(&from, QN_IMAGE_CODES);
  for (uint32_t i = 0; i < out->code_count; i++) unpack_code(&from, out->model_count, &out->codes[i]);
  if (!qn_unpack_is_done(&from)) QN_FAIL(QN_ERROR_DATA, "the image makes no sense");
  return QN_OK;
}

qn_status qn_image_ir(const qn_image_model *model, qn_bytes *out) {
  qn_unpack from = qn_unpack_from(model->ir);
  uint64_t size = qn_unpack_u64(&from);
  if (from.failed || size > ir_limit) QN_FAIL(QN_ERROR_DATA, "the image's IR makes no sense");
  if (!qn_bytes_reserve(out, (size_t)size + 1))
    QN_FAIL(QN_ERROR_OUT_OF_HOST_MEMORY, "no memory for %llu bytes of IR", (unsigned long long)size);
  size_t got = ZSTD_decompress(out->data + out->size, (size_t)size, from.rest.data, from.rest.size);
  if (ZSTD_isError(got) || got != size) QN_FAIL(QN_ERROR_DATA, "the image's IR doesn't unpack");
  out->size += got;
  out->data[out->size] = '\0';
  return QN_OK;
}

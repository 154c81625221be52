/* fuzz_store.c - any bytes as what the store and images hold: an entry, an image, a program's code, what is told of its
 * kernels. The first byte says which. What opens must be packed to bytes that open to the same. */
#include <string.h>

#include "base/pack.h"
#include "base/status.h"
#include "core/program_image.h"
#include "core/program_source.h"
#include "harness.h"
#include "store/entry.h"
#include "store/image.h"

enum { MEMORY_LIMIT = 64 << 20 };

static void as_entry(qn_sv bytes) {
  qn_entry_info info;
  qn_bytes body = {0}, again = {0};
  if (!qn_entry_look(bytes, &info)) return;
  if (qn_entry_unpack(bytes, &info.key, info.kind, &body) == QN_ENTRY_SOUND) {
    qn_bytes once_more = {0};
    FUZZ_CHECK(qn_entry_pack(&info, qn_bytes_view(&body), &again));
    FUZZ_CHECK(qn_entry_unpack(qn_bytes_view(&again), &info.key, info.kind, &once_more) == QN_ENTRY_SOUND);
    FUZZ_CHECK(qn_sv_equal(qn_bytes_view(&body), qn_bytes_view(&once_more)));
    qn_bytes_free(&once_more);
  }
  qn_bytes_free(&body);
  qn_bytes_free(&again);
}

/* A size that is told is only a promise; a large one is memory that the fuzzer has not. */
static bool is_small(const qn_image_model *model) {
  qn_unpack from = qn_unpack_from(model->ir);
  return qn_unpack_u64(&from) < MEMORY_LIMIT;
}

/* A hash guards what is behind it: the fuzzer's bytes get the right one, so that the rest is reached too. */
static void as_image(qn_sv bytes) {
  qn_image image;
  qn_bytes made = {0}, ir = {0};
  enum { SIZE_AT = 8, ID_AT = 16, HEAD = ID_AT + QN_KEY_BYTES };
  if (bytes.size < HEAD) return;
  qn_bytes_append_sv(&made, bytes);
  if (made.failed) return;
  qn_key_maker maker;
  qn_key id;
  qn_key_start(&maker);
  qn_key_add_str(&maker, "image");
  qn_key_add(&maker, made.data + HEAD, made.size - HEAD);
  qn_key_end(&maker, &id);
  memcpy(made.data, "QNIMAGE2", 8);
  for (int i = 0; i < 8; i++) made.data[SIZE_AT + i] = (char)((made.size - HEAD) >> (8 * i));
  memcpy(made.data + ID_AT, id.bytes, QN_KEY_BYTES);
  if (qn_image_open(qn_bytes_view(&made), &image) == QN_OK)
    for (uint32_t i = 0; i < image.model_count; i++)
      if (is_small(&image.models[i])) (void)!qn_image_ir(&image.models[i], &ir);
  qn_bytes_free(&made);
  qn_bytes_free(&ir);
}

static void as_code(qn_arena *arena, qn_sv bytes) {
  core_kernel_list kernels;
  qn_adapter_code code;
  qn_bytes again = {0};
  if (core_image_unpack(arena, bytes, &kernels, &code) != QN_OK) return;
  core_image_pack(&kernels, &code, &again);
  FUZZ_CHECK(again.failed || qn_sv_equal(bytes, qn_bytes_view(&again)));
  qn_bytes_free(&again);
}

static void as_source(qn_arena *arena, qn_sv bytes) {
  core_source source;
  qn_bytes again = {0};
  if (core_source_unpack(arena, bytes, &source) != QN_OK) return;
  core_source_pack(&source, &again);
  qn_arena_free(arena);
  qn_arena_init(arena, MEMORY_LIMIT);
  FUZZ_CHECK(again.failed || core_source_unpack(arena, qn_bytes_view(&again), &source) != QN_ERROR_DATA);
  qn_bytes_free(&again);
}

void fuzz_one(const char *data, size_t size) {
  qn_arena arena;
  if (size == 0) return;
  qn_sv bytes = qn_sv_make(data + 1, size - 1);
  qn_arena_init(&arena, MEMORY_LIMIT);
  switch (data[0]) {
    case 'e':
      as_entry(bytes);
      break;
    case 'i':
      as_image(bytes);
      break;
    case 'c':
      as_code(&arena, bytes);
      break;
    default:
      as_source(&arena, bytes);
      break;
  }
  qn_arena_free(&arena);
}

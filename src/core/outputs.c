/* outputs.c - quern_build.h: outputs as a transaction. A hit is told when its output is in place, and not before. */
#include <stdlib.h>

#include "base/status.h"
#include "base/waiting.h"
#include "core/exit.h"
#include "core/options.h"
#include "quern/quern_build.h"
#include "store/outputs.h"
#include "store/store.h"

/* How long another process may have the directory. */
#define PATIENCE_NS UINT64_C(60000000000)

static qn_status read_outputs(qn_output *const *outputs, uint32_t count, qn_output_file *files) {
  for (uint32_t i = 0; i < count; i++) {
    qn_output output;
    if (!outputs[i]) QN_FAIL(QN_ERROR_INVALID_ARGUMENT, "outputs[%u] is NULL", i);
    QN_TRY(CORE_OPTIONS_READ(&output, outputs[i], "qn_output"));
    if (!output.bytes && output.size_bytes > 0) QN_FAIL(QN_ERROR_INVALID_ARGUMENT, "outputs[%u].bytes is NULL", i);
    if (output.size_bytes > SIZE_MAX / 2)
      QN_FAIL(QN_ERROR_INVALID_ARGUMENT, "outputs[%u].size_bytes is %llu", i, (unsigned long long)output.size_bytes);
    files[i] = (qn_output_file){.name = output.name,
                                .bytes = qn_sv_make(output.bytes, (size_t)output.size_bytes),
                                .directory = output.directory};
  }
  return QN_OK;
}

static void tell_hits(qn_store *store, qn_output *const *outputs, uint32_t count) {
  for (uint32_t i = 0; i < count; i++) {
    const qn_artifact *artifact = outputs[i]->artifact;
    qn_key key;
    if (artifact && artifact->cached && qn_key_read(artifact->key, &key))
      qn_store_used(store, &key, QN_ENTRY_ARTIFACT, outputs[i]->name, NULL);
  }
}

static qn_status write_outputs(const char *directory, qn_output *const *outputs, uint32_t count, uint64_t flags) {
  qn_store *store = NULL;
  if (!directory) QN_FAIL(QN_ERROR_INVALID_ARGUMENT, "directory is NULL");
  if (!outputs && count > 0) QN_FAIL(QN_ERROR_INVALID_ARGUMENT, "outputs is NULL");
  if (flags & ~(QN_OUTPUTS_TOUCH | QN_OUTPUTS_SHOW_WAITS))
    QN_FAIL(QN_ERROR_UNSUPPORTED, "unknown flags 0x%llx", (unsigned long long)flags);
  QN_TRY(qn_store_default(&store));
  qn_output_file *files = calloc(count ? count : 1, sizeof *files);
  if (!files) QN_FAIL(QN_ERROR_OUT_OF_HOST_MEMORY, "no memory for %u outputs", count);
  qn_status status = read_outputs(outputs, count, files);
  if (status >= 0) {
    bool before = qn_waiting_is_shown((flags & QN_OUTPUTS_SHOW_WAITS) != 0);
    status = qn_outputs_replace(directory, files, count, (flags & QN_OUTPUTS_TOUCH) != 0, PATIENCE_NS);
    (void)qn_waiting_is_shown(before);
    for (uint32_t i = 0; i < count; i++) outputs[i]->state = files[i].state;
  }
  free(files);
  if (status >= 0) tell_hits(store, outputs, count);
  return status;
}

qn_status qn_outputs_write(const char *directory, qn_output *const *outputs, uint32_t count, uint64_t flags) {
  CORE_CALL(write_outputs(directory, outputs, count, flags));
}

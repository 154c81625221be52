#include "core/launch_image.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/handle.h"
#include "base/status.h"
#include "core/exit.h"
#include "core/kernel.h"
#include "core/launch.h"
#include "core/program.h"
#include "core/queue.h"
#include "store/image.h"

/* Never changed once it is in the list, so that a launch looks without a lock. */
struct core_loaded_image {
  core_loaded_image *next;
  qn_key id;
  uint32_t kernel_count;
  qn_kernel kernels[]; /* handles of ours */
};

static const core_loaded_image *find(const core_image_list *list, const qn_key *id) {
  const core_loaded_image *at = atomic_load_explicit(&list->first, memory_order_acquire);
  while (at && memcmp(at->id.bytes, id->bytes, QN_KEY_BYTES) != 0) at = at->next;
  return at;
}

static void release_kernels(core_loaded_image *image) {
  for (uint32_t i = 0; i < image->kernel_count; i++)
    (void)!qn_handle_release(image->kernels[i]); /* stale when the runtime closed */
  free(image);
}

void core_image_list_free(core_image_list *list) {
  core_loaded_image *at = atomic_load(&list->first);
  while (at) {
    core_loaded_image *next = at->next;
    release_kernels(at);
    at = next;
  }
  atomic_store(&list->first, NULL);
}

/* ---- Loading ------------------------------------------------------------------------------------ */

static qn_status get_kernels(qn_program program, const core_source *source, core_loaded_image *image) {
  for (uint32_t i = 0; i < source->kernel_count; i++) {
    QN_TRY(core_kernel_get(program, source->kernels[i].name, &image->kernels[i]));
    image->kernel_count = i + 1;
  }
  return QN_OK;
}

static qn_status make_loaded(qn_program handle, const qn_key *id, core_loaded_image **out) {
  core_program *program = NULL;
  QN_TRY(core_program_pin(handle, &program));
  const core_source *source = &program->source;
  core_loaded_image *image = calloc(1, sizeof *image + source->kernel_count * sizeof *image->kernels);
  qn_status status = image ? QN_OK : qn_error_set(QN_ERROR_OUT_OF_HOST_MEMORY, "no memory for an image's kernels");
  if (image) {
    image->id = *id;
    status = get_kernels(handle, source, image);
  }
  if (status < 0 && image) release_kernels(image);
  if (status >= 0) *out = image;
  qn_handle_unpin(handle);
  return status;
}

static qn_status load_image(core_queue *queue, qn_sv bytes, const qn_key *id, const core_loaded_image **out) {
  qn_program program = NULL;
  core_loaded_image *image = NULL;
  QN_TRY(core_program_load(queue->device, bytes, &program));
  qn_status status = make_loaded(program, id, &image);
  (void)!qn_handle_release(program); /* its kernels hold it */
  if (status < 0) return status;
  core_image_list *list = &queue->images;
  image->next = atomic_load_explicit(&list->first, memory_order_relaxed);
  atomic_store_explicit(&list->first, image, memory_order_release);
  *out = image;
  return QN_OK;
}

static qn_status find_or_load(core_queue *queue, qn_sv bytes, const core_loaded_image **out) {
  qn_key id;
  QN_TRY(qn_image_look(bytes, &id));
  *out = find(&queue->images, &id);
  if (*out) return QN_OK;
  qn_mutex_lock(&queue->images.lock);
  *out = find(&queue->images, &id);
  qn_status status = *out ? QN_OK : load_image(queue, bytes, &id, out);
  qn_mutex_unlock(&queue->images.lock);
  return status;
}

/* ---- Launch ------------------------------------------------------------------------------------- */

static qn_status find_kernel(qn_queue handle, qn_sv bytes, uint32_t index, qn_kernel *out_kernel) {
  core_queue *queue = NULL;
  const core_loaded_image *image = NULL;
  QN_TRY(core_queue_pin(handle, &queue));
  qn_status status = find_or_load(queue, bytes, &image);
  if (status >= 0 && index >= image->kernel_count)
    status = qn_error_set(QN_ERROR_NOT_FOUND, "index is %u; the image has %u kernels", index, image->kernel_count);
  if (status >= 0) *out_kernel = image->kernels[index];
  qn_handle_unpin(handle);
  return status;
}

static qn_status launch(qn_queue queue, const void *image, uint64_t image_bytes, uint32_t index, const qn_range *range,
                        const qn_argument *arguments, uint32_t count, qn_point *out_point) {
  qn_kernel kernel = NULL;
  if (!image) QN_FAIL(QN_ERROR_INVALID_ARGUMENT, "image is NULL");
  if (image_bytes > SIZE_MAX / 2)
    QN_FAIL(QN_ERROR_INVALID_ARGUMENT, "image_bytes is %llu", (unsigned long long)image_bytes);
  QN_TRY(find_kernel(queue, qn_sv_make(image, (size_t)image_bytes), index, &kernel));
  return core_launch(queue, kernel, range, arguments, count, out_point);
}

qn_status qn_launch_image(qn_queue queue, const void *image, uint64_t image_bytes, uint32_t index,
                          const qn_range *range, const qn_argument *arguments, uint32_t count, qn_point *out_point) {
  CORE_CALL(launch(queue, image, image_bytes, index, range, arguments, count, out_point));
}

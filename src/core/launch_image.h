/* launch_image.h - the images that a queue has launched kernels of: each is loaded once a queue, and kept until the queue is
 * destroyed. A queue's kernels don't hold the queue, so no cycle comes of it. */
#ifndef QUERN_CORE_LAUNCH_IMAGE_H
#define QUERN_CORE_LAUNCH_IMAGE_H

#include "base/os/thread.h"
#include "quern/quern.h"

typedef struct core_loaded_image core_loaded_image;

typedef struct core_image_list {
  qn_mutex lock; /* for adding */
  _Atomic(core_loaded_image *) first;
} core_image_list;

/* Nobody uses the queue any longer. */
void core_image_list_free(core_image_list *list);

#endif

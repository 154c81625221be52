/* object.h - what every object of the core starts with, and how it ends (L1-L4).
 *
 * The life of an object:
 *   live       its handle is live: somebody holds a count of it (base/handle.h)
 *   held       its handle is stale, but calls or children still hold it
 *   released   nobody holds it: it lies on its reaper's list until its work is complete
 *   destroyed  the reaper has told the driver, dropped its parents and freed it
 * `holds` counts one for the live handle and one for each child. A child drops its parent only when it is destroyed,
 * so that parents outlive children whatever the order of releases.
 */
#ifndef QUERN_CORE_OBJECT_H
#define QUERN_CORE_OBJECT_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "quern/quern.h"

typedef struct core_object core_object;
struct core_device;
struct core_reaper;
struct core_refusal;

/* What differs between kinds. */
typedef struct core_object_class {
  uint32_t kind; /* QN_KIND_... */
  /* Whether the driver's object may be destroyed: its work is complete. Called by the reaper, again and again until it
   * says yes; never waits. */
  bool (*ready)(core_object *object);
  /* Destroys the driver's object, tells `refusal` what the driver refused, drops the parents, frees. */
  void (*destroy)(core_object *object, struct core_refusal *refusal);
} core_object_class;

struct core_object {
  const core_object_class *cls;
  struct core_device *device; /* NULL: a runtime or a device */
  struct core_reaper *reaper; /* who destroys it */
  _Atomic uint32_t holds;
  core_object *next;      /* on the reaper's lists */
  struct qn_place *place; /* of its making; NULL: nobody asks. Set before its handle is made */
};

/* Registers what handle.h calls at an object's end. Once a process, before the first handle. */
void core_object_setup(void);

/* Starts an object with one hold, its maker's. */
void core_object_init(core_object *object, const core_object_class *cls, struct core_device *device,
                      struct core_reaper *reaper);

/* Makes the handle, which takes over the maker's hold. From then on other threads may use and release the object, and
 * the maker must not touch it again. When it fails the hold is dropped and the reaper destroys the object. `owner` is
 * the runtime's id, `closing` its flag. Errors: OUT_OF_HOST_MEMORY, LIMIT, CLOSED when the runtime is closing. */
QN_MUST_USE qn_status core_object_publish(core_object *object, uint32_t owner, const _Atomic uint32_t *closing,
                                          const void **out_handle);
/* The last step of it, for a handle that is reserved. Errors: CLOSED; the handle is stale then and the object dead. */
QN_MUST_USE qn_status core_object_announce(core_object *object, const void *handle, const _Atomic uint32_t *closing);

static inline void core_object_hold(core_object *object) {
  atomic_fetch_add_explicit(&object->holds, 1, memory_order_relaxed);
}
/* The last one pushes the object onto its reaper's list. No lock, no allocation, no call of the driver (L4). */
void core_object_drop(core_object *object);

#endif

/* handle.h - checked handles (L2) with one count (L3).
 *
 * A handle's bits are {kind:4, generation, slot}; never an address. Slots live in type-stable tables: a
 * slot's memory is never returned while the process lives, so that reading a stale handle's slot is always
 * safe. Each slot has one atomic 64-bit word {generation, count}. A call pins an object by adding to the
 * count with compare-and-swap while the generation matches, and unpins it at its end. When the count falls to zero, the
 * thread that took it there owns the object, moves the generation on (the handle is stale from then on) and
 * hands the object to the `dead` function of its kind, which must be as cheap as L4 says: push one node.
 * A slot whose generation is used up is retired for ever. All tables are static: nothing needs a destructor.
 *
 * Pins and counts are one number: an object that is pinned outlives the call. A released-to-zero object
 * whose last holder is a pin dies at the unpin.
 */
#ifndef QUERN_BASE_HANDLE_H
#define QUERN_BASE_HANDLE_H

#include <stdint.h>

#include "quern/quern.h"

/* Called once per object, by the thread whose release or unpin took the count to zero. Takes no lock. */
typedef void (*qn_handle_dead_fn)(void *object);
/* One function per kind, set once before any handle of the kind is made. */
void qn_handle_set_dead(uint32_t kind, qn_handle_dead_fn dead);

/* Makes a handle with count 1 for `object`. `owner` is the id of the runtime it belongs to. Errors:
 * OUT_OF_HOST_MEMORY, LIMIT when every slot is taken or used up. */
QN_MUST_USE qn_status qn_handle_create(uint32_t kind, uint32_t owner, void *object, const void **out_handle);

/* Pins: on success *out_object is alive until qn_handle_unpin. The error text says "stale", "of another kind
 * (a queue)" or "not a handle" and names `what`, the argument. */
QN_MUST_USE qn_status qn_handle_pin(const void *handle, uint32_t kind, const char *what, void **out_object);
void qn_handle_unpin(const void *handle);
/* One more or one fewer count by handle; the public qn_retain and qn_release stand on these. */
QN_MUST_USE qn_status qn_handle_retain(const void *handle);
QN_MUST_USE qn_status qn_handle_release(const void *handle);
/* The same for one who already holds a count (a child its parent): cannot fail. */
void qn_handle_hold(const void *handle);
void qn_handle_drop(const void *handle);
/* The kind in the bits of a live handle. */
QN_MUST_USE qn_status qn_handle_kind_of(const void *handle, uint32_t *out_kind);

/* Makes the handle stale now whatever its count (closing a runtime). Returns with the object when no pin
 * is left or *out_object == NULL when the last unpin will hand it to `dead`. */
/* Revokes every live handle of `owner` and `kind`: each object whose count had no pin is given to `dead` now, others at
 * their last unpin. See handle.c for how counts and pins are told apart. */
void qn_handle_revoke_all(uint32_t owner, uint32_t kind);
/* How many live handles of an owner and kind there are; a walk, for statistics and tests. */
uint64_t qn_handle_count(uint32_t owner, uint32_t kind);
/* Tests run with few generation bits. Only before the first handle is made. */
void qn_handle_set_generation_bits(uint32_t bits);

#endif

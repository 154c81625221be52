/* handle.h - checked handles (L2) with one count (L3). docs/decisions/handles.md tells why it is so.
 *
 * A handle's bits are {kind, generation, slot}; never an address. Slots live in type-stable tables: a slot's memory is
 * never returned while the process lives, so that reading a stale handle's slot is always safe. Each slot has one
 * atomic 64-bit word {generation, count, pins}:
 *   count  what the callers of the public interface hold: 1 at the making, qn_retain, qn_release
 *   pins   calls that use the object just now
 * A call pins its objects by compare-and-swap while the generation matches, and unpins them at its end. When the count
 * falls to zero the same compare-and-swap moves the generation on: the handle is stale from that moment, even while
 * pins are left. The object is given to the `dead` function of its kind, once, by the thread that took count and pins
 * both to zero. That function must be as cheap as L4 says: push one node.
 * A slot whose generations are used up is retired for ever. All tables are static: nothing needs a destructor.
 *
 * What an object's children and its work in flight need of it is counted in the object (core/object.h), not here, so
 * that a caller's surplus release is an error and can't take what a child holds.
 */
#ifndef QUERN_BASE_HANDLE_H
#define QUERN_BASE_HANDLE_H

#include <stdbool.h>
#include <stdint.h>

#include "quern/quern.h"

/* Called once an object, by the thread whose release, unpin or revoke ended it. Takes no lock. */
typedef void (*qn_handle_dead_fn)(void *object);
/* One function a kind, set before any handle of the kind is made. */
void qn_handle_set_dead(uint32_t kind, qn_handle_dead_fn dead);

/* Makes a handle with count 1 for `object`. `owner` is the id of the runtime it belongs to. Takes a lock of its kind.
 * Errors: OUT_OF_HOST_MEMORY, LIMIT when every slot is taken or used up. */
QN_MUST_USE qn_status qn_handle_create(uint32_t kind, uint32_t owner, void *object, const void **out_handle);

/* The same in steps, for a kind whose slots stay with their objects (qn_handle_set_parking): an object that is used again
 * gets the next handle of its slot without lock or search.
 * Reserve: a slot, and the handle that it will have; nothing is live yet. Errors as qn_handle_create. */
QN_MUST_USE qn_status qn_handle_reserve(uint32_t kind, uint32_t owner, const void **out_handle);
/* The handle goes live, with count 1. Sequentially consistent: who publishes and then looks at a flag, and who sets the
 * flag and then walks over handles, do not miss each other. */
void qn_handle_publish(const void *handle, void *object);
/* The next handle of the slot of a stale one. False: its generations are used up. */
QN_MUST_USE bool qn_handle_renew(const void *stale, const void **out_handle);
/* Gives up a slot that has no live handle and that is not to be renewed. */
void qn_handle_give_up(const void *handle);
/* Once, before the first handle of the kind: its slots stay with their objects until they are given up. */
void qn_handle_set_parking(uint32_t kind);

/* Pins: on success *out_object is alive until qn_handle_unpin. The error text says "stale", "is a queue, not a buffer"
 * or "not a handle" and names `what`, the argument. Errors: INVALID_HANDLE, LIMIT (65,535 pins at once). Cost: one
 * compare-and-swap. */
QN_MUST_USE qn_status qn_handle_pin(const void *handle, uint32_t kind, const char *what, void **out_object);
/* For one who has a pin; the handle may be stale by now. Cost: one atomic subtraction. */
void qn_handle_unpin(const void *handle);

/* One more or one fewer count by handle; the public qn_retain and qn_release stand on these. Errors: INVALID_HANDLE,
 * LIMIT (1,048,575 counts). */
QN_MUST_USE qn_status qn_handle_retain(const void *handle);
QN_MUST_USE qn_status qn_handle_release(const void *handle);
/* Whether a handle is live just now; one load. */
bool qn_handle_is_live(const void *handle);
/* The kind of a live handle. */
QN_MUST_USE qn_status qn_handle_kind_of(const void *handle, uint32_t *out_kind);

/* Makes a handle stale now, whatever its count; the object is dead when no pin is left. Errors: INVALID_HANDLE when it
 * is stale already: of callers who race, one gets QN_OK. */
QN_MUST_USE qn_status qn_handle_revoke(const void *handle);
/* Revokes every live handle of an owner and kind: closing a runtime. Returns how many. A handle that is made meanwhile
 * may be missed: its maker looks at the owner's state after making it. */
uint64_t qn_handle_revoke_all(uint32_t owner, uint32_t kind);
/* Calls `visit` for each live handle of an owner and kind, with its object, pinned, and its count; a walk, for reports. */
typedef void (*qn_handle_visit_fn)(void *user, void *object, uint64_t count);
void qn_handle_visit(uint32_t owner, uint32_t kind, qn_handle_visit_fn visit, void *user);
/* How many live handles an owner has of a kind; a walk, for statistics and tests. */
uint64_t qn_handle_count(uint32_t owner, uint32_t kind);

/* For tests: fewer generation bits (1 to the build's own) make slots run out soon; 0 is the build's own. Slots that are
 * in use or used up stay as they are. */
void qn_handle_set_generation_bits(uint32_t bits);
/* For tests: slots of a kind that are used up. */
uint64_t qn_handle_retired_count(uint32_t kind);

#endif

/* cts.h - what a suite of the conformance tests sees (docs/conformance.md).
 *
 * A suite is a file suite_NAME.c with a table of tests. A test is a function that is given an open device, uses the public
 * interface, and checks with the macros below. It needs no clean-up: what it made by the cts_ functions is released at its end,
 * in any order, and the device must then hold what it held before. The same test runs in a process of its own and among
 * others in one process, alone and while other devices are open; so it changes no state of the process that it doesn't restore.
 */
#ifndef QUERN_CTS_H
#define QUERN_CTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "quern/quern.h"

#define CTS_SECOND UINT64_C(1000000000)
#define CTS_MILLISECOND UINT64_C(1000000)
/* How long anything may take that must come to an end; --patience. */
extern uint64_t cts_patience_ns;
#define CTS_PATIENCE cts_patience_ns

/* ---- Tests and suites ---------------------------------------------------------------------------- */

typedef struct cts cts;

/* What a test needs of a device beside QN_FEATURE_ bits (control.h). */
#define CTS_NEEDS_CONTROL (UINT64_C(1) << 63) /* it can be told to hold, fail and lose work: the device `null` */
#define CTS_NEEDS_FAULTS (UINT64_C(1) << 62)  /* it can be told to fail a command: `check` too */

enum {
  CTS_LONG = 1 /* much time or memory: with --long only */
};

typedef struct cts_test {
  const char *name; /* says the behaviour */
  void (*run)(cts *c);
  uint64_t needs; /* QN_FEATURE_..., CTS_NEEDS_... */
  uint32_t flags; /* CTS_LONG */
  /* What is promised, and where: "quern.h: words; adapter.h: words". Words between ' ' are the document's own. */
  const char *rule;
} cts_test;

typedef struct cts_suite {
  const char *name;
  const char *what; /* a line for --list */
  const cts_test *tests;
  uint32_t count;
} cts_suite;

#define CTS_SUITE(name, what) \
  const cts_suite cts_suite_##name = {#name, what, tests, (uint32_t)(sizeof tests / sizeof *tests)}

/* Ends with NULL. */
extern const cts_suite *const cts_suites[];

/* ---- A running test ------------------------------------------------------------------------------ */

struct cts {
  const char *selector;
  qn_runtime runtime;
  qn_device device;
  qn_device_info info;
  uint32_t other_count; /* devices that are open beside this one */
  const qn_device *others;
  bool is_long;    /* whole counts */
  uint64_t seed;   /* what cts_random goes by */
  uint64_t random; /* its state */
  struct cts_objects *objects;
};

/* `in_short`, or `in_long` with --long. */
static inline uint64_t cts_count(const cts *c, uint64_t in_short, uint64_t in_long) {
  return c->is_long ? in_long : in_short;
}

static inline bool cts_has(const cts *c, uint64_t feature) { return (c->info.features & feature) == feature; }

/* 0 to below - 1. Not for several threads: give each a state of its own. */
uint64_t cts_random_of(uint64_t *state, uint64_t below);
static inline uint64_t cts_random(cts *c, uint64_t below) { return cts_random_of(&c->random, below); }
void cts_random_bytes(uint64_t *state, void *out, uint64_t size);

uint64_t cts_now_ns(void);
void cts_sleep_ns(uint64_t ns);

/* ---- Checks: the first that fails ends the test --------------------------------------------------- */

#define CTS_HERE __FILE__, __LINE__

/* Notes the line, for crashes and hangs. */
void cts_at(int line);
/* `expected` and `came` are whole texts: what was to be, and what was. */
_Noreturn void cts_fail(const char *file, int line, qn_status status, const char *expected, const char *came);
_Noreturn void cts_fail_format(const char *file, int line, const char *came, const char *expected, ...)
    __attribute__((format(printf, 4, 5)));

void cts_expect_status(const char *file, int line, const char *call, qn_status came, qn_status wanted,
                       const char *words);
void cts_expect_equal(const char *file, int line, const char *what, uint64_t came, uint64_t wanted);
void cts_expect_bytes(const char *file, int line, const char *what, const void *came, const void *wanted,
                      uint64_t size);
void cts_expect_filled(const char *file, int line, const char *what, const void *came, unsigned char wanted,
                       uint64_t size);

/* The call gives QN_OK. */
#define CTS_OK(call) CTS_GIVES(call, QN_OK)
/* The call gives this status. */
#define CTS_GIVES(call, status) (cts_at(__LINE__), cts_expect_status(CTS_HERE, #call, (call), (status), NULL))
/* The call fails with this status and a text that has these words. */
#define CTS_FAILS(call, status, words) (cts_at(__LINE__), cts_expect_status(CTS_HERE, #call, (call), (status), (words)))
/* Two whole numbers. */
#define CTS_EQUAL(came, wanted) \
  (cts_at(__LINE__), cts_expect_equal(CTS_HERE, #came, (uint64_t)(came), (uint64_t)(wanted)))
/* The same, where the words of the program say too little. */
#define CTS_SAME(what, came, wanted) \
  (cts_at(__LINE__), cts_expect_equal(CTS_HERE, (what), (uint64_t)(came), (uint64_t)(wanted)))
/* size bytes of memory; `what` says of what. */
#define CTS_BYTES(what, came, wanted, size) \
  (cts_at(__LINE__), cts_expect_bytes(CTS_HERE, (what), (came), (wanted), (size)))
/* size bytes, all the same. */
#define CTS_FILLED(what, came, byte, size) \
  (cts_at(__LINE__), cts_expect_filled(CTS_HERE, (what), (came), (byte), (size)))
/* CTS_TRUE(condition, format...): the words say what was expected. */
#define CTS_TRUE(condition, ...) \
  ((condition) ? cts_at(__LINE__) : cts_fail_format(CTS_HERE, "it is not so: " #condition, __VA_ARGS__))

/* ---- Objects that are released at the test's end -------------------------------------------------- */

/* For each: the call must succeed; else the test fails. From any thread of the test. */
#define cts_queue(c) cts_make_queue(CTS_HERE, (c), (c)->device, 0)
#define cts_queue_on(c, device) cts_make_queue(CTS_HERE, (c), (device), 0)
#define cts_buffer(c, size) cts_make_buffer(CTS_HERE, (c), (c)->device, QN_MEMORY_DEVICE, (size), 0)
#define cts_buffer_on(c, device, size) cts_make_buffer(CTS_HERE, (c), (device), QN_MEMORY_DEVICE, (size), 0)
#define cts_buffer_of(c, memory, size) cts_make_buffer(CTS_HERE, (c), (c)->device, (memory), (size), 0)
#define cts_untracked(c, size) \
  cts_make_buffer(CTS_HERE, (c), (c)->device, QN_MEMORY_DEVICE, (size), QN_BUFFER_UNTRACKED)
#define cts_wrap(c, pointer, size) cts_make_wrap(CTS_HERE, (c), (pointer), (size))
#define cts_program(c, source) cts_make_program(CTS_HERE, (c), (c)->device, (source))
#define cts_kernel(c, program, name) cts_make_kernel(CTS_HERE, (c), (program), (name))
/* Another opening of the test's device; of the runtime of the test. */
#define cts_device(c) cts_make_device(CTS_HERE, (c), (c)->runtime)
/* A runtime of the test's own. */
#define cts_runtime(c) cts_make_runtime(CTS_HERE, (c))
#define cts_device_in(c, runtime) cts_make_device(CTS_HERE, (c), (runtime))

qn_queue cts_make_queue(const char *file, int line, cts *c, qn_device device, uint64_t flags);
qn_buffer cts_make_buffer(const char *file, int line, cts *c, qn_device device, uint32_t memory, uint64_t size,
                          uint64_t flags);
qn_buffer cts_make_wrap(const char *file, int line, cts *c, void *pointer, uint64_t size);
qn_program cts_make_program(const char *file, int line, cts *c, qn_device device, const char *source);
qn_kernel cts_make_kernel(const char *file, int line, cts *c, qn_program program, const char *name);
qn_device cts_make_device(const char *file, int line, cts *c, qn_runtime runtime);
qn_runtime cts_make_runtime(const char *file, int line, cts *c);

/* Zeroed memory until the test's end, when nothing on the device uses it any longer. */
void *cts_alloc(cts *c, uint64_t size);
/* The path of an empty directory, removed with all that is in it at the test's end. */
const char *cts_directory(cts *c);
/* A handle that the test made by itself is released at its end as well. */
void cts_keep(cts *c, const void *handle);
/* Called at the test's end, before anything is released; the last one first. */
void cts_at_end(cts *c, void (*function)(void *user), void *user);
/* Releases a handle now. */
#define cts_drop(c, handle) cts_release(CTS_HERE, (c), (handle))
void cts_release(const char *file, int line, cts *c, const void *handle);
/* The handle is no longer released at the end: the test did so, or closed its runtime. */
void cts_forget(cts *c, const void *handle);
/* Closes a runtime of the test's own; its handles are forgotten. */
void cts_close(cts *c, qn_runtime runtime);
/* QUERN_CHECK=leaks: what runtimes have left that were closed so far was left on purpose. */
void cts_pass_over_leaks(void);

/* ---- Common steps --------------------------------------------------------------------------------- */

static inline qn_view cts_view(qn_buffer buffer, uint64_t offset_bytes, uint64_t size_bytes) {
  qn_view view = {0};
  view.buffer = buffer;
  view.offset_bytes = offset_bytes;
  view.size_bytes = size_bytes;
  return view;
}

/* Without a wait. */
#define cts_fill(queue, buffer, byte) cts_do_fill(CTS_HERE, (queue), (buffer), (byte))
qn_point cts_do_fill(const char *file, int line, qn_queue queue, qn_buffer buffer, unsigned char byte);
/* With a wait: the whole buffer, from or to its beginning. */
#define cts_put(queue, buffer, data, size) cts_do_put(CTS_HERE, (queue), (buffer), (data), (size))
void cts_do_put(const char *file, int line, qn_queue queue, qn_buffer buffer, const void *data, uint64_t size);
#define cts_get(queue, buffer, data, size) cts_do_get(CTS_HERE, (queue), (buffer), (data), (size))
void cts_do_get(const char *file, int line, qn_queue queue, qn_buffer buffer, void *data, uint64_t size);
#define cts_finish(queue) CTS_OK(qn_queue_finish((queue), CTS_PATIENCE))
#define cts_wait(point) CTS_OK(qn_point_wait((point), CTS_PATIENCE))

qn_device_statistics cts_statistics(qn_device device);
/* The id of a queue. */
uint64_t cts_queue_id(qn_queue queue);

/* Gives a queue work that takes about `ns` or more, and returns at once. How long it takes is tried out first; on a busy
 * machine it may be over sooner than hoped: a test that needs it to last looks, and tries again with more. */
void cts_busy(cts *c, qn_queue queue, uint64_t ns);
/* For such tests: for (uint64_t ns = CTS_FIRST_TRY; ns < CTS_LAST_TRY; ns *= 4) ... */
#define CTS_FIRST_TRY (50 * CTS_MILLISECOND)
#define CTS_LAST_TRY (10 * CTS_SECOND)

/* Runs `run` on so many threads, which may use all checks; ends when all have ended. When one of them fails, the test does. */
void cts_threads(cts *c, uint32_t count, void (*run)(cts *c, uint32_t index, void *user), void *user);

/* Runs this program again in a process of its own, with a helper (helpers.h), the test's device, and "NAME=VALUE" in its
 * environment (NULL: as here); its exit status, or 128 + the signal that ended it. */
int cts_run_helper(cts *c, const char *helper, const char *const variables[2]);

#endif

/* bad.c - adapters that a runtime must refuse, one a value of BAD. */
#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "quern/adapter.h"

#define NO_ENTRY 1        /* no symbol qn_adapter_entry */
#define NO_TABLE 2        /* it gives NULL */
#define OTHER_VERSION 3   /* a table of another version */
#define SHORT_TABLE 4     /* a table of the right version that ends early */
#define NULL_FUNCTION 5   /* a function is missing */
#define OTHER_NAME 6      /* it calls itself something else */
#define CRASH_IN_LOAD 7   /* its constructor crashes */
#define CRASH_IN_ENTRY 8  /* its entry crashes */
#define CRASH_IN_OPEN 9   /* opening an instance crashes */
#define EXIT_IN_LOAD 10   /* its constructor ends the process */
#define NO_INSTANCE 11    /* opening an instance fails with a reason */
#define NO_DEVICES 12     /* it works and has none */
#define MISSING_SYMBOL 13 /* it needs a function that nobody has */
#define CRASH_IN_COUNT 14
#define CRASH_IN_DESCRIBE 15
#define CRASH_IN_CLOSE 16
#define HANG_IN_LOAD 17
#define HANG_IN_ENTRY 18
#define HANG_IN_OPEN 19
#define GARBAGE_TABLE 20 /* its entry gives an address where nothing is */
#define NULL_INSTANCE 21 /* opening succeeds and gives none */
#define MANY_DEVICES 22  /* it says that it has four billion */
#define FAIL_TO_DESCRIBE 23
#define QUIET_FAILURE 24 /* opening fails without a text */

static const qn_adapter_host *kept;

static void hang(void) {
  for (;;) pause();
}

static qn_status open_instance(const qn_adapter_host *host, qn_adapter_instance **out_instance) {
  kept = host;
  if (BAD == CRASH_IN_OPEN) abort();
  if (BAD == HANG_IN_OPEN) hang();
  if (BAD == NULL_INSTANCE) return QN_OK;
  if (BAD == QUIET_FAILURE) return QN_ERROR_DEVICE;
  if (BAD == NO_INSTANCE) return host->set_error(QN_ERROR_NOT_FOUND, 42, "libvendor.so.1 is not there");
  *out_instance = (qn_adapter_instance *)&kept;
  return QN_OK;
}
static qn_status close_instance(qn_adapter_instance *instance) {
  if (BAD == CRASH_IN_CLOSE) abort();
  return instance ? QN_OK : QN_ERROR_INTERNAL;
}
static qn_status count(qn_adapter_instance *instance, uint32_t *out_count) {
  (void)instance;
  if (BAD == CRASH_IN_COUNT) raise(SIGFPE);
  *out_count = BAD == MANY_DEVICES ? UINT32_MAX : BAD == CRASH_IN_DESCRIBE || BAD == FAIL_TO_DESCRIBE ? 1 : 0;
  return QN_OK;
}
static qn_status describe(qn_adapter_instance *instance, uint32_t index, qn_adapter_device_info *out_info) {
  (void)instance, (void)index, (void)out_info;
  if (BAD == CRASH_IN_DESCRIBE) raise(SIGBUS);
  if (BAD == FAIL_TO_DESCRIBE) return kept->set_error(QN_ERROR_DEVICE, 77, "the device has fallen off the bus");
  return QN_OK;
}
/* None of the others is ever called: no device is opened. */
static void never(void) { abort(); }
#define NEVER(type) ((type)(void (*)(void))never)

#if BAD == MISSING_SYMBOL
extern void a_function_that_no_library_has(void);
QN_API void needs_it(void);
void needs_it(void) { a_function_that_no_library_has(); }
#endif

/* What was refused when it was tried out has no business in the program itself, not even its constructor. */
static bool is_refused(void) {
  return BAD == NO_ENTRY || BAD == NO_TABLE || BAD == OTHER_VERSION || BAD == SHORT_TABLE || BAD == NULL_FUNCTION ||
         BAD == OTHER_NAME;
}

__attribute__((constructor)) static void load(void) {
  if (is_refused() && strcmp(program_invocation_short_name, "quern-probe") != 0) abort();
  if (BAD == CRASH_IN_LOAD) raise(SIGSEGV);
  if (BAD == EXIT_IN_LOAD) _exit(1);
  if (BAD == HANG_IN_LOAD) hang();
}

#if BAD == NO_ENTRY
#define qn_adapter_entry qn_adapter_entrance
#endif

static qn_adapter_table table;

QN_API const qn_adapter_table *qn_adapter_entry(uint32_t abi_version);
const qn_adapter_table *qn_adapter_entry(uint32_t abi_version) {
  (void)abi_version;
  if (BAD == CRASH_IN_ENTRY) abort();
  if (BAD == HANG_IN_ENTRY) hang();
  if (BAD == NO_TABLE) return NULL;
  if (BAD == GARBAGE_TABLE) return (const qn_adapter_table *)64;
  qn_adapter_table t = {.struct_size = sizeof t,
                        .abi_version = QN_ADAPTER_ABI_VERSION,
                        .name = NAME,
                        .description = "a bad one",
                        .instance_open = open_instance,
                        .instance_close = close_instance,
                        .device_count = count,
                        .device_describe = describe};
  /* Every later slot gets a function that is never called. */
  void (**slot)(void) = (void (**)(void))(void *)&t.device_open;
  void (**end)(void) = (void (**)(void))(void *)(&t + 1);
  for (; slot < end; slot++) *slot = never;
  if (BAD == OTHER_VERSION) t.abi_version = 77;
  if (BAD == SHORT_TABLE) t.struct_size = 64;
  if (BAD == NULL_FUNCTION) t.queue_submit = NULL;
  if (BAD == OTHER_NAME) t.name = "somebody";
  memcpy(&table, &t, sizeof t);
  return &table;
}

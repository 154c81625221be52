/* audit.h - what the test adapter `audit` has found: qn_native_handle(device, AUDIT_WHICH) gives its address. */
#ifndef QUERN_TEST_AUDIT_H
#define QUERN_TEST_AUDIT_H

#include <stdatomic.h>
#include <stdint.h>

enum { AUDIT_WHICH = 77, AUDIT_KINDS = 6 };

typedef struct audit_report {
  _Atomic uint32_t violations;
  _Atomic uint32_t living[AUDIT_KINDS];
  _Atomic uint64_t made;
  char first[256]; /* violation */
} audit_report;

#endif

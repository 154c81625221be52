/* gaps.h - what a device is known to lack or to do wrong, each with a reason (gaps.txt says how a line is written). */
#ifndef QUERN_CTS_GAPS_H
#define QUERN_CTS_GAPS_H

#include <stdbool.h>
#include <stdint.h>

typedef enum cts_gap_kind {
  CTS_GAP_LACKS,   /* a feature that the device doesn't declare: it must refuse */
  CTS_GAP_FAILS,   /* a check fails, with these words */
  CTS_GAP_CRASHES, /* the process dies; not run where others would die with it */
  CTS_GAP_HANGS    /* not run but with --long */
} cts_gap_kind;

typedef struct cts_gap {
  const char *device, *test; /* patterns */
  cts_gap_kind kind;
  uint64_t feature;  /* LACKS */
  const char *words; /* FAILS; "": any */
  const char *reason;
  const char *source; /* "gaps.txt:12" */
} cts_gap;

typedef struct cts_gaps {
  cts_gap *items;
  uint32_t count, room;
} cts_gaps;

/* The lines of gaps.txt, as it was when this program was built. */
extern const char cts_gaps_text[];

/* Adds the lines of a text that lives on, and is changed; false after telling what is wrong on standard error. A line whose
 * test pattern matches no test is wrong. */
bool cts_gaps_add(cts_gaps *gaps, char *text, const char *name);
/* The built-in lines, then those of files. */
bool cts_gaps_load(cts_gaps *gaps, const char *const *files, uint32_t count);

/* The line for a feature that a device lacks, or NULL. `device` is "selector/name/driver". */
const cts_gap *cts_gaps_lacks(const cts_gaps *gaps, const char *device, const char *test, uint64_t feature);
/* The line for something that a device does wrong, or NULL. */
const cts_gap *cts_gaps_wrong(const cts_gaps *gaps, const char *device, const char *test);

/* Names of the bits of cts_test.needs. */
const char *cts_feature_name(uint64_t bit);
uint64_t cts_feature_bit(const char *name); /* 0: there is none */

#endif

/* report.h - what quern-abi prints: lines for people, or one JSON object (docs/abi.md). */
#ifndef QUERN_TOOLS_ABI_REPORT_H
#define QUERN_TOOLS_ABI_REPORT_H

#include <stdio.h>

#include "allow.h"
#include "input.h"
#include "violation.h"

typedef struct report_input {
  const char *path;
  input_kind kind;
  abi_set set;
  const char *error; /* in lines; NULL: it was read */
} report_input;

typedef struct report {
  report_input *inputs;
  size_t input_count;
  violations violations;
  allow_list allowed;
} report;

/* Violations that no entry allows. */
size_t report_count(const report *r);
void report_text(const report *r, FILE *out);
void report_json(const report *r, FILE *out);
/* The table of kinds, as the documentation has it. */
void report_kinds(FILE *out);

#endif

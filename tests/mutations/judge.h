/* judge.h - what the compiler says of one text. */
#ifndef QUERN_TESTS_MUTATIONS_JUDGE_H
#define QUERN_TESTS_MUTATIONS_JUDGE_H

#include "kernels/setting.h"

typedef struct verdict {
  uint32_t errors;
  uint32_t line, column; /* of the first error; 0: it is of another file */
  qn_bytes told;         /* the diagnostics, freed by verdict_free */
  const char *first;     /* in `told`: the first error's message, to the end of its line */
  uint64_t ns;
  const char *fault; /* what must never be, or NULL */
} verdict;

void judge(const char *file, qn_sv text, const kernel_setting *setting, verdict *out);
static inline void verdict_free(verdict *v) { qn_bytes_free(&v->told); }

#endif

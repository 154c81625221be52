/* child.h - a process of this program that runs tests, seen by the one that watches it. What depends on the operating system
 * stands in child.c. */
#ifndef QUERN_CTS_CHILD_H
#define QUERN_CTS_CHILD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "report.h"

typedef struct cts_child {
  pid_t pid; /* 0: there is none */
  int pipe, output, live_fd;
  cts_live *live;
  uint64_t timeout_ns, deadline_ns; /* from a test's beginning */
  cts_report record;                /* as far as it has come */
  size_t have;
  bool is_hung;
  void *user;
} cts_child;

/* How a process ended. */
typedef struct cts_ending {
  int status;     /* exit status, -1: none */
  bool is_hung;   /* it was ended after the time limit */
  uint32_t line;  /* of the check that began last, 0: none */
  char text[128]; /* "SIGSEGV (Segmentation fault)" */
} cts_ending;

/* Starts this program with these arguments, NULL at their end; --report and --live are added. */
bool cts_child_start(cts_child *child, const char *const *arguments, uint64_t timeout_ns);

/* What happened to one of the children: a report, or its end (then *out_ended). Waits for it; the index of the child, or -1
 * when none runs. A child that is past its time limit is killed. */
int cts_children_next(cts_child *children, uint32_t count, cts_report *out_report, bool *out_ended,
                      cts_ending *out_ending);

/* The end of what the child wrote to its standard streams after its first `from` bytes, at most `most` bytes, for free();
 * NULL when nothing. */
char *cts_child_output(const cts_child *child, uint64_t from, size_t most);
/* Frees what belongs to a child that has ended. */
void cts_child_free(cts_child *child);

/* "SIGSEGV (Segmentation fault)" */
void cts_signal_text(int number, char *out, size_t size);

#endif

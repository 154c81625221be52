/* driver.h - kernels in OpenCL C on an OpenCL driver, as adapters run them: entries with hidden parameters. libOpenCL is
 * opened at run time. */
#ifndef QUERN_TEST_DRIVER_H
#define QUERN_TEST_DRIVER_H

#include <stdbool.h>
#include <stdint.h>

#include "compiler/interp/interp.h"

/* A driver's device, opened at the first call: the first one whose platform's name holds QUERN_TEST_PLATFORM ("Portable"
 * by default: PoCL). False: there is none; *out_why says why. */
bool driver_open(const char **out_why);
const char *driver_name(void);
/* Whether its compiler takes -cl-fp32-correctly-rounded-divide-sqrt. */
bool driver_rounds(void);

/* A program; NULL with the build log as the error text. */
typedef struct driver_program driver_program;
driver_program *driver_build(const char *text, const char *options);
void driver_close(driver_program *program);

/* One launch. Results are written back to the arguments' memory. `symbol` is the first entry's. */
typedef struct driver_launch {
  const char *symbol;
  bool is_plain;    /* the entry has the source's parameters alone */
  bool takes_range; /* QN_ENTRY_RANGE */
  interp_launch launch;
} driver_launch;
qn_status driver_run(driver_program *program, const driver_launch *launch);

#endif

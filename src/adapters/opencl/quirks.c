/* quirks.c - what drivers do that they can't be asked for. Each line was measured on the driver that it names. */
#include <string.h>

#include "opencl.h"

static const struct {
  const char *platform; /* how its name begins */
  ocl_quirks quirks;
} known[] = {
    /* Driver 580 on an H200: a flush costs a quarter of a launch, and a kernel of 6 ms is over without one; an event costs 2 us
     * where a launch costs 5. Offsets are cut to 32 bits and extended by their sign. Behind a long kernel
     * it takes about a thousand commands, then a call blocks until there is room. It tells 49152 bytes of local memory, and a kernel
     * with a local pointer gets 49151. */
    {"NVIDIA", {.starts_alone = true, .id_bits = 31, .in_flight = 512, .local_reserve = 64}},
    /* PoCL 3.1: see compiles.h. A command is CL_SUBMITTED when it waits for no other one, and CL_RUNNING when its kernel is
     * compiled. */
    {"Portable Computing Language", {.compiles_late = true}},
    {"", {0}},
};

const ocl_quirks *ocl_quirks_of(const char *platform) {
  size_t i = 0;
  while (strncmp(platform, known[i].platform, strlen(known[i].platform)) != 0) i++;
  return &known[i].quirks;
}

/* debug.h - code made at run time, told to debuggers and profilers.
 * gdb: an object with its sections' addresses filled in, on the list of the JIT interface (gdb manual, chapter 30).
 * perf: lines in /tmp/perf-PID.map, when QUERN_PERF is set. */
#ifndef QUERN_ADAPTERS_CPU_DEBUG_H
#define QUERN_ADAPTERS_CPU_DEBUG_H

#include "image.h"

typedef struct debug_entry debug_entry;

/* Shows an image to gdb. NULL when there is no memory for it: debugging is then poorer, nothing else. */
debug_entry *debug_show(const cpu_image *image, const void *object, uint64_t size);
void debug_hide(debug_entry *entry);

/* Adds an image's functions to perf's map. False when the file can't be written. */
bool debug_write_perf_map(const cpu_image *image);

#endif

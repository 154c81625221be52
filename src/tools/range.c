/* range.c - the launch's sizes: given, or from the shape of what comes out. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "run.h"

/* Global sizes for a shape: x is the last axis. */
static bool range_from_shape(const run_argument *a, uint64_t global[3], uint32_t *dimensions) {
  if (a->axes == 0 || a->axes > 3) return false;
  *dimensions = a->axes;
  for (uint32_t i = 0; i < 3; i++) global[i] = i < a->axes ? a->shape[a->axes - 1 - i] : 1;
  return true;
}

/* A kernel that asks for one dimension would do the same for each row of an array: whether it wants an item for each element or
 * for each row, the shape doesn't say. */
static tool_status check_asked(const qn_kernel_info *kernel, const run_argument *from, const qn_range *range) {
  uint32_t asked = kernel->asked_dimensions ? kernel->asked_dimensions : 1, used = 1;
  uint64_t elements = 1;
  for (uint32_t d = 0; d < range->dimensions; d++) {
    if (range->global[d] > 1) used = d + 1;
    elements *= range->global[d];
  }
  if (used <= asked) return TOOL_OK;
  return tool_error(TOOL_USAGE,
                    "give --global X%s: kernel '%s' asks for identifiers of %s, and '%s' has %u axes; --global %" PRIu64
                    " is a work-item for each element",
                    asked == 2 ? ",Y" : "", kernel->name, asked == 2 ? "2 dimensions" : "one dimension",
                    from->info.name, range->dimensions, elements);
}

static tool_status infer_global(const run_arguments *all, const qn_kernel_info *kernel, qn_range *range) {
  const run_argument *from = NULL;
  bool asked = false;
  for (uint32_t i = 0; i < all->count; i++) asked |= all->items[i].out_path != NULL || all->items[i].print;
  for (uint32_t i = 0; i < all->count; i++) {
    const run_argument *a = &all->items[i];
    uint64_t global[3];
    uint32_t dimensions;
    if (!a->is_array || (asked ? !a->out_path && !a->print : !run_argument_is_output(a))) continue;
    if (!range_from_shape(a, global, &dimensions))
      return tool_error(TOOL_USAGE, "give --global X[,Y[,Z]]: the shape of '%s' has %u axes", a->info.name, a->axes);
    if (from && (dimensions != range->dimensions || memcmp(global, range->global, sizeof global) != 0))
      return tool_error(TOOL_USAGE, "give --global X[,Y[,Z]]: the outputs '%s' and '%s' have different shapes",
                        from->info.name, a->info.name);
    from = a;
    range->dimensions = dimensions;
    memcpy(range->global, global, sizeof global);
  }
  if (!from) return tool_error(TOOL_USAGE, "give --global X[,Y[,Z]]: there is no output whose shape could decide it");
  return check_asked(kernel, from, range);
}

static const char *sizes_text(const uint64_t sizes[3], char text[96]) {
  snprintf(text, 96, "%" PRIu64 ",%" PRIu64 ",%" PRIu64, sizes[0], sizes[1], sizes[2]);
  return text;
}

tool_status run_range_choose(const run_options *o, const qn_kernel_info *kernel, const run_arguments *all,
                             qn_range *out) {
  qn_range range = QN_INIT(qn_range);
  char a[96], b[96];
  bool required = kernel->required_local[0] != 0;
  if (o->global_dimensions) {
    range.dimensions = o->global_dimensions;
    memcpy(range.global, o->global, sizeof range.global);
  } else {
    TOOL_TRY(infer_global(all, kernel, &range));
  }
  if (o->local_dimensions > range.dimensions)
    return tool_error(TOOL_USAGE, "--local has %u sizes, the global size has %u", o->local_dimensions,
                      range.dimensions);
  if (o->local_dimensions) memcpy(range.local, o->local, sizeof range.local);
  if (required && o->local_dimensions && memcmp(range.local, kernel->required_local, sizeof range.local) != 0)
    return tool_error(TOOL_USAGE, "--local %s: kernel '%s' requires %s (reqd_work_group_size)",
                      sizes_text(range.local, a), kernel->name, sizes_text(kernel->required_local, b));
  if (required) memcpy(range.local, kernel->required_local, sizeof range.local);
  if (range.local[0]) {
    for (uint32_t i = 0; i < 3; i++) {
      uint64_t rest = range.global[i] % range.local[i];
      if (!rest) continue;
      if (o->global_dimensions)
        return tool_error(TOOL_USAGE,
                          "the local size %" PRIu64 " does not divide the global size %" PRIu64 " in dimension %u",
                          range.local[i], range.global[i], i);
      range.global[i] += range.local[i] - rest; /* the kernel checks its bounds: its groups have a fixed size */
      if (i >= range.dimensions) range.dimensions = i + 1;
      if (!required)
        return tool_error(TOOL_USAGE,
                          "--local %s does not divide the global size, taken from an output's shape; give --global",
                          sizes_text(range.local, a));
    }
  }
  if (!o->global_dimensions && !o->json) tool_note("global size %s", sizes_text(range.global, a));
  *out = range;
  return TOOL_OK;
}

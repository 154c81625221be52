#include "base/os/stack.h"

#include <dlfcn.h>
#include <execinfo.h>
#include <string.h>

uint32_t qn_stack_take(void **frames, uint32_t capacity, const void *from) {
  enum { DEPTH = 64 };
  void *all[DEPTH];
  int count = backtrace(all, DEPTH), first = 0;
  while (first < count && all[first] != from) first++;
  if (first == count) first = 0;
  uint32_t taken = (uint32_t)(count - first);
  if (taken > capacity) taken = capacity;
  memcpy(frames, all + first, taken * sizeof *frames);
  return taken;
}

/* A return address is the byte after the call: the call itself lies before it. */
void qn_stack_print_frame(const void *frame, qn_bytes *out) {
  Dl_info info;
  const char *call = (const char *)frame - 1;
  if (!dladdr(call, &info) || !info.dli_fname) {
    qn_bytes_printf(out, "%p", (const void *)call);
    return;
  }
  const char *slash = strrchr(info.dli_fname, '/');
  const char *file = slash ? slash + 1 : info.dli_fname;
  if (info.dli_sname)
    qn_bytes_printf(out, "%s(%s+0x%zx)", file, info.dli_sname, (size_t)(call - (const char *)info.dli_saddr));
  else
    qn_bytes_printf(out, "%s+0x%zx", file, (size_t)(call - (const char *)info.dli_fbase));
}

#include "cuda.h"

#include <dlfcn.h>
#include <stdlib.h>

#include "bench.h"

void cuda_check(cu_result code, const char *what) {
  if (code != CU_SUCCESS) bench_fail("%s: CUDA's code %d", what, code);
}

void cuda_enter(const cuda *c) { cuda_check(c->cu.CtxPushCurrent_v2(c->context), "cuCtxPushCurrent"); }
void cuda_leave(const cuda *c) {
  cu_context ours;
  cuda_check(c->cu.CtxPopCurrent_v2(&ours), "cuCtxPopCurrent");
}

static void *need(void *library, const char *name) {
  void *found = dlsym(library, name);
  if (!found) bench_fail("the CUDA driver has no %s", name);
  return found;
}

bool cuda_open(cuda *c, qn_device device) {
  const char *path = getenv("QUERN_CUDA_LIBRARY");
  void *library = dlopen(path && *path ? path : "libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
  uint64_t context = 0;
  if (!library) return false;
#define X(name, parameters) *(void **)&c->cu.name = dlsym(library, "cu" #name);
  CU_FUNCTIONS(X, X)
#undef X
  *(void **)&c->more.MemAllocAsync = need(library, "cuMemAllocAsync");
  *(void **)&c->more.MemFreeAsync = need(library, "cuMemFreeAsync");
  *(void **)&c->more.MemcpyHtoD_v2 = need(library, "cuMemcpyHtoD_v2");
  *(void **)&c->more.MemcpyDtoH_v2 = need(library, "cuMemcpyDtoH_v2");
  bench_check(qn_native_handle(device, 0, &context), "qn_native_handle");
  c->context = (cu_context)(uintptr_t)context;
  cuda_enter(c);
  cuda_check(c->cu.StreamCreate(&c->stream, CU_STREAM_NON_BLOCKING_FLAG), "cuStreamCreate");
  cuda_leave(c);
  return true;
}

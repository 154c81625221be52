#include "opencl.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"

static bool load(opencl *cl) {
  void *library = dlopen("libOpenCL.so.1", RTLD_NOW | RTLD_LOCAL);
  if (!library) {
    fprintf(stderr, "bench: no peer: %s\n", dlerror());
    return false;
  }
#define X(function)                                          \
  *(void **)&cl->function = dlsym(library, "cl" #function);  \
  if (!cl->function) {                                       \
    fprintf(stderr, "bench: no peer: no cl" #function "\n"); \
    return false;                                            \
  }
  OPENCL_FUNCTIONS(X)
#undef X
  return true;
}

void opencl_check(cl_int status, const char *what) {
  if (status != CL_SUCCESS) bench_fail("OpenCL: %s: error %d", what, status);
}

static void tell_name(opencl *cl, cl_platform_id id) {
  char platform[120] = "", device[120] = "";
  cl->GetPlatformInfo(id, CL_PLATFORM_VERSION, sizeof platform, platform, NULL);
  cl->GetDeviceInfo(cl->device, CL_DEVICE_NAME, sizeof device, device, NULL);
  snprintf(cl->name, sizeof cl->name, "%s, %s", platform, device);
}

static bool find_device(opencl *cl) {
  cl_platform_id platforms[16];
  cl_uint count = 0;
  cl->GetPlatformIDs(16, platforms, &count);
  for (cl_uint i = 0; i < count && i < 16; i++) {
    if (cl->GetDeviceIDs(platforms[i], CL_DEVICE_TYPE_CPU, 1, &cl->device, NULL) != CL_SUCCESS) continue;
    tell_name(cl, platforms[i]);
    return true;
  }
  fprintf(stderr, "bench: no peer: OpenCL has no CPU device\n");
  return false;
}

static void make_queue(opencl *cl) {
  cl_int status;
  cl->context = cl->CreateContext(NULL, 1, &cl->device, NULL, NULL, &status);
  opencl_check(status, "clCreateContext");
  cl->queue = cl->CreateCommandQueue(cl->context, cl->device, 0, &status);
  opencl_check(status, "clCreateCommandQueue");
}

bool opencl_open(opencl *cl) {
  memset(cl, 0, sizeof *cl);
  if (!load(cl) || !find_device(cl)) return false;
  make_queue(cl);
  return true;
}

bool opencl_open_device(opencl *cl, cl_device_id device) {
  cl_platform_id platform = NULL;
  memset(cl, 0, sizeof *cl);
  if (!load(cl)) return false;
  cl->device = device;
  opencl_check(cl->GetDeviceInfo(device, CL_DEVICE_PLATFORM, sizeof platform, &platform, NULL), "clGetDeviceInfo");
  tell_name(cl, platform);
  make_queue(cl);
  return true;
}

cl_kernel opencl_build(opencl *cl, const char *source, const char *options, const char *name) {
  cl_int status;
  cl_program program = cl->CreateProgramWithSource(cl->context, 1, &source, NULL, &status);
  opencl_check(status, "clCreateProgramWithSource");
  status = cl->BuildProgram(program, 1, &cl->device, options, NULL, NULL);
  if (status != CL_SUCCESS) {
    static char log[65536];
    cl->GetProgramBuildInfo(program, cl->device, CL_PROGRAM_BUILD_LOG, sizeof log - 1, log, NULL);
    bench_fail("OpenCL: kernel %s does not build: error %d\n%s", name, status, log);
  }
  cl_kernel kernel = cl->CreateKernel(program, name, &status);
  opencl_check(status, "clCreateKernel");
  cl->ReleaseProgram(program); /* the kernel holds it */
  return kernel;
}

#include "probe.h"

#include <string.h>

/* As callers' memory is: at no page's start, of an odd size. */
enum { WORDS = 1021 };

typedef struct trial {
  const ocl_functions *cl;
  cl_context context;
  cl_command_queue queue;
  cl_mem wrapped, copy;
  uint32_t words[WORDS], back[WORDS];
} trial;

static bool settle(const trial *t, cl_event event) {
  bool done = t->cl->WaitForEvents(1, &event) == CL_SUCCESS;
  t->cl->ReleaseEvent(event);
  return done;
}

static bool fill(trial *t, uint32_t word) {
  cl_event event;
  return t->cl->EnqueueFillBuffer(t->queue, t->wrapped, &word, sizeof word, 0, sizeof t->words, 0, NULL, &event) ==
             CL_SUCCESS &&
         settle(t, event);
}

static bool read_copy(trial *t) {
  cl_event event;
  return t->cl->EnqueueCopyBuffer(t->queue, t->wrapped, t->copy, 0, 0, sizeof t->words, 0, NULL, NULL) == CL_SUCCESS &&
         t->cl->EnqueueReadBuffer(t->queue, t->copy, CL_FALSE, 0, sizeof t->back, t->back, 0, NULL, &event) ==
             CL_SUCCESS &&
         settle(t, event);
}

/* Twice, for a driver may copy what the host wrote once, at the buffer's creation or first use. */
static bool runs(trial *t) {
  for (uint32_t round = 1; round <= 2; round++) {
    if (!fill(t, 0x01020304u * round)) return false;
    for (int i = 0; i < WORDS; i++)
      if (t->words[i] != 0x01020304u * round) return false;
    for (uint32_t i = 0; i < WORDS; i++) t->words[i] = i * 2654435761u + round;
    if (!read_copy(t) || memcmp(t->words, t->back, sizeof t->words) != 0) return false;
  }
  return true;
}

static bool make(trial *t, cl_device_id device) {
  cl_int code;
  t->context = t->cl->CreateContext(NULL, 1, &device, NULL, NULL, &code);
  if (!t->context) return false;
  t->queue = t->cl->CreateCommandQueue(t->context, device, 0, &code);
  if (!t->queue) return false;
  t->wrapped =
      t->cl->CreateBuffer(t->context, CL_MEM_READ_WRITE | CL_MEM_USE_HOST_PTR, sizeof t->words, t->words, &code);
  t->copy = t->cl->CreateBuffer(t->context, CL_MEM_READ_WRITE, sizeof t->words, NULL, &code);
  return t->wrapped && t->copy;
}

static void drop(const trial *t) {
  if (t->copy) t->cl->ReleaseMemObject(t->copy);
  if (t->wrapped) t->cl->ReleaseMemObject(t->wrapped);
  if (t->queue) t->cl->ReleaseCommandQueue(t->queue);
  if (t->context) t->cl->ReleaseContext(t->context);
}

bool ocl_probe_wrap(const ocl_functions *cl, cl_device_id device) {
  trial t = {.cl = cl};
  bool works = make(&t, device) && runs(&t);
  drop(&t);
  return works;
}

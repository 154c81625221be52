/* heap.c - where the driver's memory comes from: the system, an allocator that reuses at once, or a library's. */
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#include "inside.h"
#include "lifo.h"

static void *take_from_system(void *state, uint64_t size) {
  (void)state;
  uint64_t whole = (size + SIM_ALIGNMENT - 1) / SIM_ALIGNMENT * SIM_ALIGNMENT;
  if (whole < size || whole > SIZE_MAX / 2) return NULL;
  return aligned_alloc(SIM_ALIGNMENT, (size_t)whole);
}
static void give_to_system(void *state, void *memory, uint64_t size) {
  (void)state;
  (void)size;
  free(memory);
}

static void *take_from_lifo(void *state, uint64_t size) { return sim_lifo_take(state, size); }
static void give_to_lifo(void *state, void *memory, uint64_t size) { sim_lifo_give(state, memory, size); }

static sim_result open_lifo(sim_heap *heap) {
  const sim_lifo empty = SIM_LIFO_INIT;
  sim_lifo *lifo = malloc(sizeof *lifo);
  if (!lifo) return SIM_NO_HOST_MEMORY;
  *lifo = empty;
  *heap = (sim_heap){.take = take_from_lifo, .give = give_to_lifo, .state = lifo};
  return SIM_OK;
}

/* The library's two functions (control.h). */
typedef struct functions {
  void *(*take)(uint64_t size);
  void (*give)(void *memory, uint64_t size);
} functions;

static void *take_from_library(void *state, uint64_t size) { return ((functions *)state)->take(size); }
static void give_to_library(void *state, void *memory, uint64_t size) { ((functions *)state)->give(memory, size); }

static sim_result open_library(const char *path, sim_heap *heap) {
  functions *f = malloc(sizeof *f);
  void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (f && library) {
    void *take = dlsym(library, "null_heap_take"), *give = dlsym(library, "null_heap_give");
    memcpy(&f->take, &take, sizeof take);
    memcpy(&f->give, &give, sizeof give);
    *heap = (sim_heap){.take = take_from_library, .give = give_to_library, .state = f, .library = library};
    if (take && give) return SIM_OK;
  }
  if (library) dlclose(library);
  free(f);
  return f ? SIM_BAD_SETTING : SIM_NO_HOST_MEMORY;
}

sim_result sim_heap_open(const sim_settings *settings, sim_heap *out_heap) {
  if (settings->heap[0] != '\0') return open_library(settings->heap, out_heap);
  if (settings->reuse != 0) return open_lifo(out_heap);
  *out_heap = (sim_heap){.take = take_from_system, .give = give_to_system};
  return SIM_OK;
}

void sim_heap_close(sim_heap *heap) {
  if (heap->take == take_from_lifo) sim_lifo_close(heap->state);
  if (heap->library) dlclose(heap->library);
  free(heap->state);
}

void *sim_new(sim_driver *driver, uint64_t size) {
  void *record = driver->heap.take(driver->heap.state, size);
  return record ? memset(record, 0, (size_t)size) : NULL;
}

void sim_delete(sim_driver *driver, void *record, uint64_t size) {
  driver->heap.give(driver->heap.state, record, size);
}

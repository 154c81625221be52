/* device.c - devices, and the blocks of their memory. */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "inside.h"

/* ---- Devices ------------------------------------------------------------------------------------ */

sim_result sim_device_open(sim_driver *driver, sim_device **out_device) {
  sim_device *device = sim_new(driver, sizeof *device);
  if (!device) return SIM_NO_HOST_MEMORY;
  device->driver = driver;
  device->settings = driver->settings;
  device->random = driver->settings.seed;
  device->capacity = driver->settings.capacity ? driver->settings.capacity : 1;
  device->is_checked = driver->settings.check != 0;
  device->hold_at = UINT64_MAX;
  pthread_condattr_t monotonic;
  pthread_condattr_init(&monotonic);
  pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
  pthread_cond_init(&device->changed, &monotonic);
  pthread_condattr_destroy(&monotonic);
  pthread_mutex_init(&device->lock, NULL);
  sim_control_init(device);
  *out_device = device;
  return SIM_OK;
}

void sim_device_close(sim_device *device) {
  sim_scheduler_stop(device);
  pthread_cond_destroy(&device->changed);
  pthread_mutex_destroy(&device->lock);
  sim_clock_drop(device->host);
  free(device->slot_counts);
  free(device->slot_used);
  sim_delete(device->driver, device, sizeof *device);
}

void *sim_device_control(sim_device *device) { return &device->control; }

/* ---- Blocks ------------------------------------------------------------------------------------- */

/* Takes the bytes out of what the device has. */
static sim_result charge(sim_device *device, uint64_t size) {
  const sim_settings *settings = &device->settings;
  sim_result result = SIM_OK;
  pthread_mutex_lock(&device->lock);
  bool is_over = settings->memory != 0 && (size > settings->memory || device->memory_used > settings->memory - size);
  if (device->is_lost)
    result = SIM_LOST;
  else if (is_over || sim_chance(device, settings->no_memory))
    result = SIM_NO_MEMORY;
  else
    device->memory_used += size;
  pthread_mutex_unlock(&device->lock);
  return result;
}

static void discharge(sim_device *device, uint64_t size) {
  pthread_mutex_lock(&device->lock);
  device->memory_used -= size;
  pthread_mutex_unlock(&device->lock);
}

enum { UNWRITTEN = 0xcd };

static char *take_bytes(sim_device *device, uint64_t size) {
  sim_heap *heap = &device->driver->heap;
  char *bytes = heap->take(heap->state, size);
  if (bytes && device->settings.seed != 0) memset(bytes, UNWRITTEN, (size_t)size);
  return bytes;
}

static void count_block(sim_device *device, const void *bytes) {
  pthread_mutex_lock(&device->lock);
  device->counts.memories++;
  device->counts.memories_made++;
  device->counts.addresses_again += bytes == device->freed_last;
  pthread_mutex_unlock(&device->lock);
}

/* Memory of the device. */
static sim_result allocate(sim_device *device, sim_block *block) {
  sim_result result = charge(device, block->size);
  if (result != SIM_OK) return result;
  block->bytes = take_bytes(device, block->size);
  if (block->bytes) return SIM_OK;
  discharge(device, block->size);
  return SIM_NO_MEMORY;
}

sim_result sim_block_create(sim_device *device, uint64_t size, void *wrapped, sim_block **out_block) {
  sim_block *block = sim_new(device->driver, sizeof *block);
  if (!block) return SIM_NO_HOST_MEMORY;
  block->size = size;
  block->is_wrapped = wrapped != NULL;
  block->bytes = wrapped;
  sim_result result = wrapped ? SIM_OK : allocate(device, block);
  if (result != SIM_OK) {
    sim_delete(device->driver, block, sizeof *block);
    return result;
  }
  count_block(device, block->bytes);
  *out_block = block;
  return SIM_OK;
}

void sim_block_destroy(sim_device *device, sim_block *block) {
  sim_heap *heap = &device->driver->heap;
  pthread_mutex_lock(&device->lock);
  sim_check_destroy_block(device, block);
  device->counts.memories--;
  if (!block->is_wrapped) {
    device->memory_used -= block->size;
    device->freed_last = block->bytes;
  }
  pthread_mutex_unlock(&device->lock);
  if (!block->is_wrapped) heap->give(heap->state, block->bytes, block->size);
  sim_delete(device->driver, block, sizeof *block);
}

void *sim_block_bytes(const sim_block *block) { return block->bytes; }

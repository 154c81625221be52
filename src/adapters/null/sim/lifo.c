#include "lifo.h"

#include <stdlib.h>
#include <string.h>

enum { ALIGNMENT = 128, FREED = 0xdd };

/* In front of what a chunk is for; keeps the alignment. */
typedef union chunk {
  union chunk *next;
  char room[ALIGNMENT];
} chunk;

/* Classes are powers of two from 128 on; the class is the power. */
static uint32_t class_of(uint64_t size) {
  uint32_t power = 7;
  while (power < SIM_LIFO_CLASSES - 1 && (UINT64_C(1) << power) < size) power++;
  return power;
}

static void *fresh(sim_lifo *lifo, uint32_t power) {
  if (power > 46) return NULL;
  chunk *made = aligned_alloc(ALIGNMENT, sizeof *made + ((size_t)1 << power));
  if (!made) return NULL;
  made->next = lifo->chunks;
  lifo->chunks = made;
  return made + 1;
}

void *sim_lifo_take(sim_lifo *lifo, uint64_t size) {
  uint32_t power = class_of(size);
  pthread_mutex_lock(&lifo->lock);
  void *memory = lifo->free[power];
  if (memory)
    memcpy(&lifo->free[power], memory, sizeof(void *));
  else
    memory = fresh(lifo, power);
  pthread_mutex_unlock(&lifo->lock);
  return memory;
}

void sim_lifo_give(sim_lifo *lifo, void *memory, uint64_t size) {
  uint32_t power = class_of(size);
  memset(memory, FREED, (size_t)size);
  pthread_mutex_lock(&lifo->lock);
  memcpy(memory, &lifo->free[power], sizeof(void *));
  lifo->free[power] = memory;
  pthread_mutex_unlock(&lifo->lock);
}

void sim_lifo_close(sim_lifo *lifo) {
  chunk *at = lifo->chunks;
  while (at) {
    chunk *next = at->next;
    free(at);
    at = next;
  }
  lifo->chunks = NULL;
}

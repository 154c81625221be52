/* lifo.h - an allocator that gives the address freed last out first, by size. What is freed is overwritten at once. So a use
 * after free shows: in contents, or because the address is somebody else's by now. */
#ifndef NULL_SIM_LIFO_H
#define NULL_SIM_LIFO_H

#include <pthread.h>
#include <stdint.h>

enum { SIM_LIFO_CLASSES = 64 };

typedef struct sim_lifo {
  pthread_mutex_t lock;
  void *free[SIM_LIFO_CLASSES]; /* each block's first word is the next one */
  void *chunks;                 /* all that was taken from the system */
} sim_lifo;
#define SIM_LIFO_INIT {.lock = PTHREAD_MUTEX_INITIALIZER}

/* Aligned to 128. NULL: none left. */
void *sim_lifo_take(sim_lifo *lifo, uint64_t size);
void sim_lifo_give(sim_lifo *lifo, void *memory, uint64_t size);
/* Gives everything back to the system. */
void sim_lifo_close(sim_lifo *lifo);

#endif

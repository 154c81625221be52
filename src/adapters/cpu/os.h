/* os.h - time, parking and the processor's hints: all that depends on the system, next to threads and mmap. */
#ifndef QUERN_ADAPTERS_CPU_OS_H
#define QUERN_ADAPTERS_CPU_OS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/* CLOCK_MONOTONIC. */
uint64_t cpu_now_ns(void);

/* The cycle counter: cheap, good for guesses, not for results. */
static inline uint64_t cpu_ticks(void) {
#if defined(__x86_64__)
  uint32_t low, high;
  __asm__ volatile("rdtsc" : "=a"(low), "=d"(high));
  return (uint64_t)high << 32 | low;
#elif defined(__aarch64__)
  uint64_t ticks;
  __asm__ volatile("mrs %0, cntvct_el0" : "=r"(ticks));
  return ticks;
#else
  return cpu_now_ns();
#endif
}
/* Ticks in a microsecond, at least 1. Takes some 20 microseconds. */
uint64_t cpu_ticks_per_us(void);

static inline void cpu_relax(void) {
#if defined(__x86_64__)
  __asm__ volatile("pause");
#elif defined(__aarch64__)
  __asm__ volatile("isb");
#endif
}

/* A store that comes before every later load, to be paired with another thread's that does the same the other way
 * round. An exchange: on x86-64 it is what a sequentially consistent store is anyway, and emulators (QEMU 7 of aarch64)
 * that let a load pass a plain one keep to it. */
#define cpu_store_and_fence(object, value) ((void)atomic_exchange((object), (value)))

/* Sleeps while `*word` is `expected`, at most `timeout_ns` (UINT64_MAX: no limit). May return early. */
void cpu_park(_Atomic uint32_t *word, uint32_t expected, uint64_t timeout_ns);
/* Wakes up to `count` threads that sleep on `word`. */
void cpu_unpark(_Atomic uint32_t *word, uint32_t count);

/* The floating-point environment of kernels: round to nearest, denormals kept, no traps. */
typedef struct cpu_float_environment {
  uint64_t control;
} cpu_float_environment;
static inline cpu_float_environment cpu_float_enter(void) {
  cpu_float_environment old = {0};
#if defined(__x86_64__)
  uint32_t was, wanted = 0x1f80;
  __asm__ volatile("stmxcsr %0" : "=m"(was));
  old.control = was;
  if (was != wanted) __asm__ volatile("ldmxcsr %0" : : "m"(wanted));
#elif defined(__aarch64__)
  __asm__ volatile("mrs %0, fpcr" : "=r"(old.control));
  if (old.control != 0) __asm__ volatile("msr fpcr, %0" : : "r"(UINT64_C(0)));
#endif
  return old;
}
static inline void cpu_float_leave(cpu_float_environment old) {
#if defined(__x86_64__)
  /* Always: a kernel may have raised sticky flags that are not the caller's. */
  uint32_t was = (uint32_t)old.control;
  __asm__ volatile("ldmxcsr %0" : : "m"(was));
#elif defined(__aarch64__)
  __asm__ volatile("msr fpcr, %0" : : "r"(old.control));
#else
  (void)old;
#endif
}

/* A page that the kernel wipes in a forked child: *page is 1 here and 0 in a child. NULL: out of memory. */
uint32_t *cpu_fork_page(void);
void cpu_fork_page_free(uint32_t *page);

/* Whole pages with inaccessible ones on both sides: a kernel that runs off its local or private memory meets those, and not what
 * the program has there. NULL: out of memory. */
uint8_t *cpu_pages_take(uint64_t bytes);
void cpu_pages_give(uint8_t *pages, uint64_t bytes);

/* Gives the calling thread a stack for signals, unless it has one: a program's handler for faults runs on it (SA_ONSTACK)
 * where a kernel has used up its own. NULL: it had one, or there is no memory. Before the thread ends it is taken
 * away again. */
void *cpu_signal_stack_enter(void);
void cpu_signal_stack_leave(void *stack);

/* Reads a small file, cut to capacity - 1 bytes, NUL-terminated. False when it can't be read. */
bool cpu_read_file(const char *path, char *buffer, uint64_t capacity);

#endif

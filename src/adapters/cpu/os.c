#include "os.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/futex.h>
#include <signal.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define NS_PER_S UINT64_C(1000000000)
#define SIGNAL_STACK_BYTES (UINT64_C(64) << 10) /* the registers of AVX-512 and AMX take 11 */

uint64_t cpu_now_ns(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (uint64_t)t.tv_sec * NS_PER_S + (uint64_t)t.tv_nsec;
}

uint64_t cpu_ticks_per_us(void) {
#if defined(__aarch64__)
  uint64_t frequency;
  __asm__ volatile("mrs %0, cntfrq_el0" : "=r"(frequency));
  return frequency / 1000000 ? frequency / 1000000 : 1;
#else
  uint64_t start_ns = cpu_now_ns(), start = cpu_ticks(), elapsed_ns;
  do elapsed_ns = cpu_now_ns() - start_ns;
  while (elapsed_ns < 20000);
  uint64_t ticks = (cpu_ticks() - start) * 1000 / elapsed_ns;
  return ticks ? ticks : 1;
#endif
}

void cpu_park(_Atomic uint32_t *word, uint32_t expected, uint64_t timeout_ns) {
  struct timespec limit = {(time_t)(timeout_ns / NS_PER_S), (long)(timeout_ns % NS_PER_S)};
  syscall(SYS_futex, (uint32_t *)word, FUTEX_WAIT_PRIVATE, expected, timeout_ns == UINT64_MAX ? NULL : &limit, NULL, 0);
}

void cpu_unpark(_Atomic uint32_t *word, uint32_t count) {
  syscall(SYS_futex, (uint32_t *)word, FUTEX_WAKE_PRIVATE, count > INT_MAX ? INT_MAX : (int)count, NULL, NULL, 0);
}

uint32_t *cpu_fork_page(void) {
  uint32_t *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (page == MAP_FAILED) return NULL;
  /* Kernels before 4.14 lack it: a child is then not noticed here, and the core's own check stands alone. */
  (void)madvise(page, 4096, MADV_WIPEONFORK);
  *page = 1;
  return page;
}

void cpu_fork_page_free(uint32_t *page) {
  if (page) munmap(page, 4096);
}

#define FENCE (UINT64_C(1) << 20)

uint8_t *cpu_pages_take(uint64_t bytes) {
  if (bytes > SIZE_MAX - 2 * FENCE) return NULL;
  uint8_t *low = mmap(NULL, bytes + 2 * FENCE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (low == MAP_FAILED) return NULL;
  if (mmap(low + FENCE, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) != MAP_FAILED)
    return low + FENCE;
  munmap(low, bytes + 2 * FENCE);
  return NULL;
}

void cpu_pages_give(uint8_t *pages, uint64_t bytes) {
  if (pages != NULL) munmap(pages - FENCE, bytes + 2 * FENCE);
}

void *cpu_signal_stack_enter(void) {
  stack_t now;
  if (sigaltstack(NULL, &now) != 0 || !(now.ss_flags & SS_DISABLE)) return NULL;
  void *stack = cpu_pages_take(SIGNAL_STACK_BYTES);
  if (stack == NULL) return NULL;
  now = (stack_t){.ss_sp = stack, .ss_size = SIGNAL_STACK_BYTES};
  if (sigaltstack(&now, NULL) == 0) return stack;
  cpu_pages_give(stack, SIGNAL_STACK_BYTES);
  return NULL;
}

void cpu_signal_stack_leave(void *stack) {
  const stack_t none = {.ss_flags = SS_DISABLE};
  if (stack == NULL) return;
  sigaltstack(&none, NULL);
  cpu_pages_give(stack, SIGNAL_STACK_BYTES);
}

bool cpu_read_file(const char *path, char *buffer, uint64_t capacity) {
  int file = open(path, O_RDONLY | O_CLOEXEC);
  if (file < 0) return false;
  uint64_t length = 0;
  while (length + 1 < capacity) {
    ssize_t got = read(file, buffer + length, capacity - 1 - length);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) break;
    length += (uint64_t)got;
  }
  close(file);
  buffer[length] = 0;
  return length > 0;
}

#include "fence.h"

#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "tool.h"

/* ---- Memory ----------------------------------------------------------------------------------------------------------- */

enum { ALIGNMENT = 64, MARK = 0xa5 }; /* a line of the cache: what kernels load at once stays within one */
#define FAR ((size_t)1 << 30)         /* on both sides: address space alone */
#define NEAR ((size_t)1 << 16) /* where address space is limited: later arrays need it, and so does the compiler */

bool fence_is_for(const qn_device_info *device) {
  return device->type == QN_DEVICE_CPU && (device->features & QN_FEATURE_WRAP_HOST);
}

static bool is_limited(void) {
  struct rlimit limit;
  return getrlimit(RLIMIT_AS, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY;
}

static bool reserve(size_t side, fence *f) {
  if (f->page_bytes > SIZE_MAX - 2 * side) return false;
  size_t bytes = f->page_bytes + 2 * side;
  void *at = mmap(NULL, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (at == MAP_FAILED) return false;
  f->reserved = at;
  f->reserved_bytes = bytes;
  f->pages = f->reserved + side;
  return true;
}

bool fence_take(size_t bytes, fence *out) {
  size_t page = (size_t)sysconf(_SC_PAGESIZE);
  *out = (fence){.bytes = bytes};
  if (bytes <= SIZE_MAX - page) out->page_bytes = (bytes + page - 1) / page * page;
  bool is_there = out->page_bytes > 0 && ((!is_limited() && reserve(FAR, out)) || reserve(NEAR, out));
  /* Mapped anew, so that the system counts it as memory that is wanted, and refuses what it hasn't. */
  is_there = is_there && mmap(out->pages, out->page_bytes, PROT_READ | PROT_WRITE,
                              MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) != MAP_FAILED;
  if (!is_there) {
    fence_give(out);
    return false;
  }
  (void)madvise(out->pages, out->page_bytes, MADV_HUGEPAGE); /* a hint */
  size_t room = (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
  out->memory = out->pages + out->page_bytes - room;
  memset(out->pages, MARK, out->page_bytes - room);
  memset(out->memory + bytes, MARK, room - bytes);
  return true;
}

void fence_give(fence *f) {
  if (f->reserved) munmap(f->reserved, f->reserved_bytes);
  *f = (fence){0};
}

static bool is_marked(const unsigned char *from, const unsigned char *to) {
  while (from < to && *from == MARK) from++;
  return from == to;
}

int fence_damage(const fence *f) {
  if (!f->reserved) return 0;
  if (!is_marked(f->memory + f->bytes, f->pages + f->page_bytes)) return 1;
  return is_marked(f->pages, f->memory) ? 0 : -1;
}

/* ---- Faults ----------------------------------------------------------------------------------------------------------- */

/* What a kernel meets that left its memory: pages that aren't there, a damaged return address and whatever code it leads to, an
 * instruction that stands for what has no meaning, and the heap's own checks. */
static const int faults[] = {SIGSEGV, SIGBUS, SIGILL, SIGABRT, SIGFPE, SIGTRAP, SIGSYS};
#define FAULT_COUNT (sizeof faults / sizeof *faults)

/* In the command's own data, which is far from the threads' stacks; what was allocated may stand right above one. */
static struct {
  bool is_on;
  char kernel[320]; /* "COMMAND: kernel 'NAME' " */
  struct {
    uintptr_t first, last; /* addresses */
    char name[80];
  } arrays[FENCE_ARRAYS];
  size_t count;
  atomic_flag is_told;
  struct sigaction before[FAULT_COUNT];
} watch = {.is_told = ATOMIC_FLAG_INIT};

/* What is told, as one write, that nothing may come between. */
typedef struct message {
  char text[640];
  size_t length;
} message;

/* A kernel that overran the stack of an OpenCL driver's thread may have gone over what the C library keeps of the thread, above
 * it: so the system is called directly, and nothing of the library that looks at the thread. */
static void add(message *m, const char *text) {
  while (*text && m->length < sizeof m->text) m->text[m->length++] = *text++;
}

static const char *array_at(uintptr_t address) {
  for (size_t i = 0; i < watch.count; i++)
    if (address >= watch.arrays[i].first && address <= watch.arrays[i].last) return watch.arrays[i].name;
  return NULL;
}

static void describe(message *m, const char *array) {
  m->length = 0;
  add(m, watch.kernel);
  if (array != NULL) {
    add(m, "reads or writes outside of '");
    add(m, array);
    add(m, "'");
  } else {
    add(m, "reads or writes outside of its arrays, or needs more private memory than a thread's stack has");
  }
  add(m, "; '-d check' says which access it is\n");
}

/* Several threads may come here at once: the first one ends the process. */
static void tell_fault(int signal_number, siginfo_t *info, void *context) {
  static message m;
  (void)signal_number;
  (void)context;
  while (atomic_flag_test_and_set(&watch.is_told)) syscall(SYS_sched_yield);
  describe(&m, array_at((uintptr_t)info->si_addr));
  (void)!syscall(SYS_write, STDERR_FILENO, m.text, m.length);
  syscall(SYS_exit_group, TOOL_FAILED);
}

static void install(void) {
  static char stack[1 << 16]; /* this thread's own may be the one that is full */
  stack_t other = {.ss_sp = stack, .ss_size = sizeof stack};
  struct sigaction action = {.sa_sigaction = tell_fault, .sa_flags = SA_ONSTACK | SA_SIGINFO};
  sigfillset(&action.sa_mask); /* no other handler runs, nor ends the process, while this one tells */
  sigaltstack(&other, NULL);
  for (size_t i = 0; i < FAULT_COUNT; i++) sigaction(faults[i], &action, &watch.before[i]);
}

void fence_watch(const char *kernel, const fence *fences, const char *const *names, size_t count) {
  watch.count = 0;
  for (size_t i = 0; i < count && i < FENCE_ARRAYS; i++) {
    if (!fences[i].reserved) continue;
    watch.arrays[watch.count].first = (uintptr_t)fences[i].reserved;
    watch.arrays[watch.count].last = (uintptr_t)fences[i].reserved + fences[i].reserved_bytes - 1;
    snprintf(watch.arrays[watch.count].name, sizeof watch.arrays[watch.count].name, "%s", names[i]);
    watch.count++;
  }
  snprintf(watch.kernel, sizeof watch.kernel, "%s: kernel '%s' ", tool_command, kernel);
  if (!watch.is_on) install();
  watch.is_on = true;
}

void fence_unwatch(void) {
  if (!watch.is_on) return;
  for (size_t i = 0; i < FAULT_COUNT; i++) sigaction(faults[i], &watch.before[i], NULL);
  watch.is_on = false;
}

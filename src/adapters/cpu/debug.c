#include "debug.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The interface that gdb looks for by these very names. */
enum { JIT_NOACTION, JIT_REGISTER, JIT_UNREGISTER };
struct jit_code_entry {
  struct jit_code_entry *next_entry, *prev_entry;
  const char *symfile_addr;
  uint64_t symfile_size;
};
struct jit_descriptor {
  uint32_t version, action_flag;
  struct jit_code_entry *relevant_entry, *first_entry;
};
struct jit_descriptor __jit_debug_descriptor = {1, JIT_NOACTION, NULL, NULL};
void __jit_debug_register_code(void);
__attribute__((noinline, used)) void __jit_debug_register_code(void) {
  __asm__ volatile("" ::: "memory"); /* gdb puts its breakpoint here */
}

static pthread_mutex_t list_lock = PTHREAD_MUTEX_INITIALIZER; /* guards the descriptor and its list */

struct debug_entry {
  struct jit_code_entry jit;
  char object[];
};

static void tell(uint32_t action, struct jit_code_entry *entry) {
  __jit_debug_descriptor.relevant_entry = entry;
  __jit_debug_descriptor.action_flag = action;
  __jit_debug_register_code();
}

debug_entry *debug_show(const cpu_image *image, const void *object, uint64_t size) {
  debug_entry *e = malloc(sizeof *e + size);
  if (!e) return NULL;
  memcpy(e->object, object, size);
  /* The object was loaded, so its section table is in range. */
  uint64_t table;
  memcpy(&table, e->object + 40, sizeof table);
  for (uint32_t i = 0; i < image->section_count; i++)
    memcpy(e->object + table + (uint64_t)i * sizeof(elf_section) + offsetof(elf_section, address),
           &image->section_address[i], sizeof(uint64_t));
  e->jit = (struct jit_code_entry){NULL, NULL, e->object, size};
  pthread_mutex_lock(&list_lock);
  struct jit_code_entry *first = __jit_debug_descriptor.first_entry;
  e->jit.next_entry = first;
  if (first) first->prev_entry = &e->jit;
  __jit_debug_descriptor.first_entry = &e->jit;
  tell(JIT_REGISTER, &e->jit);
  pthread_mutex_unlock(&list_lock);
  return e;
}

void debug_hide(debug_entry *e) {
  if (!e) return;
  pthread_mutex_lock(&list_lock);
  if (e->jit.prev_entry) e->jit.prev_entry->next_entry = e->jit.next_entry;
  if (e->jit.next_entry) e->jit.next_entry->prev_entry = e->jit.prev_entry;
  if (__jit_debug_descriptor.first_entry == &e->jit) __jit_debug_descriptor.first_entry = e->jit.next_entry;
  tell(JIT_UNREGISTER, &e->jit);
  pthread_mutex_unlock(&list_lock);
  free(e);
}

bool debug_write_perf_map(const cpu_image *image) {
  char path[64];
  snprintf(path, sizeof path, "/tmp/perf-%ld.map", (long)getpid());
  int file = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0644);
  if (file < 0) return false;
  bool ok = true;
  for (uint32_t i = 0; i < image->symbol_count && ok; i++) {
    const image_symbol *s = &image->symbols[i];
    if (s->size > 0)
      ok = dprintf(file, "%llx %llx %s\n", (unsigned long long)s->address, (unsigned long long)s->size, s->name) > 0;
  }
  close(file);
  return ok;
}

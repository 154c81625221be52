/* image.h - a relocatable object made runnable: one mapping that holds its code, then its constants, then its writable
 * data, so that every distance inside is small. Written once, then the code is made executable and the constants
 * read-only: no page is ever writable and executable at once. */
#ifndef QUERN_ADAPTERS_CPU_IMAGE_H
#define QUERN_ADAPTERS_CPU_IMAGE_H

#include "cpu.h"
#include "elf.h"

#define IMAGE_MAX_BYTES (UINT64_C(1) << 30)

/* A function in the code. */
typedef struct image_symbol {
  const char *name; /* in the image's names */
  uint64_t address, size;
  bool global;
} image_symbol;

typedef struct cpu_image {
  uint8_t *base;
  uint64_t bytes;
  image_symbol *symbols;
  uint32_t symbol_count;
  char *names;
  uint64_t *section_address; /* where each section of the object went, 0: not loaded */
  uint32_t section_count;
} cpu_image;

/* Loads. The bytes are not needed afterwards. `*out_memory`: the failure was a lack of memory. */
bool cpu_image_load(cpu_image *image, const void *bytes, uint64_t size, elf_error *error, bool *out_memory);
void cpu_image_free(cpu_image *image);
/* The address of a function, 0 when there is none of that name. */
uint64_t cpu_image_find(const cpu_image *image, const char *name);

#endif

/* sources: src/adapters/cpu/image.c src/adapters/cpu/elf.c src/adapters/cpu/reloc.c src/adapters/cpu/reloc_x86.c src/adapters/cpu/reloc_arm.c src/adapters/cpu/debug.c */
/* fuzz_elf.c - the cpu adapter's object loader takes any bytes. What it loads is not run. */
#include <string.h>

#include "adapters/cpu/debug.h"
#include "adapters/cpu/image.h"
#include "harness.h"

void fuzz_one(const char *text, size_t size) {
  cpu_image image;
  elf_error error = {""};
  bool out_of_memory;
  if (!cpu_image_load(&image, text, size, &error, &out_of_memory)) {
    FUZZ_CHECK(*error.text && !image.base);
    return;
  }
  for (uint32_t i = 0; i < image.symbol_count; i++) {
    const image_symbol *s = &image.symbols[i];
    uint64_t base = (uint64_t)(uintptr_t)image.base;
    FUZZ_CHECK(s->address >= base && s->address <= base + image.bytes);
    FUZZ_CHECK(cpu_image_find(&image, s->name) != 0);
  }
  debug_hide(debug_show(&image, text, size));
  cpu_image_free(&image);
}

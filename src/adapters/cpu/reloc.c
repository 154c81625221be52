#include "reloc.h"

reloc_type reloc_describe(uint32_t machine, uint32_t type) {
  return machine == ELF_MACHINE_X86_64 ? reloc_describe_x86(type) : reloc_describe_arm(type);
}

bool reloc_apply(uint32_t machine, uint32_t type, const reloc_place *r, elf_error *error) {
  return machine == ELF_MACHINE_X86_64 ? reloc_apply_x86(type, r, error) : reloc_apply_arm(type, r, error);
}

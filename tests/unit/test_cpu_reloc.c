/* sources: src/adapters/cpu/elf.c src/adapters/cpu/reloc.c src/adapters/cpu/reloc_x86.c src/adapters/cpu/reloc_arm.c */
/* Relocation arithmetic of both machines, on bytes: neither has to be this machine. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka needs the four above */
#include <cmocka.h>
#include <string.h>

#include "adapters/cpu/reloc.h"

typedef struct row {
  uint32_t machine, type;
  uint64_t before, address, target;
  int64_t addend;
  uint64_t after; /* the bytes; 0xbad: refused */
} row;
#define BAD 0xbad

/* By the formulas of the two ABIs. */
static const row cases[] = {
    {ELF_MACHINE_X86_64, 1, 0, 0x1000, 0x123456789abc, 4, 0x123456789ac0},
    {ELF_MACHINE_X86_64, 2, 0x1111111100000000, 0x7f0000001000, 0x7f0000002000, -4, 0x1111111100000ffc},
    {ELF_MACHINE_X86_64, 4, 0, 0x7f0000002000, 0x7f0000001000, -4, 0xffffeffc},
    {ELF_MACHINE_X86_64, 2, 0, 0x1000, 0x80000fff, 0, 0x7fffffff},
    {ELF_MACHINE_X86_64, 2, 0, 0x1000, 0x80001000, 0, BAD},
    {ELF_MACHINE_X86_64, 2, 0, 0x80001000, 0x1000, 0, 0x80000000},
    {ELF_MACHINE_X86_64, 2, 0, 0x80001001, 0x1000, 0, BAD},
    {ELF_MACHINE_X86_64, 10, 0, 0x1000, 0xffffffff, 0, 0xffffffff},
    {ELF_MACHINE_X86_64, 10, 0, 0x1000, 0x100000000, 0, BAD},
    {ELF_MACHINE_X86_64, 11, 0, 0x1000, 0x7fffffff, 0, 0x7fffffff},
    {ELF_MACHINE_X86_64, 11, 0, 0x1000, 0xffffffff, 0, BAD},
    {ELF_MACHINE_X86_64, 24, 0, 0x5000, 0x4000, 0, 0xfffffffffffff000},
    {ELF_MACHINE_X86_64, 99, 0, 0x1000, 0, 0, BAD},
    /* bl forward, backward, furthest, too far, misaligned */
    {ELF_MACHINE_AARCH64, 283, 0x94000000, 0x10000, 0x10008, 0, 0x94000002},
    {ELF_MACHINE_AARCH64, 283, 0x94000000, 0x10008, 0x10000, 0, 0x97fffffe},
    {ELF_MACHINE_AARCH64, 282, 0x14000000, 0x10000, 0x8010000 - 4, 0, 0x15ffffff},
    {ELF_MACHINE_AARCH64, 282, 0x14000000, 0x10000, 0x8010000, 0, BAD},
    {ELF_MACHINE_AARCH64, 283, 0x94000000, 0x10000, 0x10002, 0, BAD},
    /* adrp x0: next page, this page, previous page, 5 pages on, too far */
    {ELF_MACHINE_AARCH64, 275, 0x90000000, 0x10ffc, 0x11000, 0, 0xb0000000},
    {ELF_MACHINE_AARCH64, 275, 0x90000000, 0x10ffc, 0x10000, 0, 0x90000000},
    {ELF_MACHINE_AARCH64, 275, 0x90000000, 0x11000, 0x10fff, 0, 0xf0ffffe0},
    {ELF_MACHINE_AARCH64, 275, 0x90000000, 0x10000, 0x14ff0, 0x10, 0xb0000020},
    {ELF_MACHINE_AARCH64, 275, 0x90000000, 0x10000, 0x200010000, 0, BAD},
    {ELF_MACHINE_AARCH64, 311, 0x90000000, 0x10000, 0x12008, 0, 0xd0000000},
    /* adr x1, 0x1235 bytes on */
    {ELF_MACHINE_AARCH64, 274, 0x10000001, 0x10000, 0x11235, 0, 0x300091a1},
    /* add, ldrb, ldrh, ldr w, ldr x, ldr q of the low twelve bits */
    {ELF_MACHINE_AARCH64, 277, 0x91000000, 0, 0x12345678, 0, 0x9119e000},
    {ELF_MACHINE_AARCH64, 278, 0x39400000, 0, 0x12345fff, 0, 0x397ffc00},
    {ELF_MACHINE_AARCH64, 284, 0x79400000, 0, 0x12345ffe, 0, 0x795ffc00},
    {ELF_MACHINE_AARCH64, 285, 0xb9400000, 0, 0x12345ffc, 0, 0xb94ffc00},
    {ELF_MACHINE_AARCH64, 286, 0xf9400000, 0, 0x12345ff8, 0, 0xf947fc00},
    {ELF_MACHINE_AARCH64, 299, 0x3dc00000, 0, 0x12345ff0, 0, 0x3dc3fc00},
    {ELF_MACHINE_AARCH64, 286, 0xf9400000, 0, 0x12345ffc, 0, BAD},
    {ELF_MACHINE_AARCH64, 312, 0xf9400000, 0, 0x12345010, 0, 0xf9400800},
    /* cbz, tbz, ldr literal */
    {ELF_MACHINE_AARCH64, 280, 0xb4000000, 0x1000, 0x1010, 0, 0xb4000080},
    {ELF_MACHINE_AARCH64, 280, 0xb4000000, 0x100000, 0x200000, 0, BAD},
    {ELF_MACHINE_AARCH64, 279, 0x36000000, 0x1000, 0x0ff0, 0, 0x3607ff80},
    {ELF_MACHINE_AARCH64, 279, 0x36000000, 0x10000, 0x18000, 0, BAD},
    {ELF_MACHINE_AARCH64, 273, 0x58000000, 0x1000, 0x1008, 0, 0x58000040},
    /* data */
    {ELF_MACHINE_AARCH64, 257, 0, 0, 0x123456789abc, -0xbc, 0x123456789a00},
    {ELF_MACHINE_AARCH64, 258, 0, 0, 0xffffffff, 0, 0xffffffff},
    {ELF_MACHINE_AARCH64, 258, 0, 0, 0x100000000, 0, BAD},
    {ELF_MACHINE_AARCH64, 260, 0, 0x2000, 0x1000, 0, 0xfffffffffffff000},
    {ELF_MACHINE_AARCH64, 261, 0, 0x2000, 0x1000, 0, 0xfffff000},
    {ELF_MACHINE_AARCH64, 261, 0, 0, 0x80000000, 0, BAD},
    {ELF_MACHINE_AARCH64, 7, 0, 0, 0, 0, BAD},
};

static void test_values_are_as_the_abi_says(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    const row *c = &cases[i];
    uint64_t bytes = c->before;
    elf_error error = {{0}};
    reloc_place place = {(uint8_t *)&bytes, c->address, c->target, c->addend};
    bool ok = reloc_apply(c->machine, c->type, &place, &error);
    if (ok != (c->after != BAD) || (ok && bytes != c->after))
      fail_msg("case %zu (type %u): got %d, %#llx, wanted %#llx", i, c->type, ok, (unsigned long long)bytes,
               (unsigned long long)c->after);
    assert_true(ok || *error.text);
    if (!ok) assert_true(bytes == c->before);
  }
}

static void test_thread_local_relocations_are_known_as_such(void **state) {
  (void)state;
  static const uint32_t x86[] = {18, 19, 20, 22, 23, 34}, arm[] = {541, 549, 551, 562, 569};
  for (size_t i = 0; i < sizeof x86 / 4; i++)
    assert_int_equal(reloc_describe(ELF_MACHINE_X86_64, x86[i]).kind, RELOC_TLS);
  for (size_t i = 0; i < sizeof arm / 4; i++)
    assert_int_equal(reloc_describe(ELF_MACHINE_AARCH64, arm[i]).kind, RELOC_TLS);
  assert_int_equal(reloc_describe(ELF_MACHINE_X86_64, 7).kind, RELOC_UNKNOWN);
  assert_int_equal(reloc_describe(ELF_MACHINE_AARCH64, 1).kind, RELOC_UNKNOWN);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_values_are_as_the_abi_says),
      cmocka_unit_test(test_thread_local_relocations_are_known_as_such),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

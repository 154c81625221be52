/* aarch64 relocations: ELF for the Arm 64-bit Architecture (IHI 0056), section 5.7. */
#include <string.h>

#include "reloc.h"

/* How the value goes into the instruction or the data. */
typedef enum encoding {
  DATA,      /* width bytes, range checked */
  BRANCH,    /* 26 bits of a word offset */
  BRANCH_19, /* 19 bits of a word offset, conditional branches and literals */
  BRANCH_14, /* 14 bits of a word offset, test and branch */
  PAGE,      /* 21 bits of the distance in pages, adrp */
  BYTES_21,  /* 21 bits of a byte offset, adr */
  LOW        /* the low 12 bits, shifted right by `shift` */
} encoding;

/* X(name, number, kind, width, encoding, shift) */
#define RELOCATIONS(X)                                                 \
  X(R_AARCH64_NONE, 0, RELOC_NONE, 0, DATA, 0)                         \
  X(R_AARCH64_NONE_OLD, 256, RELOC_NONE, 0, DATA, 0)                   \
  X(R_AARCH64_ABS64, 257, RELOC_SYMBOL, 8, DATA, 0)                    \
  X(R_AARCH64_ABS32, 258, RELOC_SYMBOL, 4, DATA, 0)                    \
  X(R_AARCH64_PREL64, 260, RELOC_SYMBOL, 8, DATA, 1)                   \
  X(R_AARCH64_PREL32, 261, RELOC_SYMBOL, 4, DATA, 1)                   \
  X(R_AARCH64_LD_PREL_LO19, 273, RELOC_SYMBOL, 4, BRANCH_19, 0)        \
  X(R_AARCH64_ADR_PREL_LO21, 274, RELOC_SYMBOL, 4, BYTES_21, 0)        \
  X(R_AARCH64_ADR_PREL_PG_HI21, 275, RELOC_SYMBOL, 4, PAGE, 0)         \
  X(R_AARCH64_ADR_PREL_PG_HI21_NC, 276, RELOC_SYMBOL, 4, PAGE, 1)      \
  X(R_AARCH64_ADD_ABS_LO12_NC, 277, RELOC_SYMBOL, 4, LOW, 0)           \
  X(R_AARCH64_LDST8_ABS_LO12_NC, 278, RELOC_SYMBOL, 4, LOW, 0)         \
  X(R_AARCH64_TSTBR14, 279, RELOC_SYMBOL, 4, BRANCH_14, 0)             \
  X(R_AARCH64_CONDBR19, 280, RELOC_SYMBOL, 4, BRANCH_19, 0)            \
  X(R_AARCH64_JUMP26, 282, RELOC_SYMBOL, 4, BRANCH, 0)                 \
  X(R_AARCH64_CALL26, 283, RELOC_SYMBOL, 4, BRANCH, 0)                 \
  X(R_AARCH64_LDST16_ABS_LO12_NC, 284, RELOC_SYMBOL, 4, LOW, 1)        \
  X(R_AARCH64_LDST32_ABS_LO12_NC, 285, RELOC_SYMBOL, 4, LOW, 2)        \
  X(R_AARCH64_LDST64_ABS_LO12_NC, 286, RELOC_SYMBOL, 4, LOW, 3)        \
  X(R_AARCH64_LDST128_ABS_LO12_NC, 299, RELOC_SYMBOL, 4, LOW, 4)       \
  X(R_AARCH64_ADR_GOT_PAGE, 311, RELOC_GOT, 4, PAGE, 0)                \
  X(R_AARCH64_LD64_GOT_LO12_NC, 312, RELOC_GOT, 4, LOW, 3)             \
  X(R_AARCH64_PLT32, 314, RELOC_SYMBOL, 4, DATA, 1)                    \
  X(R_AARCH64_TLSIE_ADR_GOTTPREL_PAGE21, 541, RELOC_TLS, 4, DATA, 0)   \
  X(R_AARCH64_TLSIE_LD64_GOTTPREL_LO12_NC, 542, RELOC_TLS, 4, DATA, 0) \
  X(R_AARCH64_TLSLE_ADD_TPREL_HI12, 549, RELOC_TLS, 4, DATA, 0)        \
  X(R_AARCH64_TLSLE_ADD_TPREL_LO12_NC, 551, RELOC_TLS, 4, DATA, 0)     \
  X(R_AARCH64_TLSDESC_ADR_PAGE21, 562, RELOC_TLS, 4, DATA, 0)          \
  X(R_AARCH64_TLSDESC_LD64_LO12, 563, RELOC_TLS, 4, DATA, 0)           \
  X(R_AARCH64_TLSDESC_ADD_LO12, 564, RELOC_TLS, 4, DATA, 0)            \
  X(R_AARCH64_TLSDESC_CALL, 569, RELOC_TLS, 4, DATA, 0)

static const struct {
  uint32_t number;
  reloc_type type;
  uint8_t encoding, shift; /* DATA: shift 1 means relative to the place; PAGE: shift 1 means unchecked */
} rows[] = {
#define X(name, number, kind, width, encoding, shift) {number, {kind, width, #name}, encoding, shift},
    RELOCATIONS(X)
#undef X
};
#define ROW_COUNT (sizeof rows / sizeof *rows)

reloc_type reloc_describe_arm(uint32_t type) {
  for (size_t i = 0; i < ROW_COUNT; i++)
    if (rows[i].number == type) return rows[i].type;
  return (reloc_type){RELOC_UNKNOWN, 0, "unknown"};
}

/* Replaces the bits of `mask` in the instruction. */
static void put_bits(uint8_t *place, uint32_t mask, uint32_t bits) {
  uint32_t word;
  memcpy(&word, place, sizeof word);
  word = (word & ~mask) | (bits & mask);
  memcpy(place, &word, sizeof word);
}

static bool fits(int64_t value, uint32_t bits) {
  return value >= -(INT64_C(1) << (bits - 1)) && value < INT64_C(1) << (bits - 1);
}

/* A word offset in `bits` bits that start at bit `at`. */
static bool put_branch(const reloc_place *r, int64_t distance, uint32_t bits, uint32_t at, const char *name,
                       elf_error *error) {
  if (distance & 3) return elf_fail(error, "%s: the target is not a multiple of 4", name);
  if (!fits(distance, bits + 2)) return elf_fail(error, "%s is out of its range", name);
  put_bits(r->place, ((1u << bits) - 1) << at, (uint32_t)(distance >> 2) << at);
  return true;
}

/* adr and adrp: two low bits at 29, nineteen at 5. */
static void put_address(const reloc_place *r, int64_t value) {
  uint32_t bits = (uint32_t)value;
  put_bits(r->place, 3u << 29 | 0x7ffffu << 5, (bits & 3) << 29 | (bits >> 2 & 0x7ffff) << 5);
}

static bool put_data(const reloc_place *r, uint64_t value, uint32_t width, bool relative, const char *name,
                     elf_error *error) {
  /* 32 bits: relative values are signed; absolute ones may be read either way. */
  int64_t high = relative ? INT32_MAX : (int64_t)UINT32_MAX;
  if (width == 4 && ((int64_t)value < INT32_MIN || (int64_t)value > high))
    return elf_fail(error, "%s is out of its range", name);
  memcpy(r->place, &value, width);
  return true;
}

bool reloc_apply_arm(uint32_t type, const reloc_place *r, elf_error *error) {
  size_t i = 0;
  while (i < ROW_COUNT && rows[i].number != type) i++;
  if (i == ROW_COUNT) return elf_fail(error, "relocation type %u is unknown", type);
  const char *name = rows[i].type.name;
  uint64_t value = r->target + (uint64_t)r->addend;
  int64_t distance = (int64_t)(value - r->address);
  uint32_t shift = rows[i].shift;
  switch ((encoding)rows[i].encoding) {
    case DATA:
      return put_data(r, shift ? (uint64_t)distance : value, rows[i].type.width, shift != 0, name, error);
    case BRANCH:
      return put_branch(r, distance, 26, 0, name, error);
    case BRANCH_19:
      return put_branch(r, distance, 19, 5, name, error);
    case BRANCH_14:
      return put_branch(r, distance, 14, 5, name, error);
    case BYTES_21:
      if (!fits(distance, 21)) return elf_fail(error, "%s is out of its range of 1 MiB", name);
      put_address(r, distance);
      return true;
    case PAGE: {
      int64_t pages = (int64_t)((value & ~UINT64_C(4095)) - (r->address & ~UINT64_C(4095))) >> 12;
      if (!shift && !fits(pages, 21)) return elf_fail(error, "%s is out of its range of 4 GiB", name);
      put_address(r, pages);
      return true;
    }
    case LOW:
      if (value & ((1u << shift) - 1)) return elf_fail(error, "%s: the target is misaligned for its access", name);
      put_bits(r->place, 0xfffu << 10, ((uint32_t)value & 0xfff) >> shift << 10);
      return true;
  }
  return elf_fail(error, "relocation type %u is unknown", type);
}

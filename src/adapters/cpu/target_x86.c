/* The processor by cpuid, and by xgetbv what the system saves of it: a feature whose registers the system does not save
 * is not there. Sources: Intel's Software Developer's Manual volume 2A, CPUID; AMD's manual volume 3, appendix E. */
#include "target.h"

#if defined(__x86_64__)

#include <cpuid.h>
#include <stdio.h>
#include <string.h>

/* The registers that hold features: leaf, sub-leaf, register. */
enum { EAX, EBX, ECX, EDX };
enum { L1C, L1D, L7B, L7C, L7D, L7A1, L7D1, LDA1, L14B, L19B, X1C, X1D, X8B, DERIVED, WORD_COUNT };
static const struct {
  uint32_t leaf, sub_leaf, reg;
} words[DERIVED] = {
    [L1C] = {1, 0, ECX},          [L1D] = {1, 0, EDX},     [L7B] = {7, 0, EBX},          [L7C] = {7, 0, ECX},
    [L7D] = {7, 0, EDX},          [L7A1] = {7, 1, EAX},    [L7D1] = {7, 1, EDX},         [LDA1] = {0xd, 1, EAX},
    [L14B] = {0x14, 0, EBX},      [L19B] = {0x19, 0, EBX}, [X1C] = {0x80000001, 0, ECX}, [X1D] = {0x80000001, 0, EDX},
    [X8B] = {0x80000008, 0, EBX},
};

/* What the system must save for a feature to be usable: bits of XCR0. */
enum { ANY, YMM, ZMM, AMX, APX };
static const uint32_t saved_bits[] = {[ANY] = 0, [YMM] = 0x6, [ZMM] = 0xe6, [AMX] = 3u << 17, [APX] = 1u << 19};

/* Bits of the DERIVED word. */
enum { HAS_AVX10_256, HAS_AVX10_512 };

/* X(name, word, bit, state) */
#define FEATURES(X)                             \
  X("64bit", X1D, 29, ANY)                      \
  X("cx8", L1D, 8, ANY)                         \
  X("cmov", L1D, 15, ANY)                       \
  X("mmx", L1D, 23, ANY)                        \
  X("fxsr", L1D, 24, ANY)                       \
  X("sse", L1D, 25, ANY)                        \
  X("sse2", L1D, 26, ANY)                       \
  X("sse3", L1C, 0, ANY)                        \
  X("pclmul", L1C, 1, ANY)                      \
  X("ssse3", L1C, 9, ANY)                       \
  X("cx16", L1C, 13, ANY)                       \
  X("sse4.1", L1C, 19, ANY)                     \
  X("sse4.2", L1C, 20, ANY)                     \
  X("crc32", L1C, 20, ANY)                      \
  X("movbe", L1C, 22, ANY)                      \
  X("popcnt", L1C, 23, ANY)                     \
  X("aes", L1C, 25, ANY)                        \
  X("rdrnd", L1C, 30, ANY)                      \
  X("avx", L1C, 28, YMM)                        \
  X("fma", L1C, 12, YMM)                        \
  X("xsave", L1C, 26, YMM)                      \
  X("f16c", L1C, 29, YMM)                       \
  X("sahf", X1C, 0, ANY)                        \
  X("lzcnt", X1C, 5, ANY)                       \
  X("sse4a", X1C, 6, ANY)                       \
  X("prfchw", X1C, 8, ANY)                      \
  X("xop", X1C, 11, YMM)                        \
  X("lwp", X1C, 15, ANY)                        \
  X("fma4", X1C, 16, YMM)                       \
  X("tbm", X1C, 21, ANY)                        \
  X("mwaitx", X1C, 29, ANY)                     \
  X("clzero", X8B, 0, ANY)                      \
  X("rdpru", X8B, 4, ANY)                       \
  X("wbnoinvd", X8B, 9, ANY)                    \
  X("fsgsbase", L7B, 0, ANY)                    \
  X("sgx", L7B, 2, ANY)                         \
  X("bmi", L7B, 3, ANY)                         \
  X("avx2", L7B, 5, YMM)                        \
  X("bmi2", L7B, 8, ANY)                        \
  X("invpcid", L7B, 10, ANY)                    \
  X("rtm", L7B, 11, ANY)                        \
  X("avx512f", L7B, 16, ZMM)                    \
  X("evex512", L7B, 16, ZMM)                    \
  X("avx512dq", L7B, 17, ZMM)                   \
  X("rdseed", L7B, 18, ANY)                     \
  X("adx", L7B, 19, ANY)                        \
  X("avx512ifma", L7B, 21, ZMM)                 \
  X("clflushopt", L7B, 23, ANY)                 \
  X("clwb", L7B, 24, ANY)                       \
  X("avx512cd", L7B, 28, ZMM)                   \
  X("sha", L7B, 29, ANY)                        \
  X("avx512bw", L7B, 30, ZMM)                   \
  X("avx512vl", L7B, 31, ZMM)                   \
  X("avx512vbmi", L7C, 1, ZMM)                  \
  X("pku", L7C, 4, ANY)                         \
  X("waitpkg", L7C, 5, ANY)                     \
  X("avx512vbmi2", L7C, 6, ZMM)                 \
  X("shstk", L7C, 7, ANY)                       \
  X("gfni", L7C, 8, ANY)                        \
  X("vaes", L7C, 9, YMM)                        \
  X("vpclmulqdq", L7C, 10, YMM)                 \
  X("avx512vnni", L7C, 11, ZMM)                 \
  X("avx512bitalg", L7C, 12, ZMM)               \
  X("avx512vpopcntdq", L7C, 14, ZMM)            \
  X("rdpid", L7C, 22, ANY)                      \
  X("kl", L7C, 23, ANY)                         \
  X("cldemote", L7C, 25, ANY)                   \
  X("movdiri", L7C, 27, ANY)                    \
  X("movdir64b", L7C, 28, ANY)                  \
  X("enqcmd", L7C, 29, ANY)                     \
  X("uintr", L7D, 5, ANY)                       \
  X("avx512vp2intersect", L7D, 8, ZMM)          \
  X("serialize", L7D, 14, ANY)                  \
  X("tsxldtrk", L7D, 16, ANY)                   \
  X("pconfig", L7D, 18, ANY)                    \
  X("amx-bf16", L7D, 22, AMX)                   \
  X("avx512fp16", L7D, 23, ZMM)                 \
  X("amx-tile", L7D, 24, AMX)                   \
  X("amx-int8", L7D, 25, AMX)                   \
  X("sha512", L7A1, 0, ANY)                     \
  X("sm3", L7A1, 1, ANY)                        \
  X("sm4", L7A1, 2, ANY)                        \
  X("raoint", L7A1, 3, ANY)                     \
  X("avxvnni", L7A1, 4, YMM)                    \
  X("avx512bf16", L7A1, 5, ZMM)                 \
  X("cmpccxadd", L7A1, 7, ANY)                  \
  X("amx-fp16", L7A1, 21, AMX)                  \
  X("hreset", L7A1, 22, ANY)                    \
  X("avxifma", L7A1, 23, YMM)                   \
  X("avxvnniint8", L7D1, 4, YMM)                \
  X("avxneconvert", L7D1, 5, YMM)               \
  X("amx-complex", L7D1, 8, AMX)                \
  X("avxvnniint16", L7D1, 10, YMM)              \
  X("prefetchi", L7D1, 14, ANY)                 \
  X("usermsr", L7D1, 15, ANY)                   \
  X("avx10.1-256", DERIVED, HAS_AVX10_256, ZMM) \
  X("avx10.1-512", DERIVED, HAS_AVX10_512, ZMM) \
  X("egpr", L7D1, 21, APX)                      \
  X("push2pop2", L7D1, 21, APX)                 \
  X("ppx", L7D1, 21, APX)                       \
  X("ndd", L7D1, 21, APX)                       \
  X("ccmp", L7D1, 21, APX)                      \
  X("cf", L7D1, 21, APX)                        \
  X("xsaveopt", LDA1, 0, YMM)                   \
  X("xsavec", LDA1, 1, YMM)                     \
  X("xsaves", LDA1, 3, YMM)                     \
  X("ptwrite", L14B, 4, ANY)                    \
  X("widekl", L19B, 2, ANY)

static const struct {
  const char *name;
  uint8_t word, bit, state;
} features[] = {
#define X(name, word, bit, state) {name, word, bit, state},
    FEATURES(X)
#undef X
};
#define FEATURE_COUNT (sizeof features / sizeof *features)

/* Models by number: family, first and last model. The first row that fits is taken. */
enum { INTEL = 1, AMD = 2 };
static const struct {
  uint8_t vendor, family, first, last;
  const char *name;
} models[] = {
    {INTEL, 6, 0x0f, 0x0f, "core2"},
    {INTEL, 6, 0x16, 0x16, "core2"},
    {INTEL, 6, 0x17, 0x17, "penryn"},
    {INTEL, 6, 0x1d, 0x1d, "penryn"},
    {INTEL, 6, 0x1a, 0x1a, "nehalem"},
    {INTEL, 6, 0x1e, 0x1f, "nehalem"},
    {INTEL, 6, 0x2e, 0x2e, "nehalem"},
    {INTEL, 6, 0x25, 0x25, "westmere"},
    {INTEL, 6, 0x2c, 0x2c, "westmere"},
    {INTEL, 6, 0x2f, 0x2f, "westmere"},
    {INTEL, 6, 0x2a, 0x2a, "sandybridge"},
    {INTEL, 6, 0x2d, 0x2d, "sandybridge"},
    {INTEL, 6, 0x3a, 0x3a, "ivybridge"},
    {INTEL, 6, 0x3e, 0x3e, "ivybridge"},
    {INTEL, 6, 0x3c, 0x3c, "haswell"},
    {INTEL, 6, 0x3f, 0x3f, "haswell"},
    {INTEL, 6, 0x45, 0x46, "haswell"},
    {INTEL, 6, 0x3d, 0x3d, "broadwell"},
    {INTEL, 6, 0x47, 0x47, "broadwell"},
    {INTEL, 6, 0x4f, 0x4f, "broadwell"},
    {INTEL, 6, 0x56, 0x56, "broadwell"},
    {INTEL, 6, 0x4e, 0x4e, "skylake"},
    {INTEL, 6, 0x5e, 0x5e, "skylake"},
    {INTEL, 6, 0x8e, 0x8e, "skylake"},
    {INTEL, 6, 0x9e, 0x9e, "skylake"},
    {INTEL, 6, 0xa5, 0xa6, "skylake"},
    {INTEL, 6, 0xa7, 0xa7, "rocketlake"},
    {INTEL, 6, 0x66, 0x66, "cannonlake"},
    {INTEL, 6, 0x7d, 0x7e, "icelake-client"},
    {INTEL, 6, 0x8c, 0x8d, "tigerlake"},
    {INTEL, 6, 0x97, 0x97, "alderlake"},
    {INTEL, 6, 0x9a, 0x9a, "alderlake"},
    {INTEL, 6, 0xbe, 0xbe, "gracemont"},
    {INTEL, 6, 0xb7, 0xb7, "raptorlake"},
    {INTEL, 6, 0xba, 0xba, "raptorlake"},
    {INTEL, 6, 0xbf, 0xbf, "raptorlake"},
    {INTEL, 6, 0xaa, 0xaa, "meteorlake"},
    {INTEL, 6, 0xac, 0xac, "meteorlake"},
    {INTEL, 6, 0xc5, 0xc5, "arrowlake"},
    {INTEL, 6, 0xb5, 0xb5, "arrowlake"},
    {INTEL, 6, 0xc6, 0xc6, "arrowlake-s"},
    {INTEL, 6, 0xbd, 0xbd, "lunarlake"},
    {INTEL, 6, 0xcc, 0xcc, "pantherlake"},
    {INTEL, 6, 0xad, 0xad, "graniterapids"},
    {INTEL, 6, 0xae, 0xae, "graniterapids-d"},
    {INTEL, 6, 0x6a, 0x6a, "icelake-server"},
    {INTEL, 6, 0x6c, 0x6c, "icelake-server"},
    {INTEL, 6, 0xcf, 0xcf, "sapphirerapids"},
    {INTEL, 6, 0x8f, 0x8f, "sapphirerapids"},
    {INTEL, 6, 0x1c, 0x1c, "bonnell"},
    {INTEL, 6, 0x26, 0x27, "bonnell"},
    {INTEL, 6, 0x35, 0x36, "bonnell"},
    {INTEL, 6, 0x37, 0x37, "silvermont"},
    {INTEL, 6, 0x4a, 0x4a, "silvermont"},
    {INTEL, 6, 0x4c, 0x4d, "silvermont"},
    {INTEL, 6, 0x5a, 0x5a, "silvermont"},
    {INTEL, 6, 0x5c, 0x5c, "goldmont"},
    {INTEL, 6, 0x5f, 0x5f, "goldmont"},
    {INTEL, 6, 0x7a, 0x7a, "goldmont-plus"},
    {INTEL, 6, 0x86, 0x86, "tremont"},
    {INTEL, 6, 0x8a, 0x8a, "tremont"},
    {INTEL, 6, 0x96, 0x96, "tremont"},
    {INTEL, 6, 0x9c, 0x9c, "tremont"},
    {INTEL, 6, 0xaf, 0xaf, "sierraforest"},
    {INTEL, 6, 0xb6, 0xb6, "grandridge"},
    {INTEL, 6, 0xdd, 0xdd, "clearwaterforest"},
    {INTEL, 6, 0x57, 0x57, "knl"},
    {INTEL, 6, 0x85, 0x85, "knm"},
    {INTEL, 15, 0, 255, "nocona"},
    {AMD, 15, 0, 255, "k8-sse3"},
    {AMD, 16, 0, 255, "amdfam10"},
    {AMD, 20, 0, 255, "btver1"},
    {AMD, 21, 0x60, 0x7f, "bdver4"},
    {AMD, 21, 0x30, 0x3f, "bdver3"},
    {AMD, 21, 0x10, 0x1f, "bdver2"},
    {AMD, 21, 0x02, 0x02, "bdver2"},
    {AMD, 21, 0, 255, "bdver1"},
    {AMD, 22, 0, 255, "btver2"},
    {AMD, 23, 0x30, 0x3f, "znver2"},
    {AMD, 23, 0x47, 0x47, "znver2"},
    {AMD, 23, 0x60, 0x67, "znver2"},
    {AMD, 23, 0x68, 0x6f, "znver2"},
    {AMD, 23, 0x70, 0x7f, "znver2"},
    {AMD, 23, 0x84, 0x87, "znver2"},
    {AMD, 23, 0x90, 0x9f, "znver2"},
    {AMD, 23, 0xa0, 0xaf, "znver2"},
    {AMD, 23, 0, 255, "znver1"},
    {AMD, 25, 0x10, 0x1f, "znver4"},
    {AMD, 25, 0x60, 0x74, "znver4"},
    {AMD, 25, 0x78, 0x7b, "znver4"},
    {AMD, 25, 0xa0, 0xaf, "znver4"},
    {AMD, 25, 0, 255, "znver3"},
    {AMD, 26, 0, 255, "znver5"},
};

/* Skylake-X and its kin share a number and differ in features; unknown models of Intel's family 6 are named after the
 * newest model whose features they have. The first row whose feature is there is taken. */
typedef struct feature_name {
  const char *feature, *name;
} feature_name;
static const feature_name skylake_servers[] = {
    {"avx512bf16", "cooperlake"}, {"avx512vnni", "cascadelake"}, {"", "skylake-avx512"}};
static const feature_name unknown_intel[] = {{"amx-tile", "sapphirerapids"},
                                             {"avx512vp2intersect", "tigerlake"},
                                             {"avx512vbmi2", "icelake-client"},
                                             {"avx512vbmi", "cannonlake"},
                                             {"avx512bf16", "cooperlake"},
                                             {"avx512vnni", "cascadelake"},
                                             {"avx512vl", "skylake-avx512"},
                                             {"clflushopt", "skylake"},
                                             {"adx", "broadwell"},
                                             {"avx2", "haswell"},
                                             {"avx", "sandybridge"},
                                             {"sse4.2", "nehalem"},
                                             {"sse4.1", "penryn"},
                                             {"", "core2"}};

typedef struct processor {
  uint32_t vendor, family, model;
  uint32_t word[WORD_COUNT];
  uint64_t saved; /* XCR0 */
} processor;

static void read_avx10(processor *p, uint32_t max_leaf) {
  uint32_t r[4] = {0};
  if (!(p->word[L7D1] >> 19 & 1) || max_leaf < 0x24) return;
  __cpuid_count(0x24, 0, r[EAX], r[EBX], r[ECX], r[EDX]);
  if ((r[EBX] & 0xff) < 1) return;
  p->word[DERIVED] |= 1u << HAS_AVX10_256 | (r[EBX] >> 18 & 1) << HAS_AVX10_512;
}

static void read_processor(processor *p) {
  uint32_t r[4], max_leaf, max_extended, max_leaf7 = 0, signature;
  memset(p, 0, sizeof *p);
  __cpuid(0, max_leaf, r[EBX], r[ECX], r[EDX]);
  if (r[EBX] == signature_INTEL_ebx && r[ECX] == signature_INTEL_ecx && r[EDX] == signature_INTEL_edx)
    p->vendor = INTEL;
  if (r[EBX] == signature_AMD_ebx && r[ECX] == signature_AMD_ecx && r[EDX] == signature_AMD_edx) p->vendor = AMD;
  __cpuid(0x80000000, max_extended, r[EBX], r[ECX], r[EDX]);
  __cpuid(1, signature, r[EBX], r[ECX], r[EDX]);
  p->family = signature >> 8 & 15;
  p->model = signature >> 4 & 15;
  if (p->family == 6 || p->family == 15) p->model |= (signature >> 16 & 15) << 4;
  if (p->family == 15) p->family += signature >> 20 & 255;
  uint32_t last_leaf = 0, last_sub_leaf = 0;
  for (int i = 0; i < DERIVED; i++) {
    uint32_t leaf = words[i].leaf, limit = leaf >= 0x80000000 ? max_extended : max_leaf;
    if (leaf > limit || (leaf == 7 && words[i].sub_leaf > max_leaf7)) continue;
    if (leaf != last_leaf || words[i].sub_leaf != last_sub_leaf)
      __cpuid_count(leaf, words[i].sub_leaf, r[0], r[1], r[2], r[3]);
    last_leaf = leaf, last_sub_leaf = words[i].sub_leaf;
    if (leaf == 7 && words[i].sub_leaf == 0) max_leaf7 = r[EAX];
    p->word[i] = r[words[i].reg];
  }
  read_avx10(p, max_leaf);
  if (p->word[L1C] >> 27 & 1) { /* OSXSAVE: xgetbv may be used */
    uint32_t low, high;
    __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
    p->saved = (uint64_t)high << 32 | low;
  }
}

static bool feature_present(const processor *p, size_t i) {
  uint32_t needed = saved_bits[features[i].state];
  bool avx = features[i].state != YMM && features[i].state != ZMM ? true : (p->word[L1C] >> 28 & 1) != 0;
  return (p->word[features[i].word] >> features[i].bit & 1) && (p->saved & needed) == needed && avx;
}

static bool has(const processor *p, const char *name) {
  for (size_t i = 0; i < FEATURE_COUNT; i++)
    if (strcmp(features[i].name, name) == 0) return feature_present(p, i);
  return *name == 0;
}

static const char *name_by_feature(const processor *p, const feature_name *rows) {
  while (!has(p, rows->feature)) rows++;
  return rows->name;
}

static const char *model_name(const processor *p) {
  if (p->vendor == INTEL && p->family == 6 && p->model == 0x55) return name_by_feature(p, skylake_servers);
  for (size_t i = 0; i < sizeof models / sizeof *models; i++)
    if (models[i].vendor == p->vendor && models[i].family == p->family && models[i].first <= p->model &&
        p->model <= models[i].last)
      return models[i].name;
  if (p->vendor == INTEL && p->family >= 6) return name_by_feature(p, unknown_intel);
  return "generic";
}

/* The brand string: 48 bytes in three leaves, padded with blanks. */
static void brand(char *out, uint64_t capacity) {
  uint32_t text[13] = {0}, max_extended, r[4];
  __cpuid(0x80000000, max_extended, r[1], r[2], r[3]);
  if (max_extended >= 0x80000004)
    for (uint32_t i = 0; i < 3; i++)
      __cpuid(0x80000002 + i, text[4 * i], text[4 * i + 1], text[4 * i + 2], text[4 * i + 3]);
  const char *from = (const char *)text;
  while (*from == ' ') from++;
  snprintf(out, capacity, "%s", *from ? from : "x86-64 processor");
  for (size_t n = strlen(out); n > 0 && out[n - 1] == ' '; n--) out[n - 1] = 0;
}

void cpu_target_describe(qn_adapter_device_info *info) {
  processor p;
  read_processor(&p);
  brand(info->name, sizeof info->name);
  snprintf(info->target, sizeof info->target, "x86-64");
  snprintf(info->target_cpu, sizeof info->target_cpu, "%s", model_name(&p));
  info->target_features[0] = 0;
  for (size_t i = 0; i < FEATURE_COUNT; i++)
    cpu_target_add(info->target_features, sizeof info->target_features, features[i].name, feature_present(&p, i));
}

#endif

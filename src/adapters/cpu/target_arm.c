/* The processor by the kernel's hardware capabilities and by MIDR_EL1, which Linux lets a program read. */
#include "target.h"

#if defined(__aarch64__)

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>

#include "os.h"

/* Bits of AT_HWCAP and AT_HWCAP2 (Linux, arch/arm64/include/uapi/asm/hwcap.h). */
#define CAP_FP (UINT64_C(1) << 0)
#define CAP_ASIMD (UINT64_C(1) << 1)
#define CAP_CRYPTO (UINT64_C(0xf) << 3) /* AES, PMULL, SHA1, SHA2: all four make LLVM's "crypto" */
#define CAP_CRC32 (UINT64_C(1) << 7)
#define CAP_ATOMICS (UINT64_C(1) << 8)
#define CAP_HALF (UINT64_C(3) << 9) /* FPHP, ASIMDHP */
#define CAP_CPUID (UINT64_C(1) << 11)
#define CAP_DOTPROD (UINT64_C(1) << 20)
#define CAP_SVE (UINT64_C(1) << 22)
#define CAP2_SVE2 (UINT64_C(1) << 1)

static const struct {
  const char *name;
  uint64_t first, second; /* bits needed in AT_HWCAP and AT_HWCAP2 */
} features[] = {{"fp-armv8", CAP_FP, 0},     {"neon", CAP_ASIMD, 0},  {"crypto", CAP_CRYPTO, 0},
                {"crc", CAP_CRC32, 0},       {"lse", CAP_ATOMICS, 0}, {"fullfp16", CAP_HALF, 0},
                {"dotprod", CAP_DOTPROD, 0}, {"sve", CAP_SVE, 0},     {"sve2", CAP_SVE, CAP2_SVE2}};

static const struct {
  uint32_t implementer, part;
  const char *name;
} models[] = {
    {0x41, 0xd02, "cortex-a34"},    {0x41, 0xd03, "cortex-a53"},   {0x41, 0xd04, "cortex-a35"},
    {0x41, 0xd05, "cortex-a55"},    {0x41, 0xd07, "cortex-a57"},   {0x41, 0xd08, "cortex-a72"},
    {0x41, 0xd09, "cortex-a73"},    {0x41, 0xd0a, "cortex-a75"},   {0x41, 0xd0b, "cortex-a76"},
    {0x41, 0xd0c, "neoverse-n1"},   {0x41, 0xd0d, "cortex-a77"},   {0x41, 0xd40, "neoverse-v1"},
    {0x41, 0xd41, "cortex-a78"},    {0x41, 0xd44, "cortex-x1"},    {0x41, 0xd46, "cortex-a510"},
    {0x41, 0xd47, "cortex-a710"},   {0x41, 0xd48, "cortex-x2"},    {0x41, 0xd49, "neoverse-n2"},
    {0x41, 0xd4a, "neoverse-e1"},   {0x41, 0xd4b, "cortex-a78c"},  {0x41, 0xd4c, "cortex-x1c"},
    {0x41, 0xd4d, "cortex-a715"},   {0x41, 0xd4e, "cortex-x3"},    {0x41, 0xd4f, "neoverse-v2"},
    {0x41, 0xd80, "cortex-a520"},   {0x41, 0xd81, "cortex-a720"},  {0x41, 0xd82, "cortex-x4"},
    {0x41, 0xd83, "neoverse-v3ae"}, {0x41, 0xd84, "neoverse-v3"},  {0x41, 0xd85, "cortex-x925"},
    {0x41, 0xd87, "cortex-a725"},   {0x41, 0xd8e, "neoverse-n3"},  {0x42, 0x516, "thunderx2t99"},
    {0x43, 0x0a1, "thunderxt88"},   {0x43, 0x0af, "thunderx2t99"}, {0x46, 0x001, "a64fx"},
    {0x48, 0xd01, "tsv110"},        {0x4e, 0x004, "carmel"},       {0x51, 0x001, "oryon-1"},
    {0x51, 0x201, "kryo"},          {0x51, 0x205, "kryo"},         {0x51, 0x211, "kryo"},
    {0x51, 0x800, "cortex-a73"},    {0x51, 0x801, "cortex-a73"},   {0x51, 0x802, "cortex-a75"},
    {0x51, 0x803, "cortex-a75"},    {0x51, 0x804, "cortex-a76"},   {0x51, 0x805, "cortex-a76"},
    {0x51, 0xc00, "falkor"},        {0x51, 0xc01, "saphira"},      {0xc0, 0xac3, "ampere1"},
    {0xc0, 0xac4, "ampere1a"},      {0xc0, 0xac5, "ampere1b"},
};

static uint64_t main_id(uint64_t capabilities) {
  uint64_t id = 0;
  char text[64];
  if (capabilities & CAP_CPUID) /* the kernel answers in the instruction's place */
    __asm__("mrs %0, midr_el1" : "=r"(id));
  else if (cpu_read_file("/sys/devices/system/cpu/cpu0/regs/identification/midr_el1", text, sizeof text))
    id = strtoull(text, NULL, 16);
  return id;
}

static const char *model_name(uint64_t id) {
  uint32_t implementer = (uint32_t)(id >> 24) & 0xff, part = (uint32_t)(id >> 4) & 0xfff;
  for (size_t i = 0; i < sizeof models / sizeof *models; i++)
    if (models[i].implementer == implementer && models[i].part == part) return models[i].name;
  return "generic";
}

void cpu_target_describe(qn_adapter_device_info *info) {
  uint64_t first = getauxval(AT_HWCAP), second = getauxval(AT_HWCAP2);
  uint64_t id = main_id(first);
  snprintf(info->target, sizeof info->target, "aarch64");
  snprintf(info->target_cpu, sizeof info->target_cpu, "%s", model_name(id));
  snprintf(info->name, sizeof info->name, "%s (aarch64, MIDR %08llx)", info->target_cpu, (unsigned long long)id);
  info->target_features[0] = 0;
  for (size_t i = 0; i < sizeof features / sizeof *features; i++)
    cpu_target_add(
        info->target_features, sizeof info->target_features, features[i].name,
        (first & features[i].first) == features[i].first && (second & features[i].second) == features[i].second);
}

#endif

/* mix.h - what a launch on the simulated device does in place of a kernel: every range that it reads and every value goes
 * into a digest, and every range that it writes is filled with numbers that follow from the digest. So a launch that came too early
 * or too late leaves other contents. Tests compute the same with these functions. */
#ifndef NULL_SIM_MIX_H
#define NULL_SIM_MIX_H

#include <stdint.h>

static inline uint64_t sim_mix(uint64_t state, uint64_t word) {
  state = (state ^ word) * UINT64_C(0x9e3779b97f4a7c15);
  return state ^ state >> 29;
}

static inline uint64_t sim_mix_bytes(uint64_t state, const void *bytes, uint64_t size) {
  const unsigned char *at = (const unsigned char *)bytes;
  for (uint64_t i = 0; i < size; i++) state = sim_mix(state, at[i]);
  return sim_mix(state, size);
}

/* Range number `index` of a launch with this digest. */
static inline void sim_mix_fill(uint64_t digest, uint32_t index, void *bytes, uint64_t size) {
  unsigned char *at = (unsigned char *)bytes;
  uint64_t state = sim_mix(digest, index + 1u);
  for (uint64_t i = 0; i < size; i++) {
    state = sim_mix(state, i);
    at[i] = (unsigned char)(state >> 56);
  }
}

#endif

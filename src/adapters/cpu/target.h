/* target.h - what processor this is, in LLVM's words. There is no LLVM in this adapter: the names and the set of
 * features are those of its host detection (llvm/lib/TargetParser/Host.cpp), found by own means. A test compares the
 * two. */
#ifndef QUERN_ADAPTERS_CPU_TARGET_H
#define QUERN_ADAPTERS_CPU_TARGET_H

#include "cpu.h"

/* Fills name, target, target_cpu and target_features. */
void cpu_target_describe(qn_adapter_device_info *info);

/* Adds "+name" or "-name" to a feature string; leaves it alone when it would not fit. */
void cpu_target_add(char *features, uint64_t capacity, const char *name, bool present);

#endif

/* target.c - the targets that headers are compiled for. */
#include "target.h"

#include <string.h>

const abi_target abi_targets[ABI_TARGETS] = {
    {"x86_64-linux", "x86-64 Linux", "x86_64-linux-gnu"},
    {"i386-linux", "i386 Linux", "i386-linux-gnu"},
    {"armv7-linux", "armv7 Linux", "armv7-linux-gnueabihf"},
    {"aarch64-linux", "aarch64 Linux", "aarch64-linux-gnu"},
    {"arm64-macos", "arm64 macOS", "arm64-apple-macos13"},
    {"x86_64-windows", "x86-64 Windows", "x86_64-pc-windows-msvc"},
    {"wasm32", "wasm32", "wasm32-unknown-unknown"},
};

const abi_target *abi_target_known(const char *name) {
  for (size_t i = 0; i < ABI_TARGETS; i++)
    if (!strcmp(abi_targets[i].name, name) || !strcmp(abi_targets[i].triple, name)) return &abi_targets[i];
  return NULL;
}

const abi_target *abi_target_named(const char *name) {
  const abi_target *known = abi_target_known(name);
  if (known) return known;
  abi_target *made = pool_alloc(sizeof *made);
  *made = (abi_target){.name = pool_copy(name, strlen(name))};
  made->words = made->name;
  return made;
}

const char *abi_target_list(const abi_target *const *list, size_t count, abi_target_set set) {
  pool_text text = {0};
  size_t left = (size_t)__builtin_popcountll(set);
  if (left == count && count > 1) return "all targets";
  for (size_t i = 0; i < count; i++) {
    if (!(set >> i & 1)) continue;
    left--;
    pool_add(&text, "%s%s", list[i]->words, left > 1 ? ", " : left == 1 ? " and " : "");
  }
  return text.data ? text.data : "";
}

/* interface.c - what a compiler for one target makes of an interface. */
#include "interface.h"

#include <string.h>

const char *const abi_type_words[ABI_TYPE_KIND_COUNT] = {
#define ABI_X(name, word, noun) word,
    ABI_TYPE_KINDS(ABI_X)
#undef ABI_X
};
const char *const abi_type_nouns[ABI_TYPE_KIND_COUNT] = {
#define ABI_X(name, word, noun) noun,
    ABI_TYPE_KINDS(ABI_X)
#undef ABI_X
};

/* Both functions of each list. */
#define LIST_FUNCTIONS(noun, list)                                                         \
  abi_##noun *abi_add_##noun(abi_interface *interface, const char *name) {                 \
    if (pool_find(&interface->list.names, name) != POOL_NONE) return NULL;                 \
    abi_##noun *added = POOL_PUSH(&interface->list);                                       \
    added->name = name;                                                                    \
    pool_put(&interface->list.names, name, interface->list.count - 1);                     \
    return added;                                                                          \
  }                                                                                        \
  const abi_##noun *abi_##noun##_named(const abi_interface *interface, const char *name) { \
    size_t at = pool_find(&interface->list.names, name);                                   \
    return at == POOL_NONE ? NULL : &interface->list.items[at];                            \
  }
LIST_FUNCTIONS(function, functions)
LIST_FUNCTIONS(record, records)
LIST_FUNCTIONS(enum, enums)
LIST_FUNCTIONS(variable, variables)

const abi_field *abi_field_named(const abi_record *record, const char *name) {
  size_t at = pool_find(&record->field_names, name);
  return at == POOL_NONE ? NULL : &record->fields.items[at];
}

bool abi_record_has_size(const abi_record *record) {
  if (record->is_union || !record->fields.count) return false;
  const abi_field *first = &record->fields.items[0];
  return !strcmp(first->name, "struct_size") && first->offset == 0 && !first->is_bits && !first->type.is_array &&
         first->type.kind == ABI_FIXED && first->type.size == 4;
}

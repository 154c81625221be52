/* options.h - structs of the public interface that may grow: they start with struct_size. */
#ifndef QUERN_CORE_OPTIONS_H
#define QUERN_CORE_OPTIONS_H

#include <stdint.h>

#include "quern/quern.h"

/* Copies what the caller gave into the library's own struct of `known` bytes. NULL: all zero. What an older struct lacks
 * is zero. Errors: INVALID_ARGUMENT for a struct_size that no version had, UNSUPPORTED for a newer field that is set. */
QN_MUST_USE qn_status core_options_read(void *own, uint32_t known, const void *given, const char *type);
#define CORE_OPTIONS_READ(own, given, type) core_options_read((own), (uint32_t)sizeof *(own), (given), (type))

/* A field that is kept free for later. Errors: INVALID_ARGUMENT, unless it is 0. */
QN_MUST_USE qn_status core_reserved_check(uint32_t reserved, const char *type);

/* Whether a struct that results go into is one: checked before anything is done. */
QN_MUST_USE qn_status core_info_check(const void *out, const char *name);
/* Copies a result as far as the caller's struct goes; what the caller knows beyond it becomes zero. */
void core_info_write(void *out, const void *own, uint32_t known);
#define CORE_INFO_WRITE(out, own) core_info_write((out), (own), (uint32_t)sizeof *(own))

/* Copies text into a field, cut to its size. */
void core_text_copy(char *field, uint64_t capacity, const char *text);
#define CORE_TEXT_COPY(field, text) core_text_copy((field), sizeof(field), (text))

#endif

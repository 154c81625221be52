/* input.h - a path given on the command line: what it is, and reading it. */
#ifndef QUERN_TOOLS_ABI_INPUT_H
#define QUERN_TOOLS_ABI_INPUT_H

#include "header.h"
#include "interface.h"

typedef struct input_options {
  header_options header;
  const abi_target *const *targets; /* of headers; not empty */
  size_t target_count;
  unsigned seconds; /* for one target of a header, or a binary */
} input_options;

typedef enum input_kind { INPUT_HEADER, INPUT_BINARY, INPUT_LAYOUT } input_kind;
extern const char *const input_kind_names[];

/* Reads a header, an ELF file with debug information or a layout file; the content decides which. False: *out_error says in
 * lines, each complete with the file's name, why it can't be read. */
bool input_read(const char *path, const input_options *options, input_kind *out_kind, abi_set *out,
                const char **out_error);
/* The kind alone; false as above. */
bool input_recognise(const char *path, input_kind *out_kind, const char **out_error);

#endif

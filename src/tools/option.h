/* option.h - a subcommand's options as a table: "--name WORD", "--name=WORD", "-nWORD". An option with a word is given once,
 * or always with the same word, unless the table says that it repeats. */
#ifndef QUERN_TOOLS_OPTION_H
#define QUERN_TOOLS_OPTION_H

#include "tool.h"

typedef struct tool_option {
  const char *name, *short_name; /* short_name may be NULL */
  int id;
  bool takes_word;
  bool repeats; /* each word counts: a list, or names with values */
} tool_option;

/* The table and what was given of it; `words` has `count` places, NULL at first. */
typedef struct tool_options {
  const tool_option *options;
  size_t count;
  const char **words;
} tool_options;

/* Reads option argv[*at], moving *at over a word behind it. *out_id is its id; *out_word its word, or NULL. */
tool_status tool_option_take(const tool_options *table, int argc, char **argv, int *at, int *out_id,
                             const char **out_word);

/* Appends "FLAG 'word'" to the compiler's option string, quoted so that it stays one word. */
void tool_add_build_option(char **text, const char *flag, const char *word);
/* Whether a word is an option of the compiler's own that reads the same here: -cl-..., -w, -Werror. */
bool tool_is_build_option(const char *word);

#endif

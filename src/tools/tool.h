/* tool.h - what the subcommands share: exit status, messages, memory. One thread. */
#ifndef QUERN_TOOLS_TOOL_H
#define QUERN_TOOLS_TOOL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "quern/quern.h"

/* Exit status: 0 done; 1 a kernel, file or device failed; 2 wrong usage. Functions that can fail return one of these
 * after telling what is wrong, so that each fault is told once, where the knowledge is. */
typedef enum tool_status { TOOL_OK = 0, TOOL_FAILED = 1, TOOL_USAGE = 2 } tool_status;

/* "quern run: text" on standard error; returns `status`. Words that are long or no text are shown as text.h says. */
tool_status tool_error(tool_status status, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* The same, with the library's error text behind it: "quern run: opening device 'cuda': ...". */
tool_status tool_library_error(qn_status status, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* The same with a text of the library's that was kept, for it is another thread's. */
tool_status tool_error_text(tool_status status, const char *text, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* The same with whole lines of another's behind it, a compiler's diagnostics for example. */
tool_status tool_error_lines(tool_status status, const char *lines, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* A remark on standard error. The same one again, for another device say, is not told. */
void tool_note(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* A remark with a compiler's lines behind it. */
void tool_note_warnings(const char *file, const char *lines);
/* A compiler's lines alone. */
void tool_tell_lines(const char *lines);
/* The subcommand's name in messages; NULL: nothing is told (programs that use parts of the command). */
extern const char *tool_command;

#define TOOL_TRY(expression)                    \
  do {                                          \
    tool_status tool_try_ = (expression);       \
    if (tool_try_ != TOOL_OK) return tool_try_; \
  } while (0)

/* Zeroed memory, or a message and exit status 1: the command holds nothing that must be undone. */
void *tool_alloc(size_t count, size_t size);
void *tool_grow(void *old, size_t count, size_t size);
char *tool_copy(const char *text, size_t length);
/* Memory for data of any size: NULL when there is none, or more is asked for than the machine could hold. */
void *tool_try_alloc(uint64_t bytes);
/* Bytes of memory of the machine. */
uint64_t tool_machine_memory(void);
/* An array's copies: the command's own, the one that is sent or received, the device's. */
#define TOOL_COPIES 3

/* Whole numbers and reals, the whole text or false. Decimal, 0x; reals also inf, nan, hexadecimal. */
bool tool_parse_u64(const char *text, uint64_t *out);
bool tool_parse_i64(const char *text, int64_t *out);
bool tool_parse_f64(const char *text, double *out);

/* The entry of `names` nearest to `name`, or NULL when none is near. */
const char *tool_nearest(const char *name, const char *const *names, size_t count);
bool tool_ends_with(const char *text, const char *suffix); /* letters of either case */

/* Opens a file for reading; a pipe that nobody writes to is empty and never waited for. -1: errno says why. */
int tool_open_input(const char *path);
/* A whole file, or what a pipe gives; NUL behind it. `limit` in bytes: larger ones are an error. */
tool_status tool_read_file(const char *path, uint64_t limit, char **out_data, uint64_t *out_size);

/* Output files appear whole or not at all: written out of sight, put in their places when all are written. A link stays, and
 * what it points to is replaced; the new file has the old one's owner, group and permissions. Signals wait while a set is put in
 * its places; SIGKILL then may leave some new and some old, each whole, and hidden files, which the next set in that directory
 * sweeps (hidden.h). One set at a time. */
typedef struct tool_outputs {
  struct tool_output {
    char *path;      /* as it was given */
    char *place;     /* where it leads */
    char *temporary; /* its name until it is in its place; NULL: none */
    int file;
    char written[32]; /* what it is called while it has no name */
    char *kept;       /* a name of the file that it replaced, until all are in their places; NULL: none */
    int old;          /* that file, or -1 */
    bool is_put;
  } **items;
  size_t count;
} tool_outputs;
/* Whether a file may be written, before there is anything to write; one that is read-only for us may not. */
tool_status tool_outputs_check(const char *path);
/* What a link contains, seen from where the link stands, to be freed; NULL: no link. */
char *tool_follow_link(const char *path);
/* Where a path leads, through links, the last of which may lead to nothing yet; to be freed. NULL: links without an end. */
char *tool_outputs_place(const char *path);
/* Whether two paths lead to one place, by other spelling, links or "..". */
bool tool_outputs_same(const char *path, const char *other);
/* The path to write to for `path`; the file exists and is empty. */
tool_status tool_outputs_add(tool_outputs *outputs, const char *path, const char **out_written);
/* Puts all in their places; on a failure what is left is removed. */
tool_status tool_outputs_commit(tool_outputs *outputs);
/* Removes what was not committed. */
void tool_outputs_discard(tool_outputs *outputs);

/* Subcommands: each takes its own words, argv[0] being its name. */
int command_abi(int argc, char **argv);
int command_build(int argc, char **argv);
int command_cache(int argc, char **argv);
int command_devices(int argc, char **argv);
int command_run(int argc, char **argv);

#endif

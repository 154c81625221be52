/* input.c - recognises and reads inputs. */
#include "input.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../tool.h"
#include "binary.h"
#include "child.h"
#include "layout.h"

const char *const input_kind_names[] = {"header", "binary", "layout"};

/* Layouts are small; a larger one is no layout of ours. */
#define LAYOUT_LIMIT (UINT64_C(1) << 28)

/* ---- What it is ------------------------------------------------------------------------------------------------------ */

/* Formats that are known by their first bytes and not read. */
static const struct {
  const char *magic;
  size_t size;
  const char *what, *advice;
} foreign[] = {
    {"\xcf\xfa\xed\xfe", 4, "a Mach-O file", "give its header"},
    {"\xce\xfa\xed\xfe", 4, "a Mach-O file", "give its header"},
    {"\xca\xfe\xba\xbe", 4, "a Mach-O file of several architectures", "give its header"},
    {"MZ", 2, "a Windows program or DLL", "give its header"},
    {"\0asm", 4, "a WebAssembly module", "give its header"},
    {"BC\xc0\xde", 4, "LLVM bitcode", "compile it to an object, with -g and without -flto"},
    {"!<thin>\n", 8, "a thin archive", "give its objects, with -g"},
    {"!<arch>\n", 8, "a static archive", "take its objects out with `ar x` and give them"},
    {"\x1f\x8b", 2, "compressed", "unpack it"},
    {"\x28\xb5\x2f\xfd", 4, "compressed", "unpack it"},
    {"PK\x03\x04", 4, "a zip archive", "unpack it"},
};

static bool recognise(const char *path, const char *data, size_t size, input_kind *out_kind, const char **out_error) {
  if (size >= 4 && !memcmp(data,
                           "\x7f"
                           "ELF",
                           4))
    return *out_kind = INPUT_BINARY, true;
  if (layout_is(data, size)) return *out_kind = INPUT_LAYOUT, true;
  for (size_t i = 0; i < sizeof foreign / sizeof *foreign; i++) {
    if (size < foreign[i].size || memcmp(data, foreign[i].magic, foreign[i].size) != 0) continue;
    *out_error = pool_format("%s: it is %s, and headers, ELF files and layouts are read: %s", path, foreign[i].what,
                             foreign[i].advice);
    return false;
  }
  if (memchr(data, 0, size)) {
    *out_error =
        pool_format("%s: neither a header in C, nor an ELF file, nor a layout: it has bytes that no text has", path);
    return false;
  }
  return *out_kind = INPUT_HEADER, true;
}

bool input_recognise(const char *path, input_kind *out_kind, const char **out_error) {
  char data[4096];
  struct stat st;
  int fd = tool_open_input(path);
  ssize_t got = -1;
  if (fd >= 0 && fstat(fd, &st) == 0 && !S_ISREG(st.st_mode))
    errno = S_ISDIR(st.st_mode) ? EISDIR : ESPIPE;
  else if (fd >= 0)
    got = read(fd, data, sizeof data);
  if (got < 0) *out_error = pool_format("%s: %s", path, strerror(errno));
  if (fd >= 0) close(fd);
  return got >= 0 && recognise(path, data, (size_t)got, out_kind, out_error);
}

/* ---- Reading --------------------------------------------------------------------------------------------------------- */

static abi_set set_of(const char *path, size_t count) {
  abi_set set = {.path = path, .count = count};
  set.targets = pool_alloc(count * sizeof *set.targets);
  set.each = pool_alloc(count * sizeof *set.each);
  return set;
}

/* One target's reading, in a child. */
typedef struct job {
  const char *path;
  const input_options *options;
  const abi_target *target;
} job;

static bool read_header_in_child(const void *argument, pool_text *out) {
  const job *j = argument;
  const char *error;
  abi_set set = set_of(j->path, 1);
  set.targets[0] = j->target;
  set.each[0] = pool_alloc(sizeof(abi_interface));
  set.each[0]->target = j->target;
  bool done = header_read(j->path, &j->options->header, set.each[0], &error);
  if (done)
    layout_write(out, &set, true);
  else
    pool_add(out, "%s", error);
  return done;
}

static bool read_binary_in_child(const void *argument, pool_text *out) {
  const job *j = argument;
  const char *error;
  abi_set set = set_of(j->path, 1);
  set.each[0] = pool_alloc(sizeof(abi_interface));
  bool done = binary_read(j->path, set.each[0], &set.unread, &error);
  set.targets[0] = set.each[0]->target;
  if (done)
    layout_write(out, &set, true);
  else
    pool_add(out, "%s", error);
  return done;
}

static size_t processors(void) {
  long count = sysconf(_SC_NPROCESSORS_ONLN);
  return count < 1 ? 1 : count > 8 ? 8 : (size_t)count;
}

/* What failed, with the targets on which it did: the same text is told once. */
typedef struct faults {
  struct fault {
    const char *text;
    abi_target_set targets;
  } *items;
  size_t count, capacity;
} faults;

static void add_fault(faults *all, const char *text, size_t target) {
  for (size_t i = 0; i < all->count; i++) {
    if (strcmp(all->items[i].text, text) != 0) continue;
    all->items[i].targets |= UINT64_C(1) << target;
    return;
  }
  *POOL_PUSH(all) = (struct fault){text, UINT64_C(1) << target};
}

static const char *describe(const char *path, const faults *all, const input_options *options) {
  pool_text text = {0};
  for (size_t i = 0; i < all->count; i++) {
    pool_add(&text, "%s%s: it can't be read for %s:", i ? "\n" : "", path,
             abi_target_list(options->targets, options->target_count, all->items[i].targets));
    for (const char *line = all->items[i].text; *line;) {
      int length = (int)strcspn(line, "\n");
      pool_add(&text, "\n  %.*s", length, line);
      line += length + (line[length] != 0);
    }
  }
  pool_add(&text, "\n  (-I DIR and -D NAME as for the compiler; --targets LIST leaves targets out)");
  return text.data;
}

static bool read_header(const char *path, const input_options *options, abi_set *out, const char **out_error) {
  size_t count = options->target_count, started = 0;
  faults all = {0};
  child *children = pool_alloc(count * sizeof *children);
  job *jobs = pool_alloc(count * sizeof *jobs);
  if (strpbrk(path, "\"\n\\")) {
    *out_error = pool_format("%s: a quote, a backslash or a line's end in its name can't be included", path);
    return false;
  }
  *out = set_of(path, count);
  for (size_t t = 0; t < count; t++) {
    for (; started < count && started < t + processors(); started++) {
      jobs[started] = (job){path, options, options->targets[started]};
      children[started] = child_start(read_header_in_child, &jobs[started], options->seconds);
    }
    const char *text, *error;
    abi_set one = {0};
    if (!child_finish(&children[t], options->seconds, &text))
      add_fault(&all, text, t);
    else if (!layout_read(text, &one, &error))
      add_fault(&all, error, t);
    else
      out->targets[t] = one.targets[0], out->each[t] = one.each[0];
  }
  if (!all.count) return true;
  *out = (abi_set){.path = path};
  *out_error = describe(path, &all, options);
  return false;
}

static bool read_binary(const char *path, const input_options *options, abi_set *out, const char **out_error) {
  job j = {.path = path, .options = options};
  child c = child_start(read_binary_in_child, &j, options->seconds);
  const char *text;
  bool done = child_finish(&c, options->seconds, &text);
  if (done) done = layout_read(text, out, &text);
  out->path = path;
  if (!done) *out_error = pool_format("%s: %s", path, text);
  return done;
}

static bool read_layout(const char *path, abi_set *out, const char **out_error) {
  char *data;
  uint64_t size;
  const char *error;
  if (tool_read_file(path, LAYOUT_LIMIT, &data, &size) != TOOL_OK) return *out_error = "", false;
  const char *text = pool_copy(data, (size_t)size);
  free(data);
  if (strlen(text) != size)
    error = "a byte of zero is in it";
  else if (layout_read(text, out, &error))
    return out->path = path, true;
  *out_error = pool_format("%s: %s", path, error);
  return false;
}

bool input_read(const char *path, const input_options *options, input_kind *out_kind, abi_set *out,
                const char **out_error) {
  if (!input_recognise(path, out_kind, out_error)) return false;
  if (*out_kind == INPUT_HEADER) return read_header(path, options, out, out_error);
  if (*out_kind == INPUT_BINARY) return read_binary(path, options, out, out_error);
  return read_layout(path, out, out_error);
}

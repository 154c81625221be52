#include "tool.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "text.h"

const char *tool_command = "quern";

/* "command: text" without the line's end; false when nothing is told. */
static bool tell(const char *format, va_list args) {
  if (!tool_command) return false;
  char *text = text_format(format, args);
  fflush(stdout);
  fprintf(stderr, "%s: %s", tool_command, text);
  free(text);
  return true;
}

tool_status tool_error(tool_status status, const char *format, ...) {
  va_list args;
  va_start(args, format);
  if (tell(format, args)) fputc('\n', stderr);
  va_end(args);
  return status;
}

tool_status tool_error_lines(tool_status status, const char *lines, const char *format, ...) {
  va_list args;
  char *text = text_lines(lines);
  va_start(args, format);
  if (tell(format, args)) fprintf(stderr, "\n%s", text);
  va_end(args);
  free(text);
  return status;
}

/* "command: text: lines" */
static void tell_with(const char *lines, const char *format, va_list args) {
  char *clean = text_lines(lines);
  if (tell(format, args)) fprintf(stderr, ": %s", clean);
  free(clean);
}

tool_status tool_error_text(tool_status status, const char *text, const char *format, ...) {
  va_list args;
  va_start(args, format);
  tell_with(text, format, args);
  va_end(args);
  return status;
}

tool_status tool_library_error(qn_status status, const char *format, ...) {
  va_list args;
  const char *told = qn_error_text();
  va_start(args, format);
  tell_with(*told ? told : qn_status_name(status), format, args);
  va_end(args);
  return status == QN_ERROR_INVALID_ARGUMENT ? TOOL_USAGE : TOOL_FAILED;
}

/* What was told stays until the command ends. */
static struct {
  char **items;
  size_t count;
} notes;

/* Whether it wasn't told yet; takes over `text`. */
static bool is_new_note(char *text) {
  for (size_t i = 0; i < notes.count; i++) {
    if (strcmp(notes.items[i], text) != 0) continue;
    free(text);
    return false;
  }
  notes.items = tool_grow(notes.items, notes.count + 1, sizeof *notes.items);
  notes.items[notes.count++] = text;
  return true;
}

void tool_note(const char *format, ...) {
  va_list args;
  va_start(args, format);
  char *text = text_format(format, args);
  va_end(args);
  if (!is_new_note(text) || !tool_command) return;
  fflush(stdout);
  fprintf(stderr, "%s: %s\n", tool_command, text);
}

void tool_note_warnings(const char *file, const char *lines) {
  if (!is_new_note(tool_copy(lines, strlen(lines))) || !tool_command) return;
  tool_note("%s: warnings", file);
  tool_tell_lines(lines);
}

void tool_tell_lines(const char *lines) {
  char *clean = text_lines(lines);
  fputs(clean, stderr);
  free(clean);
}

static void *checked(void *memory) {
  if (!memory) {
    tool_error(TOOL_FAILED, "out of memory");
    exit(TOOL_FAILED);
  }
  return memory;
}

void *tool_alloc(size_t count, size_t size) { return checked(calloc(count ? count : 1, size ? size : 1)); }

void *tool_grow(void *old, size_t count, size_t size) {
  if (size && count > SIZE_MAX / size) count = SIZE_MAX / size;
  return checked(realloc(old, count * size + 1));
}

char *tool_copy(const char *text, size_t length) {
  char *copy = tool_alloc(length + 1, 1);
  memcpy(copy, text, length);
  return copy;
}

uint64_t tool_machine_memory(void) {
  long pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGESIZE);
  return pages > 0 && page > 0 ? (uint64_t)pages * (uint64_t)page : (uint64_t)PTRDIFF_MAX;
}

void *tool_try_alloc(uint64_t bytes) {
  if (bytes > tool_machine_memory() / TOOL_COPIES) return NULL;
  return calloc(bytes ? (size_t)bytes : 1, 1);
}

bool tool_parse_u64(const char *text, uint64_t *out) {
  if (!isdigit((unsigned char)text[0])) return false;
  bool hex = text[0] == '0' && (text[1] == 'x' || text[1] == 'X');
  char *end;
  errno = 0;
  unsigned long long value = strtoull(text, &end, hex ? 16 : 10);
  if (errno || *end || end == text) return false;
  *out = value;
  return true;
}

bool tool_parse_i64(const char *text, int64_t *out) {
  bool negative = text[0] == '-';
  uint64_t magnitude;
  if (!tool_parse_u64(text + (text[0] == '-' || text[0] == '+'), &magnitude)) return false;
  if (magnitude > (uint64_t)INT64_MAX + (negative ? 1 : 0)) return false;
  *out = (int64_t)(negative ? 0 - magnitude : magnitude);
  return true;
}

bool tool_parse_f64(const char *text, double *out) {
  if (!text[0] || isspace((unsigned char)text[0])) return false;
  char *end;
  double value = strtod(text, &end);
  if (*end == 'f' && end > text && !strpbrk(text, "xXnN")) end++;
  if (*end || end == text) return false;
  *out = value;
  return true;
}

static size_t distance(const char *a, const char *b) {
  size_t n = strlen(b);
  if (n > 127) return SIZE_MAX;
  size_t row[128];
  for (size_t j = 0; j <= n; j++) row[j] = j;
  for (size_t i = 1; a[i - 1]; i++) {
    size_t corner = row[0];
    row[0] = i;
    for (size_t j = 1; j <= n; j++) {
      size_t change = corner + (a[i - 1] != b[j - 1]);
      corner = row[j];
      size_t best = row[j] < row[j - 1] ? row[j] + 1 : row[j - 1] + 1;
      row[j] = change < best ? change : best;
    }
  }
  return row[n];
}

const char *tool_nearest(const char *name, const char *const *names, size_t count) {
  const char *best = NULL;
  size_t best_distance = strlen(name) / 3 + 1; /* one letter is near to no other */
  for (size_t i = 0; i < count; i++) {
    size_t d = distance(name, names[i]);
    if (d < best_distance) {
      best = names[i];
      best_distance = d;
    }
  }
  return best;
}

bool tool_ends_with(const char *text, const char *suffix) {
  size_t n = strlen(text), m = strlen(suffix);
  if (n < m) return false;
  for (size_t i = 0; i < m; i++)
    if (tolower((unsigned char)text[n - m + i]) != tolower((unsigned char)suffix[i])) return false;
  return true;
}

int tool_open_input(const char *path) {
  int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
  if (fd >= 0) fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) & ~O_NONBLOCK);
  return fd;
}

tool_status tool_read_file(const char *path, uint64_t limit, char **out_data, uint64_t *out_size) {
  int fd = tool_open_input(path);
  if (fd < 0) return tool_error(TOOL_FAILED, "%s: %s", *path ? path : "''", strerror(errno));
  struct stat info;
  tool_status status = TOOL_OK;
  char *data = NULL;
  uint64_t size = 0;
  if (fstat(fd, &info) != 0) {
    status = tool_error(TOOL_FAILED, "%s: %s", path, strerror(errno));
  } else if (S_ISDIR(info.st_mode)) {
    status = tool_error(TOOL_FAILED, "%s: is a directory", path);
  } else if (S_ISCHR(info.st_mode) || S_ISBLK(info.st_mode)) { /* some have no end */
    status = tool_error(TOOL_FAILED, "%s: is a device, not a file", path);
  } else {
    uint64_t capacity = info.st_size > 0 ? (uint64_t)info.st_size + 1 : 65536;
    if (capacity - 1 > limit && S_ISREG(info.st_mode))
      status = tool_error(TOOL_FAILED, "%s: has %llu bytes, more than the limit of %llu", path,
                          (unsigned long long)info.st_size, (unsigned long long)limit);
    else if (!(data = tool_try_alloc(capacity + 1)))
      status = tool_error(TOOL_FAILED, "%s: no memory for %llu bytes", path, (unsigned long long)capacity);
    while (status == TOOL_OK) {
      ssize_t got = read(fd, data + size, (size_t)(capacity - size));
      if (got < 0 && errno == EINTR) continue;
      if (got < 0) status = tool_error(TOOL_FAILED, "%s: %s", path, strerror(errno));
      if (got <= 0) break;
      size += (uint64_t)got;
      if (size > limit)
        status = tool_error(TOOL_FAILED, "%s: is larger than the limit of %llu bytes", path, (unsigned long long)limit);
      if (status == TOOL_OK && size == capacity) {
        char *larger = tool_try_alloc(capacity * 2 + 1);
        if (larger)
          memcpy(larger, data, (size_t)size);
        else
          status = tool_error(TOOL_FAILED, "%s: no memory for more than %llu bytes", path, (unsigned long long)size);
        free(data);
        data = larger;
        capacity *= 2;
      }
    }
  }
  close(fd);
  if (status != TOOL_OK) {
    free(data);
    return status;
  }
  data[size] = 0;
  *out_data = data;
  *out_size = size;
  return TOOL_OK;
}

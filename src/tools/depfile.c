/* depfile.c - a makefile rule with what a build has read, and where it goes. */
#include "depfile.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- Text --------------------------------------------------------------------------------------- */

/* As compilers write it, and Make and Ninja read it: a backslash stands for itself, but for those before a space. */
static void put_path(FILE *to, const char *path, size_t length) {
  for (size_t i = 0, backslashes = 0; i < length; i++) {
    char c = path[i];
    for (size_t j = 0; (c == ' ' || c == '\t') && j < backslashes; j++) fputc('\\', to);
    if (c == ' ' || c == '\t' || c == '#') fputc('\\', to);
    if (c == '$') fputc('$', to);
    fputc(c, to);
    backslashes = c == '\\' ? backslashes + 1 : 0;
  }
}

static void put_rule(FILE *to, const build_options *o, const build_job *job) {
  put_path(to, o->directory, strlen(o->directory));
  fputc('/', to);
  put_path(to, job->output, strlen(job->output));
  fputs(": ", to);
  put_path(to, job->file, strlen(job->file));
  for (const char *at = job->artifact.dependencies; *at;) {
    size_t length = strcspn(at, "\n");
    fputs(" \\\n  ", to);
    put_path(to, at, length);
    at += length + (at[length] == '\n');
  }
  fputc('\n', to);
}

static tool_status make_text(const build_options *o, const build_job *jobs, size_t count, depfile *d) {
  FILE *to = open_memstream(&d->text, &d->size);
  for (size_t i = 0; to && i < count; i++) put_rule(to, o, &jobs[i]);
  bool good = to && !ferror(to);
  if (to && fclose(to) != 0) good = false;
  return good ? TOOL_OK : tool_error(TOOL_FAILED, "no memory for --depfile %s", o->depfile);
}

/* Names are made of these words and of what stands in an #include, which is one line. */
tool_status depfile_check(const build_options *o) {
  const char *bad = o->odd_word;
  if (!bad && strpbrk(o->directory, "\n\r")) bad = o->directory;
  for (size_t i = 0; i < o->file_count && !bad; i++)
    if (strpbrk(o->files[i], "\n\r")) bad = o->files[i];
  if (!bad) return TOOL_OK;
  return tool_error(TOOL_USAGE, "--depfile: '%s' has a line break, which no makefile can say in a name", bad);
}

/* ---- Place -------------------------------------------------------------------------------------- */

/* A path's directory, to be freed, and the name in it. */
static char *split(const char *path, const char **out_name) {
  const char *slash = strrchr(path, '/');
  *out_name = slash ? slash + 1 : path;
  if (!slash) return tool_copy(".", 1);
  return slash == path ? tool_copy("/", 1) : tool_copy(path, (size_t)(slash - path));
}

static bool is_same_directory(const char *a, const char *b) {
  struct stat x, y;
  if (strcmp(a, b) == 0) return true; /* it needn't be there yet */
  return stat(a, &x) == 0 && stat(b, &y) == 0 && x.st_dev == y.st_dev && x.st_ino == y.st_ino;
}

static tool_status cannot(const build_options *o, const char *why) {
  return tool_error(TOOL_FAILED, "--depfile %s: can't be written: %s", o->depfile, why);
}

/* The number in the name of an open file of this process, as /proc has it; -1: it is none. */
static int own_number(const char *path) {
  char own[64], real[PATH_MAX];
  const char *name;
  char *directory = split(path, &name), *end;
  bool is_there = realpath(directory, real) != NULL;
  free(directory);
  snprintf(own, sizeof own, "/proc/%ld/fd", (long)getpid());
  if (!is_there || strcmp(real, own) != 0 || name[0] < '0' || name[0] > '9') return -1;
  long number = strtol(name, &end, 10);
  return *end || number > INT_MAX ? -1 : (int)number;
}

/* What "/dev/stdout", "/dev/fd/3" or a link to them stands for: a file that the command was given open, wherever its end
 * is; -1: another path. */
static int own_file(const char *path) {
  enum { MOST_LINKS = 40 };
  char *place = tool_copy(path, strlen(path));
  int number = own_number(place);
  for (int links = 0; number < 0 && links < MOST_LINKS; links++) {
    char *next = tool_follow_link(place);
    if (!next) break;
    free(place);
    place = next;
    number = own_number(place);
  }
  free(place);
  return number;
}

static tool_status open_own(const build_options *o, int number, depfile *d) {
  int flags = fcntl(number, F_GETFL);
  if (flags >= 0 && (flags & O_ACCMODE) == O_RDONLY) return cannot(o, "it is open for reading alone");
  if (flags >= 0) d->stream = fcntl(number, F_DUPFD_CLOEXEC, 0);
  return d->stream >= 0 ? TOOL_OK : cannot(o, strerror(errno));
}

/* A pipe that nobody reads is not waited for. */
static tool_status open_stream(const build_options *o, mode_t mode, depfile *d) {
  if (S_ISSOCK(mode) || S_ISBLK(mode)) return cannot(o, S_ISSOCK(mode) ? "it is a socket" : "it is a disk");
  d->stream = open(o->depfile, O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
  if (d->stream < 0)
    return cannot(o, S_ISFIFO(mode) && errno == ENXIO ? "nobody reads from the pipe" : strerror(errno));
  int flags = fcntl(d->stream, F_GETFL);
  return fcntl(d->stream, F_SETFL, flags & ~O_NONBLOCK) == 0 ? TOOL_OK : cannot(o, strerror(errno));
}

static tool_status find_file(const build_options *o, depfile *d) {
  d->place = tool_outputs_place(o->depfile);
  if (!d->place) return cannot(o, "there are too many links in a row");
  d->directory = split(d->place, &d->name);
  return is_same_directory(d->directory, o->directory) ? TOOL_OK : tool_outputs_check(o->depfile);
}

static tool_status find_place(const build_options *o, depfile *d) {
  struct stat info;
  int own = own_file(o->depfile);
  if (own >= 0) return open_own(o, own, d);
  if (stat(o->depfile, &info) == 0 && !S_ISREG(info.st_mode) && !S_ISDIR(info.st_mode))
    return open_stream(o, info.st_mode, d);
  return find_file(o, d);
}

/* ---- Whole -------------------------------------------------------------------------------------- */

tool_status depfile_make(const build_options *o, const build_job *jobs, size_t count, depfile *d) {
  *d = (depfile){.stream = -1};
  if (!o->depfile) return TOOL_OK;
  TOOL_TRY(make_text(o, jobs, count, d));
  return find_place(o, d);
}

tool_status depfile_send(const build_options *o, const depfile *d) {
  for (size_t at = 0; d->stream >= 0 && at < d->size;) {
    ssize_t done = write(d->stream, d->text + at, d->size - at);
    if (done < 0 && errno != EINTR)
      return tool_error(TOOL_FAILED, "--depfile %s: can't be written: %s; the outputs are in their places", o->depfile,
                        strerror(errno));
    at += done > 0 ? (size_t)done : 0;
  }
  return TOOL_OK;
}

void depfile_free(depfile *d) {
  if (d->stream >= 0) close(d->stream);
  free(d->directory);
  free(d->place);
  free(d->text);
}

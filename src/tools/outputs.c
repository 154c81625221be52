/* outputs.c - files that appear whole or not at all. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tool.h"

static tool_outputs *volatile unfinished;

static void remove_unfinished(int signal_number) {
  const tool_outputs *outputs = unfinished;
  for (size_t i = 0; outputs && i < outputs->count; i++)
    if (outputs->items[i].temporary) unlink(outputs->items[i].temporary);
  raise(signal_number); /* SA_RESETHAND: it ends the process now */
}

static void watch_signals(void) {
  static const int signals[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGPIPE};
  static bool done;
  struct sigaction action = {.sa_handler = remove_unfinished, .sa_flags = (int)SA_RESETHAND}, old;
  for (size_t i = 0; !done && i < sizeof signals / sizeof *signals; i++)
    if (sigaction(signals[i], NULL, &old) == 0 && old.sa_handler == SIG_DFL) sigaction(signals[i], &action, NULL);
  done = true;
}

/* What a link contains, seen from where the link stands; NULL: no link. */
static char *follow(const char *path) {
  char target[4096];
  ssize_t length = readlink(path, target, sizeof target);
  if (length <= 0 || (size_t)length >= sizeof target) return NULL;
  const char *slash = target[0] == '/' ? NULL : strrchr(path, '/');
  size_t before = slash ? (size_t)(slash - path) + 1 : 0;
  target[length] = 0;
  size_t size = before + strlen(target) + 1;
  char *place = tool_alloc(size, 1);
  snprintf(place, size, "%.*s%s", (int)before, path, target);
  return place;
}

/* Where a path leads, through links, the last of which may lead to nothing yet. NULL: links without an end. */
static char *find_place(const char *path) {
  enum { MOST_LINKS = 40 };
  char *place = tool_copy(path, strlen(path));
  for (int links = 0; links <= MOST_LINKS; links++) {
    char *next = follow(place);
    if (!next) return place;
    free(place);
    place = next;
  }
  free(place);
  return NULL;
}

/* One place has one directory and one name in it, whatever leads there. */
typedef struct place_id {
  dev_t device;
  ino_t directory;
  const char *name; /* within the place's path */
} place_id;

static bool identify(char *place, place_id *out) {
  struct stat info;
  char *slash = strrchr(place, '/');
  if (slash) *slash = '\0';
  bool is_there = stat(slash == place ? "/" : slash ? place : ".", &info) == 0;
  if (slash) *slash = '/';
  *out = (place_id){info.st_dev, info.st_ino, slash ? slash + 1 : place};
  return is_there;
}

bool tool_outputs_same(const char *path, const char *other) {
  char *a = find_place(path), *b = find_place(other);
  place_id x, y;
  bool is_same = a && b && identify(a, &x) && identify(b, &y) && x.device == y.device && x.directory == y.directory &&
                 strcmp(x.name, y.name) == 0;
  free(a);
  free(b);
  return is_same;
}

static tool_status cannot(const char *path, const char *why) {
  return tool_error(TOOL_FAILED, "%s: can't be written: %s", path, why);
}

/* Whether a new file may come to a place, as far as can be seen. */
static tool_status check_place(const char *path, char *place) {
  struct stat info;
  place_id id;
  if (stat(place, &info) == 0 && !S_ISREG(info.st_mode))
    return cannot(path, S_ISDIR(info.st_mode) ? "it is a directory" : "it is a device or a pipe, not a file");
  if (!identify(place, &id)) return cannot(path, strerror(errno));
  char *slash = strrchr(place, '/');
  if (slash) *slash = '\0';
  bool is_open = access(slash == place ? "/" : slash ? place : ".", W_OK | X_OK) == 0;
  int error = errno;
  if (slash) *slash = '/';
  return is_open ? TOOL_OK : cannot(path, strerror(error));
}

tool_status tool_outputs_check(const char *path) {
  char *place = find_place(path);
  tool_status status = place ? check_place(path, place) : cannot(path, "there are too many links in a row");
  free(place);
  return status;
}

/* Beside the place, with the access that a new file has. NULL: told. */
static char *make_temporary(const char *path, const char *place) {
  size_t length = strlen(place);
  char *temporary = tool_alloc(length + 16, 1);
  snprintf(temporary, length + 16, "%s.XXXXXX", place);
  int fd = mkstemp(temporary);
  if (fd < 0) {
    (void)cannot(path, strerror(errno));
    free(temporary);
    return NULL;
  }
  mode_t mask = umask(0);
  umask(mask);
  (void)!fchmod(fd, 0666 & ~mask);
  close(fd);
  return temporary;
}

tool_status tool_outputs_add(tool_outputs *outputs, const char *path, const char **out_temporary) {
  TOOL_TRY(tool_outputs_check(path));
  char *place = find_place(path);
  if (!place) return cannot(path, "there are too many links in a row");
  watch_signals();
  unfinished = NULL; /* while the list moves */
  char *temporary = make_temporary(path, place);
  if (temporary) {
    outputs->items = tool_grow(outputs->items, outputs->count + 1, sizeof *outputs->items);
    outputs->items[outputs->count++] = (struct tool_output){tool_copy(path, strlen(path)), place, temporary};
  }
  unfinished = outputs;
  if (!temporary) {
    free(place);
    return TOOL_FAILED;
  }
  *out_temporary = temporary;
  return TOOL_OK;
}

tool_status tool_outputs_commit(tool_outputs *outputs) {
  tool_status status = TOOL_OK;
  for (size_t i = 0; i < outputs->count && status == TOOL_OK; i++) {
    struct tool_output *o = &outputs->items[i];
    if (rename(o->temporary, o->place) != 0) {
      status = cannot(o->path, strerror(errno));
    } else {
      char *renamed = o->temporary;
      o->temporary = NULL;
      free(renamed);
    }
  }
  tool_outputs_discard(outputs);
  return status;
}

void tool_outputs_discard(tool_outputs *outputs) {
  unfinished = NULL;
  for (size_t i = 0; i < outputs->count; i++) {
    if (outputs->items[i].temporary) unlink(outputs->items[i].temporary);
    free(outputs->items[i].temporary);
    free(outputs->items[i].path);
    free(outputs->items[i].place);
  }
  free(outputs->items);
  outputs->items = NULL;
  outputs->count = 0;
}

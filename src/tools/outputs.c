/* outputs.c - files that appear whole or not at all. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "hidden.h"
#include "tool.h"

/* ---- Signals ------------------------------------------------------------------------------------ */

static tool_outputs *volatile unfinished;
static volatile sig_atomic_t held; /* a signal that has come */

/* What ends the command may come to any thread; either it ends at once, or what is put in its places is finished before. */
enum { WRITING, PUTTING, ENDING };
static atomic_int stage;

static void end_by(int signal_number) {
  signal(signal_number, SIG_DFL);
  raise(signal_number);
}

static void on_signal(int signal_number) {
  const tool_outputs *outputs = unfinished;
  int writing = WRITING;
  held = signal_number;
  if (!atomic_compare_exchange_strong(&stage, &writing, ENDING)) return;
  for (size_t i = 0; outputs && i < outputs->count; i++)
    if (outputs->items[i]->temporary) unlink(outputs->items[i]->temporary);
  end_by(signal_number);
}

static void watch_signals(void) {
  static const int signals[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGPIPE};
  static bool done;
  struct sigaction action = {.sa_handler = on_signal}, old;
  for (size_t i = 0; !done && i < sizeof signals / sizeof *signals; i++)
    if (sigaction(signals[i], NULL, &old) == 0 && old.sa_handler == SIG_DFL) sigaction(signals[i], &action, NULL);
  done = true;
}

static void hold_signals(void) {
  int writing = WRITING;
  while (!atomic_compare_exchange_strong(&stage, &writing, PUTTING)) pause(); /* another thread ends the process */
}

static void let_signals_go(void) {
  atomic_store(&stage, WRITING);
  if (held) end_by(held);
}

/* ---- Places ------------------------------------------------------------------------------------- */

char *tool_follow_link(const char *path) {
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

char *tool_outputs_place(const char *path) {
  enum { MOST_LINKS = 40 };
  char *place = tool_copy(path, strlen(path));
  for (int links = 0; links <= MOST_LINKS; links++) {
    char *next = tool_follow_link(place);
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
  char *a = tool_outputs_place(path), *b = tool_outputs_place(other);
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

/* The system would let us replace a file that we can't write: its directory alone decides. Who made it read-only meant it. */
static tool_status check_old(const char *path, const char *place) {
  struct stat info;
  if (stat(place, &info) != 0) return TOOL_OK;
  if (!S_ISREG(info.st_mode))
    return cannot(path, S_ISDIR(info.st_mode) ? "it is a directory" : "it is a device or a pipe, not a file");
  if (faccessat(AT_FDCWD, place, W_OK, AT_EACCESS) == 0) return TOOL_OK;
  return cannot(path, errno == EACCES ? "it is read-only for this user" : strerror(errno));
}

/* Whether a new file may come to a place, as far as can be seen. */
static tool_status check_place(const char *path, char *place) {
  place_id id;
  TOOL_TRY(check_old(path, place));
  if (!identify(place, &id)) return cannot(path, strerror(errno));
  char *slash = strrchr(place, '/');
  if (slash) *slash = '\0';
  bool is_open = faccessat(AT_FDCWD, slash == place ? "/" : slash ? place : ".", W_OK | X_OK, AT_EACCESS) == 0;
  int error = errno;
  if (slash) *slash = '/';
  return is_open ? TOOL_OK : cannot(path, strerror(error));
}

tool_status tool_outputs_check(const char *path) {
  char *place = tool_outputs_place(path);
  tool_status status = place ? check_place(path, place) : cannot(path, "there are too many links in a row");
  free(place);
  return status;
}

/* ---- Out of sight ------------------------------------------------------------------------------- */

/* A name in the directory of `place`. */
static char *beside(const char *place, const char *name) {
  const char *slash = strrchr(place, '/');
  size_t before = slash ? (size_t)(slash - place) + 1 : 0, size = before + strlen(name) + 1;
  char *path = tool_alloc(size, 1);
  snprintf(path, size, "%.*s%s", (int)before, place, name);
  return path;
}

/* Without a name, so that nothing is left of it whatever ends the process. False: the file system has no such files, or the
 * system doesn't show us ours. */
static bool open_nameless(struct tool_output *o) {
  char *directory = beside(o->place, ".");
  o->file = open(directory, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
  free(directory);
  if (o->file < 0) return false;
  snprintf(o->written, sizeof o->written, "/proc/self/fd/%d", o->file);
  if (access(o->written, W_OK) == 0) return true;
  close(o->file);
  return false;
}

static bool open_named(struct tool_output *o) {
  do {
    free(o->temporary);
    o->temporary = hidden_name(o->place);
    o->file = open(o->temporary, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  } while (o->file < 0 && errno == EEXIST);
  return o->file >= 0;
}

/* A second name for what is called `from`; its own is new. NULL: it can't have one, and errno says why. */
static char *link_hidden(const char *from, const char *place, int flags) {
  for (;;) {
    char *name = hidden_name(place);
    if (linkat(AT_FDCWD, from, AT_FDCWD, name, flags) == 0) return name;
    int error = errno;
    free(name);
    errno = error;
    if (error != EEXIST) return NULL;
  }
}

/* The name that it is renamed from. */
static bool give_name(struct tool_output *o) {
  if (!o->temporary) o->temporary = link_hidden(o->written, o->place, AT_SYMLINK_FOLLOW);
  return o->temporary != NULL;
}

/* Who may do what is as it was with the file that is replaced, or as it is with a new one. */
static bool give_access(const struct tool_output *o) {
  struct stat old, now;
  mode_t mask = umask(0);
  umask(mask);
  if (stat(o->place, &old) != 0) return fchmod(o->file, 0666 & ~mask) == 0;
  if (fstat(o->file, &now) != 0) return false;
  mode_t mode = old.st_mode & 07777;
  bool is_owner = old.st_uid == now.st_uid || fchown(o->file, old.st_uid, (gid_t)-1) == 0;
  bool is_group = old.st_gid == now.st_gid || fchown(o->file, (uid_t)-1, old.st_gid) == 0;
  if (!is_owner || !is_group) mode &= 0777;                          /* no program of another's */
  if (!is_group) mode = (mode & ~(mode_t)0070) | (mode & 0007) << 3; /* another group gets what everybody has */
  return fchmod(o->file, mode) == 0;
}

static void free_output(struct tool_output *o) {
  if (o->file >= 0) close(o->file);
  if (o->old >= 0) close(o->old);
  free(o->kept);
  free(o->temporary);
  free(o->path);
  free(o->place);
}

/* ---- A set -------------------------------------------------------------------------------------- */

tool_status tool_outputs_add(tool_outputs *outputs, const char *path, const char **out_written) {
  TOOL_TRY(tool_outputs_check(path));
  char *place = tool_outputs_place(path);
  if (!place) return cannot(path, "there are too many links in a row");
  struct tool_output *o = tool_alloc(1, sizeof *o);
  *o = (struct tool_output){.path = tool_copy(path, strlen(path)), .place = place, .file = -1, .old = -1};
  watch_signals();
  hidden_sweep(place);
  unfinished = NULL; /* while the list moves */
  bool is_open = open_nameless(o) || open_named(o);
  if (!is_open) {
    (void)cannot(path, strerror(errno));
    free_output(o);
    free(o);
  } else {
    outputs->items = tool_grow(outputs->items, outputs->count + 1, sizeof(struct tool_output *));
    outputs->items[outputs->count++] = o;
    hidden_lock(o->file);
    *out_written = o->temporary ? o->temporary : o->written;
  }
  unfinished = outputs;
  return is_open ? TOOL_OK : TOOL_FAILED;
}

/* All that can fail before the first is replaced. */
static tool_status prepare(tool_outputs *outputs) {
  for (size_t i = 0; i < outputs->count; i++) {
    struct tool_output *o = outputs->items[i];
    TOOL_TRY(tool_outputs_check(o->path));
    if (!give_access(o) || !give_name(o)) return cannot(o->path, strerror(errno));
  }
  return TOOL_OK;
}

/* ---- Putting ------------------------------------------------------------------------------------ */

/* The old file changes places with the new one where the file system can do that; else it gets a second name before. Where it
 * can do neither, nothing is kept. */
static bool put(struct tool_output *o) {
  o->old = open(o->place, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
  if (o->old >= 0) hidden_lock(o->old);
  if (renameat2(AT_FDCWD, o->temporary, AT_FDCWD, o->place, RENAME_EXCHANGE) == 0) {
    o->kept = o->temporary;
  } else {
    o->kept = link_hidden(o->place, o->place, 0);
    if (rename(o->temporary, o->place) != 0) return false;
    free(o->temporary);
  }
  o->temporary = NULL;
  o->is_put = true;
  return true;
}

/* Whether the place still has the file that was put there, and not one that somebody else put there since. */
static bool is_still_there(const struct tool_output *o) {
  struct stat there, ours;
  return stat(o->place, &there) == 0 && fstat(o->file, &ours) == 0 && there.st_dev == ours.st_dev &&
         there.st_ino == ours.st_ino;
}

/* The old file again, or none. False: the new one stays. */
static bool put_back(struct tool_output *o, bool was_there) {
  if (!is_still_there(o)) return true;
  if (was_there && !o->kept) return false;
  if ((was_there ? rename(o->kept, o->place) : unlink(o->place)) != 0) return false;
  free(o->kept);
  o->kept = NULL;
  o->is_put = false;
  return true;
}

static tool_status put_all(tool_outputs *outputs) {
  bool *was_there = tool_alloc(outputs->count ? outputs->count : 1, sizeof *was_there);
  tool_status status = TOOL_OK;
  struct stat info;
  size_t count = 0;
  for (; count < outputs->count && status == TOOL_OK; count++) {
    was_there[count] = lstat(outputs->items[count]->place, &info) == 0;
    if (!put(outputs->items[count])) status = cannot(outputs->items[count]->path, strerror(errno));
  }
  while (status != TOOL_OK && count-- > 0) {
    struct tool_output *o = outputs->items[count];
    if (o->is_put && !put_back(o, was_there[count]))
      (void)tool_error(TOOL_FAILED, "%s: is replaced already, and the old file can't be put back", o->path);
  }
  free(was_there);
  return status;
}

tool_status tool_outputs_commit(tool_outputs *outputs) {
  hold_signals();
  tool_status status = prepare(outputs);
  if (status == TOOL_OK) status = put_all(outputs);
  tool_outputs_discard(outputs);
  let_signals_go();
  return status;
}

void tool_outputs_discard(tool_outputs *outputs) {
  unfinished = NULL;
  for (size_t i = 0; i < outputs->count; i++) {
    if (outputs->items[i]->temporary) unlink(outputs->items[i]->temporary);
    if (outputs->items[i]->kept) unlink(outputs->items[i]->kept);
    free_output(outputs->items[i]);
    free(outputs->items[i]);
  }
  free(outputs->items);
  outputs->items = NULL;
  outputs->count = 0;
}

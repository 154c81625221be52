/* build_write.c - outputs and depfile of a build, written as a transaction. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "build.h"

/* ---- Dependencies ------------------------------------------------------------------------------- */

static void put_path(FILE *to, const char *path, size_t length) {
  for (size_t i = 0; i < length; i++) {
    if (path[i] == ' ' || path[i] == '#' || path[i] == '\\') fputc('\\', to);
    if (path[i] == '$') fputc('$', to);
    fputc(path[i], to);
  }
}

static void put_dependencies(FILE *to, const build_options *o, const build_job *job) {
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

static tool_status make_depfile(const build_options *o, const build_job *jobs, size_t count, char **out_text,
                                size_t *out_size) {
  FILE *to = open_memstream(out_text, out_size);
  for (size_t i = 0; to && i < count; i++) put_dependencies(to, o, &jobs[i]);
  bool good = to && !ferror(to);
  if (to && fclose(to) != 0) good = false;
  return good ? TOOL_OK : tool_error(TOOL_FAILED, "no memory for --depfile %s", o->depfile);
}

/* ---- Places ------------------------------------------------------------------------------------- */

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

/* ---- What is read ------------------------------------------------------------------------------- */

typedef struct place {
  dev_t device;
  ino_t inode;
  char *path;
} place;

static bool find_place(place *out, const char *directory, const char *name) {
  struct stat info;
  size_t size = strlen(directory) + strlen(name) + 2;
  char *path = tool_alloc(size, 1);
  snprintf(path, size, "%s/%s", directory, name);
  if (stat(path, &info) != 0) {
    free(path);
    return false;
  }
  *out = (place){info.st_dev, info.st_ino, path};
  return true;
}

/* Outputs that are there already, and a depfile; an include that one of them is has no other name. */
static size_t find_places(const build_options *o, const build_job *jobs, size_t count, place *places) {
  size_t found = 0;
  for (size_t i = 0; i < count; i++) found += find_place(&places[found], o->directory, jobs[i].output);
  const char *name = NULL;
  char *directory = o->depfile ? split(o->depfile, &name) : NULL;
  if (directory) found += find_place(&places[found], directory, name);
  free(directory);
  return found;
}

static tool_status check_include(const char *path, const char *file, const place *places, size_t count) {
  struct stat info;
  if (stat(path, &info) != 0) return TOOL_OK;
  for (size_t i = 0; i < count; i++)
    if (places[i].device == info.st_dev && places[i].inode == info.st_ino)
      return tool_error(TOOL_USAGE,
                        "the output '%s' would overwrite '%s', which '%s' includes; choose another -o or --name",
                        places[i].path, path, file);
  return TOOL_OK;
}

static tool_status check_includes_of(const build_job *job, const place *places, size_t count) {
  tool_status status = TOOL_OK;
  for (const char *at = job->artifact.dependencies; *at && status == TOOL_OK;) {
    size_t length = strcspn(at, "\n");
    char *path = tool_copy(at, length);
    status = check_include(path, job->file, places, count);
    free(path);
    at += length + (at[length] == '\n');
  }
  return status;
}

/* No file that the sources include may be overwritten. */
static tool_status check_includes(const build_options *o, const build_job *jobs, size_t count) {
  place *places = tool_alloc(count + 1, sizeof *places);
  size_t found = find_places(o, jobs, count, places);
  tool_status status = TOOL_OK;
  for (size_t i = 0; i < count && found > 0 && status == TOOL_OK; i++)
    status = check_includes_of(&jobs[i], places, found);
  for (size_t i = 0; i < found; i++) free(places[i].path);
  free(places);
  return status;
}

/* ---- Writing ------------------------------------------------------------------------------------ */

static tool_status write_all(const build_options *o, const char *option, const char *directory, qn_output *outputs,
                             size_t count) {
  qn_output **list = tool_alloc(count ? count : 1, sizeof *list);
  for (size_t i = 0; i < count; i++) list[i] = &outputs[i];
  uint64_t flags = (o->touch ? QN_OUTPUTS_TOUCH : 0) | (isatty(STDERR_FILENO) ? QN_OUTPUTS_SHOW_WAITS : 0);
  qn_status status = qn_outputs_write(directory, list, (uint32_t)count, flags);
  free(list);
  return status < 0 ? tool_library_error(status, "%s %s", option, directory) : TOOL_OK;
}

/* A depfile elsewhere comes first: should an output fail then, it says what is true all the same. */
static tool_status write_depfile(const build_options *o, const char *directory, qn_output *depfile) {
  TOOL_TRY(tool_outputs_check(o->depfile));
  return write_all(o, "--depfile", directory, depfile, 1);
}

static tool_status write_with(const build_options *o, qn_output *outputs, size_t count, const char *text, size_t size) {
  const char *name = NULL;
  char *directory = split(o->depfile, &name);
  qn_output *depfile = &outputs[count];
  tool_status status = TOOL_OK;
  *depfile = (qn_output){.struct_size = sizeof *depfile, .name = name, .bytes = text, .size_bytes = size};
  bool is_inside = is_same_directory(directory, o->directory);
  if (!is_inside) status = write_depfile(o, directory, depfile);
  if (status == TOOL_OK) status = write_all(o, "-o", o->directory, outputs, count + is_inside);
  free(directory);
  return status;
}

tool_status build_write(const build_options *o, const build_job *jobs, size_t count) {
  TOOL_TRY(check_includes(o, jobs, count));
  qn_output *outputs = tool_alloc(count + 1, sizeof *outputs);
  char *text = NULL;
  size_t size = 0;
  tool_status status = o->depfile ? make_depfile(o, jobs, count, &text, &size) : TOOL_OK;
  for (size_t i = 0; i < count; i++)
    outputs[i] = (qn_output){.struct_size = sizeof outputs[i],
                             .name = jobs[i].output,
                             .bytes = jobs[i].artifact.bytes,
                             .size_bytes = jobs[i].artifact.size_bytes,
                             .artifact = &jobs[i].artifact};
  if (status == TOOL_OK && o->depfile) status = write_with(o, outputs, count, text, size);
  if (status == TOOL_OK && !o->depfile) status = write_all(o, "-o", o->directory, outputs, count);
  free(text);
  free(outputs);
  return status;
}

/* build_write.c - outputs and depfile of a build, written as a transaction over what is not read. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "build.h"
#include "depfile.h"

/* ---- What is read ------------------------------------------------------------------------------- */

typedef struct place {
  dev_t device;
  ino_t inode;
  char *path;
} place;

static bool find_place(place *out, const char *path) {
  struct stat info;
  if (stat(path, &info) != 0) return false;
  *out = (place){info.st_dev, info.st_ino, tool_copy(path, strlen(path))};
  return true;
}

static bool find_output(place *out, const char *directory, const char *name) {
  size_t size = strlen(directory) + strlen(name) + 2;
  char *path = tool_alloc(size, 1);
  snprintf(path, size, "%s/%s", directory, name);
  bool is_there = find_place(out, path);
  free(path);
  return is_there;
}

/* Outputs that are there already, and a depfile; an include that one of them is has no other name. */
static size_t find_places(const build_options *o, const build_job *jobs, size_t count, place *places) {
  size_t found = 0;
  for (size_t i = 0; i < count; i++) found += find_output(&places[found], o->directory, jobs[i].output);
  if (o->depfile) found += find_place(&places[found], o->depfile);
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

static tool_status write_all(const build_options *o, qn_output *outputs, size_t count) {
  qn_output **list = tool_alloc(count ? count : 1, sizeof *list);
  for (size_t i = 0; i < count; i++) list[i] = &outputs[i];
  uint64_t flags = (o->touch ? QN_OUTPUTS_TOUCH : 0) | (isatty(STDERR_FILENO) ? QN_OUTPUTS_SHOW_WAITS : 0);
  qn_status status = qn_outputs_write(o->directory, list, (uint32_t)count, flags);
  free(list);
  return status < 0 ? tool_library_error(status, "writing the outputs") : TOOL_OK;
}

static tool_status write_with(const build_options *o, const build_job *jobs, size_t count, const depfile *d) {
  qn_output *outputs = tool_alloc(count + 1, sizeof *outputs);
  for (size_t i = 0; i < count; i++)
    outputs[i] = (qn_output){.struct_size = sizeof outputs[i],
                             .name = jobs[i].output,
                             .bytes = jobs[i].artifact.bytes,
                             .size_bytes = jobs[i].artifact.size_bytes,
                             .artifact = &jobs[i].artifact};
  if (d->place)
    outputs[count++] = (qn_output){.struct_size = sizeof *outputs,
                                   .name = d->name,
                                   .bytes = d->text,
                                   .size_bytes = d->size,
                                   .directory = d->directory};
  tool_status status = write_all(o, outputs, count);
  free(outputs);
  return status;
}

tool_status build_write(const build_options *o, const build_job *jobs, size_t count) {
  depfile d;
  TOOL_TRY(check_includes(o, jobs, count));
  tool_status status = depfile_make(o, jobs, count, &d);
  if (status == TOOL_OK) status = write_with(o, jobs, count, &d);
  if (status == TOOL_OK) status = depfile_send(o, &d);
  depfile_free(&d);
  return status;
}

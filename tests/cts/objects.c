/* objects.c - makes objects for tests and gives them back at the test's end. */
#include "objects.h"

#include <errno.h>
#include <ftw.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "report.h"

struct cts_objects {
  pthread_mutex_t lock;
  const void **handles;
  size_t handle_count, handle_room;
  void **blocks;
  size_t block_count, block_room;
  struct ending *endings;
};

typedef struct ending {
  struct ending *next;
  void (*function)(void *user);
  void *user;
} ending;

cts_objects *cts_objects_new(void) {
  cts_objects *o = calloc(1, sizeof *o);
  if (o) pthread_mutex_init(&o->lock, NULL);
  return o;
}

/* Room for one more of an array of pointers; false without memory. */
static bool grow(void *array, size_t count, size_t *room) {
  void **old = NULL;
  if (count < *room) return true;
  memcpy(&old, array, sizeof old);
  size_t more = *room ? *room * 2 : 64;
  void **grown = realloc(old, more * sizeof *grown);
  if (!grown) return false;
  memcpy(array, &grown, sizeof grown);
  *room = more;
  return true;
}

void cts_keep(cts *c, const void *handle) {
  cts_objects *o = c->objects;
  if (!handle) return;
  pthread_mutex_lock(&o->lock);
  bool done = grow(&o->handles, o->handle_count, &o->handle_room);
  if (done) o->handles[o->handle_count++] = handle;
  pthread_mutex_unlock(&o->lock);
  if (!done) cts_fail_format(CTS_HERE, "there is none", "host memory for a list of handles");
}

void cts_forget(cts *c, const void *handle) {
  cts_objects *o = c->objects;
  pthread_mutex_lock(&o->lock);
  for (size_t i = o->handle_count; i-- > 0;) {
    if (o->handles[i] != handle) continue;
    o->handles[i] = o->handles[--o->handle_count];
    break;
  }
  pthread_mutex_unlock(&o->lock);
}

void cts_release(const char *file, int line, cts *c, const void *handle) {
  cts_at(line);
  cts_forget(c, handle);
  cts_expect_status(file, line, "qn_release", qn_release(handle), QN_OK, NULL);
}

void *cts_alloc(cts *c, uint64_t size) {
  cts_objects *o = c->objects;
  void *block = size <= SIZE_MAX - 128 ? aligned_alloc(128, ((size_t)size + 128) & ~(size_t)127) : NULL;
  if (!block) cts_fail_format(CTS_HERE, "there is none", "%llu bytes of host memory", (unsigned long long)size);
  memset(block, 0, (size_t)size);
  pthread_mutex_lock(&o->lock);
  bool done = grow(&o->blocks, o->block_count, &o->block_room);
  if (done) o->blocks[o->block_count++] = block;
  pthread_mutex_unlock(&o->lock);
  if (done) return block;
  free(block);
  cts_fail_format(CTS_HERE, "there is none", "host memory for a list of blocks");
}

void cts_at_end(cts *c, void (*function)(void *user), void *user) {
  cts_objects *o = c->objects;
  ending *e = malloc(sizeof *e);
  if (!e) {
    function(user);
    cts_fail_format(CTS_HERE, "there is none", "host memory for an ending");
  }
  pthread_mutex_lock(&o->lock);
  *e = (ending){o->endings, function, user};
  o->endings = e;
  pthread_mutex_unlock(&o->lock);
}

static int remove_one(const char *path, const struct stat *status, int type, struct FTW *walk) {
  (void)status;
  (void)type;
  (void)walk;
  return remove(path);
}

static void remove_directory(void *user) {
  nftw(user, remove_one, 8, FTW_DEPTH | FTW_PHYS);
  free(user);
}

const char *cts_directory(cts *c) {
  const char *parent = getenv("TMPDIR");
  char *path = malloc(512);
  if (!path) cts_fail_format(CTS_HERE, "there is none", "host memory for a path");
  snprintf(path, 512, "%s/quern-cts-XXXXXX", parent && *parent ? parent : "/tmp");
  if (!mkdtemp(path)) {
    free(path);
    cts_fail_format(CTS_HERE, strerror(errno), "a temporary directory");
  }
  cts_at_end(c, remove_directory, path);
  return path;
}

/* ---- Making -------------------------------------------------------------------------------------- */

/* The call that made a handle; fails the test, or keeps the handle. */
static void made(const char *file, int line, cts *c, const char *call, qn_status status, const void *handle) {
  cts_expect_status(file, line, call, status, QN_OK, NULL);
  cts_keep(c, handle);
}

qn_queue cts_make_queue(const char *file, int line, cts *c, qn_device device, uint64_t flags) {
  qn_queue queue = NULL;
  qn_queue_options options = QN_INIT(qn_queue_options);
  options.flags = flags;
  cts_at(line);
  qn_here(file, (uint32_t)line);
  qn_status status = qn_queue_create(device, &options, &queue);
  made(file, line, c, "qn_queue_create", status, queue);
  return queue;
}

qn_buffer cts_make_buffer(const char *file, int line, cts *c, qn_device device, uint32_t memory, uint64_t size,
                          uint64_t flags) {
  static const char *const kinds[] = {"DEVICE", "HOST", "SHARED", "WRAP"};
  char call[96];
  qn_buffer buffer = NULL;
  qn_buffer_options options = QN_INIT(qn_buffer_options);
  options.memory = memory;
  options.size_bytes = size;
  options.flags = flags;
  cts_at(line);
  qn_here(file, (uint32_t)line);
  snprintf(call, sizeof call, "qn_buffer_create of QN_MEMORY_%s, %llu bytes,", kinds[memory], (unsigned long long)size);
  qn_status status = qn_buffer_create(device, &options, &buffer);
  made(file, line, c, call, status, buffer);
  return buffer;
}

qn_buffer cts_make_wrap(const char *file, int line, cts *c, void *pointer, uint64_t size) {
  qn_buffer buffer = NULL;
  qn_buffer_options options = QN_INIT(qn_buffer_options);
  options.memory = QN_MEMORY_WRAP;
  options.size_bytes = size;
  options.host_pointer = pointer;
  cts_at(line);
  qn_here(file, (uint32_t)line);
  qn_status status = qn_buffer_create(c->device, &options, &buffer);
  made(file, line, c, "qn_buffer_create of QN_MEMORY_WRAP", status, buffer);
  return buffer;
}

qn_program cts_make_program(const char *file, int line, cts *c, qn_device device, const char *source) {
  qn_program program = NULL;
  qn_program_options options = QN_INIT(qn_program_options);
  options.source = source;
  options.file_name = "test.cl";
  cts_at(line);
  qn_here(file, (uint32_t)line);
  qn_status status = qn_program_build(device, &options, &program);
  made(file, line, c, "qn_program_build", status, program);
  return program;
}

qn_kernel cts_make_kernel(const char *file, int line, cts *c, qn_program program, const char *name) {
  qn_kernel kernel = NULL;
  cts_at(line);
  qn_here(file, (uint32_t)line);
  qn_status status = qn_kernel_get(program, name, &kernel);
  made(file, line, c, "qn_kernel_get", status, kernel);
  return kernel;
}

qn_device cts_make_device(const char *file, int line, cts *c, qn_runtime runtime) {
  qn_device device = NULL;
  cts_at(line);
  qn_here(file, (uint32_t)line);
  qn_status status = qn_device_open(runtime, c->selector, &device);
  made(file, line, c, "qn_device_open", status, device);
  return device;
}

qn_runtime cts_make_runtime(const char *file, int line, cts *c) {
  qn_runtime runtime = NULL;
  cts_at(line);
  qn_here(file, (uint32_t)line);
  qn_status status = qn_runtime_open(NULL, &runtime);
  made(file, line, c, "qn_runtime_open", status, runtime);
  return runtime;
}

void cts_close(cts *c, qn_runtime runtime) {
  CTS_OK(qn_runtime_close(runtime, CTS_PATIENCE));
  cts_pass_over_leaks();
  cts_objects *o = c->objects;
  size_t kept = 0;
  pthread_mutex_lock(&o->lock);
  for (size_t i = 0; i < o->handle_count; i++) {
    uint32_t kind = 0;
    if (qn_handle_kind(o->handles[i], &kind) == QN_OK) o->handles[kept++] = o->handles[i];
  }
  o->handle_count = kept;
  pthread_mutex_unlock(&o->lock);
}

/* ---- Leaks (QUERN_CHECK=leaks) ------------------------------------------------------------------- */

void cts_pass_over_leaks(void) {
  uint64_t count = 0;
  (void)!qn_leak_report(NULL, 0, &count); /* UNSUPPORTED without the check */
}

void cts_check_leaks(const char *what) {
  char text[4096], expected[128];
  uint64_t count = 0;
  if (qn_leak_report(text, sizeof text, &count) != QN_OK || count == 0) return;
  snprintf(expected, sizeof expected, "%s leaves nothing that was not released", what);
  cts_note_failure(__FILE__, __LINE__, QN_OK, expected, text);
}

/* ---- The end ------------------------------------------------------------------------------------- */

static void refuse(const char *call, qn_status status) {
  char expected[128], came[4096];
  snprintf(expected, sizeof expected, "at the test's end, %s gives QN_OK", call);
  snprintf(came, sizeof came, "%s: %s", qn_status_name(status), qn_error_text());
  cts_note_failure(__FILE__, __LINE__, status, expected, came);
}

static uint32_t kind_of(const void *handle) {
  uint32_t kind = QN_KIND_NONE;
  qn_status status = qn_handle_kind(handle, &kind);
  if (status < 0) refuse("qn_handle_kind of a handle that nobody released", status);
  return kind;
}

/* Runtimes go to the list's end; the rest is shuffled. The number of the others. */
static size_t arrange(cts *c, cts_objects *o) {
  size_t others = o->handle_count;
  for (size_t i = o->handle_count; i-- > 0;) {
    if (kind_of(o->handles[i]) != QN_KIND_RUNTIME) continue;
    const void *runtime = o->handles[i];
    o->handles[i] = o->handles[--others];
    o->handles[others] = runtime;
  }
  for (size_t i = others; i > 1; i--) {
    size_t j = (size_t)cts_random(c, i);
    const void *handle = o->handles[j];
    o->handles[j] = o->handles[i - 1];
    o->handles[i - 1] = handle;
  }
  return others;
}

/* True when the device holds nothing of the test's any longer. */
static bool drain(qn_device device) {
  qn_status status = qn_device_drain(device, CTS_PATIENCE);
  if (status < 0) refuse("qn_device_drain", status);
  return status == QN_OK;
}

/* Releases in the list's order; a device is kept until it is drained. True when no work of the test's is left. */
static bool release_all(cts *c, cts_objects *o) {
  size_t others = arrange(c, o), devices = 0;
  for (size_t i = 0; i < others; i++) {
    const void *handle = o->handles[i];
    if (kind_of(handle) == QN_KIND_DEVICE && qn_retain(handle) == QN_OK) o->handles[devices++] = handle;
    qn_status status = qn_release(handle);
    if (status < 0) refuse("qn_release", status);
  }
  bool done = drain(c->device);
  for (uint32_t i = 0; i < c->other_count; i++) done = drain(c->others[i]) && done;
  for (size_t i = 0; i < devices; i++) {
    done = drain((qn_device)o->handles[i]) && done;
    (void)qn_release(o->handles[i]);
  }
  for (size_t i = others; i < o->handle_count; i++) {
    qn_status status = qn_runtime_close((qn_runtime)o->handles[i], CTS_PATIENCE);
    if (status < 0) refuse("qn_runtime_close", status);
    done = done && status == QN_OK;
  }
  return done;
}

static void compare(const qn_device_statistics *before, const qn_device_statistics *after) {
  const struct {
    const char *what;
    uint32_t before, after;
  } counts[] = {{"queues", before->queues, after->queues},
                {"buffers", before->buffers, after->buffers},
                {"programs", before->programs, after->programs},
                {"kernels", before->kernels, after->kernels},
                {"objects awaiting release", 0, after->awaiting_release}};
  for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
    char expected[128], came[64];
    if (counts[i].before == counts[i].after) continue;
    snprintf(expected, sizeof expected, "after the test the device has %u living %s, as before", counts[i].before,
             counts[i].what);
    snprintf(came, sizeof came, "%u", counts[i].after);
    cts_note_failure(__FILE__, __LINE__, QN_OK, expected, came);
  }
}

void cts_objects_end(cts *c, const qn_device_statistics *before) {
  cts_objects *o = c->objects;
  while (o->endings) {
    ending *e = o->endings;
    o->endings = e->next;
    e->function(e->user);
    free(e);
  }
  cts_pass_over_leaks(); /* what the test left on purpose */
  bool done = release_all(c, o);
  cts_check_leaks("a test whose objects were released");
  if (done) {
    qn_device_statistics after = QN_INIT(qn_device_statistics);
    qn_status status = qn_device_statistics_get(c->device, &after);
    if (status < 0) refuse("qn_device_statistics_get", status);
    compare(before, &after);
    for (size_t i = 0; i < o->block_count; i++) free(o->blocks[i]);
  } /* else something may still read and write them */
  free(o->blocks);
  free(o->handles);
  pthread_mutex_destroy(&o->lock);
  free(o);
  c->objects = NULL;
}

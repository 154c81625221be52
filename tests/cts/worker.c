/* worker.c - runs tests in this process. */
#include "worker.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "check.h"
#include "control.h"
#include "cts.h"
#include "objects.h"
#include "plan.h"
#include "report.h"

/* A device, and what it does while others are tested: it keeps bytes in a buffer. */
typedef struct open_device {
  char selector[64];
  qn_device device;
  qn_device_info info;
  uint64_t features; /* QN_FEATURE_..., CTS_NEEDS_... */
  qn_queue queue;
  qn_buffer buffer;
} open_device;

typedef struct worker {
  const cts_options *options;
  cts_live *live;
  cts_report report;
  qn_runtime runtime;
  open_device devices[CTS_DEVICES];
  uint32_t count;
} worker;

/* ---- Telling ------------------------------------------------------------------------------------- */

/* The whole record; a watcher that is gone ends this process. */
static void send(const worker *w, const cts_report *report) {
  const char *at = (const char *)report;
  for (size_t left = sizeof *report; left > 0;) {
    ssize_t wrote = write(w->options->report_fd, at, left);
    if (wrote < 0 && errno == EINTR) continue;
    if (wrote <= 0) _exit(CTS_EXIT_FAILED);
    at += wrote;
    left -= (size_t)wrote;
  }
}

/* To somebody with a debugger. */
static void print(const cts_report *r) {
  if (r->outcome == CTS_BEGINS) fprintf(stderr, "runs   %s on %s\n", r->test, r->selector);
  if (r->outcome == CTS_PASSED) fprintf(stderr, "pass   %s on %s\n", r->test, r->selector);
  if (r->outcome == CTS_FAILED)
    fprintf(stderr, "FAIL   %s on %s, %s:%u\n  expected: %s\n  came:     %s\n", r->test, r->selector, r->file, r->line,
            r->expected, r->came);
}

static void tell(const worker *w) {
  if (w->options->report_fd >= 0)
    send(w, &w->report);
  else
    print(&w->report);
}

static cts_live *map_live(int fd) {
  void *live = fd < 0 ? MAP_FAILED : mmap(NULL, sizeof(cts_live), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  return live == MAP_FAILED ? NULL : live;
}

static void begin(worker *w, const char *test, const open_device *device, uint32_t round, uint64_t seed) {
  cts_report *r = &w->report;
  memset(r, 0, sizeof *r);
  r->outcome = CTS_BEGINS;
  r->round = round;
  r->seed = seed;
  off_t printed = w->options->report_fd >= 0 ? lseek(STDERR_FILENO, 0, SEEK_END) : 0;
  r->output_at = printed > 0 ? (uint64_t)printed : 0;
  snprintf(r->test, sizeof r->test, "%s", test);
  if (device) {
    r->features = device->features;
    snprintf(r->selector, sizeof r->selector, "%s", device->selector);
  }
  cts_check_start(r, w->live);
  cts_at(0);
  tell(w);
}

static void end(worker *w, uint64_t start_ns) {
  if (w->report.outcome != CTS_FAILED) w->report.outcome = CTS_PASSED;
  w->report.ns = cts_now_ns() - start_ns;
  tell(w);
}

static void refuse(qn_status status, const char *call, const char *on) {
  char expected[256], came[4096];
  snprintf(expected, sizeof expected, "%s gives QN_OK for %s", call, on);
  snprintf(came, sizeof came, "%s: %s", qn_status_name(status), qn_error_text());
  cts_note_failure(__FILE__, __LINE__, status, expected, came);
}

/* ---- Opening and closing -------------------------------------------------------------------------- */

/* The selectors of `list`, ',' between; "all": every device. */
static qn_status list_devices(worker *w, const char *list) {
  qn_status status = QN_OK;
  uint32_t count = 0;
  if (strcmp(list, "all") == 0) {
    status = qn_device_count(w->runtime, &count);
    for (uint32_t i = 0; status == QN_OK && i < count && w->count < CTS_DEVICES; i++) {
      open_device *d = &w->devices[w->count++];
      d->info = (qn_device_info)QN_INIT(qn_device_info);
      status = qn_device_describe(w->runtime, i, &d->info);
      memcpy(d->selector, d->info.selector, sizeof d->selector);
    }
    return status;
  }
  for (const char *at = list; *at && w->count < CTS_DEVICES;) {
    size_t length = strcspn(at, ",");
    snprintf(w->devices[w->count++].selector, sizeof w->devices->selector, "%.*s", (int)length, at);
    at += length + (at[length] == ',');
  }
  return status;
}

static qn_status open_one(worker *w, open_device *d) {
  qn_status status = qn_device_open(w->runtime, d->selector, &d->device);
  if (status < 0) return status;
  d->info = (qn_device_info)QN_INIT(qn_device_info);
  status = qn_device_query(d->device, &d->info);
  if (status < 0) return status;
  memcpy(d->selector, d->info.selector, sizeof d->selector);
  d->features = d->info.features | cts_control_features(d->device, &d->info);
  return status;
}

enum { KEPT_BYTES = 4096 };

static unsigned char kept_byte(const worker *w, const open_device *d) {
  return (unsigned char)(0xa0 + (d - w->devices));
}

/* What a neighbour keeps; asked for again before each test, and still in flight when it starts. */
static qn_status start_neighbour(const worker *w, open_device *d) {
  if (!d->buffer) {
    qn_buffer_options options = QN_INIT(qn_buffer_options);
    options.size_bytes = KEPT_BYTES;
    qn_status status = qn_buffer_create(d->device, &options, &d->buffer);
    if (status == QN_OK) status = qn_queue_create(d->device, NULL, &d->queue);
    if (status < 0) return status;
  }
  unsigned char byte = kept_byte(w, d);
  const qn_view view = cts_view(d->buffer, 0, QN_WHOLE);
  return qn_fill(d->queue, &view, &byte, 1, NULL);
}

static void check_neighbour(const worker *w, const open_device *d) {
  unsigned char bytes[KEPT_BYTES];
  char what[128];
  const qn_view view = cts_view(d->buffer, 0, QN_WHOLE);
  snprintf(what, sizeof what, "what device %s, open beside it, keeps in a buffer", d->selector);
  cts_expect_status(CTS_HERE, "qn_read on the neighbour's queue", qn_read(d->queue, &view, bytes, NULL), QN_OK, NULL);
  cts_expect_status(CTS_HERE, "qn_queue_finish of the neighbour's queue", qn_queue_finish(d->queue, CTS_PATIENCE),
                    QN_OK, NULL);
  cts_expect_filled(CTS_HERE, what, bytes, kept_byte(w, d), sizeof bytes);
}

/* Opens the runtime and all devices. What fails is noted in the report. */
static bool open_all(worker *w) {
  w->runtime = NULL;
  memset(w->devices, 0, sizeof w->devices);
  w->count = 0;
  qn_status status = qn_runtime_open(NULL, &w->runtime);
  if (status < 0) return refuse(status, "qn_runtime_open", "the process"), false;
  status = list_devices(w, w->options->devices);
  if (status < 0) return refuse(status, "listing the devices", w->options->devices), false;
  for (uint32_t i = 0; i < w->count; i++) {
    status = open_one(w, &w->devices[i]);
    if (status < 0) return refuse(status, "qn_device_open", w->devices[i].selector), false;
  }
  return true;
}

/* Everything that the worker itself made is released, so that what is left is a test's leak. */
static void close_all(worker *w) {
  for (uint32_t i = 0; i < w->count; i++) {
    open_device *d = &w->devices[i];
    const void *handles[] = {d->buffer, d->queue, d->device};
    for (int h = 0; h < 3; h++) {
      qn_status status = qn_release(handles[h]);
      if (status < 0) refuse(status, "qn_release", d->selector);
    }
  }
  w->count = 0;
  if (!w->runtime) return;
  cts_pass_over_leaks();
  qn_status status = qn_runtime_close(w->runtime, CTS_PATIENCE);
  if (status < 0) refuse(status, "qn_runtime_close", w->options->devices);
  cts_check_leaks("closing the runtime of all tests");
  w->runtime = NULL;
}

/* ---- A test -------------------------------------------------------------------------------------- */

typedef struct running {
  worker *w;
  open_device *device;
  const cts_test *test;
  cts c;
} running;

static void run_test(void *user) {
  running *r = user;
  r->test->run(&r->c);
}

static void check_neighbours(void *user) {
  running *r = user;
  for (uint32_t i = 0; i < r->w->count; i++)
    if (&r->w->devices[i] != r->device) check_neighbour(r->w, &r->w->devices[i]);
}

/* The report says how it went. */
static void run_on(worker *w, const cts_test *test, open_device *device, uint64_t seed) {
  qn_device others[CTS_DEVICES];
  qn_device_statistics before = QN_INIT(qn_device_statistics);
  running r = {.w = w, .device = device, .test = test};
  r.c = (cts){.selector = device->selector,
              .runtime = w->runtime,
              .device = device->device,
              .info = device->info,
              .others = others,
              .is_long = w->options->is_long,
              .seed = seed,
              .random = seed,
              .objects = cts_objects_new()};
  if (!r.c.objects) {
    cts_note_failure(CTS_HERE, QN_ERROR_OUT_OF_HOST_MEMORY, "host memory for a test", "there is none");
    return;
  }
  for (uint32_t i = 0; i < w->count; i++) {
    if (&w->devices[i] == device) continue;
    others[r.c.other_count++] = w->devices[i].device;
    qn_status status = start_neighbour(w, &w->devices[i]);
    if (status < 0) refuse(status, "a fill beside the test", w->devices[i].selector);
  }
  qn_status status = qn_device_statistics_get(device->device, &before);
  if (status < 0) refuse(status, "qn_device_statistics_get", device->selector);
  cts_guarded(run_test, &r);
  cts_objects_end(&r.c, &before);
  cts_guarded(check_neighbours, &r);
}

/* ---- One test ------------------------------------------------------------------------------------- */

static open_device *chosen_device(worker *w) {
  for (uint32_t i = 0; w->options->on && i < w->count; i++)
    if (!strcmp(w->devices[i].selector, w->options->on)) return &w->devices[i];
  return w->options->on ? NULL : &w->devices[0];
}

int cts_worker_one(const cts_options *options) {
  static worker the_worker;
  worker *w = &the_worker;
  cts_plan_item item;
  *w = (worker){.options = options, .live = map_live(options->live_fd)};
  if (!cts_plan_find(options->one, &item)) {
    fprintf(stderr, "quern-cts: there is no test '%s'; quern-cts --list shows them\n", options->one);
    return CTS_EXIT_USAGE;
  }
  uint64_t start = cts_now_ns();
  cts_check_start(&w->report, w->live);
  w->report = (cts_report){.outcome = CTS_BEGINS};
  bool is_open = open_all(w);
  open_device *device = is_open ? chosen_device(w) : NULL;
  if (is_open && !device) cts_note_failure(CTS_HERE, QN_OK, "--on names one of the devices of -d", options->on);
  if (device) {
    begin(w, options->one, device, 0, options->seed);
    run_on(w, item.test, device, options->seed);
  } else {
    snprintf(w->report.test, sizeof w->report.test, "%s", options->one);
    snprintf(w->report.selector, sizeof w->report.selector, "%s", options->on ? options->on : options->devices);
  }
  close_all(w);
  end(w, start);
  return w->report.outcome == CTS_PASSED ? CTS_EXIT_OK : CTS_EXIT_FAILED;
}

/* ---- All in one process --------------------------------------------------------------------------- */

static void device_text(const open_device *d, char *out, size_t size) {
  snprintf(out, size, "%s/%s/%s", d->selector, d->info.name, d->info.driver);
}

/* What is known to crash or hang would end the others. */
static bool may_run(const worker *w, const cts_gaps *gaps, const cts_plan_item *item) {
  char device[512], name[192];
  device_text(&w->devices[item->device], device, sizeof device);
  cts_plan_name(item, name, sizeof name);
  const cts_gap *gap = cts_gaps_wrong(gaps, device, name);
  return !gap || gap->kind == CTS_GAP_FAILS;
}

static void run_plan(worker *w, const cts_gaps *gaps, const cts_plan *plan, uint32_t round, uint64_t seed) {
  for (uint32_t i = 0; i < plan->count; i++) {
    const cts_plan_item *item = &plan->items[i];
    char name[192];
    if (!may_run(w, gaps, item)) continue;
    cts_plan_name(item, name, sizeof name);
    begin(w, name, &w->devices[item->device], round, seed);
    uint64_t start = cts_now_ns();
    run_on(w, item->test, &w->devices[item->device], seed);
    end(w, start);
  }
}

static bool run_round(worker *w, const cts_gaps *gaps, uint32_t round, uint64_t seed) {
  cts_plan plan = {0};
  uint64_t start = cts_now_ns();
  begin(w, "opening", NULL, round, seed);
  bool is_open = open_all(w);
  if (is_open && !cts_plan_make(&plan, w->options, w->count))
    cts_note_failure(CTS_HERE, QN_ERROR_OUT_OF_HOST_MEMORY, "host memory for the list of tests", "there is none");
  end(w, start);
  if (w->options->is_shuffled) cts_plan_shuffle(&plan, seed);
  run_plan(w, gaps, &plan, round, seed);
  cts_plan_free(&plan);
  start = cts_now_ns();
  begin(w, "closing", NULL, round, seed);
  close_all(w);
  end(w, start);
  return is_open;
}

int cts_worker_all(const cts_options *options, const cts_gaps *gaps) {
  static worker the_worker;
  worker *w = &the_worker;
  *w = (worker){.options = options, .live = map_live(options->live_fd)};
  for (uint32_t round = 0; round < options->rounds; round++)
    if (!run_round(w, gaps, round, options->seed + round)) return CTS_EXIT_FAILED;
  return CTS_EXIT_OK;
}

/* ---- Devices -------------------------------------------------------------------------------------- */

int cts_worker_describe(const cts_options *options) {
  static worker the_worker;
  worker *w = &the_worker;
  *w = (worker){.options = options};
  cts_check_start(&w->report, NULL);
  w->report = (cts_report){.outcome = CTS_BEGINS};
  uint64_t start = cts_now_ns();
  if (!open_all(w)) {
    end(w, start);
    return CTS_EXIT_USAGE;
  }
  for (uint32_t i = 0; i < w->count; i++) {
    const open_device *d = &w->devices[i];
    w->report = (cts_report){.outcome = CTS_PASSED, .features = d->features};
    snprintf(w->report.selector, sizeof w->report.selector, "%s", d->selector);
    snprintf(w->report.expected, sizeof w->report.expected, "%s", d->info.name);
    snprintf(w->report.came, sizeof w->report.came, "%s", d->info.driver);
    tell(w);
  }
  w->report = (cts_report){.outcome = CTS_BEGINS}; /* that was all; how closing goes is for the tests to find */
  tell(w);
  close_all(w);
  return CTS_EXIT_OK;
}

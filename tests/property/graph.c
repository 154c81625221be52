#include "graph.h"

#include <pthread.h>
#include <stdlib.h>

#include "adapters/null/sim/mix.h"

enum { MAX_QUEUES = 16, MAX_BUFFERS = 12, MAX_MARKS = 64 };

/* A use of an untracked buffer: who uses the same bytes later waits for it, by an explicit wait. */
typedef struct mark {
  uint64_t offset, end;
  bool writes;
  qn_point point;
} mark;

/* A buffer, and what stands in it after the serial run. */
typedef struct place {
  qn_buffer buffer;
  unsigned char *model;
  uint64_t size;
  bool is_untracked;
  mark marks[MAX_MARKS];
  uint32_t mark_count;
} place;

/* A part of a place. */
typedef struct part {
  place *place;
  uint64_t offset, size;
} part;

/* Host memory that work in flight uses; read into: what must stand there in the end. */
typedef struct host_memory {
  struct host_memory *next;
  unsigned char *bytes, *expected;
  uint64_t size;
  uint32_t step;
  qn_point point; /* whose queue may be gone before it is complete */
} host_memory;

typedef struct graph {
  const property_device *d;
  graph_options options;
  property_random random;
  qn_queue queues[MAX_QUEUES];
  place places[MAX_BUFFERS];
  host_memory *memory;
  qn_program program;
  qn_kernel kernels[2];
  bool is_shared; /* others submit to the queues as well */
  uint32_t step, refused;
  qn_point last;
} graph;

/* ---- Kernels, and what they do in the serial run ------------------------------------------------ */

static const char source[] =
    "kernel void blend(global const uchar *a, global uchar *b, uint k) {\n"
    "  size_t i = get_global_id(0);\n"
    "  b[i] = (uchar)(b[i] * 3 + a[i] + k);\n"
    "}\n"
    "kernel void cross_over(global const uchar *a, global const uchar *b, global uchar *c, uint k) {\n"
    "  size_t i = get_global_id(0);\n"
    "  c[i] = (uchar)(a[i] ^ (b[i] + k));\n"
    "}\n";
static const char *const kernel_names[] = {"blend", "cross_over"};
static const uint32_t kernel_buffers[] = {2, 3};

static void build(graph *g) {
  qn_program_options o = QN_INIT(qn_program_options);
  o.source = source;
  OK(qn_program_build(g->d->device, &o, &g->program));
  for (int i = 0; i < 2; i++) OK(qn_kernel_get(g->program, kernel_names[i], &g->kernels[i]));
}

static unsigned char *at(const part *p) { return p->place->model + p->offset; }

static void model_kernel(uint32_t kernel, const part *parts, uint32_t k) {
  for (uint64_t i = 0; i < parts[0].size; i++) {
    unsigned a = at(&parts[0])[i], b = at(&parts[1])[i];
    if (kernel == 0)
      at(&parts[1])[i] = (unsigned char)(b * 3 + a + k);
    else
      at(&parts[2])[i] = (unsigned char)(a ^ (b + k));
  }
}

/* The simulated device has no kernels and mixes. */
static void model_mix(const graph *g, uint32_t kernel, const part *parts, uint32_t k) {
  uint64_t digest = sim_mix_bytes(0, kernel_names[kernel], strlen(kernel_names[kernel]));
  uint32_t access[3] = {0};
  digest = sim_mix_bytes(digest, &k, sizeof k);
  for (uint32_t i = 0; i < kernel_buffers[kernel]; i++) {
    qn_argument_info info = QN_INIT(qn_argument_info);
    OK(qn_kernel_argument(g->kernels[kernel], i, &info));
    access[i] = info.access;
    if (access[i] & QN_ACCESS_READ) digest = sim_mix_bytes(digest, at(&parts[i]), parts[i].size);
  }
  for (uint32_t i = 0; i < kernel_buffers[kernel]; i++)
    if (access[i] & QN_ACCESS_WRITE) sim_mix_fill(digest, i, at(&parts[i]), parts[i].size);
}

/* ---- Choices ------------------------------------------------------------------------------------ */

static uint64_t pick(graph *g, uint64_t below) { return property_pick(&g->random, below); }
static qn_queue any_queue(graph *g) { return g->queues[pick(g, g->options.queues)]; }
static place *any_place(graph *g) { return &g->places[pick(g, g->options.buffers)]; }

static bool overlap(const part *a, const part *b) {
  return a->place == b->place && a->offset < b->offset + b->size && b->offset < a->offset + a->size;
}

/* Parts of equal size that don't overlap; often whole buffers, often neighbours. */
static void any_parts(graph *g, part *parts, uint32_t count) {
  for (;;) {
    uint64_t size = UINT64_MAX;
    bool is_fine = true;
    for (uint32_t i = 0; i < count; i++) {
      parts[i].place = any_place(g);
      if (parts[i].place->size < size) size = parts[i].place->size;
    }
    if (pick(g, 3) != 0) size = 1 + pick(g, size);
    for (uint32_t i = 0; i < count; i++) {
      parts[i].size = size;
      parts[i].offset = pick(g, parts[i].place->size - size + 1);
      for (uint32_t j = 0; j < i; j++) is_fine = is_fine && !overlap(&parts[i], &parts[j]);
    }
    if (is_fine) return;
  }
}

static qn_view view_of(const part *p) { return test_view(p->place->buffer, p->offset, p->size); }

static host_memory *take_memory(graph *g, uint64_t size, bool is_read) {
  host_memory *m = calloc(1, sizeof *m);
  assert_non_null(m);
  m->bytes = malloc((size_t)size);
  m->expected = is_read ? malloc((size_t)size) : NULL;
  assert_true(m->bytes && (m->expected || !is_read));
  m->size = size;
  m->step = g->step;
  m->next = g->memory;
  g->memory = m;
  return m;
}

/* ---- Submissions -------------------------------------------------------------------------------- */

static qn_point last_of(qn_queue queue) {
  qn_point last = {0, 0};
  OK(qn_queue_last(queue, &last));
  return last;
}

/* What a submission gave: whether it counts. One that was rejected left the queue's timeline as it was; one that was taken is
 * the last on it. */
static bool is_taken(graph *g, qn_queue queue, const qn_point *before, qn_status status, const char *what) {
  qn_point after = last_of(queue);
  if (g->is_shared) {
    if (status != QN_OK) fail_msg("step %u: %s: %s", g->step, what, qn_error_text());
    return true;
  }
  if (status == QN_OK) {
    assert_true(after.value > before->value && after.value == g->last.value);
    return true;
  }
  if (!g->options.is_refused || !strstr(qn_error_text(), "rejects"))
    fail_msg("step %u: %s: %s", g->step, what, qn_error_text());
  assert_int_equal(after.value, before->value);
  g->refused++;
  return false;
}
#define TAKEN(g, queue, call) (before = last_of(queue), is_taken(g, queue, &before, call, #call))

/* ---- Untracked buffers -------------------------------------------------------------------------- */

static bool conflicts(const mark *m, const part *p, bool writes) {
  return m->offset < p->offset + p->size && p->offset < m->end && (writes || m->writes);
}

static void wait_before(qn_queue queue, const part *p, bool writes) {
  const place *in = p->place;
  qn_point points[MAX_MARKS];
  uint32_t count = 0;
  for (uint32_t i = 0; i < in->mark_count; i++)
    if (conflicts(&in->marks[i], p, writes)) points[count++] = in->marks[i].point;
  qn_status status = count > 0 ? qn_queue_wait(queue, points, count) : QN_OK;
  while (status == QN_ERROR_DEVICE && strstr(qn_error_text(), "rejects")) status = qn_queue_wait(queue, points, count);
  OK(status);
}

static void settle(place *in) {
  for (uint32_t i = 0; i < in->mark_count; i++) OK(qn_point_wait(&in->marks[i].point, 60 * SECOND));
  in->mark_count = 0;
}

static void mark_use(const part *p, bool writes, const qn_point *point) {
  place *in = p->place;
  if (!in->is_untracked) return;
  if (in->mark_count == MAX_MARKS) settle(in);
  in->marks[in->mark_count++] =
      (mark){.offset = p->offset, .end = p->offset + p->size, .writes = writes, .point = *point};
}

/* ---- Steps -------------------------------------------------------------------------------------- */

static bool fill(graph *g, qn_queue queue, const part *p) {
  unsigned char pattern[16];
  uint32_t bytes = 1u << pick(g, 5);
  while (p->size % bytes != 0) bytes /= 2;
  for (uint32_t i = 0; i < bytes; i++) pattern[i] = (unsigned char)pick(g, 256);
  qn_view view = view_of(p);
  qn_point before;
  wait_before(queue, p, true);
  if (!TAKEN(g, queue, qn_fill(queue, &view, pattern, bytes, &g->last))) return false;
  mark_use(p, true, &g->last);
  for (uint64_t i = 0; i < p->size; i++) at(p)[i] = pattern[i % bytes];
  return true;
}

static void do_fill(graph *g) {
  part p;
  any_parts(g, &p, 1);
  (void)fill(g, any_queue(g), &p);
}

static void do_copy(graph *g) {
  part parts[2];
  qn_point before;
  qn_queue queue = any_queue(g);
  any_parts(g, parts, 2);
  qn_view target = view_of(&parts[0]), source_view = view_of(&parts[1]);
  wait_before(queue, &parts[0], true);
  wait_before(queue, &parts[1], false);
  if (!TAKEN(g, queue, qn_copy(queue, &target, &source_view, &g->last))) return;
  mark_use(&parts[0], true, &g->last);
  mark_use(&parts[1], false, &g->last);
  memcpy(at(&parts[0]), at(&parts[1]), (size_t)parts[0].size);
}

static void do_write(graph *g) {
  part p;
  qn_point before;
  qn_queue queue = any_queue(g);
  any_parts(g, &p, 1);
  host_memory *m = take_memory(g, p.size, false);
  for (uint64_t i = 0; i < p.size; i++) m->bytes[i] = (unsigned char)pick(g, 256);
  qn_view view = view_of(&p);
  wait_before(queue, &p, true);
  if (!TAKEN(g, queue, qn_write(queue, &view, m->bytes, &g->last))) return;
  m->point = g->last;
  mark_use(&p, true, &g->last);
  memcpy(at(&p), m->bytes, (size_t)p.size);
}

static void do_read(graph *g) {
  part p;
  qn_point before;
  qn_queue queue = any_queue(g);
  any_parts(g, &p, 1);
  host_memory *m = take_memory(g, p.size, true);
  qn_view view = view_of(&p);
  wait_before(queue, &p, false);
  if (!TAKEN(g, queue, qn_read(queue, &view, m->bytes, &g->last))) {
    m->size = 0;
    return;
  }
  m->point = g->last;
  mark_use(&p, false, &g->last);
  memcpy(m->expected, at(&p), (size_t)p.size);
}

static void do_launch(graph *g) {
  part parts[3];
  qn_point before;
  qn_queue queue = any_queue(g);
  uint32_t kernel = (uint32_t)pick(g, 2), count = kernel_buffers[kernel], k = (uint32_t)pick(g, 1u << 31);
  any_parts(g, parts, count);
  qn_argument arguments[4];
  for (uint32_t i = 0; i < count; i++) {
    qn_view view = view_of(&parts[i]);
    arguments[i] = qn_arg_view(&view);
    wait_before(queue, &parts[i], i + 1 == count);
  }
  arguments[count] = qn_arg_u32(k);
  if (!TAKEN(g, queue,
             qn_launch(queue, g->kernels[kernel], QN_RANGE_1D(parts[0].size), arguments, count + 1, &g->last)))
    return;
  for (uint32_t i = 0; i < count; i++) mark_use(&parts[i], i + 1 == count, &g->last);
  if (g->d->is_mixing)
    model_mix(g, kernel, parts, k);
  else
    model_kernel(kernel, parts, k);
}

static void differs(const graph *g, const char *what, uint64_t at_byte, unsigned is, unsigned should) {
  property_no_violation(g->d); /* tells more */
  fail_msg("step %u: %s: byte %llu is %u and should be %u", g->step, what, (unsigned long long)at_byte, is, should);
}

static void compare(const graph *g, const char *what, const unsigned char *is, const unsigned char *should,
                    uint64_t size) {
  for (uint64_t i = 0; i < size; i++)
    if (is[i] != should[i]) differs(g, what, i, is[i], should[i]);
}

/* The host looks into a buffer, and may change it. */
static void do_map(graph *g) {
  part p;
  void *pointer = NULL;
  bool writes = pick(g, 2) == 0;
  any_parts(g, &p, 1);
  qn_view view = view_of(&p);
  if (p.place->is_untracked) settle(p.place);
  OK(qn_buffer_map(&view, writes ? QN_MAP_READ | QN_MAP_WRITE : QN_MAP_READ, 60 * SECOND, &pointer));
  compare(g, "a map", pointer, at(&p), p.size);
  if (writes) {
    memset(pointer, (int)(g->step % 256), (size_t)p.size);
    memset(at(&p), (int)(g->step % 256), (size_t)p.size);
  }
  OK(qn_buffer_unmap(p.place->buffer, pointer));
}

static void do_wait(graph *g) {
  switch (pick(g, 3)) {
    case 0:
      OK(qn_point_wait(&g->last, 60 * SECOND));
      return;
    case 1:
      OK(qn_queue_finish(any_queue(g), 60 * SECOND));
      return;
    default:
      assert_true(qn_point_wait(&g->last, QN_POLL) >= 0);
  }
}

/* ---- Queues and buffers come and go ------------------------------------------------------------- */

static void renew_queue(graph *g) {
  qn_queue *queue = &g->queues[pick(g, g->options.queues)];
  OK(qn_release(*queue));
  *queue = test_queue(g->d->device);
}

static void make_buffer(graph *g, place *p) {
  qn_buffer_options o = QN_INIT(qn_buffer_options);
  o.size_bytes = p->size;
  o.flags = p->is_untracked ? QN_BUFFER_UNTRACKED : 0;
  if (pick(g, 2) == 0) o.queue = any_queue(g);
  OK(qn_buffer_create(g->d->device, &o, &p->buffer));
  const part whole = {p, 0, p->size};
  while (!fill(g, o.queue && pick(g, 4) != 0 ? o.queue : any_queue(g), &whole)) continue;
}

static void open_place(graph *g, place *p) {
  *p = (place){.size = 1 + pick(g, g->options.sizes), .is_untracked = pick(g, 4) == 0};
  p->model = malloc((size_t)p->size);
  assert_non_null(p->model);
  make_buffer(g, p);
}

static void renew_buffer(graph *g) {
  place *p = any_place(g);
  OK(qn_release(p->buffer));
  free(p->model);
  open_place(g, p);
}

/* ---- The run ------------------------------------------------------------------------------------ */

/* How often each step comes: a whole for each line. */
static const struct {
  void (*run)(graph *g);
  uint32_t weight;
} steps[] = {{do_fill, 4}, {do_copy, 6}, {do_write, 2}, {do_read, 3}, {do_launch, 8}, {do_map, 1}, {do_wait, 1}};
enum { STEPS = sizeof steps / sizeof *steps };

static bool may_run(const graph *g, uint32_t i) {
  if (steps[i].run == do_launch) return g->options.launches;
  bool waits = steps[i].run == do_map || steps[i].run == do_wait;
  return !waits || !g->options.is_hasty;
}

static void any_step(graph *g) {
  uint32_t total = 0;
  for (uint32_t i = 0; i < STEPS; i++) total += may_run(g, i) ? steps[i].weight : 0;
  uint64_t choice = pick(g, total);
  for (uint32_t i = 0; i < STEPS; i++) {
    if (!may_run(g, i)) continue;
    if (choice < steps[i].weight) {
      steps[i].run(g);
      return;
    }
    choice -= steps[i].weight;
  }
}

static void open_graph(graph *g, const qn_queue *shared) {
  if (g->options.launches) build(g);
  for (uint32_t i = 0; i < g->options.queues; i++) g->queues[i] = shared ? shared[i] : test_queue(g->d->device);
  for (uint32_t i = 0; i < g->options.buffers; i++) open_place(g, &g->places[i]);
}

/* Reads every buffer, each on some queue, and compares all that was ever read. */
static void compare_all(graph *g) {
  for (uint32_t i = 0; i < g->options.buffers; i++) {
    place *p = &g->places[i];
    const part whole = {p, 0, p->size};
    host_memory *m = take_memory(g, p->size, true);
    qn_queue queue = any_queue(g);
    qn_view view = view_of(&whole);
    wait_before(queue, &whole, false);
    qn_point before;
    while (!TAKEN(g, queue, qn_read(queue, &view, m->bytes, &g->last))) continue;
    m->point = g->last;
    memcpy(m->expected, p->model, (size_t)p->size);
  }
  for (host_memory *m = g->memory; m; m = m->next) {
    g->step = m->step;
    OK(qn_point_wait(&m->point, 60 * SECOND));
    if (m->expected) compare(g, "a read", m->bytes, m->expected, m->size);
  }
}

static void close_graph(graph *g, const qn_queue *shared) {
  while (g->memory) {
    host_memory *next = g->memory->next;
    free(g->memory->bytes);
    free(g->memory->expected);
    free(g->memory);
    g->memory = next;
  }
  for (uint32_t i = 0; i < g->options.buffers; i++) {
    OK(qn_release(g->places[i].buffer));
    free(g->places[i].model);
  }
  for (uint32_t i = 0; !shared && i < g->options.queues; i++) OK(qn_release(g->queues[i]));
  for (int i = 0; i < 2; i++) OK(qn_release(g->kernels[i])); /* NULL without launches */
  OK(qn_release(g->program));
}

static void run(const property_device *d, uint64_t seed, const graph_options *options, const qn_queue *shared) {
  graph g = {.d = d, .options = *options, .random = {seed}, .is_shared = shared != NULL};
  open_graph(&g, shared);
  for (g.step = 0; g.step < options->steps; g.step++) {
    any_step(&g);
    if (options->queues_come_and_go && pick(&g, 30) == 0) renew_queue(&g);
    if (options->buffers_come_and_go && pick(&g, 15) == 0) renew_buffer(&g);
  }
  compare_all(&g);
  if (options->is_refused) assert_true(g.refused > 0);
  close_graph(&g, shared);
}

/* For so many graphs at once. */
static void limit_memory(const property_device *d, const graph_options *options, uint64_t graphs) {
  qn_memory_options o = QN_INIT(qn_memory_options);
  uint64_t largest = options->sizes + options->sizes / 8 + 256; /* a block's, of the largest buffer */
  o.limit_bytes = options->is_short ? graphs * (options->buffers + 1) * largest : 0;
  OK(qn_memory_configure(d->device, &o));
}

void graph_run(const property_device *d, uint64_t seed, const graph_options *options) {
  limit_memory(d, options, 1);
  run(d, seed, options, NULL);
}

enum { THREADS = 4 };
typedef struct worker {
  pthread_t thread;
  const property_device *d;
  const graph_options *options;
  const qn_queue *queues;
  uint64_t seed;
} worker;

static void *work(void *given) {
  const worker *w = given;
  run(w->d, w->seed, w->options, w->queues);
  return NULL;
}

void graph_run_threads(const property_device *d, uint64_t seed, const graph_options *options) {
  qn_queue queues[MAX_QUEUES];
  worker workers[THREADS];
  limit_memory(d, options, THREADS);
  for (uint32_t i = 0; i < options->queues; i++) queues[i] = test_queue(d->device);
  for (int i = 0; i < THREADS; i++) {
    workers[i] = (worker){.d = d, .options = options, .queues = queues, .seed = seed * THREADS + (uint64_t)i};
    assert_int_equal(pthread_create(&workers[i].thread, NULL, work, &workers[i]), 0);
  }
  for (int i = 0; i < THREADS; i++) pthread_join(workers[i].thread, NULL);
  for (uint32_t i = 0; i < options->queues; i++) OK(qn_release(queues[i]));
}

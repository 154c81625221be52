/* labels: threads */
/* The pool on the simulated device, which hangs, fails and rejects (P1, P3, P4): random programs of buffers and queues that come and go.
 * After each step the sums agree, also with what the device itself has given; a block is handed out before its last work is
 * complete only in the right order, which the device checks; one whose work has failed isn't handed out at all. */
#include <stdlib.h>

#include "support.h"

enum { QUEUES = 6, BUFFERS = 16, BLOCKS = 4096 };
static const uint64_t sizes[] = {256, 512, 1024, 4096};

/* ---- The model ---------------------------------------------------------------------------------- */

typedef struct line {
  qn_queue queue;
  uint64_t id;
  bool is_held, is_failed; /* known to have failed */
  bool is_doomed;          /* was told to fail, and may have */
} line;

/* A block of the device, by its address, and what its last life as a buffer was. */
typedef struct block {
  uint64_t address, size;
  bool is_live;
  qn_point last;      /* use; {0, 0}: none */
  uint64_t only_user; /* the queue that wrote it first and alone used it; 0: there is no such */
  uint64_t frees;     /* what the driver had been given back when it was released */
} block;

typedef struct thing {
  qn_buffer buffer; /* NULL: none */
  block *block;
  uint64_t size;
  unsigned char byte;
  bool is_known; /* all of it is `byte` */
} thing;

typedef struct pool {
  property_device d;
  property_random random;
  line lines[QUEUES];
  thing things[BUFFERS];
  block blocks[BLOCKS];
  uint32_t block_count;
  uint64_t failed[256]; /* ids of queues that are known to have failed */
  uint32_t failed_count;
  uint64_t limit, all; /* of the pool; of what there is */
  uint64_t step;
} pool;

static uint64_t pick(pool *p, uint64_t below) { return property_pick(&p->random, below); }
static qn_memory_statistics statistics(const pool *p) {
  qn_memory_statistics m = QN_INIT(qn_memory_statistics);
  OK(qn_memory_statistics_get(p->d.device, &m));
  return m;
}

static block *block_at(pool *p, uint64_t address, uint64_t size) {
  for (uint32_t i = 0; i < p->block_count; i++)
    if (p->blocks[i].address == address) return &p->blocks[i];
  assert_true(p->block_count < BLOCKS);
  p->blocks[p->block_count] = (block){.address = address, .size = size};
  return &p->blocks[p->block_count++];
}

static void note_use(block *b, const qn_point *point, bool writes) {
  if (b->last.value == 0 && writes) b->only_user = point->queue;
  if (b->only_user != point->queue) b->only_user = 0;
  b->last = *point;
}

static void let_block_go(pool *p, block *b) {
  b->is_live = false;
  b->frees = statistics(p).driver_frees;
}

/* ---- What must be so after each step ------------------------------------------------------------ */

/* What the pool and the device say of one moment: the reaper may give memory back between two questions. */
static qn_memory_statistics quiet_statistics(const pool *p, null_counts *counts) {
  qn_memory_statistics before, after = statistics(p);
  do {
    before = after;
    *counts = property_counts(&p->d);
    after = statistics(p);
  } while (memcmp(&before, &after, sizeof after) != 0);
  return after;
}

static void invariants(const pool *p) {
  null_counts counts;
  qn_memory_statistics m = quiet_statistics(p, &counts);
  uint64_t live = 0, made = m.from_own_queue + m.from_known + m.from_complete + m.from_new + m.from_device_wait +
                            m.from_host_wait;
  for (int i = 0; i < BUFFERS; i++) live += p->things[i].buffer ? p->things[i].size : 0;
  if (m.reserved_bytes != m.used_bytes + m.cached_bytes + m.pending_bytes + m.quarantined_bytes)
    fail_msg("step %llu: reserved %llu, used %llu, cached %llu, pending %llu, quarantined %llu",
             (unsigned long long)p->step, (unsigned long long)m.reserved_bytes, (unsigned long long)m.used_bytes,
             (unsigned long long)m.cached_bytes, (unsigned long long)m.pending_bytes,
             (unsigned long long)m.quarantined_bytes);
  assert_true(m.used_bytes >= live);
  assert_true(m.limited_bytes <= m.reserved_bytes && m.peak_reserved_bytes >= m.reserved_bytes);
  assert_true(m.limit_bytes == p->limit && m.limited_bytes <= m.limit_bytes);
  assert_int_equal(m.driver_allocations - m.driver_frees, counts.memories);
  assert_int_equal(m.reserved_bytes, counts.memory_bytes);
  assert_true(made >= m.driver_allocations);
  property_no_violation(&p->d);
}

/* ---- Queues ------------------------------------------------------------------------------------- */

static void open_line(pool *p, line *l) {
  qn_queue_options o = QN_INIT(qn_queue_options);
  o.submit_timeout_ns = 2000000; /* a full queue may be held, or wait for one that is */
  *l = (line){0};
  OK(qn_queue_create(p->d.device, &o, &l->queue));
  l->id = property_id(l->queue);
}

static bool has_failed(const pool *p, uint64_t id) {
  for (uint32_t i = 0; i < p->failed_count; i++)
    if (p->failed[i] == id) return true;
  return false;
}

/* What a queue that failed was to write is undefined, and so is what was made of that. */
static void forget_contents(pool *p) {
  for (int i = 0; i < BUFFERS; i++) p->things[i].is_known = false;
}

/* A queue that failed stays so. */
static void note_failure(pool *p, line *l) {
  if (!l->is_failed && p->failed_count < 256) p->failed[p->failed_count++] = l->id;
  l->is_failed = true;
  forget_contents(p);
}

static void renew_line(pool *p) {
  line *l = &p->lines[pick(p, QUEUES)];
  if (l->is_held) p->d.control->go(p->d.control->device, l->id);
  if (l->is_doomed) forget_contents(p);
  OK(qn_release(l->queue));
  open_line(p, l);
}

static void hold_or_go(pool *p) {
  line *l = &p->lines[pick(p, QUEUES)];
  if (l->is_held)
    p->d.control->go(p->d.control->device, l->id);
  else
    p->d.control->hold(p->d.control->device, l->id, 1);
  l->is_held = !l->is_held;
}

static void let_all_go(pool *p) {
  p->d.control->go(p->d.control->device, 0);
  for (int i = 0; i < QUEUES; i++) p->lines[i].is_held = false;
}

/* Waits for a queue, and so learns of its failure. */
static void finish_line(pool *p, line *l) {
  let_all_go(p); /* a queue that is not held may wait for one that is */
  qn_status status = qn_queue_finish(l->queue, PATIENCE);
  if (status == QN_ERROR_DEVICE)
    note_failure(p, l);
  else
    OK(status);
}

static void finish_any(pool *p) { finish_line(p, &p->lines[pick(p, QUEUES)]); }

static void fail_some(pool *p) {
  line *l = &p->lines[pick(p, QUEUES)];
  qn_point last = {0, 0};
  if (pick(p, 4) != 0) return;
  l->is_doomed = true;
  OK(qn_queue_last(l->queue, &last));
  p->d.control->fail_at(p->d.control->device, l->id, last.value + 1 + pick(p, 4), 5, "the pool test");
}

static void reject_some(pool *p) { p->d.control->reject(p->d.control->device, 0, 1 + (uint32_t)pick(p, 2)); }

/* ---- Buffers ------------------------------------------------------------------------------------ */

static thing *any_thing(pool *p, bool is_live) {
  uint64_t first = pick(p, BUFFERS);
  for (uint64_t i = 0; i < BUFFERS; i++) {
    thing *t = &p->things[(first + i) % BUFFERS];
    if ((t->buffer != NULL) == is_live) return t;
  }
  return NULL;
}

/* A command's status: done, no room, rejected, or the queue has failed, which is then known. */
static bool is_done(pool *p, line *l, qn_status status) {
  if (status == QN_OK) return true;
  if (status == QN_ERROR_TIMEOUT) return false;
  if (status != QN_ERROR_DEVICE) OK(status);
  if (strstr(qn_error_text(), "the pool test")) note_failure(p, l);
  return false;
}

static void write_thing(pool *p, thing *t, line *l) {
  unsigned char byte = (unsigned char)pick(p, 256);
  qn_view view = test_view(t->buffer, 0, QN_WHOLE);
  qn_point point = {0, 0};
  if (!is_done(p, l, qn_fill(l->queue, &view, &byte, 1, &point))) return;
  note_use(t->block, &point, true);
  t->byte = byte;
  t->is_known = true;
}

static void write_any(pool *p) {
  thing *t = any_thing(p, true);
  if (t) write_thing(p, t, &p->lines[pick(p, QUEUES)]);
}

static void copy_any(pool *p) {
  thing *from = any_thing(p, true), *to = any_thing(p, true);
  line *l = &p->lines[pick(p, QUEUES)];
  if (!from || from == to) return;
  uint64_t size = from->size < to->size ? from->size : to->size;
  qn_view source = test_view(from->buffer, 0, size), target = test_view(to->buffer, 0, size);
  qn_point point = {0, 0};
  if (!is_done(p, l, qn_copy(l->queue, &target, &source, &point))) return;
  note_use(from->block, &point, false);
  note_use(to->block, &point, true);
  to->is_known = from->is_known && size == to->size;
  to->byte = from->byte;
}

/* All work is let go, and the whole buffer must hold what was written last. */
static void read_any(pool *p) {
  unsigned char got[4096];
  thing *t = any_thing(p, true);
  line *l = &p->lines[pick(p, QUEUES)];
  if (!t) return;
  qn_view view = test_view(t->buffer, 0, QN_WHOLE);
  qn_point point = {0, 0};
  if (!is_done(p, l, qn_read(l->queue, &view, got, &point))) return;
  note_use(t->block, &point, false);
  for (int i = 0; i < QUEUES; i++) finish_line(p, &p->lines[i]);
  OK(qn_point_wait(&point, PATIENCE) == QN_ERROR_DEVICE ? QN_OK : qn_point_wait(&point, PATIENCE));
  for (uint64_t i = 0; t->is_known && i < t->size; i++)
    if (got[i] != t->byte)
      fail_msg("step %llu: byte %llu of a buffer is %u and should be %u", (unsigned long long)p->step,
               (unsigned long long)i, got[i], t->byte);
}

static void release_any(pool *p) {
  thing *t = any_thing(p, true);
  if (!t) return;
  OK(qn_release(t->buffer));
  let_block_go(p, t->block);
  *t = (thing){0};
}

/* Whether a free block of this size is there that the queue alone used, and still does. What is complete may serve anybody, or
 * have gone back to the driver. */
static bool has_own(const pool *p, uint64_t size, const line *l) {
  uint64_t frees = statistics(p).driver_frees;
  for (uint32_t i = 0; i < p->block_count; i++) {
    const block *b = &p->blocks[i];
    if (!b->is_live && b->size == size && b->only_user == l->id && b->frees == frees &&
        qn_point_wait(&b->last, QN_POLL) == QN_NOT_READY)
      return true;
  }
  return false;
}

static void check_block(const pool *p, const block *b) {
  if (b->is_live) fail_msg("step %llu: two buffers have one block", (unsigned long long)p->step);
  if (has_failed(p, b->last.queue) && qn_point_wait(&b->last, QN_POLL) < 0)
    fail_msg("step %llu: a block is handed out whose last use, value %llu of queue %llu, failed",
             (unsigned long long)p->step, (unsigned long long)b->last.value, (unsigned long long)b->last.queue);
}

/* Buffers whose queue had a free block of its own, and those of them that got one: nearly all, for just now the reaper may have
 * such a block in its hands. */
static struct {
  uint64_t expected, taken;
} own_blocks;

static void create_any(pool *p) {
  thing *t = any_thing(p, false);
  line *l = pick(p, 3) == 0 ? NULL : &p->lines[pick(p, QUEUES)];
  uint64_t address = 0;
  if (!t) return;
  qn_buffer_options o = QN_INIT(qn_buffer_options);
  o.size_bytes = sizes[pick(p, sizeof sizes / sizeof *sizes)];
  o.queue = l ? l->queue : NULL;
  o.wait_timeout_ns = 1000000;
  o.flags = pick(p, 8) == 0 ? QN_BUFFER_UNTRACKED : 0;
  bool expects_own = l && !l->is_failed && has_own(p, o.size_bytes, l);
  uint64_t own = statistics(p).from_own_queue;
  qn_status status = qn_buffer_create(p->d.device, &o, &t->buffer);
  if (status == QN_ERROR_OUT_OF_MEMORY) return; /* hung queues hold it, or buffers do */
  OK(status);
  OK(qn_native_handle(t->buffer, 0, &address));
  t->block = block_at(p, address, o.size_bytes);
  t->size = o.size_bytes;
  check_block(p, t->block);
  if (expects_own) own_blocks.expected++;
  if (expects_own && statistics(p).from_own_queue == own + 1) own_blocks.taken++;
  *t->block = (block){.address = address, .size = o.size_bytes, .is_live = true};
  if (o.flags == 0) return;
  /* The caller orders an untracked buffer's uses; one use will do here. */
  write_thing(p, t, l ? l : &p->lines[0]);
  OK(qn_release(t->buffer));
  let_block_go(p, t->block);
  *t = (thing){0};
}

static void trim(pool *p) {
  uint64_t freed = 0;
  uint64_t before = statistics(p).reserved_bytes;
  OK(qn_memory_trim(p->d.device, 0, &freed));
  assert_true(freed <= before);
  for (uint32_t i = 0; i < p->block_count; i++) /* what went back to the driver may come again as new */
    if (!p->blocks[i].is_live) p->blocks[i].only_user = 0;
}

/* ---- The run ------------------------------------------------------------------------------------ */

static const struct {
  void (*run)(pool *p);
  uint32_t weight;
} steps[] = {{create_any, 12}, {release_any, 9}, {write_any, 12}, {copy_any, 6},    {read_any, 1}, {renew_line, 1},
             {hold_or_go, 2},  {finish_any, 1},  {fail_some, 1},  {reject_some, 1}, {trim, 1}};

static void any_step(pool *p) {
  uint32_t total = 0;
  for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) total += steps[i].weight;
  uint64_t choice = pick(p, total);
  for (size_t i = 0;; i++) {
    if (choice < steps[i].weight) {
      steps[i].run(p);
      return;
    }
    choice -= steps[i].weight;
  }
}

/* P4: when all is complete, the blocks of idle and retired queues serve everybody. */
static void everything_is_there_for_everybody(pool *p) {
  qn_buffer_options o = QN_INIT(qn_buffer_options);
  qn_buffer buffers[64] = {NULL};
  uint32_t count = 0;
  assert_int_equal(p->d.control->set(p->d.control->device, "no_memory=0"), 0);
  for (int i = 0; i < QUEUES; i++) finish_line(p, &p->lines[i]);
  for (int i = 0; i < QUEUES; i++) OK(qn_release(p->lines[i].queue));
  for (int i = 0; i < BUFFERS; i++)
    if (p->things[i].buffer) OK(qn_release(p->things[i].buffer));
  memset(p->things, 0, sizeof p->things);
  qn_queue fresh = test_queue(p->d.device);
  o.size_bytes = sizes[0];
  o.queue = fresh;
  qn_status status = QN_OK;
  while (status == QN_OK && count < 64) {
    status = qn_buffer_create(p->d.device, &o, &buffers[count]);
    count += status == QN_OK;
  }
  uint64_t taken = count * o.size_bytes + statistics(p).quarantined_bytes;
  if (count < 64 && taken + o.size_bytes <= p->all)
    fail_msg("of %llu bytes %llu are used or quarantined, and no more can be had: %s", (unsigned long long)p->all,
             (unsigned long long)taken, qn_error_text());
  invariants(p);
  for (uint32_t i = 0; i < count; i++) OK(qn_release(buffers[i]));
  OK(qn_release(fresh));
}

static void run_pool(uint64_t seed, uint64_t memory, const char *settings) {
  static pool p;
  p = (pool){.random = {seed}};
  p.d =
      property_open("null", "seed=%llu,memory=%llu,%s", (unsigned long long)seed, (unsigned long long)memory, settings);
  p.limit = 4096 + 4096 * pick(&p, memory > 1 << 20 ? 8 : 32);
  p.all = p.limit < memory ? p.limit : memory;
  qn_memory_options o = QN_INIT(qn_memory_options);
  o.limit_bytes = p.limit;
  o.wait_timeout_ns = 2000000;
  OK(qn_memory_configure(p.d.device, &o));
  for (int i = 0; i < QUEUES; i++) open_line(&p, &p.lines[i]);
  for (p.step = 0; p.step < 300; p.step++) {
    any_step(&p);
    invariants(&p);
  }
  everything_is_there_for_everybody(&p);
  property_close(&p.d);
}

static void test_P3_sums_agree_and_failed_blocks_stay_away(void **state) {
  (void)state;
  PROPERTY_EACH_SEED(seed, "the pool on null", 40, 5000) run_pool(seed, 1 << 30, "full=40");
  printf("measured: of %llu buffers whose queue had a block of its own, %llu got one\n",
         (unsigned long long)own_blocks.expected, (unsigned long long)own_blocks.taken);
  if (own_blocks.expected > 100) assert_true(10 * own_blocks.taken >= 9 * own_blocks.expected);
}

/* The driver itself has no more, or says so by chance. */
static void test_P1_a_driver_without_memory_is_asked_again_after_some_was_given_back(void **state) {
  (void)state;
  PROPERTY_EACH_SEED(seed, "the pool on null, a driver without memory", 20, 2000)
  run_pool(seed, 64 << 10, "no_memory=5");
}

/* A block that a writer and several readers used; the next queue waits for some of them, directly or through another. */
static void known_once(const property_device *d, property_random *random) {
  enum { READERS = 4 };
  static unsigned char out[READERS][256];
  qn_queue writer = test_queue(d->device), between = test_queue(d->device), next = test_queue(d->device);
  qn_queue readers[READERS];
  qn_buffer buffer = test_buffer(d->device, 256), again = NULL;
  qn_view view = test_view(buffer, 0, QN_WHOLE);
  qn_point points[READERS];
  uint64_t count = 1 + property_pick(random, READERS);
  for (int i = 0; i < READERS; i++) readers[i] = test_queue(d->device);
  OK(qn_fill(writer, &view, "w", 1, NULL));
  for (uint64_t i = 0; i < count; i++) OK(qn_read(readers[i], &view, out[i], &points[i]));
  for (uint64_t i = 0; i < count; i++) {
    uint64_t way = property_pick(random, 3);
    if (way == 0) continue;
    OK(qn_queue_wait(way == 1 ? next : between, &points[i], 1));
  }
  qn_view own = test_view(test_buffer(d->device, 4096), 0, QN_WHOLE);
  qn_point middle = {0, 0};
  OK(qn_fill(between, &own, "b", 1, &middle));
  if (property_pick(random, 4) != 0) OK(qn_queue_wait(next, &middle, 1));
  OK(qn_release(buffer));
  qn_buffer_options o = QN_INIT(qn_buffer_options);
  o.size_bytes = 256;
  o.queue = next;
  const pool p = {.d = *d};
  uint64_t known = statistics(&p).from_known, waits = property_counts(d).commands[NULL_WAIT];
  OK(qn_buffer_create(d->device, &o, &again));
  view = test_view(again, 0, QN_WHOLE);
  OK(qn_fill(next, &view, "n", 1, NULL));
  property_no_violation(d);
  if (statistics(&p).from_known > known) assert_int_equal(property_counts(d).commands[NULL_WAIT], waits);
  OK(qn_queue_finish(next, PATIENCE));
  const void *all[] = {writer, between, next, again, own.buffer};
  for (size_t i = 0; i < sizeof all / sizeof *all; i++) OK(qn_release(all[i]));
  for (int i = 0; i < READERS; i++) OK(qn_queue_finish(readers[i], PATIENCE));
  for (int i = 0; i < READERS; i++) OK(qn_release(readers[i]));
}

static void test_P1_a_block_is_known_when_all_that_used_it_is(void **state) {
  (void)state;
  uint64_t known = 0;
  PROPERTY_EACH_SEED(seed, "blocks that a queue knows", 30, 2000) {
    property_random random = {seed};
    property_device d = property_open("null", "seed=%llu", (unsigned long long)seed);
    for (int i = 0; i < 10; i++) known_once(&d, &random);
    const pool p = {.d = d};
    known += statistics(&p).from_known;
    property_close(&d);
  }
  printf("measured: blocks that a queue knew: %llu\n", (unsigned long long)known);
  assert_true(known > 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      PROPERTY_TEST(test_P3_sums_agree_and_failed_blocks_stay_away),
      PROPERTY_TEST(test_P1_a_block_is_known_when_all_that_used_it_is),
      PROPERTY_TEST(test_P1_a_driver_without_memory_is_asked_again_after_some_was_given_back),
  };
  property_watch();
  return cmocka_run_group_tests(tests, NULL, NULL);
}

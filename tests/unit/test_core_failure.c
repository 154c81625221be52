/* labels: threads */
/* L7: what a failure of a queue says, and who fails with it; on timelines of an adapter that is a table of numbers. */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
/* cmocka asks for some of the above. */
#include <cmocka.h>

#include "base/status.h"
#include "core/timeline.h"

struct qn_adapter_queue {
  _Atomic uint64_t completed;
  _Atomic uint64_t failed_first; /* 0: none */
  _Atomic uint32_t is_vague;     /* the adapter knows that it failed, not where */
  const char *text;
};

static qn_status completed(qn_adapter_queue *queue, uint64_t *out_value) {
  *out_value = atomic_load(&queue->completed);
  return atomic_load(&queue->failed_first) ? QN_ERROR_DEVICE : QN_OK;
}

static qn_status progress(qn_adapter_queue *queue, qn_adapter_progress *out) {
  out->completed = atomic_load(&queue->completed);
  out->failed_first = atomic_load(&queue->is_vague) ? 0 : atomic_load(&queue->failed_first);
  out->cause = QN_ERROR_DEVICE_LOST;
  out->driver_code = 719;
  snprintf(out->text, sizeof out->text, "%s", queue->text ? queue->text : "it fell off the bus");
  return QN_OK;
}

static const qn_adapter_table table = {
    .struct_size = sizeof table, .queue_completed = completed, .queue_progress = progress};

enum { QUEUES = 24 };
typedef struct world {
  core_failure_domain domain;
  uint32_t count;
  qn_adapter_queue queues[QUEUES];
  core_timeline *timelines[QUEUES];
  uint64_t ids[QUEUES];
} world;

static world *make_world(uint32_t domain, uint32_t count) {
  world *w = calloc(1, sizeof *w);
  assert_non_null(w);
  w->domain.kind = domain;
  w->count = count;
  for (uint32_t i = 0; i < count; i++) {
    assert_int_equal(core_timeline_reserve(&w->timelines[i], &w->ids[i]), QN_OK);
    const core_timeline_source source = {.device = w, .domain = &w->domain, .table = &table, .queue = &w->queues[i]};
    core_timeline_start(w->timelines[i], w->ids[i], &source);
  }
  return w;
}

static void end_world(world *w) {
  for (uint32_t i = 0; i < w->count; i++) {
    core_timeline_retire(w->timelines[i]);
    assert_true(core_timeline_is_quiet(w->timelines[i]));
    core_timeline_free(w->timelines[i]);
  }
  free(w);
}

/* Gives out one value; `kernel` NULL: a copy. */
static uint64_t submit(world *w, uint32_t queue, const char *kernel) {
  uint64_t value = atomic_fetch_add(&w->timelines[queue]->submitted, 1) + 1;
  if (kernel) core_timeline_note(w->timelines[queue], value, kernel);
  return value;
}

static qn_status ask(world *w, uint32_t queue, uint64_t value) {
  const qn_point point = {w->ids[queue], value};
  return core_point_wait(&point, QN_POLL);
}

#define HAS(words)                                                                                \
  do {                                                                                            \
    if (!strstr(qn_error_text(), (words))) fail_msg("'%s' lacks '%s'", qn_error_text(), (words)); \
  } while (0)
#define LACKS(words)                                                                           \
  do {                                                                                         \
    if (strstr(qn_error_text(), (words))) fail_msg("'%s' has '%s'", qn_error_text(), (words)); \
  } while (0)

/* ---- Names -------------------------------------------------------------------------------------- */

static void test_L7_a_failure_names_its_kernel_however_many_were_launched_after_it(void **state) {
  (void)state;
  static const uint32_t later[] = {0, 1, 63, 64, 65, 1000, 5000};
  for (size_t i = 0; i < sizeof later / sizeof *later; i++) {
    world *w = make_world(QN_FAILURE_QUEUE, 1);
    for (int j = 0; j < 100; j++) submit(w, 0, "before");
    atomic_store(&w->queues[0].completed, 100);
    uint64_t bad = submit(w, 0, "culprit");
    for (uint32_t j = 0; j < later[i]; j++) submit(w, 0, j % 2 ? "after" : NULL);
    atomic_store(&w->queues[0].failed_first, bad);
    assert_int_equal(ask(w, 0, bad), QN_ERROR_DEVICE_LOST);
    HAS("failed at value 101, kernel 'culprit': it fell off the bus");
    assert_int_equal(qn_error_driver_code(), 719);
    assert_int_equal(ask(w, 0, 100), QN_OK);
    end_world(w);
  }
}

static void an_adapter_may_name_the_kernel_and_it_is_named_once(void **state) {
  (void)state;
  static const struct {
    const char *told, *text;
  } cases[] = {{"kernel 'k': out of bounds", "failed at value 1, kernel 'k': out of bounds"},
               {"kernel 'kk': out of bounds", "failed at value 1, kernel 'k': kernel 'kk': out of bounds"}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    world *w = make_world(QN_FAILURE_QUEUE, 1);
    w->queues[0].text = cases[i].told;
    uint64_t bad = submit(w, 0, "k");
    atomic_store(&w->queues[0].failed_first, bad);
    assert_int_equal(ask(w, 0, bad), QN_ERROR_DEVICE_LOST);
    HAS(cases[i].text);
    end_world(w);
  }
}

static void names_of_what_is_complete_take_no_more_room(void **state) {
  (void)state;
  world *w = make_world(QN_FAILURE_QUEUE, 1);
  for (int i = 0; i < 200000; i++) atomic_store(&w->queues[0].completed, submit(w, 0, "many") - 10 * (i > 20));
  assert_null(atomic_load(&w->timelines[0]->recent.grown));
  assert_string_equal(core_recent_kernel(&w->timelines[0]->recent, 200000), "many");
  assert_null(core_recent_kernel(&w->timelines[0]->recent, 100));
  assert_null(core_recent_kernel(&w->timelines[0]->recent, 0));
  end_world(w);
}

static void what_never_completes_is_remembered_up_to_a_limit(void **state) {
  (void)state;
  world *w = make_world(QN_FAILURE_QUEUE, 1);
  for (int i = 0; i < 3 * CORE_RECENT_LIMIT; i++) submit(w, 0, "hung");
  const core_recent *recent = &w->timelines[0]->recent;
  assert_string_equal(core_recent_kernel(recent, 3 * CORE_RECENT_LIMIT), "hung");
  assert_string_equal(core_recent_kernel(recent, 2 * CORE_RECENT_LIMIT + 1), "hung");
  assert_null(core_recent_kernel(recent, 2 * CORE_RECENT_LIMIT));
  end_world(w);
}

static void a_copy_that_fails_names_no_kernel(void **state) {
  (void)state;
  world *w = make_world(QN_FAILURE_QUEUE, 1);
  submit(w, 0, "innocent");
  uint64_t copy = submit(w, 0, NULL);
  atomic_store(&w->queues[0].completed, 1);
  atomic_store(&w->queues[0].failed_first, copy);
  assert_int_equal(ask(w, 0, copy), QN_ERROR_DEVICE_LOST);
  LACKS("innocent");
  end_world(w);
}

/* ---- Domains ------------------------------------------------------------------------------------ */

static void test_L7_a_queues_failure_leaves_the_others_alone(void **state) {
  (void)state;
  world *w = make_world(QN_FAILURE_QUEUE, 3);
  for (uint32_t i = 0; i < 3; i++) submit(w, i, "k");
  atomic_store(&w->queues[1].failed_first, 1);
  assert_int_equal(ask(w, 1, 1), QN_ERROR_DEVICE_LOST);
  assert_int_equal(ask(w, 0, 1), QN_NOT_READY);
  atomic_store(&w->queues[0].completed, 1);
  assert_int_equal(ask(w, 0, 1), QN_OK);
  assert_int_equal(core_failure_of_domain(&w->domain), QN_OK);
  end_world(w);
}

static void test_L7_all_of_a_domain_fail_with_the_first_cause_and_its_candidates(void **state) {
  (void)state;
  static const uint32_t domains[] = {QN_FAILURE_CONTEXT, QN_FAILURE_DEVICE};
  for (int i = 0; i < 2; i++) {
    world *w = make_world(domains[i], 5), *other = make_world(domains[i], 1);
    submit(other, 0, "elsewhere");
    submit(w, 0, "done"), submit(w, 0, "first"), submit(w, 0, "not begun");
    submit(w, 1, "second");
    submit(w, 2, NULL), submit(w, 2, "behind a copy");
    submit(w, 3, "finished");
    atomic_store(&w->queues[0].completed, 1);
    atomic_store(&w->queues[3].completed, 1); /* the core has not looked yet */
    w->queues[1].text = "another text";
    assert_int_equal(ask(w, 0, 1), QN_OK);
    atomic_store(&w->queues[0].is_vague, 1);
    atomic_store(&w->queues[0].failed_first, 2);
    assert_int_equal(ask(w, 0, 2), QN_ERROR_DEVICE);
    HAS("candidate kernels: 'first' (queue ");
    HAS(", 'second' (queue ");
    static const char *const innocent[] = {"done", "not begun", "behind a copy", "finished", "elsewhere"};
    for (size_t j = 0; j < sizeof innocent / sizeof *innocent; j++) LACKS(innocent[j]);
    char first[1600];
    snprintf(first, sizeof first, "%s", qn_error_text());
    atomic_store(&w->queues[1].failed_first, 1); /* the adapter says so of each queue; the cause is the first one */
    for (uint32_t q = 1; q < 3; q++) {
      assert_int_equal(ask(w, q, 1), QN_ERROR_DEVICE);
      assert_string_equal(qn_error_text(), first);
    }
    assert_int_equal(ask(w, 3, 1), QN_OK); /* complete stays complete */
    for (uint32_t q = 3; q < 5; q++) {     /* idle ones take nothing any longer */
      assert_int_equal(core_timeline_failure(w->timelines[q]), QN_ERROR_DEVICE);
      assert_string_equal(qn_error_text(), first);
      assert_int_equal(ask(w, q, submit(w, q, "later")), QN_ERROR_DEVICE);
    }
    assert_int_equal(core_failure_of_domain(&w->domain), QN_ERROR_DEVICE);
    assert_string_equal(qn_error_text(), first);
    assert_int_equal(ask(other, 0, 1), QN_NOT_READY); /* nothing outside fails */
    assert_int_equal(core_failure_of_domain(&other->domain), QN_OK);
    end_world(w);
    end_world(other);
  }
}

static void a_long_list_of_candidates_is_counted(void **state) {
  (void)state;
  world *w = make_world(QN_FAILURE_DEVICE, QUEUES);
  for (uint32_t i = 0; i < QUEUES; i++)
    submit(w, i, "kernel_with_a_name_that_is_long_enough_to_fill_the_text_of_an_error");
  atomic_store(&w->queues[7].failed_first, 1);
  assert_int_equal(ask(w, 7, 1), QN_ERROR_DEVICE_LOST);
  assert_true(strlen(qn_error_text()) < sizeof w->domain.first.text);
  HAS("'kernel_with_a_name_that_is_long_enough_to_fill_the_text_of_an_error' (queue ");
  end_world(w);
  w = make_world(QN_FAILURE_DEVICE, QUEUES);
  for (uint32_t i = 0; i < QUEUES; i++) submit(w, i, "k");
  atomic_store(&w->queues[7].failed_first, 1);
  assert_int_equal(ask(w, 7, 1), QN_ERROR_DEVICE_LOST);
  HAS(", and 8 more");
  end_world(w);
}

/* ---- Threads ------------------------------------------------------------------------------------ */

typedef struct racer {
  world *w;
  uint32_t queue;
  char text[1600];
} racer;

static void *submit_and_ask(void *given) {
  racer *r = given;
  for (int i = 0; i < 20000; i++) {
    submit(r->w, r->queue, "racing");
    if (i == 10000) atomic_store(&r->w->queues[r->queue].failed_first, 1);
    (void)!ask(r->w, r->queue, 1);
  }
  snprintf(r->text, sizeof r->text, "%s", qn_error_text());
  return NULL;
}

static void queues_that_fail_at_once_have_one_cause(void **state) {
  (void)state;
  enum { RACERS = 4 };
  world *w = make_world(QN_FAILURE_DEVICE, RACERS);
  pthread_t threads[RACERS];
  racer racers[RACERS];
  for (uint32_t i = 0; i < RACERS; i++) {
    racers[i] = (racer){.w = w, .queue = i};
    assert_int_equal(pthread_create(&threads[i], NULL, submit_and_ask, &racers[i]), 0);
  }
  for (int i = 0; i < RACERS; i++) pthread_join(threads[i], NULL);
  for (int i = 1; i < RACERS; i++) assert_string_equal(racers[i].text, racers[0].text);
  end_world(w);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_L7_a_failure_names_its_kernel_however_many_were_launched_after_it),
      cmocka_unit_test(an_adapter_may_name_the_kernel_and_it_is_named_once),
      cmocka_unit_test(names_of_what_is_complete_take_no_more_room),
      cmocka_unit_test(what_never_completes_is_remembered_up_to_a_limit),
      cmocka_unit_test(a_copy_that_fails_names_no_kernel),
      cmocka_unit_test(test_L7_a_queues_failure_leaves_the_others_alone),
      cmocka_unit_test(test_L7_all_of_a_domain_fail_with_the_first_cause_and_its_candidates),
      cmocka_unit_test(a_long_list_of_candidates_is_counted),
      cmocka_unit_test(queues_that_fail_at_once_have_one_cause),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

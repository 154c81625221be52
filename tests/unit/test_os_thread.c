/* labels: threads */
/* test_os_thread.c - mutex, condition, once, futex, threads and their values. */
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/os/clock.h"
#include "base/os/thread.h"
#include "base/status.h"
#include "support/failing.h"

enum { THREADS = 4, MILLISECOND = 1000000 };

static void run_threads(void (*function)(void *), void *argument) {
  qn_thread threads[THREADS];
  for (int i = 0; i < THREADS; i++) assert_int_equal(qn_thread_start(&threads[i], "test", function, argument), QN_OK);
  for (int i = 0; i < THREADS; i++) qn_thread_join(&threads[i]);
}

/* ---- Mutex ---- */

typedef struct counted {
  qn_mutex mutex;
  uint64_t count; /* guarded by mutex, on purpose not atomic */
  uint64_t tried;
} counted;

static void count_up(void *given) {
  counted *c = given;
  for (int i = 0; i < 20000; i++) {
    if (i % 3 == 0 && qn_mutex_try_lock(&c->mutex)) {
      c->tried++;
    } else {
      qn_mutex_lock(&c->mutex);
    }
    c->count++;
    if (i % 1000 == 0) qn_thread_yield(); /* holds the lock for long: others must sleep */
    qn_mutex_unlock(&c->mutex);
  }
}

static void test_a_mutex_lets_one_in_at_a_time(void **state) {
  (void)state;
  counted c = {0};
  run_threads(count_up, &c);
  assert_int_equal(c.count, THREADS * 20000);
  assert_int_equal(atomic_load(&c.mutex.state), 0);
  qn_mutex_lock(&c.mutex);
  assert_false(qn_mutex_try_lock(&c.mutex));
  qn_mutex_unlock(&c.mutex);
}

/* ---- Condition ---- */

typedef struct mailbox {
  qn_mutex mutex;
  qn_cond filled, emptied;
  int letters;
  uint64_t sent, got;
} mailbox;

enum { LETTERS = 5000 };

static void send_letters(void *given) {
  mailbox *m = given;
  for (int i = 0; i < LETTERS; i++) {
    qn_mutex_lock(&m->mutex);
    while (m->letters == 3) qn_cond_wait(&m->emptied, &m->mutex, QN_FOREVER);
    m->letters++;
    m->sent++;
    qn_mutex_unlock(&m->mutex);
    qn_cond_signal(&m->filled);
  }
}

static void take_letters(void *given) {
  mailbox *m = given;
  for (int i = 0; i < LETTERS; i++) {
    qn_mutex_lock(&m->mutex);
    while (m->letters == 0) qn_cond_wait(&m->filled, &m->mutex, QN_FOREVER);
    m->letters--;
    m->got++;
    qn_mutex_unlock(&m->mutex);
    qn_cond_signal(&m->emptied);
  }
}

static void test_a_condition_loses_no_signal(void **state) {
  (void)state;
  mailbox m = {0};
  qn_thread threads[4];
  for (int i = 0; i < 4; i++)
    assert_int_equal(qn_thread_start(&threads[i], "mail", i % 2 ? send_letters : take_letters, &m), QN_OK);
  for (int i = 0; i < 4; i++) qn_thread_join(&threads[i]);
  assert_int_equal(m.sent, 2 * LETTERS);
  assert_int_equal(m.got, 2 * LETTERS);
  assert_int_equal(m.letters, 0);
}

typedef struct gate {
  qn_mutex mutex;
  qn_cond opened;
  bool open;
  int through;
} gate;

static void pass_gate(void *given) {
  gate *g = given;
  qn_mutex_lock(&g->mutex);
  while (!g->open) qn_cond_wait(&g->opened, &g->mutex, QN_FOREVER);
  g->through++;
  qn_mutex_unlock(&g->mutex);
}

static void test_a_broadcast_wakes_all(void **state) {
  (void)state;
  gate g = {0};
  qn_thread threads[THREADS];
  for (int i = 0; i < THREADS; i++) assert_int_equal(qn_thread_start(&threads[i], "gate", pass_gate, &g), QN_OK);
  qn_clock_sleep(5 * MILLISECOND);
  qn_mutex_lock(&g.mutex);
  assert_int_equal(g.through, 0);
  g.open = true;
  qn_mutex_unlock(&g.mutex);
  qn_cond_broadcast(&g.opened);
  for (int i = 0; i < THREADS; i++) qn_thread_join(&threads[i]);
  assert_int_equal(g.through, THREADS);
}

static void test_a_wait_with_a_limit_ends(void **state) {
  (void)state;
  gate g = {0};
  uint64_t start = qn_clock_ns(), end = qn_clock_deadline(10 * MILLISECOND);
  qn_mutex_lock(&g.mutex);
  while (qn_cond_wait(&g.opened, &g.mutex, qn_clock_left(end)))
    assert_true(qn_clock_left(end) > 0);     /* woken without cause */
  assert_false(qn_mutex_try_lock(&g.mutex)); /* it is ours again */
  qn_mutex_unlock(&g.mutex);
  assert_true(qn_clock_ns() - start >= 10 * MILLISECOND);
}

/* ---- Futex ---- */

static void test_a_futex_sleeps_only_while_the_word_is_as_expected(void **state) {
  (void)state;
  _Atomic uint32_t word = 1;
  assert_true(qn_futex_wait(&word, 0, QN_FOREVER)); /* another value: no sleep */
  assert_false(qn_futex_wait(&word, 1, MILLISECOND));
  assert_false(qn_futex_wait(&word, 1, QN_POLL));
  qn_futex_wake(&word, UINT32_MAX); /* nobody sleeps */
}

static void wake_later(void *given) {
  _Atomic uint32_t *word = given;
  qn_clock_sleep(2 * MILLISECOND);
  atomic_store(word, 2);
  qn_futex_wake(word, 1);
}

static void test_a_futex_wake_reaches_a_sleeper(void **state) {
  (void)state;
  _Atomic uint32_t word = 1;
  qn_thread thread;
  assert_int_equal(qn_thread_start(&thread, "waker", wake_later, &word), QN_OK);
  while (atomic_load(&word) == 1) assert_true(qn_futex_wait(&word, 1, 10000ull * MILLISECOND));
  qn_thread_join(&thread);
}

/* ---- Once ---- */

static qn_once once;
static int once_runs;
static void slow_once(void) {
  qn_clock_sleep(3 * MILLISECOND);
  once_runs++;
}
static void call_once_here(void *given) {
  qn_once_run(&once, slow_once);
  if (once_runs != 1) atomic_fetch_add((_Atomic int *)given, 1); /* returned before it was done */
}

static void test_once_runs_once_and_all_wait_for_it(void **state) {
  (void)state;
  _Atomic int early = 0;
  run_threads(call_once_here, &early);
  assert_int_equal(once_runs, 1);
  assert_int_equal(early, 0);
}

/* ---- Threads ---- */

typedef struct seen {
  char name[32];
  sigset_t blocked;
  uint64_t id;
} seen;

static void look_around(void *given) {
  seen *s = given;
  pthread_getname_np(pthread_self(), s->name, sizeof s->name);
  pthread_sigmask(SIG_SETMASK, NULL, &s->blocked);
  s->id = qn_thread_id();
}

static void test_threads_have_names_and_take_no_signals(void **state) {
  (void)state;
  seen s = {0};
  sigset_t before, after;
  pthread_sigmask(SIG_SETMASK, NULL, &before);
  qn_thread thread;
  assert_int_equal(qn_thread_start(&thread, "quern-worker-with-a-long-name", look_around, &s), QN_OK);
  pthread_sigmask(SIG_SETMASK, NULL, &after);
  qn_thread_join(&thread);
  assert_int_equal(thread.native, 0);
  qn_thread_join(&thread); /* nothing */
  assert_string_equal(s.name, "quern-worker-wi");
  assert_true(sigismember(&s.blocked, SIGINT) && sigismember(&s.blocked, SIGTERM) && sigismember(&s.blocked, SIGUSR1));
  assert_false(sigismember(&s.blocked, SIGSEGV) || sigismember(&s.blocked, SIGBUS) || sigismember(&s.blocked, SIGFPE));
  assert_int_equal(sigismember(&before, SIGINT), sigismember(&after, SIGINT));
  assert_true(s.id != 0 && s.id != qn_thread_id());
}

static void test_a_thread_without_memory_is_an_error(void **state) {
  (void)state;
  qn_thread thread = {0};
  failing_start(0, true);
  qn_status status = qn_thread_start(&thread, "none", look_around, NULL);
  failing_stop();
  assert_int_equal(status, QN_ERROR_OUT_OF_HOST_MEMORY);
  assert_non_null(strstr(qn_error_text(), "'none'"));
  assert_int_equal(thread.native, 0);
}

/* ---- Values ---- */

static _Atomic int ended;
static void end_value(void *value) { atomic_fetch_add(&ended, *(int *)value); }
static qn_thread_key key = QN_THREAD_KEY(end_value);
static int one = 1, ten = 10;

static void set_values(void *given) {
  if (qn_thread_key_get(&key) != NULL) atomic_fetch_add((_Atomic int *)given, 1);
  if (!qn_thread_key_set(&key, &ten) || qn_thread_key_get(&key) != &ten) atomic_fetch_add((_Atomic int *)given, 1);
  if (!qn_thread_key_set(&key, &one)) atomic_fetch_add((_Atomic int *)given, 1);
}
static void set_and_clear(void *given) {
  if (!qn_thread_key_set(&key, &ten) || !qn_thread_key_set(&key, NULL)) atomic_fetch_add((_Atomic int *)given, 1);
}

static void test_a_threads_value_ends_with_it(void **state) {
  (void)state;
  _Atomic int wrong = 0;
  assert_null(qn_thread_key_get(&key));
  run_threads(set_values, &wrong);
  assert_int_equal(ended, THREADS);
  run_threads(set_and_clear, &wrong);
  assert_int_equal(ended, THREADS); /* a cleared value isn't ended */
  assert_int_equal(wrong, 0);
}

/* ---- Clock ---- */

static void test_deadlines_do_not_overflow(void **state) {
  (void)state;
  assert_true(qn_clock_deadline(QN_FOREVER) == QN_FOREVER);
  assert_true(qn_clock_deadline(QN_FOREVER - 1) == QN_FOREVER);
  assert_true(qn_clock_left(QN_FOREVER) == QN_FOREVER);
  assert_int_equal(qn_clock_left(0), 0);
  uint64_t soon = qn_clock_deadline(1000ull * 1000 * MILLISECOND);
  assert_true(qn_clock_left(soon) > 0 && qn_clock_left(soon) <= 1000ull * 1000 * MILLISECOND);
}

static void test_the_clock_goes_forward_and_sleeps_last(void **state) {
  (void)state;
  uint64_t start = qn_clock_ns();
  qn_clock_sleep(2 * MILLISECOND);
  assert_true(qn_clock_ns() - start >= 2 * MILLISECOND);
  qn_clock_sleep(0);
  assert_true(qn_clock_wall_ns() > UINT64_C(1700000000) * 1000000000);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_a_mutex_lets_one_in_at_a_time),
      cmocka_unit_test(test_a_condition_loses_no_signal),
      cmocka_unit_test(test_a_broadcast_wakes_all),
      cmocka_unit_test(test_a_wait_with_a_limit_ends),
      cmocka_unit_test(test_a_futex_sleeps_only_while_the_word_is_as_expected),
      cmocka_unit_test(test_a_futex_wake_reaches_a_sleeper),
      cmocka_unit_test(test_once_runs_once_and_all_wait_for_it),
      cmocka_unit_test(test_threads_have_names_and_take_no_signals),
      cmocka_unit_test(test_a_thread_without_memory_is_an_error),
      cmocka_unit_test(test_a_threads_value_ends_with_it),
      cmocka_unit_test(test_deadlines_do_not_overflow),
      cmocka_unit_test(test_the_clock_goes_forward_and_sleeps_last),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

/* build_jobs.c - compiling many outputs at once. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "build.h"
#include "run.h"

typedef struct crew {
  const build_options *options;
  build_job *jobs;
  size_t count;
  _Atomic size_t next;
  pthread_mutex_t lock; /* the progress bar, and how many are done */
  progress bar;
  size_t done;
} crew;

static void run_job(const build_options *o, build_job *job) {
  qn_build_options options = QN_INIT(qn_build_options);
  job->artifact = (qn_artifact)QN_INIT(qn_artifact);
  options.kind = job->kind->kind;
  options.source = job->source;
  options.source_bytes = job->source_bytes;
  options.file_name = job->file;
  options.options = o->build;
  options.target = job->target;
  options.name = o->name;
  options.flags = QN_BUILD_DEFER_HIT | (isatty(STDERR_FILENO) ? QN_BUILD_SHOW_WAITS : 0);
  job->status = qn_build(&options, &job->artifact);
  if (job->status < 0) job->error = tool_copy(qn_error_text(), strlen(qn_error_text()));
}

static void *work(void *given) {
  crew *c = given;
  for (;;) {
    size_t at = atomic_fetch_add(&c->next, 1);
    if (at >= c->count) return NULL;
    run_job(c->options, &c->jobs[at]);
    pthread_mutex_lock(&c->lock);
    progress_show(&c->bar, c->jobs[at].output, ++c->done, c->count);
    pthread_mutex_unlock(&c->lock);
  }
}

void build_run_jobs(const build_options *o, build_job *jobs, size_t count) {
  crew c = {.options = o, .jobs = jobs, .count = count, .bar = progress_start(false)};
  size_t wanted = o->jobs < count ? (size_t)o->jobs : count, started = 0;
  pthread_t *threads = tool_alloc(wanted ? wanted : 1, sizeof *threads);
  pthread_mutex_init(&c.lock, NULL);
  while (started + 1 < wanted && pthread_create(&threads[started], NULL, work, &c) == 0) started++;
  work(&c); /* and this thread */
  for (size_t i = 0; i < started; i++) pthread_join(threads[i], NULL);
  pthread_mutex_destroy(&c.lock);
  progress_end(&c.bar);
  free(threads);
}

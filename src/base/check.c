#include "base/check.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "base/log.h"
#include "base/os/dl.h"
#include "base/os/environment.h"
#include "base/os/thread.h"
#include "base/string_view.h"

static const char *const topic_names[] = {
#define QN_X(id, name) name,
    QN_CHECK_TOPICS(QN_X)
#undef QN_X
};

static qn_once once;
static uint32_t topics_on; /* written once, inside `once` */

static void complain(qn_sv unknown) {
  char names[128] = "";
  for (int i = 0; i < QN_CHECK_TOPIC_COUNT; i++)
    snprintf(names + strlen(names), sizeof names - strlen(names), "%s%s", i ? ", " : "", topic_names[i]);
  qn_log_write(QN_LOG_RUNTIME, "QUERN_CHECK has no topic '%.*s'; there are: %s",
               (int)(unknown.size > 64 ? 64 : unknown.size), unknown.data, names);
}

static uint32_t topic_bit(qn_sv name) {
  if (name.size == 0) return 0;
  for (int i = 0; i < QN_CHECK_TOPIC_COUNT; i++)
    if (qn_sv_is(name, topic_names[i])) return UINT32_C(1) << i;
  complain(name);
  return 0;
}

static void read_topics(void) {
  const char *at = qn_environment("QUERN_CHECK");
  while (at && *at) {
    size_t size = strcspn(at, ",");
    topics_on |= topic_bit(qn_sv_make(at, size));
    at += size;
    at += *at == ',';
  }
}

void qn_check_start(void) {
  if (qn_check_on(QN_CHECK_COSTS))
    atomic_store(&qn_lock_hook, (qn_lock_hook_fn)(uintptr_t)qn_program_symbol("quern_lock_hook"));
}

bool qn_check_on(qn_check_topic topic) {
  qn_once_run(&once, read_topics);
  return (topics_on >> topic & 1u) != 0;
}

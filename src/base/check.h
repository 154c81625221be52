/* check.h - QUERN_CHECK=topic[,topic]: what the library checks of its caller, at a price. */
#ifndef QUERN_BASE_CHECK_H
#define QUERN_BASE_CHECK_H

#include <stdbool.h>

/* X(ID, name) */
#define QN_CHECK_TOPICS(X)                                              \
  X(LEAKS, "leaks") /* what was not released when its runtime closes */ \
  X(COSTS, "costs") /* locks are told to quern_lock_hook, which the program exports: void (*)(const void *) */
typedef enum qn_check_topic {
#define QN_X(id, name) QN_CHECK_##id,
  QN_CHECK_TOPICS(QN_X)
#undef QN_X
      QN_CHECK_TOPIC_COUNT
} qn_check_topic;

/* Read from the environment once. An unknown topic is told once, with the list of those that exist. */
bool qn_check_on(qn_check_topic topic);

/* Starts what checks from the beginning. At the first call into the library, before it makes threads. */
void qn_check_start(void);

#endif

/* log.h - QUERN_LOG=topic[,topic] or all: lines on standard error, one write each, "quern: topic: text". */
#ifndef QUERN_BASE_LOG_H
#define QUERN_BASE_LOG_H

#include <stdbool.h>

/* X(ID, name): topics */
#define QN_LOG_TOPICS(X) \
  X(RUNTIME, "runtime")  \
  X(ADAPTER, "adapter")  \
  X(COMPILE, "compile")  \
  X(CACHE, "cache")      \
  X(MEMORY, "memory")    \
  X(LAUNCH, "launch")
typedef enum qn_log_topic {
#define QN_X(id, name) QN_LOG_##id,
  QN_LOG_TOPICS(QN_X)
#undef QN_X
      QN_LOG_TOPIC_COUNT
} qn_log_topic;

/* Read from the environment once. An unknown topic is told once, with the list of those that exist. */
bool qn_log_on(qn_log_topic topic);
void qn_log_write(qn_log_topic topic, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* "quern: text" on a terminal, over what a progress bar may have left in the line. */
void qn_log_show(const char *format, ...) __attribute__((format(printf, 1, 2)));
#define QN_LOG(topic, ...)                                                    \
  do {                                                                        \
    if (qn_log_on(QN_LOG_##topic)) qn_log_write(QN_LOG_##topic, __VA_ARGS__); \
  } while (0)

#endif

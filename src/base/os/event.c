#include "base/os/event.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/status.h"

static qn_status no_descriptor(void) {
  QN_FAIL(QN_ERROR_LIMIT, "no descriptor for an event: %s; close some, or raise the limit (ulimit -n)",
          strerrordesc_np(errno));
}

qn_status qn_event_open(int32_t *out_reader, int32_t *out_signaller) {
  int reader = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  if (reader < 0) return no_descriptor();
  int signaller = fcntl(reader, F_DUPFD_CLOEXEC, 0);
  if (signaller < 0) {
    qn_status status = no_descriptor();
    close(reader);
    return status;
  }
  *out_reader = reader;
  *out_signaller = signaller;
  return QN_OK;
}

void qn_event_signal(int32_t signaller) {
  const uint64_t one = 1;
  int saved = errno;
  /* It can only fail when the counter is full, and then the reader sees it anyway. */
  while (write(signaller, &one, sizeof one) < 0 && errno == EINTR) continue;
  errno = saved;
}

void qn_event_close(int32_t descriptor) {
  int saved = errno;
  close(descriptor);
  errno = saved;
}

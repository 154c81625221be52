/* pressure.c - the pool's options, and the callback that is asked when memory is short. */
#include "base/status.h"
#include "pool/lane.h"

static QN_THREAD_LOCAL uint32_t is_inside; /* this thread, of any pool's callback */

static bool enter(qn_pool *pool, qn_pool_options *out_options) {
  qn_mutex_lock(&pool->lock);
  *out_options = pool->options;
  bool is_there = pool->options.pressure != NULL;
  pool->inside += is_there;
  qn_mutex_unlock(&pool->lock);
  return is_there;
}

static void leave(qn_pool *pool) {
  qn_mutex_lock(&pool->lock);
  pool->inside--;
  qn_mutex_unlock(&pool->lock);
  qn_cond_broadcast(&pool->is_left);
}

bool qn_pool_press(qn_pool *pool, uint64_t wanted_bytes) {
  qn_pool_options options;
  if (is_inside != 0 || !enter(pool, &options)) return false;
  qn_error_saved saved;
  qn_error_save(&saved);
  atomic_fetch_add_explicit(&pool->pressure_calls, 1, memory_order_relaxed);
  is_inside++;
  uint32_t answer = options.pressure(options.user, wanted_bytes);
  is_inside--;
  qn_error_restore(&saved);
  leave(pool);
  return answer != 0;
}

qn_status qn_pool_configure(qn_pool *pool, const qn_pool_options *options) {
  if (is_inside != 0)
    QN_FAIL(QN_ERROR_WOULD_BLOCK, "options are set inside a pressure callback, whose end they would wait for");
  qn_mutex_lock(&pool->lock);
  pool->options = *options;
  atomic_store_explicit(&pool->keep, options->keep_bytes, memory_order_relaxed);
  while (pool->inside != 0) qn_cond_wait(&pool->is_left, &pool->lock, QN_FOREVER);
  qn_mutex_unlock(&pool->lock);
  qn_pool_make_room(pool, 0, false);
  return QN_OK;
}

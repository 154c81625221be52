/* settings.h - where the store is and what it may do: from the environment (C3, C6).
 *
 *   QUERN_CACHE_DIR           its directory; else $XDG_CACHE_HOME/quern, else $HOME/.cache/quern
 *   QUERN_CACHE_MAX_SIZE      bytes, with K, M, G or T (powers of 1000) or Ki, Mi, Gi, Ti (of 1024) behind, and B; 5G; 0: no limit
 *   QUERN_CACHE               write (the default), read (nothing is written), recache (nothing is found), off
 *   QUERN_CACHE_ALLOW_OTHERS  1: also a directory that another user owns or may write to
 */
#ifndef QUERN_STORE_SETTINGS_H
#define QUERN_STORE_SETTINGS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/string_view.h"
#include "quern/quern.h"

typedef enum qn_store_mode { QN_STORE_WRITE, QN_STORE_READ, QN_STORE_RECACHE, QN_STORE_OFF } qn_store_mode;

typedef struct qn_store_settings {
  const char *directory; /* NULL only when the mode is off */
  uint64_t max_bytes;    /* 0: no limit */
  qn_store_mode mode;
  bool allows_others;
} qn_store_settings;

/* Reads the environment. Without any home the mode is off. Errors: INVALID_ARGUMENT (variable and value are named),
 * OUT_OF_HOST_MEMORY. */
QN_MUST_USE qn_status qn_store_settings_read(qn_arena *arena, qn_store_settings *out_settings);

/* "1.5G", "500M", "64KiB", "1000". Errors: INVALID_ARGUMENT; the text doesn't name where the size came from. */
QN_MUST_USE qn_status qn_size_parse(qn_sv text, uint64_t *out_bytes);

/* Whether native code from this directory may be trusted (C6): it is ours, and nobody else may write to it. A directory
 * that isn't there is fine. Errors: UNSUPPORTED with the reason and what to do. */
QN_MUST_USE qn_status qn_store_check_owner(const char *directory);

#endif

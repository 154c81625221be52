#include "store/settings.h"

#include <string.h>

#include "base/os/environment.h"
#include "base/os/files.h"
#include "base/os/process.h"
#include "base/status.h"

static const uint64_t default_max_bytes = UINT64_C(5000000000);

/* ---- Sizes -------------------------------------------------------------------------------------- */

static uint64_t unit_of(qn_sv text) {
  static const struct {
    const char *name;
    uint64_t bytes;
  } units[] = {{"", 1},
               {"K", 1000},
               {"M", 1000000},
               {"G", 1000000000},
               {"T", 1000000000000},
               {"Ki", UINT64_C(1) << 10},
               {"Mi", UINT64_C(1) << 20},
               {"Gi", UINT64_C(1) << 30},
               {"Ti", UINT64_C(1) << 40}};
  if (text.size > 0 && text.data[text.size - 1] == 'B') text.size--;
  for (size_t i = 0; i < sizeof units / sizeof *units; i++)
    if (qn_sv_equal(text, qn_sv_from(units[i].name))) return units[i].bytes;
  return 0;
}

static bool is_digit(char c) { return c >= '0' && c <= '9'; }

static qn_status bad_size(qn_sv text) {
  QN_FAIL(QN_ERROR_INVALID_ARGUMENT,
          "'%.*s' is no size: write bytes, or a number with K, M, G, T or Ki, Mi, Gi, Ti behind it, as in 1.5G",
          QN_SV_ARG(text));
}

qn_status qn_size_parse(qn_sv text, uint64_t *out_bytes) {
  uint64_t value = 0, scale = 1; /* value / scale is the number */
  size_t at = 0, digits = 0;
  bool point = false;
  for (; at < text.size && (is_digit(text.data[at]) || (text.data[at] == '.' && !point)); at++) {
    if (text.data[at] == '.') {
      point = true;
      continue;
    }
    if (value > UINT64_C(100000000000000) || scale > 100000) return bad_size(text);
    value = value * 10 + (uint64_t)(text.data[at] - '0');
    if (point) scale *= 10;
    digits++;
  }
  uint64_t unit = unit_of(qn_sv_make(text.data + at, text.size - at));
  if (digits == 0 || unit == 0) return bad_size(text);
  uint64_t whole = value / scale, part = value % scale * unit / scale;
  if (whole > (INT64_MAX - part) / unit) return bad_size(text);
  *out_bytes = whole * unit + part;
  if (*out_bytes == 0 && value > 0) *out_bytes = 1; /* 0 stands for no limit, and is written as such */
  return QN_OK;
}

/* ---- Environment -------------------------------------------------------------------------------- */

static qn_status read_mode(qn_store_mode *out_mode) {
  static const char *const names[] = {"write", "read", "recache", "off"};
  const char *value = qn_environment("QUERN_CACHE");
  *out_mode = QN_STORE_WRITE;
  if (!value) return QN_OK;
  for (uint32_t i = 0; i < sizeof names / sizeof *names; i++) {
    if (strcmp(value, names[i]) != 0) continue;
    *out_mode = (qn_store_mode)i;
    return QN_OK;
  }
  QN_FAIL(QN_ERROR_INVALID_ARGUMENT, "QUERN_CACHE is '%s'; it can be write, read, recache or off", value);
}

static qn_status read_max(uint64_t *out_bytes) {
  const char *value = qn_environment("QUERN_CACHE_MAX_SIZE");
  *out_bytes = default_max_bytes;
  if (!value) return QN_OK;
  qn_status status = qn_size_parse(qn_sv_from(value), out_bytes);
  if (status < 0) qn_error_prefix("QUERN_CACHE_MAX_SIZE: ");
  return status;
}

/* NULL: there is no home. */
static const char *find_directory(qn_arena *arena, bool *failed) {
  const char *own = qn_environment("QUERN_CACHE_DIR"), *xdg = qn_environment("XDG_CACHE_HOME");
  const char *home = qn_environment("HOME"), *path = NULL;
  if (own)
    path = qn_arena_copy(arena, qn_sv_from(own));
  else if (xdg && xdg[0] == '/') /* relative ones are to be ignored, says the specification */
    path = qn_path_join(arena, qn_sv_from(xdg), QN_SV("quern"));
  else if (home)
    path = qn_path_join(arena, qn_sv_from(home), QN_SV(".cache/quern"));
  else
    return NULL;
  *failed = !path;
  return path;
}

qn_status qn_store_settings_read(qn_arena *arena, qn_store_settings *out_settings) {
  qn_store_settings settings = {0};
  bool failed = false;
  QN_TRY(read_mode(&settings.mode));
  QN_TRY(read_max(&settings.max_bytes));
  QN_TRY(qn_environment_flag("QUERN_CACHE_ALLOW_OTHERS", &settings.allows_others));
  settings.directory = find_directory(arena, &failed);
  if (failed) QN_FAIL(QN_ERROR_OUT_OF_HOST_MEMORY, "no memory for the cache directory's name");
  if (!settings.directory) settings.mode = QN_STORE_OFF;
  *out_settings = settings;
  return QN_OK;
}

/* ---- Trust -------------------------------------------------------------------------------------- */

qn_status qn_store_check_owner(const char *directory) {
  qn_file_info info;
  if (!qn_file_exists(directory)) return QN_OK;
  QN_TRY(qn_file_query(directory, &info));
  const char *advice = "QUERN_CACHE_ALLOW_OTHERS=1 uses it all the same";
  if (info.owner != qn_process_user())
    QN_FAIL(QN_ERROR_UNSUPPORTED, "the cache directory '%s' belongs to user %u, who could put native code there; %s",
            directory, info.owner, advice);
  if (info.mode & 022)
    QN_FAIL(QN_ERROR_UNSUPPORTED, "the cache directory '%s' can be written by others (mode %o): chmod go-w; %s",
            directory, info.mode, advice);
  return QN_OK;
}

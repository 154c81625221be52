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
  QN_FAIL(
      QN_ERROR_INVALID_ARGUMENT,
      "'%.*s' is no size: write whole bytes, or a number of up to 9 decimals with K, M, G, T or Ki, Mi, Gi, Ti behind "
      "it, and a B if you like, as in 1.5G or 64KiB",
      QN_SV_ARG(text));
}

/* Digits in front of `text`, taken off; false: too many for 64 bits. */
static bool take_digits(qn_sv *text, uint64_t *out_value, size_t *out_count) {
  *out_value = *out_count = 0;
  while (text->size > 0 && is_digit(text->data[0])) {
    uint64_t digit = (uint64_t)(text->data[0] - '0');
    if (*out_value > (UINT64_MAX - digit) / 10) return false;
    *out_value = *out_value * 10 + digit;
    ++*out_count;
    *text = qn_sv_make(text->data + 1, text->size - 1);
  }
  return true;
}

enum { MOST_DECIMALS = 9 };

/* Of `unit` bytes as many billionths as `decimals` digits say. */
static uint64_t part_of(uint64_t unit, uint64_t value, size_t decimals) {
  uint64_t scale = 1;
  for (size_t i = 0; i < decimals; i++) scale *= 10;
  return unit / scale * value + unit % scale * value / scale;
}

qn_status qn_size_parse(qn_sv text, uint64_t *out_bytes) {
  uint64_t whole, decimals = 0;
  size_t digits, decimal_digits = 0;
  qn_sv rest = text;
  bool is_large = !take_digits(&rest, &whole, &digits);
  bool has_point = !is_large && rest.size > 0 && rest.data[0] == '.';
  if (has_point) rest = qn_sv_make(rest.data + 1, rest.size - 1);
  bool is_short = !has_point || (take_digits(&rest, &decimals, &decimal_digits) && decimal_digits <= MOST_DECIMALS);
  while (is_large && rest.size > 0 && is_digit(rest.data[0])) rest = qn_sv_make(rest.data + 1, rest.size - 1);
  uint64_t unit = unit_of(rest);
  if (unit == 0 || (!is_large && digits == 0) || !is_short || (has_point && (decimal_digits == 0 || unit == 1)))
    return bad_size(text);
  uint64_t part = part_of(unit, decimals, decimal_digits);
  if (is_large || whole > (INT64_MAX - part) / unit)
    QN_FAIL(QN_ERROR_INVALID_ARGUMENT, "'%.*s' is too large: the largest size is %lld bytes; 0 is no limit",
            QN_SV_ARG(text), (long long)INT64_MAX);
  *out_bytes = whole * unit + part;
  if (*out_bytes == 0 && decimals > 0) return bad_size(text); /* 0 stands for no limit, and is written as such */
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

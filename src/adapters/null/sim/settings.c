/* settings.c - "seed=7,late=1,memory=64M" */
#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "inside.h"

typedef struct setting {
  const char *name;
  size_t at;
  uint64_t plain, hostile, most;
} setting;

static const setting settings_known[] = {
#define SIM_X(field, plain, hostile, most, what) {#field, offsetof(sim_settings, field), plain, hostile, most},
    SIM_SETTINGS(SIM_X)
#undef SIM_X
};
enum { COUNT = sizeof settings_known / sizeof *settings_known };

static uint64_t *field(sim_settings *settings, const setting *known) {
  return (uint64_t *)(void *)((char *)settings + known->at);
}

/* A number with K, M or G; false when it is none. */
static bool number(const char *text, size_t length, uint64_t *out) {
  char copy[32], *end = NULL;
  if (length == 0 || length >= sizeof copy || text[0] < '0' || text[0] > '9') return false;
  memcpy(copy, text, length);
  copy[length] = '\0';
  errno = 0;
  uint64_t value = strtoull(copy, &end, 0);
  unsigned shift = *end == 'K' ? 10 : *end == 'M' ? 20 : *end == 'G' ? 30 : 0;
  if (shift != 0) end++;
  *out = value << shift;
  return *end == '\0' && errno == 0 && *out >> shift == value;
}

/* Nobody fails together with half a device. */
static bool is_allowed(const setting *known, uint64_t value) {
  return value <= known->most && (strcmp(known->name, "domain") != 0 || value == 1 || value == 3);
}

/* Takes one word. */
static bool take(sim_settings *settings, const char *word, size_t length) {
  const char *equals = memchr(word, '=', length);
  if (!equals) return false;
  size_t name = (size_t)(equals - word), rest = length - name - 1;
  if (name == 4 && memcmp(word, "heap", 4) == 0) {
    if (rest >= sizeof settings->heap) return false;
    memcpy(settings->heap, equals + 1, rest);
    settings->heap[rest] = '\0';
    return true;
  }
  for (int i = 0; i < COUNT; i++) {
    const setting *known = &settings_known[i];
    if (strlen(known->name) != name || memcmp(known->name, word, name) != 0) continue;
    uint64_t value = 0;
    if (!number(equals + 1, rest, &value) || !is_allowed(known, value)) return false;
    *field(settings, known) = value;
    /* A seed brings the rest of what is hostile; words after it may take that back. */
    for (int j = 0; strcmp(known->name, "seed") == 0 && value != 0 && j < COUNT; j++)
      if (j != i) *field(settings, &settings_known[j]) = settings_known[j].hostile;
    return true;
  }
  return false;
}

static void defaults(sim_settings *settings) {
  memset(settings, 0, sizeof *settings);
  for (int i = 0; i < COUNT; i++) *field(settings, &settings_known[i]) = settings_known[i].plain;
}

bool sim_settings_read(sim_settings *settings, const char *text, char wrong[64]) {
  while (text && *text != '\0') {
    size_t length = strcspn(text, ",");
    if (length > 0 && !take(settings, text, length)) {
      size_t kept = length < 63 ? length : 63;
      memcpy(wrong, text, kept);
      wrong[kept] = '\0';
      return false;
    }
    text += length;
    if (*text == ',') text++;
  }
  return true;
}

/* ---- The driver --------------------------------------------------------------------------------- */

sim_result sim_driver_open(const char *settings, char wrong[64], sim_driver **out_driver) {
  sim_driver *driver = calloc(1, sizeof *driver);
  wrong[0] = '\0';
  if (!driver) return SIM_NO_HOST_MEMORY;
  defaults(&driver->settings);
  sim_result result = sim_settings_read(&driver->settings, settings, wrong) ? SIM_OK : SIM_BAD_SETTING;
  if (result == SIM_OK) {
    result = sim_heap_open(&driver->settings, &driver->heap);
    if (result == SIM_BAD_SETTING) snprintf(wrong, 64, "heap=%.58s", driver->settings.heap);
  }
  if (result != SIM_OK) {
    free(driver);
    return result;
  }
  *out_driver = driver;
  return SIM_OK;
}

void sim_driver_close(sim_driver *driver) {
  sim_heap_close(&driver->heap);
  free(driver);
}

const sim_settings *sim_driver_settings(const sim_driver *driver) { return &driver->settings; }

/* platforms.c - the devices of all platforms, in an order that doesn't change from run to run: platforms by name, for a
 * loader may list them as the directory of drivers gives them; devices of a platform as the driver lists them. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "opencl.h"

enum { MOST_PLATFORMS = 64, MOST_DEVICES = 256, NOTES = 1024 };

typedef struct platform {
  cl_platform_id id;
  char name[128];
} platform;

typedef struct search {
  qn_adapter_instance *instance;
  platform platforms[MOST_PLATFORMS];
  uint32_t platform_count;
  char notes[NOTES]; /* what was found and isn't used, and why */
  size_t noted;
} search;

static void note(search *s, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void note(search *s, const char *format, ...) {
  char text[512];
  va_list args;
  va_start(args, format);
  vsnprintf(text, sizeof text, format, args);
  va_end(args);
  ocl_log(s->instance->host, "%s", text);
  int n = snprintf(s->notes + s->noted, NOTES - s->noted, "; %s", text);
  s->noted += n > 0 ? (size_t)n : 0;
  if (s->noted >= NOTES) s->noted = NOTES - 1;
}

/* ---- Platforms ---------------------------------------------------------------------------------- */

static void add_platform(search *s, cl_platform_id id) {
  platform *p = &s->platforms[s->platform_count];
  for (uint32_t i = 0; i < s->platform_count; i++)
    if (s->platforms[i].id == id) return; /* a driver that is registered twice */
  p->id = id;
  p->name[0] = '\0';
  if (s->instance->cl.GetPlatformInfo(id, CL_PLATFORM_NAME, sizeof p->name, p->name, NULL) != CL_SUCCESS)
    p->name[0] = '\0';
  p->name[sizeof p->name - 1] = '\0';
  s->platform_count++;
}

/* Insertion keeps equal names in the loader's order, which qsort may not. */
static void sort_platforms(search *s) {
  for (uint32_t i = 1; i < s->platform_count; i++) {
    platform moved = s->platforms[i];
    uint32_t at = i;
    for (; at > 0 && strcmp(s->platforms[at - 1].name, moved.name) > 0; at--) s->platforms[at] = s->platforms[at - 1];
    s->platforms[at] = moved;
  }
}

enum { NO_PLATFORM = -1001 }; /* CL_PLATFORM_NOT_FOUND_KHR, of cl_khr_icd */

static qn_status find_platforms(search *s) {
  const qn_adapter_host *host = s->instance->host;
  cl_platform_id ids[MOST_PLATFORMS];
  cl_uint count = 0;
  cl_int code = s->instance->cl.GetPlatformIDs(MOST_PLATFORMS, ids, &count);
  if (code == NO_PLATFORM || (code == CL_SUCCESS && count == 0))
    return ocl_error(host, QN_ERROR_NOT_FOUND,
                     "there is an OpenCL loader but no driver; drivers register in /etc/OpenCL/vendors, and "
                     "OCL_ICD_VENDORS names another directory (Debian: pocl-opencl-icd for the CPU)");
  if (code != CL_SUCCESS) return ocl_refused_as(host, QN_ERROR_NOT_FOUND, code, "platforms can't be listed");
  if (count > MOST_PLATFORMS) count = MOST_PLATFORMS;
  for (cl_uint i = 0; i < count; i++) add_platform(s, ids[i]);
  sort_platforms(s);
  return QN_OK;
}

/* ---- Devices ------------------------------------------------------------------------------------ */

static void add_device(search *s, const platform *p, cl_device_id id) {
  qn_adapter_instance *instance = s->instance;
  if (instance->device_count == MOST_DEVICES) return;
  ocl_found *found = &instance->devices[instance->device_count];
  *found = (ocl_found){.platform = p->id, .id = id};
  const char *wrong = ocl_describe(instance, found);
  if (wrong)
    note(s, "device '%.100s' of platform '%.100s' %s", found->info.name, p->name, wrong);
  else
    instance->device_count++;
}

static void find_in_platform(search *s, const platform *p) {
  cl_device_id ids[MOST_DEVICES];
  cl_uint count = 0;
  cl_int code = s->instance->cl.GetDeviceIDs(p->id, CL_DEVICE_TYPE_ALL, MOST_DEVICES, ids, &count);
  if (code != CL_SUCCESS && code != CL_DEVICE_NOT_FOUND) {
    char why[256];
    ocl_print_code(code, why, sizeof why);
    note(s, "platform '%.100s' can't list its devices: %s", p->name, why);
    return;
  }
  if (code == CL_DEVICE_NOT_FOUND || count == 0) note(s, "platform '%.100s' has no device", p->name);
  if (code == CL_DEVICE_NOT_FOUND) return;
  if (count > MOST_DEVICES) count = MOST_DEVICES;
  for (cl_uint i = 0; i < count; i++) add_device(s, p, ids[i]);
}

static qn_status find_all(search *s) {
  qn_status status = find_platforms(s);
  if (status < 0) return status;
  for (uint32_t i = 0; i < s->platform_count; i++) find_in_platform(s, &s->platforms[i]);
  if (s->instance->device_count > 0) return QN_OK;
  return ocl_error(s->instance->host, QN_ERROR_NOT_FOUND, "no OpenCL driver has a device that can be used%s", s->notes);
}

qn_status ocl_find_devices(qn_adapter_instance *instance) {
  search *s = calloc(1, sizeof *s);
  instance->devices = calloc(MOST_DEVICES, sizeof *instance->devices);
  qn_status status = QN_OK;
  if (s && instance->devices) {
    s->instance = instance;
    status = find_all(s);
  } else {
    status = ocl_error(instance->host, QN_ERROR_OUT_OF_HOST_MEMORY, "no memory for the list of devices");
  }
  free(s);
  if (status < 0) {
    free(instance->devices);
    instance->devices = NULL;
    instance->device_count = 0;
  }
  return status;
}

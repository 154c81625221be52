/* labels: threads once */
/* L2 and L3 at the public interface: no function takes a handle that is stale, doubled, of another kind, of another runtime
 * or forged. entries.h lists the functions; one that a header declares or the library exports and the list lacks fails. */
#include "entries.h"
#include "support/rounds.h"

/* ---- The list ----------------------------------------------------------------------------------- */

static int check_declared(const char *path) {
  static char text[1 << 20];
  FILE *file = fopen(path, "rb");
  assert_non_null(file);
  size_t size = fread(text, 1, sizeof text - 1, file);
  fclose(file);
  text[size] = '\0';
  int count = 0;
  for (char *at = strstr(text, "\nQN_API "); at; at = strstr(at + 1, "\nQN_API ")) {
    char *name = strstr(at, "(");
    char *end = name;
    assert_non_null(name);
    while (name[-1] == '_' || (name[-1] >= 'a' && name[-1] <= 'z') || (name[-1] >= '0' && name[-1] <= '9')) name--;
    if (!is_listed(name, (size_t)(end - name))) fail_msg("entries.h lacks %.*s", (int)(end - name), name);
    count++;
  }
  return count;
}

static void test_L2_the_list_has_every_declared_function(void **state) {
  (void)state;
  assert_true(check_declared(QUERN_SOURCE_DIR "/include/quern/quern.h") > 40);
  assert_true(check_declared(QUERN_SOURCE_DIR "/include/quern/quern_build.h") >= 2);
}

static void test_L2_the_list_has_every_exported_function(void **state) {
  (void)state;
  char line[512];
  int count = 0;
  FILE *symbols = popen("nm -D --defined-only '" QUERN_BINARY_DIR "/libquern.so'", "r");
  assert_non_null(symbols);
  while (fgets(line, sizeof line, symbols)) {
    char name[256] = "", type = 0;
    if (sscanf(line, "%*s %c %255s", &type, name) != 2 || strncmp(name, "qn_", 3) != 0) continue;
    name[strcspn(name, "@")] = '\0';
    if (!is_listed(name, strlen(name))) fail_msg("libquern.so exports %s, which entries.h lacks", name);
    count++;
  }
  assert_int_equal(pclose(symbols), 0);
  assert_true(count > 40);
}

/* ---- Refusals ----------------------------------------------------------------------------------- */

static int set_up(void **state) {
  (void)state;
#ifdef NDEBUG
  printf("measured: handles are checked in a build with NDEBUG\n");
#endif
  entries_open("check");
  return 0;
}

static int tear_down(void **state) {
  (void)state;
  entries_close();
  return 0;
}

static void assert_refused(const entry *e, const void *handle, const char *words) {
  qn_status status = e->call(handle);
  if (status != QN_ERROR_INVALID_HANDLE)
    fail_msg("%s(%p) gave %s: %s", e->name, handle, qn_status_name(status), qn_error_text());
  if (!strstr(qn_error_text(), words)) fail_msg("%s: the text '%s' lacks '%s'", e->name, qn_error_text(), words);
}

static void assert_refused_everywhere(const void *handle, const char *words) {
  for (size_t i = 0; i < ENTRIES; i++) assert_refused(&entries[i], handle, words);
}

/* Those that take any kind, or this one, say that it is stale; the others may say that it is of another kind. */
static void assert_stale_everywhere(const void *handle, uint32_t kind) {
  for (size_t i = 0; i < ENTRIES; i++) {
    bool fits = entries[i].kind == QN_KIND_NONE || entries[i].kind == kind;
    assert_refused(&entries[i], handle, fits ? "stale" : "");
  }
}

/* A second world, of whose objects the handles are in `out`. */
static void make_others(const char *selector, const void *out[LIVE_KINDS]) {
  __typeof__(live) keep = live;
  entries_open(selector);
  entries_live(out);
  live = keep;
}

static void test_L2_stale_handles_are_refused_everywhere(void **state) {
  (void)state;
  const void *stale[LIVE_KINDS];
  make_others("check", stale);
  for (size_t i = 0; i < LIVE_KINDS; i++) OK(qn_release(stale[i]));
  for (size_t i = 0; i < LIVE_KINDS; i++) assert_stale_everywhere(stale[i], live_kinds[i]);
}

static void test_L2_handles_of_a_closed_runtime_are_refused_everywhere(void **state) {
  (void)state;
  const void *closed[LIVE_KINDS];
  make_others("check", closed);
  for (size_t i = 0; i < LIVE_KINDS; i++) OK(qn_retain(closed[i])); /* counts don't help */
  OK(qn_runtime_close((qn_runtime)closed[LIVE_KINDS - 1], PATIENCE));
  for (size_t i = 0; i < LIVE_KINDS; i++) assert_stale_everywhere(closed[i], live_kinds[i]);
}

/* New objects take the places of old ones: the old handles don't come to mean them. */
static void test_L2_a_stale_handle_never_means_a_new_object(void **state) {
  (void)state;
  const void *stale[LIVE_KINDS], *fresh[LIVE_KINDS];
  make_others("check", stale);
  for (int round = 0; round < 50; round++) {
    for (size_t i = 0; i < LIVE_KINDS; i++) OK(qn_release(stale[i]));
    make_others("check", fresh);
    for (size_t i = 0; i < LIVE_KINDS; i++) {
      assert_ptr_not_equal(stale[i], fresh[i]);
      FAILS(qn_release(stale[i]), QN_ERROR_INVALID_HANDLE, "stale");
      stale[i] = fresh[i];
    }
  }
  for (size_t i = 0; i < LIVE_KINDS; i++) OK(qn_release(stale[i]));
}

static void test_L2_null_is_refused_where_it_means_nothing(void **state) {
  (void)state;
  for (size_t i = 0; i < ENTRIES; i++) {
    qn_status status = entries[i].call(NULL);
    qn_status wanted = entries[i].traits & TAKES_NULL ? QN_OK : QN_ERROR_INVALID_HANDLE;
    if (status != wanted) fail_msg("%s(NULL) gave %s: %s", entries[i].name, qn_status_name(status), qn_error_text());
  }
}

static void test_L2_addresses_are_refused_everywhere(void **state) {
  (void)state;
  int on_stack = 0;
  char *on_heap = malloc(100);
  assert_non_null(on_heap);
  assert_refused_everywhere(&on_stack, "not a handle");
  assert_refused_everywhere(on_heap, "not a handle");
  assert_refused_everywhere(on_heap + 1, "not a handle");
  assert_refused_everywhere((const void *)(uintptr_t)set_up, "not a handle");
  assert_refused_everywhere((const void *)UINTPTR_MAX, "not a handle");
  assert_refused_everywhere((const void *)(uintptr_t)8, "not a handle");
  free(on_heap);
}

static void test_L2_handles_of_another_kind_are_refused_everywhere(void **state) {
  (void)state;
  const void *others[LIVE_KINDS];
  entries_live(others);
  for (size_t i = 0; i < LIVE_KINDS; i++)
    for (size_t e = 0; e < ENTRIES; e++)
      if (entries[e].kind != QN_KIND_NONE && entries[e].kind != live_kinds[i])
        assert_refused(&entries[e], others[i], ", not a ");
}

/* Objects of two runtimes in one call. */
static void test_L2_handles_of_another_runtime_are_refused_everywhere(void **state) {
  (void)state;
  const void *foreign[LIVE_KINDS];
  int count = 0;
  make_others("check", foreign);
  for (size_t e = 0; e < ENTRIES; e++)
    for (size_t i = 0; i < LIVE_KINDS; i++) {
      if (!(entries[e].traits & JOINS) || entries[e].kind != live_kinds[i]) continue;
      assert_refused(&entries[e], foreign[i], "another runtime");
      count++;
    }
  assert_true(count >= 12);
  OK(qn_runtime_close((qn_runtime)foreign[LIVE_KINDS - 1], PATIENCE));
}

/* ---- Forged ------------------------------------------------------------------------------------- */

static uint64_t next_random(uint64_t *random) {
  *random ^= *random << 13;
  *random ^= *random >> 7;
  *random ^= *random << 17;
  return *random;
}

/* Of three sorts: any bits; a live handle with one bit changed; bits that look like a handle of one of the first objects. */
static const void *forge(uint64_t *random, uint64_t round, const void *const real[LIVE_KINDS]) {
  uintptr_t bits = (uintptr_t)next_random(random);
  if (round % 3 == 0)
    bits = (uintptr_t)real[*random % LIVE_KINDS] ^ ((uintptr_t)1 << (*random >> 8) % (8 * sizeof bits));
  if (round % 3 == 1) bits &= ((uintptr_t)7 << (8 * sizeof bits - 4)) | ((uintptr_t)7 << (4 * sizeof bits)) | 7;
  for (size_t i = 0; i < LIVE_KINDS; i++)
    if (bits == (uintptr_t)real[i]) return NULL;
  return (const void *)bits;
}

static void test_L2_forged_handles_are_refused_everywhere(void **state) {
  (void)state;
  const void *real[LIVE_KINDS];
  uint64_t random = 88172645463325252u;
  uint64_t rounds = test_rounds("forged handles, each to every function", 20000, 1000000);
  entries_live(real);
  for (uint64_t round = 0; round < rounds; round++) {
    const void *forged = forge(&random, round, real);
    if (!forged) continue;
    for (size_t e = 0; e < ENTRIES; e++) {
      qn_status status = entries[e].call(forged);
      if (status != QN_ERROR_INVALID_HANDLE)
        fail_msg("%s(%p) gave %s: %s", entries[e].name, forged, qn_status_name(status), qn_error_text());
    }
  }
}

/* ---- Counts ------------------------------------------------------------------------------------- */

static void test_L3_no_query_changes_a_count(void **state) {
  (void)state;
  const void *all[LIVE_KINDS];
  int queries = 0;
  make_others("check", all);
  qn_device device = (qn_device)all[4];
  for (size_t e = 0; e < ENTRIES; e++) {
    if (!(entries[e].traits & READS)) continue;
    queries++;
    for (size_t i = 0; i < LIVE_KINDS; i++) {
      bool fits = entries[e].kind == QN_KIND_NONE || entries[e].kind == live_kinds[i];
      for (int round = 0; round < 1000; round++) {
        qn_status status = entries[e].call(all[i]);
        if (!fits) assert_int_equal(status, QN_ERROR_INVALID_HANDLE);
      }
    }
  }
  assert_true(queries >= 15);
  /* One release ends each. */
  OK(qn_device_drain(device, PATIENCE));
  qn_device_statistics s = test_statistics(device);
  assert_int_equal(s.kernels, 1);
  assert_int_equal(s.programs, 1);
  assert_int_equal(s.buffers, 1);
  assert_int_equal(s.queues, 1);
  for (size_t i = 0; i < 4; i++) {
    OK(qn_release(all[i]));
    FAILS(qn_release(all[i]), QN_ERROR_INVALID_HANDLE, "stale");
  }
  OK(qn_device_drain(device, PATIENCE));
  s = test_statistics(device);
  assert_int_equal(s.kernels + s.programs + s.buffers + s.queues + s.awaiting_release, 0);
  for (size_t i = 4; i < LIVE_KINDS; i++) {
    OK(qn_release(all[i]));
    FAILS(qn_release(all[i]), QN_ERROR_INVALID_HANDLE, "stale");
  }
}

/* Each retain takes one more release, whatever is called in between. */
static void test_L3_each_count_takes_one_release(void **state) {
  (void)state;
  const void *all[LIVE_KINDS];
  make_others("check", all);
  for (size_t i = 0; i < LIVE_KINDS; i++) {
    uint32_t kind = 0;
    for (int n = 0; n < 1000; n++) OK(qn_retain(all[i]));
    for (int n = 0; n < 1000; n++) OK(qn_release(all[i]));
    OK(qn_handle_kind(all[i], &kind));
    assert_int_equal(kind, live_kinds[i]);
    OK(qn_release(all[i]));
    FAILS(qn_retain(all[i]), QN_ERROR_INVALID_HANDLE, "stale");
  }
}

static void test_L3_a_surplus_release_takes_nothing_from_children(void **state) {
  (void)state;
  test_device t = test_open("null");
  qn_queue queue = test_queue(t.device);
  OK(qn_retain(t.device));
  OK(qn_release(t.device));
  OK(qn_release(t.device));
  for (int i = 0; i < 10; i++) FAILS(qn_release(t.device), QN_ERROR_INVALID_HANDLE, "stale");
  qn_buffer own = NULL;
  qn_buffer_options options = QN_INIT(qn_buffer_options);
  options.size_bytes = 8;
  FAILS(qn_buffer_create(t.device, &options, &own), QN_ERROR_INVALID_HANDLE, "device");
  OK(qn_queue_finish(queue, PATIENCE)); /* the device lives on for the queue's sake */
  OK(qn_release(queue));
  OK(qn_runtime_close(t.runtime, PATIENCE));
}

static void kinds_are_told(void **state) {
  (void)state;
  uint32_t kind = 0;
  OK(qn_handle_kind(live.t.runtime, &kind));
  assert_int_equal(kind, QN_KIND_RUNTIME);
  OK(qn_handle_kind(live.t.device, &kind));
  assert_int_equal(kind, QN_KIND_DEVICE);
  OK(qn_handle_kind(live.queue, &kind));
  assert_int_equal(kind, QN_KIND_QUEUE);
  OK(qn_handle_kind(live.buffer, &kind));
  assert_int_equal(kind, QN_KIND_BUFFER);
  FAILS(qn_handle_kind(live.buffer, NULL), QN_ERROR_INVALID_ARGUMENT, "out_kind is NULL");
}

static void native_handles_are_told_where_there_are_some(void **state) {
  (void)state;
  uint64_t native = 0;
  test_device t = test_open("null");
  qn_buffer buffer = test_buffer(t.device, 8);
  qn_queue queue = test_queue(t.device);
  OK(qn_native_handle(buffer, 0, &native));
  assert_true(native != 0);
  FAILS(qn_native_handle(buffer, 9, &native), QN_ERROR_UNSUPPORTED, "null");
  OK(qn_native_handle(queue, 0, &native));
  FAILS(qn_native_handle(queue, 9, &native), QN_ERROR_UNSUPPORTED, "null");
  FAILS(qn_native_handle(t.runtime, 0, &native), QN_ERROR_UNSUPPORTED, "runtime");
  FAILS(qn_native_handle(buffer, 0, NULL), QN_ERROR_INVALID_ARGUMENT, "out_native is NULL");
  test_close(&t);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_L2_the_list_has_every_declared_function),
      cmocka_unit_test(test_L2_the_list_has_every_exported_function),
      cmocka_unit_test(test_L2_stale_handles_are_refused_everywhere),
      cmocka_unit_test(test_L2_handles_of_a_closed_runtime_are_refused_everywhere),
      cmocka_unit_test(test_L2_a_stale_handle_never_means_a_new_object),
      cmocka_unit_test(test_L2_null_is_refused_where_it_means_nothing),
      cmocka_unit_test(test_L2_addresses_are_refused_everywhere),
      cmocka_unit_test(test_L2_handles_of_another_kind_are_refused_everywhere),
      cmocka_unit_test(test_L2_handles_of_another_runtime_are_refused_everywhere),
      cmocka_unit_test(test_L2_forged_handles_are_refused_everywhere),
      cmocka_unit_test(test_L3_no_query_changes_a_count),
      cmocka_unit_test(test_L3_each_count_takes_one_release),
      cmocka_unit_test(test_L3_a_surplus_release_takes_nothing_from_children),
      cmocka_unit_test(kinds_are_told),
      cmocka_unit_test(native_handles_are_told_where_there_are_some),
  };
  return cmocka_run_group_tests(tests, set_up, tear_down);
}

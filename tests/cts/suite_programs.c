/* suite_programs.c - sources become programs: kernels, diagnostics, options, caches, large ones and many. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cts.h"

static qn_status build_with(cts *c, const char *source, const char *options, qn_program *out_program) {
  qn_program_options o = QN_INIT(qn_program_options);
  o.source = source;
  o.file_name = "test.cl";
  o.options = options;
  qn_status status = qn_program_build(c->device, &o, out_program);
  if (status == QN_OK) cts_keep(c, *out_program);
  return status;
}

/* What a kernel `get` writes: out[0]. */
static uint32_t ask(cts *c, qn_queue queue, qn_program program, const char *kernel) {
  uint32_t out = 0;
  qn_buffer buffer = cts_buffer(c, sizeof out);
  CTS_OK(qn_launch(queue, cts_kernel(c, program, kernel), QN_RANGE_1D(1), QN_ARGS(buffer), NULL));
  cts_get(queue, buffer, &out, sizeof out);
  return out;
}

static qn_program_info query(qn_program program) {
  qn_program_info info = QN_INIT(qn_program_info);
  CTS_OK(qn_program_query(program, &info));
  return info;
}

static void kernels_are_listed(cts *c) {
  static const char source[] =
      "kernel void last_letter(global uint *out) { out[0] = 1; }\n"
      "uint helper(uint x) { return x + 1; }\n"
      "kernel void second(global uint *out) { out[0] = helper(1); }\n"
      "__kernel void _3(global uint *out) { out[0] = 3; }\n";
  static const char *const names[] = {"last_letter", "second", "_3"};
  qn_queue queue = cts_queue(c);
  qn_program program = cts_program(c, source);
  CTS_SAME("kernel_count", query(program).kernel_count, 3);
  for (uint32_t i = 0; i < 3; i++) {
    char name[64] = "";
    CTS_OK(qn_program_kernel_name(program, i, name, sizeof name));
    CTS_TRUE(strcmp(name, names[i]) == 0, "kernel %u of the source has the name '%s', not '%s'", i, names[i], name);
    CTS_SAME("what a kernel that was found by its name does", ask(c, queue, program, name), i + 1);
  }
  qn_kernel kernel = NULL;
  char name[64];
  CTS_GIVES(qn_program_kernel_name(program, 3, name, sizeof name), QN_ERROR_NOT_FOUND);
  CTS_FAILS(qn_kernel_get(program, "helper", &kernel), QN_ERROR_NOT_FOUND, "second");
}

static void errors_name_file_and_line(cts *c) {
  static const char *const wrong[] = {"kernel void k(global int *out) {\n  out[0] = ;\n}\n",
                                      "kernel void k(global int *out) {\n  out[0] = nosuch;\n}\n",
                                      "kernel void k(global int *out) {\n  float4 v = out;\n}\n",
                                      "\n#error on purpose\n", "kernel void k(\n"};
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
    qn_program program = NULL;
    CTS_FAILS(build_with(c, wrong[i], NULL, &program), QN_ERROR_COMPILE, "test.cl:");
    CTS_TRUE(strstr(qn_error_text(), "error") != NULL, "diagnostics have the word 'error': %s", qn_error_text());
    CTS_TRUE(program == NULL, "a program that doesn't compile gives no handle");
  }
  cts_program(c, "kernel void k(global int *out) { out[0] = 1; }"); /* as if nothing had been */
}

static void warnings_are_kept(cts *c) {
  char log[2048] = "", small[8];
  qn_program program = cts_program(c, "#warning watch out\nkernel void k(global int *out) { out[0] = 1; }\n");
  uint64_t bytes = query(program).log_bytes;
  CTS_OK(qn_program_log(program, log, sizeof log));
  CTS_SAME("log_bytes", bytes, strlen(log));
  CTS_TRUE(strstr(log, "watch out") != NULL, "the warning's words are in the log: '%s'", log);
  CTS_OK(qn_program_log(program, small, sizeof small));
  CTS_TRUE(strncmp(small, log, sizeof small - 1) == 0 && small[sizeof small - 1] == 0,
           "a small buffer gets the log's beginning");
  CTS_SAME("log_bytes of a program without warnings", query(cts_program(c, "kernel void k(void) {}")).log_bytes, 0);
}

static void options_are_taken(cts *c) {
  static const char source[] =
      "#ifndef N\n#define N 1\n#endif\n"
      "kernel void get(global uint *out) { out[0] = N; }\n";
  static const struct {
    const char *options;
    uint32_t wanted;
  } cases[] = {{NULL, 1},
               {"", 1},
               {"-DN=5", 5},
               {"-D N=6", 6},
               {"-D N='(3 + 4)'", 7},
               {"-DN=8 -cl-fast-relaxed-math", 8},
               {"-DN=9 -cl-opt-disable", 9},
               {"-DN=10 -cl-mad-enable -w", 10}};
  qn_queue queue = cts_queue(c);
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    qn_program program = NULL;
    CTS_OK(build_with(c, source, cases[i].options, &program));
    CTS_SAME("what a program with options gives", ask(c, queue, program, "get"), cases[i].wanted);
  }
  qn_program program = NULL;
  qn_status status = build_with(c, source, "--no-such-option", &program);
  CTS_TRUE(status < 0, "an option that nobody knows is refused");
}

static void write_number(const char *path, uint32_t number) {
  FILE *file = fopen(path, "w");
  CTS_TRUE(file != NULL, "a file can be made in a temporary directory");
  fprintf(file, "#define NUMBER %u\n", number);
  fclose(file);
}

static void includes_are_found(cts *c) {
  static const char source[] = "#include \"number.h\"\nkernel void get(global uint *out) { out[0] = NUMBER; }\n";
  const char *directory = cts_directory(c);
  char path[256], options[256];
  qn_queue queue = cts_queue(c);
  snprintf(path, sizeof path, "%s/number.h", directory);
  snprintf(options, sizeof options, "-I %s", directory);
  for (uint32_t i = 0; i < 3; i++) {
    qn_program program = NULL;
    write_number(path, 40 + i); /* an edited include makes another program */
    CTS_OK(build_with(c, source, options, &program));
    CTS_SAME("what an edited include gives", ask(c, queue, program, "get"), 40 + i);
  }
}

static void source_by_length(cts *c) {
  static const char source[] = "kernel void get(global uint *out) { out[0] = 12; }@@@ not part of it";
  qn_program_options o = QN_INIT(qn_program_options);
  qn_program program = NULL;
  o.source = source;
  o.source_bytes = (uint64_t)(strchr(source, '@') - source);
  CTS_OK(qn_program_build(c->device, &o, &program));
  cts_keep(c, program);
  CTS_SAME("what a source of given length gives", ask(c, cts_queue(c), program, "get"), 12);
}

/* ---- Caches --------------------------------------------------------------------------------------- */

static void same_source_is_compiled_once(cts *c) {
  char source[128];
  snprintf(source, sizeof source, "kernel void get(global uint *out) { out[0] = %llu; }",
           (unsigned long long)cts_random(c, 1 << 30));
  qn_queue queue = cts_queue(c);
  qn_program first = cts_program(c, source);
  uint32_t value = ask(c, queue, first, "get");
  const qn_device_statistics before = cts_statistics(c->device);
  for (int i = 0; i < 20; i++) {
    qn_program again = cts_program(c, source);
    CTS_SAME("`cached` of a program that is there already", query(again).cached, 1);
    CTS_SAME("what the second program of one source gives", ask(c, queue, again, "get"), value);
  }
  const qn_device_statistics after = cts_statistics(c->device);
  CTS_EQUAL(after.programs_compiled, before.programs_compiled);
}

/* The first is released while the second is used, and the other way round. */
static void shared_programs_end_once(cts *c) {
  static const char source[] = "kernel void get(global uint *out) { out[0] = 77; }";
  qn_queue queue = cts_queue(c);
  for (int i = 0; i < 20; i++) {
    qn_program a = cts_program(c, source), b = cts_program(c, source);
    cts_drop(c, i % 2 ? a : b);
    CTS_SAME("what a program gives whose twin was released", ask(c, queue, i % 2 ? b : a, "get"), 77);
    cts_drop(c, i % 2 ? b : a);
    if (i % 5 == 0) CTS_OK(qn_device_drain(c->device, CTS_PATIENCE));
  }
}

static void same_names_other_code(cts *c) {
  enum { COUNT = 20 };
  qn_program programs[COUNT];
  qn_queue queue = cts_queue(c);
  for (uint32_t i = 0; i < COUNT; i++) {
    char source[256];
    snprintf(source, sizeof source,
             "constant uint table[3] = {%u, %u, %u};\n"
             "uint helper(uint x) { return table[x %% 3] + %uu; }\n"
             "kernel void get(global uint *out) { out[0] = helper((uint)get_global_id(0) + 2); }\n",
             i, i + 1, i * 1000, i);
    programs[i] = cts_program(c, source);
  }
  for (uint32_t i = 0; i < 2 * COUNT; i++)
    CTS_SAME("what one of several programs with the same names gives", ask(c, queue, programs[i * 7 % COUNT], "get"),
             i * 7 % COUNT * 1001);
}

static void many_programs(cts *c) {
  uint32_t count = (uint32_t)cts_count(c, 30, 1000);
  qn_queue queue = cts_queue(c);
  for (uint32_t i = 0; i < count; i++) {
    char source[160];
    snprintf(source, sizeof source, "kernel void get(global uint *out) { out[0] = %uu + (uint)get_global_id(0); }",
             i * 3);
    qn_program program = cts_program(c, source);
    CTS_SAME("what one of many programs gives", ask(c, queue, program, "get"), i * 3);
    if (i % 3) cts_drop(c, program);
  }
}

/* Another process finds what this one's stored: the driver's binary, where it gives one. */
static void comes_back_from_the_store(cts *c) {
  char directory[600];
  const char *const variables[2] = {directory, "QUERN_CACHE=write"};
  cts_program(c, "kernel void nothing(void) {}"); /* the device takes programs */
  snprintf(directory, sizeof directory, "QUERN_CACHE_DIR=%s", cts_directory(c));
  CTS_SAME("exit status of a process that builds a program that nobody built: 10 + cached",
           cts_run_helper(c, "tell-where-from", variables), 10);
  for (int i = 0; i < 2; i++)
    CTS_SAME("exit status of a process that finds it on disk: 10 + cached",
             cts_run_helper(c, "tell-where-from", variables), 12);
}

/* ---- Large and odd ones ----------------------------------------------------------------------------- */

static void many_kernels(cts *c) {
  enum { COUNT = 60, ROOM = 1 << 14 };
  char *source = cts_alloc(c, ROOM), name[32];
  size_t used = 0;
  for (uint32_t i = 0; i < COUNT; i++)
    used += (size_t)snprintf(source + used, ROOM - used, "kernel void kernel_%u(global uint *out) { out[0] = %uu; }\n",
                             i, i * i);
  qn_queue queue = cts_queue(c);
  qn_program program = cts_program(c, source);
  CTS_SAME("kernel_count", query(program).kernel_count, COUNT);
  for (uint32_t i = 0; i < COUNT; i += 7) {
    snprintf(name, sizeof name, "kernel_%u", COUNT - 1 - i);
    CTS_SAME("what one of many kernels gives", ask(c, queue, program, name), (COUNT - 1 - i) * (COUNT - 1 - i));
  }
}

static void long_names(cts *c) {
  char source[400], name[201];
  memset(name, 'n', 200);
  name[200] = 0;
  snprintf(source, sizeof source, "kernel void %s(global uint *out) { out[0] = 200; }", name);
  CTS_SAME("what a kernel with a long name gives", ask(c, cts_queue(c), cts_program(c, source), name), 200);
}

/* Names that a host's linker or another compiler might take for its own. */
static void names_of_others(cts *c) {
  static const char *const names[] = {"main", "memcpy", "malloc", "exit", "printf_", "_start", "kernel_", "abort"};
  qn_queue queue = cts_queue(c);
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    char source[160];
    snprintf(source, sizeof source, "kernel void %s(global uint *out) { out[0] = %zu; }", names[i], i + 1);
    CTS_SAME("what a kernel with a name of the C library gives", ask(c, queue, cts_program(c, source), names[i]),
             i + 1);
  }
}

static void without_kernels(cts *c) {
  static const char *const sources[] = {"uint f(uint x) { return x; }", "/* nothing */", " "};
  for (size_t i = 0; i < sizeof sources / sizeof *sources; i++) {
    qn_kernel kernel = NULL;
    qn_program program = cts_program(c, sources[i]);
    CTS_SAME("kernel_count of a source without kernels", query(program).kernel_count, 0);
    CTS_GIVES(qn_kernel_get(program, "f", &kernel), QN_ERROR_NOT_FOUND);
  }
}

static void kernels_call_kernels(cts *c) {
  static const char source[] =
      "kernel void inner(global uint *out) { out[0] += 5; }\n"
      "kernel void get(global uint *out) { out[0] = 1; inner(out); inner(out); }\n";
  CTS_SAME("what a kernel gives that calls another twice", ask(c, cts_queue(c), cts_program(c, source), "get"), 11);
}

#define BUILD "quern.h: 'Compiles for one device. On QN_ERROR_COMPILE the error text is the diagnostics.'"
#define LOADS \
  "adapter.h: program_create takes code of the kind that the device asked for, kernel_create finds `symbol` in it"
#define CACHE "quern.h: '0: compiled, 1: found in memory, 2: found on disk'"

static const cts_test tests[] = {
    {"kernels_are_listed_in_the_order_of_the_source", kernels_are_listed, QN_FEATURE_KERNELS, 0,
     "quern.h: 'Copies the name of kernel `index` in the order of the source.'"},
    {"errors_name_file_and_line", errors_name_file_and_line, QN_FEATURE_KERNELS, 0, BUILD},
    {"warnings_are_kept", warnings_are_kept, QN_FEATURE_KERNELS, 0,
     "quern.h: 'Copies the warnings, cut to `capacity` bytes with the NUL.'"},
    {"options_are_taken", options_are_taken, QN_FEATURE_KERNELS, 0,
     "quern.h: options of qn_program_options: 'quoted as a shell does'"},
    {"includes_are_found_and_an_edited_one_is_seen", includes_are_found, QN_FEATURE_KERNELS, 0,
     "quern.h: 'for diagnostics and relative includes'"},
    {"a_source_may_have_a_length", source_by_length, QN_FEATURE_KERNELS, 0, "quern.h: '0: `source` ends with NUL'"},
    {"one_source_is_compiled_once", same_source_is_compiled_once, QN_FEATURE_KERNELS, 0, CACHE},
    {"programs_of_one_source_end_once", shared_programs_end_once, QN_FEATURE_KERNELS, 0,
     CACHE "; adapter.h: 'each destroyed exactly once, children before parents'"},
    {"a_program_comes_back_from_the_store", comes_back_from_the_store, QN_FEATURE_KERNELS, 0,
     CACHE "; adapter.h: program_binary: 'What the driver made of a program, for program_create as QN_CODE_NATIVE on "
           "the same device with the same driver.'"},
    {"programs_keep_their_names_apart", same_names_other_code, QN_FEATURE_KERNELS, 0, LOADS},
    {"many_programs", many_programs, QN_FEATURE_KERNELS, 0, LOADS},
    {"many_kernels_in_one_program", many_kernels, QN_FEATURE_KERNELS, 0, LOADS},
    {"long_names_of_kernels", long_names, QN_FEATURE_KERNELS, 0, LOADS},
    {"names_of_the_c_library_are_names_like_others", names_of_others, QN_FEATURE_KERNELS, 0, LOADS},
    {"a_program_may_have_no_kernels", without_kernels, QN_FEATURE_KERNELS, 0,
     "adapter.h: program_create of code without entries"},
    {"kernels_may_call_kernels", kernels_call_kernels, QN_FEATURE_KERNELS, 0, "OpenCL C 1.2, 6.7"},
};

CTS_SUITE(programs, "building, diagnostics, options, caches, many and large programs");

/* sources: src/adapters/cpu/image.c src/adapters/cpu/elf.c src/adapters/cpu/reloc.c src/adapters/cpu/reloc_x86.c src/adapters/cpu/reloc_arm.c src/adapters/cpu/debug.c */
/* The cpu adapter's loader from inside: each lack of memory, and what it says of the image. */
#include "adapters/cpu/image.h"

#include "adapters/cpu/debug.h"
#include "support/cpu_fixture.h"
#include "support/failing.h"

static const char source[] =
    "int counter = 3; const char *names[2] = {\"a\", \"b\"};\n"
    "static int hidden(int x) { return x + counter; }\n"
    "int (*pointer)(int) = hidden;\n"
    "int first(int x) { return pointer(x) + names[x & 1][0]; }\n"
    "int second(void) { return 7; }\n";

static void test_every_lack_of_memory_is_an_error(void **state) {
  (void)state;
  object o = compile(source);
  int failures = 0;
  FAILING_EACH(n) {
    cpu_image image;
    elf_error error = {""};
    bool out_of_memory = false;
    bool ok = cpu_image_load(&image, o.bytes, o.size, &error, &out_of_memory);
    debug_entry *debug = ok ? debug_show(&image, o.bytes, o.size) : NULL;
    failing_pause();
    assert_true(ok || (out_of_memory && *error.text && !image.base && !image.symbols));
    failures += !ok;
    debug_hide(debug);
    if (ok) cpu_image_free(&image);
  }
  assert_true(failures >= 4);
  free(o.bytes);
}

static void test_functions_are_found_and_data_is_not(void **state) {
  (void)state;
  object o = compile(source);
  cpu_image image;
  elf_error error;
  bool out_of_memory;
  assert_true(cpu_image_load(&image, o.bytes, o.size, &error, &out_of_memory));
  uint64_t first = cpu_image_find(&image, "first"), second = cpu_image_find(&image, "second");
  assert_true(first && second && first != second);
  assert_true(cpu_image_find(&image, "counter") == 0);
  assert_true(cpu_image_find(&image, "third") == 0);
  int (*call)(int) = (int (*)(int))(uintptr_t)first;
  assert_int_equal(call(4), 4 + 3 + 'a');
  cpu_image_free(&image);
  free(o.bytes);
}

static void test_an_object_without_functions_is_loaded(void **state) {
  (void)state;
  static const char *const sources[] = {"typedef int t;", "const int table[4] = {1, 2, 3, 4};", "int zero[9];"};
  for (size_t i = 0; i < sizeof sources / sizeof *sources; i++) {
    object o = compile(sources[i]);
    cpu_image image;
    elf_error error;
    bool out_of_memory;
    assert_true(cpu_image_load(&image, o.bytes, o.size, &error, &out_of_memory));
    assert_true(cpu_image_find(&image, "table") == 0);
    cpu_image_free(&image);
    free(o.bytes);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_every_lack_of_memory_is_an_error),
      cmocka_unit_test(test_functions_are_found_and_data_is_not),
      cmocka_unit_test(test_an_object_without_functions_is_loaded),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

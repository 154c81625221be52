/* Files that `quern run` reads and writes: .npy, PNG, JPEG, and numbers as text. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "tools/array.h"

static char directory[64];

static const char *path_of(const char *name) {
  static char path[2][160];
  static int turn;
  turn ^= 1;
  snprintf(path[turn], sizeof path[turn], "%s/%s", directory, name);
  return path[turn];
}

static int setup(void **state) {
  (void)state;
  strcpy(directory, "/tmp/quern-files-XXXXXX");
  tool_command = NULL; /* what is wrong is told to nobody */
  return mkdtemp(directory) ? 0 : -1;
}

static int teardown(void **state) {
  (void)state;
  char command[128];
  snprintf(command, sizeof command, "rm -rf %s", directory);
  return system(command);
}

/* An .npy file in memory. */
static size_t npy_bytes(char *out, const char *dictionary, const void *data, size_t bytes) {
  size_t n = strlen(dictionary);
  memcpy(out, "\x93NUMPY\x01\x00", 8);
  out[8] = (char)(n & 255);
  out[9] = (char)(n >> 8);
  memcpy(out + 10, dictionary, n);
  memcpy(out + 10 + n, data, bytes);
  return 10 + n + bytes;
}

static void every_number_type_reads_back(void **state) {
  (void)state;
  for (uint32_t type = QN_TYPE_I8; type <= QN_TYPE_F64; type++) {
    array a, b;
    uint64_t shape[3] = {2, 3, 4};
    assert_int_equal(array_make(&a, "a", type, shape, 3), TOOL_OK);
    for (uint64_t i = 0; i < a.count; i++) array_set_f64(&a, i, (double)i - (array_type_of(type)->is_signed ? 11 : 0));
    assert_int_equal(npy_write(path_of("a.npy"), "a.npy", &a), TOOL_OK);
    assert_int_equal(npy_read(path_of("a.npy"), &b), TOOL_OK);
    assert_int_equal(b.type, type);
    assert_int_equal(b.axes, 3);
    assert_memory_equal(b.shape, shape, sizeof shape);
    assert_memory_equal(a.data, b.data, a.count * array_type_of(type)->bytes);
    array_free(&a);
    array_free(&b);
  }
}

static void other_byte_order_and_other_array_order_are_read(void **state) {
  (void)state;
  char file[512];
  array a;
  /* Column-major 2 x 3 of big-endian 16-bit integers: 1 4 2 5 3 6 is the matrix 1 2 3 / 4 5 6. */
  const unsigned char data[] = {0, 1, 0, 4, 0, 2, 0, 5, 0, 3, 0, 6};
  size_t n = npy_bytes(file, "{'descr': '>i2', 'fortran_order': True, 'shape': (2, 3), }\n", data, sizeof data);
  assert_int_equal(npy_parse("f", file, n, &a), TOOL_OK);
  assert_int_equal(a.type, QN_TYPE_I16);
  for (int i = 0; i < 6; i++) assert_int_equal(array_get_i64(&a, (uint64_t)i), i + 1);
  array_free(&a);
}

static void complex_numbers_get_an_axis_of_two(void **state) {
  (void)state;
  char file[512];
  array a;
  const float data[] = {1, 2, 3, 4};
  size_t n = npy_bytes(file, "{'descr': '<c8', 'fortran_order': False, 'shape': (2,)}", data, sizeof data);
  assert_int_equal(npy_parse("f", file, n, &a), TOOL_OK);
  assert_int_equal(a.axes, 2);
  assert_int_equal(a.shape[1], 2);
  assert_true(array_get_f64(&a, 3) == 4);
  array_free(&a);
}

static void headers_that_lie_are_refused(void **state) {
  (void)state;
  static const char *const dictionaries[] = {
      "{'descr': '<f4', 'fortran_order': False, 'shape': (4,)}",                                 /* too much */
      "{'descr': '<f4', 'fortran_order': False, 'shape': (2,)}",                                 /* too little */
      "{'descr': '<f4', 'fortran_order': False, 'shape': (18446744073709551615,)}",              /* enormous */
      "{'descr': '<f4', 'fortran_order': False, 'shape': (4294967296, 4294967296, 4294967296)}", /* overflows */
      "{'descr': '<f4', 'fortran_order': False, 'shape': (99999999999999999999999,)}",
      "{'descr': '<f4', 'fortran_order': False, 'shape': (-3,)}",
      "{'descr': '<f4', 'fortran_order': False, 'shape': (3,)",
      "{'descr': '<f4', 'fortran_order': False}",
      "{'descr': 'O', 'fortran_order': False, 'shape': (3,)}",
      "{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (3,)}",
      "{'descr': '<f4', 'fortran_order': Maybe, 'shape': (3,)}",
      "{'descr': '<f4', 'fortran_order': False, 'shape': (3,), 'more': 1}",
      "",
      "{",
      "{'descr': '<f4",
      "{'shape': (1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,3)}",
  };
  const float data[] = {1, 2, 3};
  char file[512];
  for (size_t i = 0; i < sizeof dictionaries / sizeof *dictionaries; i++) {
    array a;
    size_t n = npy_bytes(file, dictionaries[i], data, sizeof data);
    assert_int_equal(npy_parse("f", file, n, &a), TOOL_FAILED);
  }
}

static void a_file_cut_anywhere_is_refused(void **state) {
  (void)state;
  const double data[] = {1, 2, 3, 4, 5};
  char file[512];
  size_t n = npy_bytes(file, "{'descr': '<f8', 'fortran_order': False, 'shape': (5,), }\n", data, sizeof data);
  for (size_t cut = 0; cut < n; cut++) {
    array a;
    char *exact = malloc(cut + 1); /* so that a sanitizer sees a read beyond */
    memcpy(exact, file, cut);
    assert_int_equal(npy_parse("f", exact, cut, &a), TOOL_FAILED);
    free(exact);
  }
}

static void pictures_read_back(void **state) {
  (void)state;
  static const uint32_t channels[] = {1, 3, 4};
  for (int c = 0; c < 3; c++) {
    for (uint32_t type = QN_TYPE_U8; type <= QN_TYPE_U16; type += QN_TYPE_U16 - QN_TYPE_U8) {
      array a, b;
      uint64_t shape[3] = {5, 7, channels[c]};
      assert_int_equal(array_make(&a, "a", type, shape, channels[c] > 1 ? 3 : 2), TOOL_OK);
      for (uint64_t i = 0; i < a.count; i++)
        array_set_f64(&a, i, (double)(i * 37 % (type == QN_TYPE_U8 ? 256 : 65536)));
      assert_int_equal(image_write(path_of("a.png"), "a.png", &a), TOOL_OK);
      assert_int_equal(image_read(path_of("a.png"), channels[c], &b), TOOL_OK);
      assert_int_equal(b.type, type);
      assert_int_equal(b.count, a.count);
      assert_memory_equal(a.data, b.data, a.count * array_type_of(type)->bytes);
      array_free(&a);
      array_free(&b);
    }
  }
}

static void a_grey_picture_becomes_rgba_with_full_alpha(void **state) {
  (void)state;
  array a, b;
  assert_int_equal(array_make(&a, "a", QN_TYPE_U8, (uint64_t[]){1, 2}, 2), TOOL_OK);
  a.data[0] = 10;
  a.data[1] = 200;
  assert_int_equal(image_write(path_of("g.png"), "g.png", &a), TOOL_OK);
  assert_int_equal(image_read(path_of("g.png"), 4, &b), TOOL_OK);
  assert_memory_equal(b.data, ((unsigned char[]){10, 10, 10, 255, 200, 200, 200, 255}), 8);
  array_free(&a);
  array_free(&b);
}

static void jpeg_keeps_a_smooth_picture(void **state) {
  (void)state;
  array a, b;
  assert_int_equal(array_make(&a, "a", QN_TYPE_U8, (uint64_t[]){32, 48, 4}, 3), TOOL_OK);
  for (uint64_t i = 0; i < a.count; i++) a.data[i] = i % 4 == 3 ? 255 : (unsigned char)(i / 4 % 48 * 4 + 20);
  assert_int_equal(image_write(path_of("a.jpg"), "a.jpg", &a), TOOL_OK);
  assert_int_equal(image_read(path_of("a.jpg"), 4, &b), TOOL_OK);
  assert_int_equal(b.count, a.count);
  for (uint64_t i = 0; i < a.count; i++) assert_true(abs(a.data[i] - b.data[i]) < 12);
  array_free(&a);
  array_free(&b);
}

static void a_picture_cut_anywhere_is_refused(void **state) {
  (void)state;
  static const char *const names[] = {"c.png", "c.jpg"};
  array a, b;
  assert_int_equal(array_make(&a, "a", QN_TYPE_U8, (uint64_t[]){20, 30, 4}, 3), TOOL_OK);
  for (uint64_t i = 0; i < a.count; i++) a.data[i] = (unsigned char)(i * i * 7);
  for (int n = 0; n < 2; n++) {
    char *whole;
    uint64_t size;
    assert_int_equal(image_write(path_of(names[n]), names[n], &a), TOOL_OK);
    assert_int_equal(tool_read_file(path_of(names[n]), 1 << 20, &whole, &size), TOOL_OK);
    for (uint64_t cut = 0; cut + 16 < size; cut += 5) {
      FILE *f = fopen(path_of("cut"), "wb");
      fwrite(whole, 1, cut, f);
      fclose(f);
      assert_int_equal(image_read(path_of("cut"), 4, &b), TOOL_FAILED);
    }
    free(whole);
  }
  array_free(&a);
}

static void every_half_goes_through_a_float_and_back(void **state) {
  (void)state;
  for (uint32_t h = 0; h < 65536; h++) {
    float f = array_half_to_float((uint16_t)h);
    if (isnan(f)) continue;
    assert_int_equal(array_float_to_half(f), h);
  }
  assert_int_equal(array_float_to_half(65519.9), 0x7bff);
  assert_int_equal(array_float_to_half(65520.0), 0x7c00);
  assert_int_equal(array_float_to_half(0x1p-25), 0); /* a tie to even */
  assert_int_equal(array_float_to_half(0x1.8p-25), 1);
}

static void numbers_are_exact_or_refused(void **state) {
  (void)state;
  unsigned char bytes[8];
  int64_t i;
  uint64_t u;
  assert_true(array_parse_scalar(QN_TYPE_I64, "-9223372036854775808", bytes));
  memcpy(&i, bytes, 8);
  assert_true(i == INT64_MIN);
  assert_true(array_parse_scalar(QN_TYPE_U64, "18446744073709551615", bytes));
  memcpy(&u, bytes, 8);
  assert_true(u == UINT64_MAX);
  assert_true(array_parse_scalar(QN_TYPE_I32, "0xffffffff", bytes));
  static const struct {
    uint32_t type;
    const char *text;
  } bad[] = {{QN_TYPE_U8, "256"},
             {QN_TYPE_I8, "128"},
             {QN_TYPE_I8, "-129"},
             {QN_TYPE_U32, "-1"},
             {QN_TYPE_I32, "2147483648"},
             {QN_TYPE_I32, ""},
             {QN_TYPE_I32, "1.5"},
             {QN_TYPE_I32, "1x"},
             {QN_TYPE_F32, ""},
             {QN_TYPE_F32, "1..2"},
             {QN_TYPE_F32, "x"},
             {QN_TYPE_U64, "18446744073709551616"},
             {QN_TYPE_I64, "9223372036854775808"}};
  for (size_t k = 0; k < sizeof bad / sizeof *bad; k++)
    assert_false(array_parse_scalar(bad[k].type, bad[k].text, bytes));
}

static void printed_numbers_read_back(void **state) {
  (void)state;
  const float values[] = {0.1f, 1.0f / 3, 1e-45f, 3.4028235e38f, -0.0f, 16777217.0f, 1e10f};
  array a;
  assert_int_equal(array_make(&a, "a", QN_TYPE_F32, (uint64_t[]){7}, 1), TOOL_OK);
  memcpy(a.data, values, sizeof values);
  for (uint64_t i = 0; i < 7; i++) {
    char text[64];
    array_print_scalar(&a, i, text);
    assert_true(strtof(text, NULL) == values[i]);
  }
  array_print_scalar(&a, 0, (char[64]){0});
  array_free(&a);
}

static void three_vectors_are_padded_and_packed(void **state) {
  (void)state;
  array a;
  float device[8];
  assert_int_equal(array_make(&a, "a", QN_TYPE_F32, (uint64_t[]){2, 3}, 2), TOOL_OK);
  for (uint64_t i = 0; i < 6; i++) array_set_f64(&a, i, (double)i);
  assert_int_equal(array_device_bytes(&a, 3), 32);
  array_to_device(&a, 3, device);
  assert_true(device[2] == 2 && device[3] == 0 && device[4] == 3 && device[7] == 0);
  device[3] = 99;
  array_from_device(&a, 3, device);
  for (uint64_t i = 0; i < 6; i++) assert_true(array_get_f64(&a, i) == (double)i);
  array_free(&a);
}

static void conversion_saturates_and_rounds_to_nearest(void **state) {
  (void)state;
  const double values[] = {-5, 0.5, 1.5, 255.4, 255.6, 1e30, NAN};
  const int expected[] = {0, 0, 2, 255, 255, 255, 0};
  const double whole[] = {-0.5, -1.5, -2.5, 0x1.fffffffffffffp-2, 0x1.fffffffffffffp51, 0x1.8p52, -0x1p63};
  const int64_t nearest[] = {0, -2, -2, 0, INT64_C(1) << 52, INT64_C(3) << 51, INT64_MIN};
  array a, b;
  assert_int_equal(array_make(&a, "a", QN_TYPE_F64, (uint64_t[]){7}, 1), TOOL_OK);
  memcpy(a.data, values, sizeof values);
  assert_int_equal(array_convert(&a, QN_TYPE_U8, "a", &b), TOOL_OK);
  for (uint64_t i = 0; i < 7; i++) assert_int_equal(b.data[i], expected[i]);
  array_free(&b);
  memcpy(a.data, whole, sizeof whole);
  assert_int_equal(array_convert(&a, QN_TYPE_I64, "a", &b), TOOL_OK);
  for (uint64_t i = 0; i < 7; i++) assert_int_equal(array_get_i64(&b, i), nearest[i]);
  array_free(&a);
  array_free(&b);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_number_type_reads_back),
      cmocka_unit_test(other_byte_order_and_other_array_order_are_read),
      cmocka_unit_test(complex_numbers_get_an_axis_of_two),
      cmocka_unit_test(headers_that_lie_are_refused),
      cmocka_unit_test(a_file_cut_anywhere_is_refused),
      cmocka_unit_test(pictures_read_back),
      cmocka_unit_test(a_grey_picture_becomes_rgba_with_full_alpha),
      cmocka_unit_test(jpeg_keeps_a_smooth_picture),
      cmocka_unit_test(a_picture_cut_anywhere_is_refused),
      cmocka_unit_test(every_half_goes_through_a_float_and_back),
      cmocka_unit_test(numbers_are_exact_or_refused),
      cmocka_unit_test(printed_numbers_read_back),
      cmocka_unit_test(three_vectors_are_padded_and_packed),
      cmocka_unit_test(conversion_saturates_and_rounds_to_nearest),
  };
  return cmocka_run_group_tests(tests, setup, teardown);
}

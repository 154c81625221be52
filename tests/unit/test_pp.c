/* The preprocessor: text in, text and diagnostics out. */
/* labels: serial */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "compiler/pp/pp.h"
#include "support/failing.h"
#include "support/thread_time.h"

/* ---- A run ----------------------------------------------------------------------------------------- */

typedef struct memory_file {
  const char *path, *text;
} memory_file;

static qn_arena arena;
static qn_sources sources;
static qn_diags diags;
static qn_bytes result, seen;
static memory_file files[8];
static pp_options options;

static qn_status read_memory(void *user, qn_arena *to, const char *path, qn_sv *out) {
  (void)user;
  for (size_t i = 0; i < 8 && files[i].path; i++) {
    if (strcmp(files[i].path, path) != 0) continue;
    *out = qn_sv_from(qn_arena_copy(to, qn_sv_from(files[i].text)));
    return QN_OK;
  }
  return QN_ERROR_NOT_FOUND;
}

static void note_seen(void *user, const char *path, bool found, qn_sv text) {
  (void)user;
  qn_bytes_printf(&seen, "%c%s:%d ", found ? '+' : '-', path, (int)text.size);
}

static const pp_files memory = {.read = read_memory, .seen = note_seen};

static int setup(void **state) {
  (void)state;
  memset(files, 0, sizeof files);
  options = (pp_options){.files = &memory};
  qn_arena_init(&arena, 0);
  qn_sources_init(&sources, &arena);
  qn_diags_init(&diags, &sources);
  return 0;
}

static int teardown(void **state) {
  (void)state;
  qn_bytes_free(&result);
  qn_bytes_free(&seen);
  qn_diags_free(&diags);
  qn_arena_free(&arena);
  return 0;
}

static pp *open_text(const char *text) {
  qn_source_file *file = qn_sources_add(&sources, "t.cl", qn_sv_from(text), 0);
  assert_non_null(file);
  pp *p = pp_open(&arena, &sources, &diags, file, &options);
  assert_non_null(p);
  return p;
}

/* All tokens with one blank between where white space was, and none else; lines' ends are blanks. */
static const char *run(const char *text) {
  pp *p = open_text(text);
  qn_bytes_free(&result);
  qn_bytes_append_str(&result, "");
  for (;;) {
    pp_token token = pp_next(p);
    if (token.kind == PP_EOF) break;
    if (result.size && (token.space_before || token.line_start)) qn_bytes_append_char(&result, ' ');
    if (token.kind == PP_PRAGMA) qn_bytes_append_str(&result, "@");
    qn_bytes_append_sv(&result, token.text);
  }
  assert_int_equal(pp_next(p).kind, PP_EOF);
  pp_close(p);
  return result.data;
}

static const char *told(void) { return diags.text.data ? diags.text.data : ""; }

/* Forgets what was told, not the files. */
static void start_again(void) {
  memory_file kept[8];
  memcpy(kept, files, sizeof files);
  teardown(NULL);
  setup(NULL);
  memcpy(files, kept, sizeof files);
}

static void assert_result(const char *text, const char *expected) {
  assert_string_equal(run(text), expected);
  assert_string_equal(told(), "");
}

/* One error whose first line is `expected`, behind "t.cl:". */
static void assert_error(const char *text, const char *expected) {
  start_again();
  run(text);
  char line[512];
  snprintf(line, sizeof line, "t.cl:%s\n", expected);
  if (strncmp(told(), line, strlen(line)) != 0) fail_msg("expected: %sbut got:  %s", line, told());
  assert_int_equal(diags.errors, 1);
}

/* ---- C99 6.10.3.5 ---------------------------------------------------------------------------------- */

static void c99_example_3_redefinition_and_reexamination(void **state) {
  (void)state;
  assert_result(
      "#define x    3\n"
      "#define f(a) f(x * (a))\n"
      "#undef x\n"
      "#define x    2\n"
      "#define g    f\n"
      "#define z    z[0]\n"
      "#define h    g(~\n"
      "#define m(a) a(w)\n"
      "#define w    0,1\n"
      "#define t(a) a\n"
      "#define p()  int\n"
      "#define q(x) x\n"
      "#define r(x,y) x ## y\n"
      "#define str(x) # x\n"
      "f(y+1) + f(f(z)) % t(t(g)(0) + t)(1);\n"
      "g(x+(3,4)-w) | h 5) & m\n"
      "    (f)^m(m);\n"
      "p() i[q()] = { q(1), r(2,3), r(4,), r(,5), r(,) };\n"
      "char c[2][6] = { str(hello), str() };\n",
      "f(2 * (y+1)) + f(2 * (f(2 * (z[0])))) % f(2 * (0)) + t(1); "
      "f(2 * (2+(3,4)-0,1)) | f(2 * (~ 5)) & f(2 * (0,1))^m(0,1); "
      "int i[] = { 1, 23, 4, 5, }; "
      "char c[2][6] = { \"hello\", \"\" };");
}

static void c99_example_4_strings_and_pasting(void **state) {
  (void)state;
  assert_result(
      "#define str(s)      # s\n"
      "#define xstr(s)     str(s)\n"
      "#define debug(s, t) printf(\"x\" # s \"= %d, x\" # t \"= %s\", \\\n"
      "                        x ## s, x ## t)\n"
      "#define INCFILE(n)  vers ## n\n"
      "#define glue(a, b)  a ## b\n"
      "#define xglue(a, b) glue(a, b)\n"
      "#define HIGHLOW     \"hello\"\n"
      "#define LOW         LOW \", world\"\n"
      "debug(1, 2);\n"
      "fputs(str(strncmp(\"abc\\0d\", \"abc\", '\\4')     // this goes away\n"
      "       == 0) str(: @\\n), s);\n"
      "xstr(INCFILE(2).h)\n"
      "glue(HIGH, LOW);\n"
      "xglue(HIGH, LOW)\n",
      "printf(\"x\" \"1\" \"= %d, x\" \"2\" \"= %s\", x1, x2); "
      "fputs(\"strncmp(\\\"abc\\\\0d\\\", \\\"abc\\\", '\\\\4') == 0\" \": @\\n\", s); "
      "\"vers2.h\" \"hello\"; \"hello\" \", world\"");
}

static void c99_example_5_placemarkers(void **state) {
  (void)state;
  assert_result(
      "#define t(x,y,z) x ## y ## z\n"
      "int j[] = { t(1,2,3), t(,4,5), t(6,,7), t(8,9,),\n"
      "            t(10,,), t(,11,), t(,,12), t(,,) };\n",
      "int j[] = { 123, 45, 67, 89, 10, 11, 12, };");
}

static void c99_example_6_redefinitions(void **state) {
  (void)state;
  assert_result(
      "#define OBJ_LIKE      (1-1)\n"
      "#define OBJ_LIKE      /* white space */ (1-1) /* other */\n"
      "#define FUNC_LIKE(a)   ( a )\n"
      "#define FUNC_LIKE( a )(     /* note the white space */ \\\n"
      "                      a /* other stuff on this line\n"
      "                        */ )\n",
      "");
  const char *const different[] = {"#define OBJ_LIKE (0)\n", "#define OBJ_LIKE (1 - 1)\n",
                                   "#define FUNC_LIKE(b) ( a )\n", "#define FUNC_LIKE(b) ( b )\n"};
  for (size_t i = 0; i < 4; i++) {
    char text[200];
    snprintf(text, sizeof text, "#define OBJ_LIKE (1-1)\n#define FUNC_LIKE(a) ( a )\n%s", different[i]);
    uint32_t before = diags.warnings;
    run(text);
    assert_int_equal(diags.warnings, before + 1);
  }
}

static void c99_example_7_variable_arguments(void **state) {
  (void)state;
  assert_result(
      "#define debug(...)       fprintf(stderr, __VA_ARGS__)\n"
      "#define showlist(...)    puts(#__VA_ARGS__)\n"
      "#define report(test, ...) ((test)?puts(#test):\\\n"
      "                    printf(__VA_ARGS__))\n"
      "debug(\"Flag\");\n"
      "debug(\"X = %d\\n\", x);\n"
      "showlist(The first, second, and third items.);\n"
      "report(x>y, \"x is %d but y is %d\", x, y);\n",
      "fprintf(stderr, \"Flag\"); fprintf(stderr, \"X = %d\\n\", x); "
      "puts(\"The first, second, and third items.\"); "
      "((x>y)?puts(\"x>y\"): printf(\"x is %d but y is %d\", x, y));");
}

static void c99_hash_hash_made_by_pasting_is_no_operator(void **state) {
  (void)state;
  assert_result(
      "#define hash_hash # ## #\n"
      "#define mkstr(a) # a\n"
      "#define in_between(a) mkstr(a)\n"
      "#define join(c, d) in_between(c hash_hash d)\n"
      "char p[] = join(x, y);\n",
      "char p[] = \"x ## y\";");
}

/* ---- Macros ---------------------------------------------------------------------------------------- */

static void gnu_comma_goes_with_missing_variable_arguments(void **state) {
  (void)state;
  assert_result(
      "#define e(fmt, ...) g(fmt, ## __VA_ARGS__)\n"
      "#define o(...) g(1, ## __VA_ARGS__)\n"
      "#define n(fmt, a...) g(fmt, ## a)\n"
      "#define EMPTY\n"
      "#define TWO 2\n"
      "e(1) e(1,) e(1,2,3) e(1,EMPTY) o() o(EMPTY) n(1) n(1,) n(1,TWO)\n",
      "g(1) g(1,) g(1,2,3) g(1,) g(1) g(1,) g(1) g(1,) g(1,2)");
}

static void a_name_without_parentheses_is_no_call(void **state) {
  (void)state;
  assert_result("#define f(x) [x]\n#define g f\nf f(1) (f)(2) g g(3) f\n(4) f /* c */ // d\n (5) f",
                "f [1] (f)(2) f [3] [4] [5] f");
}

static void self_reference_stays(void **state) {
  (void)state;
  assert_result("#define a b\n#define b a\n#define foo foo bar\na b foo\n", "a b foo bar");
}

static void marked_names_stay_marked_when_passed_on(void **state) {
  (void)state;
  assert_result("#define NIL(xxx) xxx\n#define G_0(arg) NIL(G_1)(arg)\n#define G_1(arg) NIL(arg)\nG_0(42)\n", "42");
  assert_result("#define f(a) a*g\n#define g(a) f(a)\nf(2)(9)\n", "2*9*g");
}

static void arguments_span_lines_and_keep_commas_in_parentheses(void **state) {
  (void)state;
  assert_result("#define f(a, b) <a|b>\nf((1, 2),\n  3\n  4)\n", "<(1, 2)|3 4>");
}

static void directives_within_arguments_are_obeyed(void **state) {
  (void)state;
  assert_result("#define f(a) <a>\nf(1\n#if 0\n2\n#else\n3\n#define X 4\n#endif\nX)\n", "<1 3 4>");
}

static void arguments_are_expanded_before_but_not_for_hash(void **state) {
  (void)state;
  assert_result("#define X 1\n#define s(a) a #a a##a\ns(X) s( X  + X )\n", "1 \"X\" XX 1 + 1 \"X + X\" 1 + XX + 1");
}

static void stringizing_keeps_spelling_of_digraphs_and_literals(void **state) {
  (void)state;
  assert_result("#define s(a) #a\ns(<: a %> \"\\n\" 'x' '\"')\n", "\"<: a %> \\\"\\\\n\\\" 'x' '\\\"'\"");
  assert_result("#define s(a) #a\ns(\\)\n", "\"\"");
}

static void digraphs_mean_what_they_stand_for(void **state) {
  (void)state;
  pp *p = open_text("%:define X <: :> <% %>\nX");
  const pp_punct expected[] = {PP_P_LBRACKET, PP_P_RBRACKET, PP_P_LBRACE, PP_P_RBRACE};
  for (int i = 0; i < 4; i++) assert_int_equal(pp_next(p).punct, expected[i]);
  pp_close(p);
}

static void trigraphs_are_off(void **state) {
  (void)state;
  assert_result("?\?=define x\n", "?\?=define x");
}

static void pasting_that_makes_no_token_is_an_error(void **state) {
  (void)state;
  assert_error("#define c(a, b) a ## b\nc(x, +)\n", "2:1: error: '##' makes 'x+', which is no token");
  assert_string_equal(result.data, "x +");
  assert_error("#define c(a, b) a ## b\nc(/, /)\n", "2:1: error: '##' makes '//', which is no token");
  assert_error("#define c(a, b) a ## b\nc(/, *)\n", "2:1: error: '##' makes '/*', which is no token");
}

static void wrong_argument_counts_are_one_error_with_a_note(void **state) {
  (void)state;
  assert_error("#define f(a, b) a b\nf(1)\n", "2:1: error: macro 'f' takes 2 arguments, but 1 is given");
  assert_non_null(strstr(told(), "t.cl:1:9: note: macro 'f' is defined here"));
  assert_error("#define f(a) a\nf(1, 2)\n", "2:1: error: macro 'f' takes 1 argument, but 2 are given");
  assert_string_equal(result.data, "1");
  assert_error("#define f() a\nf(1)\n", "2:1: error: macro 'f' takes 0 arguments, but 1 is given");
  assert_error("#define f(a, b, ...) a b\nf(1)\n", "2:1: error: macro 'f' takes at least 2 arguments, but 1 is given");
  assert_error("#define f(a) a\nint x; f(1, (2\n", "2:8: error: the arguments of macro 'f' have no closing ')'");
}

static void bad_definitions_are_told_once(void **state) {
  (void)state;
  assert_error("#define\n", "1:8: error: the macro's name is missing");
  assert_error("#define 3 4\n", "1:9: error: a macro's name must be an identifier");
  assert_error("#define defined 1\n", "1:9: error: 'defined' can't be a macro's name");
  assert_error("#define f(a, a) a\n", "1:14: error: two parameters are named 'a'");
  assert_error("#define f(a\n", "1:12: error: expected ',' or ')' in the parameters of a macro");
  assert_error("#define f(a,) a\n", "1:13: error: expected a name in the parameters of a macro");
  assert_error("#define f(..., a) a\n", "1:14: error: expected ')' behind '...' in the parameters of a macro");
  assert_error("#define f(a) #b\n", "1:14: error: '#' must be followed by a parameter of the macro");
  assert_error("#define f(a) ## a\n", "1:14: error: '##' can't stand at the start of a macro");
  assert_error("#define f(a) a ##\n", "1:16: error: '##' can't stand at the end of a macro");
  /* Parameters' names mean nothing afterwards. */
  assert_error("#define f(a, b, ) x\n#define g #a\ng\n", "1:17: error: expected a name in the parameters of a macro");
  assert_string_equal(result.data, "#a");
}

static void redefinition_warns_with_the_place_before(void **state) {
  (void)state;
  run("#define X 1\n#define X 2\nX\n");
  assert_string_equal(told(),
                      "t.cl:2:9: warning: 'X' is defined again, differently\n#define X 2\n        ^\n"
                      "t.cl:1:9: note: the definition before is here\n#define X 1\n        ^\n");
  assert_string_equal(result.data, "2");
}

static void predefined_macros_may_be_replaced(void **state) {
  (void)state;
  options.predefined = QN_SV("#define M_PI 3.14\n#define A 1\n");
  const char *const defines[] = {"A=2", "B", "C=x y", "F(x)=x+1", "-B", "L=1\n2"};
  options.defines = defines;
  options.define_count = 6;
  assert_result("#define M_PI 3\nM_PI A B C F(7) L\n", "3 2 B x y 7+1 1 2");
}

static void command_line_errors_name_it(void **state) {
  (void)state;
  const char *const defines[] = {"GOOD=1", "3=4"};
  options.defines = defines;
  options.define_count = 2;
  run("x\n");
  assert_non_null(strstr(told(), "<command line>:2:9: error: a macro's name must be an identifier\n"));
}

static void builtin_macros(void **state) {
  (void)state;
  assert_result("__LINE__\n__LINE__ __FILE__ __COUNTER__ __COUNTER__ __DATE__ __TIME__\n",
                "1 2 \"t.cl\" 0 1 \"Jan  1 1970\" \"00:00:00\"");
  assert_result("#define L __LINE__\n#define P(a) a L\n\nP(\n__LINE__)\n", "5 4");
}

static void line_directive_changes_line_and_file(void **state) {
  (void)state;
  assert_result(
      "#define N 100\n#line N \"a\\\\b.y\"\n__LINE__ __FILE__\n#line 7\n__LINE__\n# 3 \"x\" 1 2\n__LINE__ __FILE__",
      "100 \"a\\\\b.y\" 7 3 \"x\"");
  assert_error("#line\n", "1:2: error: #line takes a number from 0 to 2147483647");
  assert_error("#line 1x\n", "1:7: error: #line takes a number from 0 to 2147483647");
  assert_error("#line 99999999999\n", "1:7: error: #line takes a number from 0 to 2147483647");
  assert_error("#line 3 x\n", "1:9: error: #line takes a file name in quotes after the number");
}

static void spliced_lines_keep_their_places(void **state) {
  (void)state;
  assert_result("#define X a\\\nb \\  \n  c\nX __LI\\\r\nNE__\n", "ab c 4");
  assert_error("int \\\n\\\n  x\\\ny; #define\n#bad\n", "5:2: error: unknown directive '#bad'");
  assert_error("ab\\\ncd\n#define F(\\\n3)\n", "4:1: error: expected a name in the parameters of a macro");
}

static void comments_are_blanks(void **state) {
  (void)state;
  assert_result("a/**/b /* x // */ c // d /* \n e/*\n*/f /***/ g /*/ */ h // x \\\n y\n i", "a b c e f g h i");
  assert_error("a /* b\nc\n", "1:3: error: unterminated /* comment");
}

static void a_byte_order_mark_is_skipped(void **state) {
  (void)state;
  assert_result("\xef\xbb\xbf#define X 1\nX", "1");
}

static void missing_quotes_are_told_once(void **state) {
  (void)state;
  assert_error("x = \"abc;\ny\n", "1:5: error: missing terminating \" character");
  assert_string_equal(result.data, "x = \"\"; y");
  assert_error("f(\"a;b ) ;\ny\n", "1:3: error: missing terminating \" character");
  assert_string_equal(result.data, "f(\"\" ) ; y");
  assert_error("f('a)\ny\n", "1:3: error: missing terminating ' character");
  assert_string_equal(result.data, "f('0' y");
  assert_error("x = 'a;\ny\n", "1:5: error: missing terminating ' character");
  assert_error("\"a\\\"\n", "1:1: error: missing terminating \" character");
  assert_error("\"", "1:1: error: missing terminating \" character");
  assert_error("\"\\", "1:1: error: missing terminating \" character");
  start_again();
  assert_result("#if 0\ndon't \"\n#endif\n", "");
}

static void numbers_and_characters(void **state) {
  (void)state;
  pp *p = open_text("0x1.8p-3f 1e+5 .5 1.. 0xep-1 'a' L'b' L\"c\" L @ \xc3\xa4\xc3\xb6 $x");
  const pp_kind kinds[] = {PP_NUMBER, PP_NUMBER, PP_NUMBER, PP_NUMBER, PP_NUMBER, PP_CHAR,
                           PP_CHAR,   PP_STRING, PP_IDENT,  PP_OTHER,  PP_OTHER,  PP_IDENT};
  for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) assert_int_equal(pp_next(p).kind, kinds[i]);
  assert_int_equal(pp_next(p).kind, PP_EOF);
  pp_close(p);
}

static void every_punctuator_is_read_as_itself(void **state) {
  (void)state;
  static const struct {
    const char *text;
    pp_punct punct;
  } all[] = {
#define QN_X(id, text) {text, PP_P_##id},
      PP_PUNCTS(QN_X)
#undef QN_X
          {"<:", PP_P_LBRACKET},
      {":>", PP_P_RBRACKET},
      {"<%", PP_P_LBRACE},
      {"%>", PP_P_RBRACE},
      {"%:%:", PP_P_HASHHASH}};
  for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
    char text[16];
    snprintf(text, sizeof text, "x %s y", all[i].text);
    pp *p = open_text(text);
    pp_next(p);
    pp_token token = pp_next(p);
    assert_int_equal(token.kind, PP_PUNCT);
    assert_int_equal(token.punct, all[i].punct);
    assert_true(qn_sv_is(token.text, all[i].text));
    assert_true(qn_sv_is(pp_next(p).text, "y"));
    pp_close(p);
  }
}

static void names_are_interned(void **state) {
  (void)state;
  pp *p = open_text("alpha beta alpha");
  pp_token a = pp_next(p), b = pp_next(p), c = pp_next(p);
  assert_ptr_equal(a.name, c.name);
  assert_ptr_not_equal(a.name, b.name);
  assert_ptr_equal(pp_intern(p, QN_SV("alpha")), a.name);
  pp_name *new_name = pp_intern(p, QN_SV("gamma"));
  assert_ptr_not_equal(new_name, a.name);
  assert_null(new_name->declarations);
  assert_int_equal(new_name->keyword, 0);
  pp_close(p);
}

static void tokens_know_their_places(void **state) {
  (void)state;
  pp *p = open_text("#define ADD(a) (a + 1)\n  x = ADD(yy);\n");
  const struct {
    const char *text;
    uint32_t column, length;
  } expected[] = {{"x", 3, 1}, {"=", 5, 1}, {"(", 7, 3}, {"yy", 11, 2},
                  {"+", 7, 3}, {"1", 7, 3}, {")", 7, 3}, {";", 14, 1}};
  for (size_t i = 0; i < sizeof expected / sizeof *expected; i++) {
    pp_token token = pp_next(p);
    assert_true(qn_sv_is(token.text, expected[i].text));
    assert_int_equal(token.length, expected[i].length);
    qn_position position = qn_sources_position(&sources, token.loc);
    assert_int_equal(position.line, 2);
    assert_int_equal(position.column, expected[i].column);
  }
  pp_token end = pp_next(p);
  assert_int_equal(end.kind, PP_EOF);
  assert_int_equal(qn_sources_position(&sources, end.loc).line, 3);
  pp_close(p);
}

/* ---- Conditionals ---------------------------------------------------------------------------------- */

static void conditionals_choose_one_group(void **state) {
  (void)state;
  const char *text =
      "#if X == 1\none\n#elif X == 2\ntwo\n#elif X == 3\nthree\n#else\nother\n#endif\n"
      "#ifdef X\ndef\n#else\nundef\n#endif\n#ifndef X\nnot\n#endif\n";
  const char *const defines[][1] = {{"X=1"}, {"X=2"}, {"X=3"}, {"X=4"}};
  const char *const expected[] = {"one def", "two def", "three def", "other def"};
  for (int i = 0; i < 4; i++) {
    options.defines = defines[i];
    options.define_count = 1;
    assert_result(text, expected[i]);
  }
  options.define_count = 0;
  assert_result(text, "other undef not");
}

static void skipped_groups_are_not_looked_into(void **state) {
  (void)state;
  assert_result(
      "#if 0\n#if 1/0\n#bad\n#else junk\n#elif (\n#endif\n#include \"no\"\n\" /* '\n// /*\n/* #endif\n*/ \"#endif\"\n"
      "#error no\n#elif 1\nyes\n#elif 1/0\nno\n#endif\n"
      "a\n",
      "yes a");
}

static void conditionals_span_macros_and_comments(void **state) {
  (void)state;
  assert_result("/* x */ # /* y */ if /* z */ 1 /* a\n b */\nyes\n # endif // x\n%:if 0\nno\n%:endif\n", "yes");
}

static void broken_conditionals_are_told(void **state) {
  (void)state;
  assert_error("#else\n", "1:2: error: #else without #if");
  assert_error("#elif 1\n", "1:2: error: #elif without #if");
  assert_error("#endif\n", "1:2: error: #endif without #if");
  assert_error("a\n#if 1\nb\n", "2:2: error: this conditional has no #endif");
  assert_error("a\n#if 0\nb\n", "2:2: error: this conditional has no #endif");
  assert_error("#if 1\n#else\n#else\n#endif\n", "3:2: error: #else after #else");
  assert_error("#if 1\n#else\n#elif 1\n#endif\n", "3:2: error: #elif after #else");
  assert_error("#ifdef\n#endif\n", "1:7: error: the macro's name is missing");
  assert_error("#ifdef 3\n#endif\n", "1:8: error: a macro's name must be an identifier");
  assert_error("#iff 1\nx\n", "1:2: error: unknown directive '#iff'; did you mean '#if'?");
  assert_error("#inclde \"x\"\nx\n", "1:2: error: unknown directive '#inclde'; did you mean '#include'?");
  assert_error("#zzzzzz\nx\n", "1:2: error: unknown directive '#zzzzzz'");
  assert_error("#+\nx\n", "1:2: error: a directive's name must follow '#'");
}

static void extra_text_after_directives_warns(void **state) {
  (void)state;
  run("#ifdef X y\n#else z\n#endif w\n#undef X x\n");
  assert_int_equal(diags.warnings, 4);
}

static bool holds(const char *expression) {
  char text[600];
  snprintf(text, sizeof text, "#define ONE 1\n#define F(x) x\n#if %s\nyes\n#else\nno\n#endif\n", expression);
  run(text);
  if (*told()) fail_msg("%s: %s", expression, told());
  return strcmp(result.data, "yes") == 0;
}

static void expressions_that_hold(void **state) {
  (void)state;
  static const char *const true_ones[] = {"1",
                                          "ONE",
                                          "F(1)",
                                          "!0",
                                          "!undefined_name",
                                          "-1 < 0",
                                          "-1 > 0u",
                                          "1 + 2 * 3 == 7",
                                          "(1 + 2) * 3 == 9",
                                          "10 - 3 - 2 == 5",
                                          "100 / 10 / 2 == 5",
                                          "7 % 4 == 3",
                                          "-7 / 2 == -3",
                                          "-7 % 2 == -1",
                                          "1 << 40 == 0x10000000000",
                                          "-1 >> 1 == -1",
                                          "(0u - 1) >> 63 == 1",
                                          "~0 == -1",
                                          "~0u == 18446744073709551615u",
                                          "6 & 3 == 3 || 1",
                                          "(6 & 3) == 2",
                                          "(6 | 3) == 7",
                                          "(6 ^ 3) == 5",
                                          "1 || 1 / 0",
                                          "!(0 && 1 / 0)",
                                          "1 ? 2 : 1 / 0",
                                          "0 ? 1 / 0 : 1",
                                          "1 ? 0 ? 0 : 2 : 0",
                                          "(0 ? 1 : -1u) > 0",
                                          "(1 ? -1 : 0u) > 0",
                                          "defined ONE",
                                          "defined(ONE)",
                                          "!defined TWO",
                                          "defined ( F ) && !defined(G)",
                                          "0x7fffffffffffffff + 1 < 0",
                                          "0xffffffffffffffff == -1",
                                          "'a' == 97",
                                          "'\\n' == 10",
                                          "'\\x41' == 65",
                                          "'\\101' == 65",
                                          "'\\377' < 0",
                                          "'ab' == 24930",
                                          "'\\'' == 39",
                                          "0b101 == 5",
                                          "010 == 8",
                                          "1UL == 1 && 1llu == 1 && 1LLU == 1 && 1Lu == 1",
                                          "2 > 1 > 0",
                                          "1 == 1 == 1",
                                          "+ + - - 1",
                                          "- -1 == 1",
                                          "!!2 == 1",
                                          "1 << 64 == 0",
                                          "-8 >> 100 == -1",
                                          "8 >> -1 == 16",
                                          "(-0x7fffffffffffffff - 1) / -1 == -0x7fffffffffffffff - 1",
                                          "(-0x7fffffffffffffff - 1) % -1 == 0",
                                          "defined __FILE__",
                                          "__LINE__ == 3",
                                          "defined(__has_include)",
                                          "1 //x",
                                          "1 /* x */",
                                          "9223372036854775808 > 0"};
  for (size_t i = 0; i < sizeof true_ones / sizeof *true_ones; i++)
    if (!holds(true_ones[i])) fail_msg("%s does not hold", true_ones[i]);
  assert_false(holds("0"));
  assert_false(holds("undefined_name"));
  assert_false(holds("defined TWO"));
}

static void defined_may_come_from_a_macro(void **state) {
  (void)state;
  assert_result("#define HAS_X defined(X)\n#if HAS_X\nno\n#else\nyes\n#endif\n#define X 1\n#if HAS_X\nyes\n#endif\n",
                "yes yes");
}

static void bad_expressions_are_one_error(void **state) {
  (void)state;
  assert_error("#if\n#endif\n", "1:2: error: #if without a value");
  assert_error("#if 1 +\n#endif\n", "1:8: error: expected a value at the end of #if");
  assert_error("#if (1\n#endif\n", "1:7: error: expected ')' in #if");
  assert_error("#if 1 2\n#endif\n", "1:7: error: unexpected '2' in #if");
  assert_error("#if 1, 2\n#endif\n", "1:6: error: unexpected ',' in #if");
  assert_error("#if 1.0\n#endif\n", "1:5: error: a floating-point number in #if: only integers are allowed");
  assert_error("#if 1x\n#endif\n", "1:5: error: '1x' is not an integer");
  assert_error("#if 0x\n#endif\n", "1:5: error: '0x' is not an integer");
  assert_error("#if 09\n#endif\n", "1:5: error: '09' is not an integer");
  assert_error("#if 99999999999999999999\n#endif\n", "1:5: error: '99999999999999999999' does not fit into 64 bits");
  assert_error("#if 1 / 0\n#endif\n", "1:7: error: division by zero in #if");
  assert_error("#if 1 % (2 - 2)\n#endif\n", "1:7: error: division by zero in #if");
  assert_error("#if \"a\"\n#endif\n", "1:5: error: expected a value in #if, not '\"a\"'");
  assert_error("#if ''\n#endif\n", "1:5: error: an empty character constant");
  assert_error("#if f(1)\n#endif\n", "1:5: error: the function-like macro 'f' is not defined");
  assert_error("#if 1 ? 2\n#endif\n", "1:10: error: expected ':' in #if");
  assert_error("#if = 2\n#endif\n", "1:5: error: expected a value in #if, not '='");
  assert_error("#if 1 = 2\n#endif\n", "1:7: error: unexpected '=' in #if");
  assert_error("#if defined\n#endif\n", "1:5: error: 'defined' takes a macro's name");
  assert_error("#if defined(\n#endif\n", "1:5: error: 'defined' takes a macro's name");
  assert_error("#if defined(X\n#endif\n", "1:13: error: expected ')' after 'defined(X'");
  assert_error("#if 0\n#elif )\n#endif\n", "2:7: error: expected a value in #if, not ')'");
}

/* ---- Files ----------------------------------------------------------------------------------------- */

static void includes_are_found_beside_the_includer_then_in_order(void **state) {
  (void)state;
  files[0] = (memory_file){"sub/a.h", "A1\n#include \"b.h\"\n"};
  files[1] = (memory_file){"sub/b.h", "B1 __FILE__\n"};
  files[2] = (memory_file){"two/b.h", "B2\n"};
  files[3] = (memory_file){"three/b.h", "B3\n"};
  const char *const dirs[] = {"two/", "./three"};
  options.include_dirs = dirs;
  options.include_dir_count = 2;
  assert_result(
      "#include \"sub/a.h\"\n#include \"b.h\"\n#include <b.h> // c\n#define H <b.h>\n#include H\n#define Q "
      "\"sub/b.h\"\n#include Q\nend\n",
      "A1 B1 \"sub/b.h\" B2 B2 B2 B1 \"sub/b.h\" end");
  /* Each place once. */
  assert_string_equal(seen.data, "+sub/a.h:18 +sub/b.h:12 -b.h:0 +two/b.h:3 ");
}

static void has_include_looks_and_reads_nothing_into_the_text(void **state) {
  (void)state;
  files[0] = (memory_file){"a.h", "A\n"};
  files[1] = (memory_file){"inc/c.h", "A\n"};
  const char *const dirs[] = {"inc"};
  options.include_dirs = dirs;
  options.include_dir_count = 1;
  assert_result(
      "#if __has_include(\"a.h\") && !__has_include(\"b.h\") && __has_include(<c.h>) && "
      "!__has_include(<a.h>)\nyes\n#endif\n"
      "#ifdef __has_include\nyes\n#endif\n",
      "yes yes");
  assert_error("#if __has_include\n#endif\n", "1:5: error: __has_include takes (\"FILENAME\") or (<FILENAME>)");
}

static void guards_and_once_prevent_reading_again(void **state) {
  (void)state;
  files[0] = (memory_file){"g.h", "// c\n#ifndef G\n#define G\ng\n#endif // G\n"};
  files[1] = (memory_file){"o.h", "#pragma once\no\n#include \"o.h\"\n"};
  files[2] = (memory_file){"not.h", "#ifndef N\n#define N\nn1\n#else\nn2\n#endif\n"};
  files[3] = (memory_file){"tail.h", "#ifndef T\n#define T\nt\n#endif\nx\n"};
  files[4] = (memory_file){"d/o.h", "#pragma once\no\n#include \"o.h\"\n"};
  assert_result(
      "#include \"g.h\"\n#include \"g.h\"\n#include \"o.h\"\n#include \"./o.h\"\n#include \"d/o.h\"\n"
      "#include \"not.h\"\n#include \"not.h\"\n#include \"tail.h\"\n#include \"tail.h\"\n#undef G\n#include \"g.h\"\n",
      "g o n1 n2 t x x g");
  assert_result("#pragma once\na\n#include \"t.cl\"\n", "a");
}

static void missing_includes_say_where_was_looked(void **state) {
  (void)state;
  const char *const dirs[] = {"x", "y"};
  options.include_dirs = dirs;
  options.include_dir_count = 2;
  run("int a;\n#include \"no.h\"\nint b;\n");
  assert_string_equal(told(),
                      "t.cl:2:10: error: 'no.h' file not found\n#include \"no.h\"\n         ^~~~~~\n"
                      "note: looked in '.', 'x', 'y'; -I adds a directory\n");
  assert_string_equal(result.data, "int a;");
}

static void bad_includes_are_told(void **state) {
  (void)state;
  files[0] = (memory_file){"a.h", "a\n"};
  assert_error("#include\n", "1:9: error: #include takes \"FILENAME\" or <FILENAME>");
  assert_error("#include a.h\n", "1:10: error: #include takes \"FILENAME\" or <FILENAME>");
  assert_error("#include <a.h\n", "1:10: error: the file name has no closing >");
  assert_error("#include \"a.h\n", "1:10: error: the file name has no closing \"");
  assert_error("#include \"\"\n", "1:10: error: #include of an empty file name");
  assert_error("#include <a.h>\n", "1:10: error: 'a.h' file not found");
  assert_error("#define f(x) x\nf(\n#include \"a.h\"\n)\n", "3:2: error: #include within a macro's arguments");
  assert_error("#define f(x) x\nf(\n#pragma x\n)\n", "3:2: error: #pragma within a macro's arguments");
}

static void errors_in_includes_tell_the_stack(void **state) {
  (void)state;
  files[0] = (memory_file){"a.h", "\n#include \"b.h\"\n"};
  files[1] = (memory_file){"b.h", "#error no good\n"};
  run("#include \"a.h\"\n");
  assert_string_equal(told(),
                      "In file included from a.h:2:\nIn file included from t.cl:1:\n"
                      "b.h:1:2: error: no good\n#error no good\n ^~~~~\n");
}

static void conditionals_must_close_in_their_file(void **state) {
  (void)state;
  files[0] = (memory_file){"a.h", "#if 1\n"};
  files[1] = (memory_file){"b.h", "#endif\n"};
  run("#if 1\n#include \"a.h\"\nx\n#endif\n");
  assert_non_null(strstr(told(), "a.h:1:2: error: this conditional has no #endif"));
  assert_int_equal(diags.errors, 1);
  run("#if 1\n#include \"b.h\"\n#endif\n");
  assert_non_null(strstr(told(), "b.h:1:2: error: #endif without #if"));
  assert_int_equal(diags.errors, 2);
}

static void disk_is_read_when_no_files_are_given(void **state) {
  (void)state;
  options.files = NULL;
  const char *const dirs[] = {QUERN_SOURCE_DIR};
  options.include_dirs = dirs;
  options.include_dir_count = 1;
  assert_result("#if __has_include(<CMakeLists.txt>) && !__has_include(<no-such-file>)\nyes\n#endif\n", "yes");
  assert_string_equal(qn_error_text(), "");
  run("#include <src>\n");
  assert_int_equal(diags.errors, 1);
}

/* ---- Pragmas and messages -------------------------------------------------------------------------- */

static void pragmas_are_tokens(void **state) {
  (void)state;
  assert_result(
      "#define N 4\n#define DO(x) _Pragma(#x)\n"
      "#pragma   unroll  N // c\nfor\n_Pragma(\"a \\\"b\\\" \\\\n\") x DO(unroll 4) y\n#pragma\n#pragma don't\n",
      "@unroll N for @a \"b\" \\n x @unroll 4 y @ @don't");
  assert_error("_Pragma(x)\n", "1:1: error: _Pragma takes a string literal in parentheses");
}

static void error_and_warning_repeat_their_text(void **state) {
  (void)state;
  assert_error("  #  error don't do \"this  \n", "1:6: error: don't do \"this");
  assert_error("#error\n", "1:2: error: #error");
  teardown(NULL);
  setup(NULL);
  run("#warning look out\nx\n");
  assert_string_equal(told(), "t.cl:1:2: warning: look out\n#warning look out\n ^~~~~~~\n");
}

/* ---- -E -------------------------------------------------------------------------------------------- */

static const char *print(const char *text) {
  pp *p = open_text(text);
  qn_bytes_free(&result);
  pp_print(p, &result);
  pp_close(p);
  return result.data ? result.data : "";
}

static void printing_keeps_lines_and_indentation(void **state) {
  (void)state;
  files[0] = (memory_file){"a.h", "inside\n"};
  assert_string_equal(
      print("#define X 1\nint a = X;\n\n  if (a)\n    b;\n#include \"a.h\"\nlast\n#pragma p  q\nx _Pragma(\"y\") z\n"),
      "# 2 \"t.cl\"\nint a = 1;\n\n  if (a)\n    b;\n# 1 \"a.h\"\ninside\n# 7 \"t.cl\"\nlast\n#pragma p q\nx\n"
      "#pragma y\n# 9 \"t.cl\"\n               z\n");
}

static void printed_tokens_do_not_join(void **state) {
  (void)state;
  assert_string_equal(print("#define P +\n#define M -\n#define E\n#define N 1\n#define L <\n-M-E- P+P N N/*1*/.5 "
                            "x/**/y L/**/< a/E/b &E& N\n"),
                      "# 6 \"t.cl\"\n- - - - + + + 1 1 .5 x y < < a/ /b & & 1\n");
}

static void printed_text_means_the_same_when_read_again(void **state) {
  (void)state;
  const char *text =
      "#define CAT(a, b) a ## b\n#define STR(x) #x\n#define F(x, ...) x + STR(__VA_ARGS__)\n"
      "F(CAT(a, 1), b, \"c\\n\") -CAT(-, -) x; 1 .CAT(5, e) <: :>\n__LINE__ __FILE__\n";
  qn_bytes first = {0};
  qn_bytes_append_str(&first, run(text));
  qn_bytes printed = {0};
  qn_bytes_append_str(&printed, print(text));
  const char *again = run(printed.data);
  /* White space may be added, nothing else. */
  const char *a = first.data, *b = again;
  while (*a || *b) {
    while (*a == ' ') a++;
    while (*b == ' ') b++;
    assert_int_equal(*a, *b);
    if (*a) a++;
    if (*b) b++;
  }
  qn_bytes_free(&first);
  qn_bytes_free(&printed);
}

/* ---- Hostile input --------------------------------------------------------------------------------- */

static void self_including_files_end_with_one_error(void **state) {
  (void)state;
  files[0] = (memory_file){"t.cl", "x\n#include \"t.cl\"\n#include \"t.cl\"\n"};
  run("x\n#include \"t.cl\"\n#include \"t.cl\"\n");
  assert_int_equal(diags.errors, 1);
  assert_non_null(strstr(told(), "error: #include nested more than 64 deep: does a file include itself?"));
}

static void mutually_including_files_end_with_one_error(void **state) {
  (void)state;
  files[0] = (memory_file){"a.h", "#include \"b.h\"\n#include \"b.h\"\n"};
  files[1] = (memory_file){"b.h", "#include \"a.h\"\n#include \"a.h\"\n"};
  run("#include \"a.h\"\n");
  assert_int_equal(diags.errors, 1);
}

static void exponential_includes_are_bounded(void **state) {
  (void)state;
  /* Each level includes the next twice; the depth is within the limit. */
  files[0] =
      (memory_file){"x.h",
                    "#if __COUNTER__ < 0\n#endif\n#ifndef D0\n#define D0\n#include \"x.h\"\n#include \"x.h\"\n#undef "
                    "D0\n#elif !defined D1\n#define D1\n#include \"x.h\"\n#include \"x.h\"\n#undef D1\n#elif !defined "
                    "D2\n#define D2\n#include \"x.h\"\n#include \"x.h\"\n#undef D2\n#endif\n"};
  options.work_limit = 1000;
  run("#include \"x.h\"\n#include \"x.h\"\n#include \"x.h\"\n");
  assert_int_equal(diags.errors, 1);
  assert_non_null(strstr(told(), "limit of 1000 tokens was reached"));
}

static void exponential_macros_are_bounded(void **state) {
  (void)state;
  qn_bytes text = {0};
  for (int i = 0; i < 64; i++) qn_bytes_printf(&text, "#define M%d M%d M%d\n", i, i + 1, i + 1);
  qn_bytes_append_str(&text, "M0\n");
  options.work_limit = 100000;
  run(text.data);
  assert_int_equal(diags.errors, 1);
  assert_non_null(strstr(told(), "limit of 100000 tokens was reached"));
  qn_bytes_free(&text);
}

static void exponential_arguments_are_bounded(void **state) {
  (void)state;
  qn_bytes text = {0};
  qn_bytes_append_str(&text, "#define d(x) x x\n");
  for (int i = 0; i < 40; i++) qn_bytes_append_str(&text, "d(");
  qn_bytes_append_str(&text, "1");
  for (int i = 0; i < 40; i++) qn_bytes_append_str(&text, ")");
  options.work_limit = 1000000;
  run(text.data);
  assert_int_equal(diags.errors, 1);
  qn_bytes_free(&text);
}

static void growing_strings_and_names_are_bounded(void **state) {
  (void)state;
  qn_bytes text = {0};
  qn_bytes_append_str(&text, "#define s(x) #x\n#define d(x) s(x x x)\n");
  for (int i = 0; i < 60; i++) qn_bytes_append_str(&text, "d(");
  qn_bytes_append_str(&text, "\"a\"");
  for (int i = 0; i < 60; i++) qn_bytes_append_str(&text, ")");
  run(text.data);
  assert_int_equal(diags.errors, 1);
  assert_non_null(strstr(told(), "'#' makes a string of more than"));
  qn_bytes_free(&text);
  qn_bytes_append_str(&text, "#define c_(x) x##x\n#define c(x) c_(x)\n");
  for (int i = 0; i < 60; i++) qn_bytes_append_str(&text, "c(");
  qn_bytes_append_str(&text, "a");
  for (int i = 0; i < 60; i++) qn_bytes_append_str(&text, ")");
  teardown(NULL);
  setup(NULL);
  run(text.data);
  assert_int_equal(diags.errors, 1);
  assert_non_null(strstr(told(), "'##' makes a token of more than"));
  qn_bytes_free(&text);
}

/* `count` times `open`, then `middle`, then as many `close`. */
static void nest(qn_bytes *out, const char *open, const char *middle, const char *close, int count) {
  for (int i = 0; i < count; i++) qn_bytes_append_str(out, open);
  qn_bytes_append_str(out, middle);
  for (int i = 0; i < count; i++) qn_bytes_append_str(out, close);
}

static void deep_nesting_is_one_error(void **state) {
  (void)state;
  static const struct {
    const char *before, *open, *middle, *close, *after, *error;
  } cases[] = {
      {"#if ", "(", "1", ")", "\n#endif\n", "an #if nested more than 200 deep"},
      {"#if ", "!", "1", "", "\n#endif\n", "an #if nested more than 200 deep"},
      {"#if ", "1?", "1", ":1", "\n#endif\n", "an #if nested more than 200 deep"},
      {"#if ", "1?1:", "1", "", "\n#endif\n", "an #if nested more than 200 deep"},
      {"", "#if 1\n", "", "#endif\n", "", "conditionals nested more than 256 deep"},
      {"#define f(x) x\n", "f(", "1", ")", "\n", "macro arguments nested more than 200 deep"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    teardown(NULL);
    setup(NULL);
    qn_bytes text = {0};
    qn_bytes_append_str(&text, cases[i].before);
    nest(&text, cases[i].open, cases[i].middle, cases[i].close, 5000);
    qn_bytes_append_str(&text, cases[i].after);
    run(text.data);
    assert_int_equal(diags.errors, 1);
    if (!strstr(told(), cases[i].error)) fail_msg("expected '%s', got %s", cases[i].error, told());
    qn_bytes_free(&text);
  }
}

static void nesting_that_real_code_has_is_fine(void **state) {
  (void)state;
  qn_bytes text = {0};
  qn_bytes_append_str(&text, "#define f(x) x\n#if ");
  nest(&text, "(", "1", ")", 200);
  qn_bytes_append_str(&text, "\n");
  nest(&text, "#if 1\n", "yes\n", "#endif\n", 200);
  nest(&text, "f(", "1", ")", 150);
  qn_bytes_append_str(&text, "\n#endif\n");
  assert_result(text.data, "yes 1");
  qn_bytes_free(&text);
}

static void brackets_of_if_nest_as_deep_as_the_limit_says(void **state) {
  (void)state;
  for (int depth = 200; depth <= 201; depth++) {
    teardown(NULL);
    setup(NULL);
    qn_bytes text = {0};
    qn_bytes_append_str(&text, "#if ");
    nest(&text, "(", "1", ")", depth);
    qn_bytes_append_str(&text, "\n#endif\n");
    run(text.data);
    assert_int_equal(diags.errors, depth > 200);
    qn_bytes_free(&text);
  }
}

static double milliseconds_of(const char *text) {
  teardown(NULL);
  setup(NULL);
  uint64_t from = thread_ns();
  pp *p = open_text(text);
  while (pp_next(p).kind != PP_EOF) continue;
  pp_close(p);
  return (double)(thread_ns() - from) / 1e6;
}

typedef struct time_shape {
  const char *before, *open, *middle, *close;
  int count;
} time_shape;

static double time_of(const time_shape *shape, int factor) {
  qn_bytes text = {0};
  qn_bytes_append_str(&text, shape->before);
  nest(&text, shape->open, shape->middle, shape->close, shape->count * factor);
  double best = 1e9;
  for (int try = 0; try < 3; try++) {
    double time = milliseconds_of(text.data);
    if (time < best) best = time;
  }
  qn_bytes_free(&text);
  return best;
}

/* Whatever the shape, eight times the text takes about eight times as long; 64 times would be quadratic. A machine that
 * does other things may disturb one measurement, but not five. */
static void time_is_linear_in_the_text(void **state) {
  (void)state;
  static const time_shape shapes[] = {
      {"", "a b c d\n", "", "", 10000},
      {"", "x", "", "", 100000},
      {"\"", "x", "\"", "", 100000},
      {"/*", " * / ", "*/", "", 50000},
      {"", "\\\n", "", "", 50000},
      {"#define f(x) x\n", "f\n\n\n\n", "", "", 10000},
      {"#define f(x) x\nf(", "(1", "", ")", 10000},
      {"#define f(x) x\n", "f(1)\n", "", "", 10000},
      {"#define s(x) #x\ns(", "1 ", ")", "", 25000},
      {"#define e\n", "e ", "", "", 50000},
      {"#if 0\n", "x '\n", "#endif\n", "", 25000},
      {"#if 0\n", "#if 1\n", "", "#endif\n", 25000},
      {"#define f(...) __VA_ARGS__ x\nf(", "1,", ")", "", 25000},
      {"", "#define x 1\n", "", "", 5000},
      {"", "'a\n", "", "", 25000},
  };
  for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
    bool is_linear = false;
    double once = 0, eight_times = 0;
    for (int try = 0; try < 5 && !is_linear; try++) {
      once = time_of(&shapes[i], 1);
      eight_times = time_of(&shapes[i], 8);
      is_linear = eight_times < once * 24 + 2;
    }
    if (!is_linear) fail_msg("shape %d: %.2f ms, eight times: %.2f ms", (int)i, once, eight_times);
  }
}

static void long_chains_of_macros_need_no_recursion(void **state) {
  (void)state;
  qn_bytes text = {0};
  for (int i = 0; i < 50000; i++) qn_bytes_printf(&text, "#define M%d M%d\n", i, i + 1);
  qn_bytes_append_str(&text, "M0 M1\n");
  assert_result(text.data, "M50000 M50000");
  qn_bytes_free(&text);
}

static void out_of_memory_ends_the_stream(void **state) {
  (void)state;
  qn_bytes text = {0};
  for (int i = 0; i < 300; i++)
    qn_bytes_printf(&text, "#define F%d(a, b) a ## b #a x%d __LINE__ __FILE__\nF%d(a%d, b)\n", i, i, i, i);
  bool succeeded = false;
  for (size_t limit = 1000; !succeeded; limit += limit / 7) {
    qn_arena small;
    qn_arena_init(&small, limit);
    qn_sources few;
    qn_diags some;
    qn_sources_init(&few, &small);
    qn_diags_init(&some, &few);
    qn_source_file *file = qn_sources_add(&few, "t.cl", qn_bytes_view(&text), 0);
    pp *p = file ? pp_open(&small, &few, &some, file, NULL) : NULL;
    uint32_t tokens = 0;
    while (p && pp_next(p).kind != PP_EOF) tokens++;
    if (some.errors) fail_msg("%s", some.text.data);
    succeeded = p && !some.out_of_memory;
    if (succeeded) assert_int_equal(tokens, 300 * 5);
    if (p) pp_close(p);
    qn_diags_free(&some);
    qn_arena_free(&small);
  }
  qn_bytes_free(&text);
}

static void each_failing_allocation_ends_the_stream(void **state) {
  (void)state;
  files[0] = (memory_file){"a.h", "#pragma once\n#define G(x, ...) #x F(x) __VA_ARGS__ x\\\n ## x\n"};
  const char *const defines[] = {"D=1", "E(x)=x"};
  options.defines = defines;
  options.define_count = 2;
  const char *text =
      "#include \"a.h\"\n#define F(x) E(x) + E(x)\n#if F(1) && __has_include(\"a.h\") && __has_include(\"b.h\") == 0\n"
      "G(D, F(F(2)), 3) __FILE__ _Pragma(\"x\")\n#line 7 \"q\"\n#endif\n#define M(a, b, c, d, e, f, g, h, i) a\n"
      "M(1, 2, 3, 4, 5, 6, 7, 8, 9)\n";
  uint32_t expected = 0;
  pp *whole = open_text(text);
  while (pp_next(whole).kind != PP_EOF) expected++;
  pp_close(whole);
  assert_string_equal(told(), "");
  uint64_t failed = 0;
  FAILING_EACH(n) {
    qn_arena own;
    qn_sources own_sources;
    qn_diags own_diags;
    qn_arena_init(&own, 0);
    qn_sources_init(&own_sources, &own);
    qn_diags_init(&own_diags, &own_sources);
    qn_source_file *file = qn_sources_add(&own_sources, "t.cl", qn_sv_from(text), 0);
    pp *p = file ? pp_open(&own, &own_sources, &own_diags, file, &options) : NULL;
    uint32_t count = 0;
    while (p && pp_next(p).kind != PP_EOF) count++;
    bool is_told = !p || own_diags.out_of_memory;
    if (p) pp_close(p);
    failing_pause();
    if (own_diags.errors) fail_msg("%s", own_diags.text.data);
    assert_true(is_told || count == expected);
    failed += is_told;
    qn_diags_free(&own_diags);
    qn_arena_free(&own);
  }
  assert_true(failed > 8);
}

int main(void) {
#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
  const struct CMUnitTest tests[] = {
      T(c99_example_3_redefinition_and_reexamination),
      T(c99_example_4_strings_and_pasting),
      T(c99_example_5_placemarkers),
      T(c99_example_6_redefinitions),
      T(c99_example_7_variable_arguments),
      T(c99_hash_hash_made_by_pasting_is_no_operator),
      T(gnu_comma_goes_with_missing_variable_arguments),
      T(a_name_without_parentheses_is_no_call),
      T(self_reference_stays),
      T(marked_names_stay_marked_when_passed_on),
      T(arguments_span_lines_and_keep_commas_in_parentheses),
      T(directives_within_arguments_are_obeyed),
      T(arguments_are_expanded_before_but_not_for_hash),
      T(stringizing_keeps_spelling_of_digraphs_and_literals),
      T(digraphs_mean_what_they_stand_for),
      T(trigraphs_are_off),
      T(pasting_that_makes_no_token_is_an_error),
      T(wrong_argument_counts_are_one_error_with_a_note),
      T(bad_definitions_are_told_once),
      T(redefinition_warns_with_the_place_before),
      T(predefined_macros_may_be_replaced),
      T(command_line_errors_name_it),
      T(builtin_macros),
      T(line_directive_changes_line_and_file),
      T(spliced_lines_keep_their_places),
      T(comments_are_blanks),
      T(a_byte_order_mark_is_skipped),
      T(missing_quotes_are_told_once),
      T(numbers_and_characters),
      T(every_punctuator_is_read_as_itself),
      T(names_are_interned),
      T(tokens_know_their_places),
      T(conditionals_choose_one_group),
      T(skipped_groups_are_not_looked_into),
      T(conditionals_span_macros_and_comments),
      T(broken_conditionals_are_told),
      T(extra_text_after_directives_warns),
      T(expressions_that_hold),
      T(defined_may_come_from_a_macro),
      T(bad_expressions_are_one_error),
      T(includes_are_found_beside_the_includer_then_in_order),
      T(has_include_looks_and_reads_nothing_into_the_text),
      T(guards_and_once_prevent_reading_again),
      T(missing_includes_say_where_was_looked),
      T(bad_includes_are_told),
      T(errors_in_includes_tell_the_stack),
      T(conditionals_must_close_in_their_file),
      T(disk_is_read_when_no_files_are_given),
      T(pragmas_are_tokens),
      T(error_and_warning_repeat_their_text),
      T(printing_keeps_lines_and_indentation),
      T(printed_tokens_do_not_join),
      T(printed_text_means_the_same_when_read_again),
      T(self_including_files_end_with_one_error),
      T(mutually_including_files_end_with_one_error),
      T(exponential_includes_are_bounded),
      T(exponential_macros_are_bounded),
      T(exponential_arguments_are_bounded),
      T(growing_strings_and_names_are_bounded),
      T(deep_nesting_is_one_error),
      T(brackets_of_if_nest_as_deep_as_the_limit_says),
      T(nesting_that_real_code_has_is_fine),
      T(time_is_linear_in_the_text),
      T(long_chains_of_macros_need_no_recursion),
      T(out_of_memory_ends_the_stream),
      T(each_failing_allocation_ends_the_stream),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

/* Passes, a text in and a text out: tests/kernels/pass/NAME.ir says in its first line which passes it goes through
 * ("; passes: inline simplify"), and NAME.out is what they must give. What comes out is verified after each pass. With
 * QUERN_UPDATE_GOLDEN=1 the .out files are written anew, to be looked at before they are committed. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
/* cmocka needs those before it. */
#include <cmocka.h>
#include <dirent.h>
#include <stdio.h>

#include "base/bytes.h"
#include "base/status.h"
#include "compiler/ir/ir.h"
#include "compiler/pass/pass.h"

#define DIRECTORY QUERN_SOURCE_DIR "/tests/kernels/pass"

static qn_status inline_some(ir_module *m) { return pass_inline(m, false); }
static qn_status inline_all(ir_module *m) { return pass_inline(m, true); }

/* What the pass found, for the text behind the module: values by number, then leaves that part items. */
static qn_bytes notes;

static bool note_inst(void *user, ir_inst *inst) {
  bool leaves = inst->op == IR_BREAK || inst->op == IR_CONTINUE || inst->op == IR_BREAK_IF || inst->op == IR_RETURN;
  uint32_t *count = user;
  if (inst->type->kind != IR_VOID) {
    if (qn_is_uniform(inst->aux)) qn_bytes_printf(&notes, " %%%u", *count);
    ++*count;
  } else if (leaves) {
    qn_bytes_printf(&notes, " %s-%s", ir_op_table[inst->op].text, qn_is_uniform(inst->aux) ? "together" : "apart");
  }
  return true;
}

static qn_status uniformity(ir_module *m) {
  for (ir_function *f = m->functions; f; f = f->next) {
    if (!f->is_kernel) continue;
    QN_TRY(pass_uniformity(f));
    uint32_t count = 0;
    qn_bytes_printf(&notes, "; @%s:", f->name);
    for (ir_var *v = f->vars; v; v = v->next)
      if (qn_is_uniform(v->aux)) qn_bytes_printf(&notes, " %%%s", v->name);
    ir_walk(f->body, note_inst, &count);
    qn_bytes_append_str(&notes, "\n");
  }
  return QN_OK;
}

static qn_status unroll(ir_module *m) {
  bool changed;
  return pass_unroll(m, &changed);
}

static qn_status unroll_partly(ir_module *m) {
  bool changed;
  return pass_unroll_partly(m, &changed);
}

typedef struct named_pass {
  const char *name;
  qn_status (*run)(ir_module *m);
} named_pass;
static const named_pass passes[] = {
    {"simplify", pass_simplify},
    {"inline", inline_some},
    {"inline_all", inline_all},
    {"access", pass_access},
    {"layout", pass_layout},
    {"uniformity", uniformity},
    {"regions", pass_regions},
    {"unroll", unroll},
    {"unroll_partly", unroll_partly},
    {"split_variables", pass_split_variables},
    {"unsign", pass_unsign},
    {"bound_loops", pass_bound_loops},
    {"divide_by_numbers", pass_divide_by_numbers},
    {"gather_numbers", pass_gather_numbers},
    {"hoist_common", pass_hoist_common},
};
enum { PASS_COUNT = sizeof passes / sizeof *passes };

static bool read_file(const char *path, qn_bytes *out) {
  FILE *file = fopen(path, "rb");
  char part[4096];
  if (!file) return false;
  for (size_t n; (n = fread(part, 1, sizeof part, file)) > 0;) qn_bytes_append(out, part, n);
  fclose(file);
  return !out->failed;
}

static const named_pass *find_pass(qn_sv name) {
  for (size_t i = 0; i < PASS_COUNT; i++)
    if (qn_sv_is(name, passes[i].name)) return &passes[i];
  fail_msg("no pass of the name %.*s", QN_SV_ARG(name));
  return NULL;
}

static void check(const char *name, const char *what, qn_status status) {
  if (status != QN_OK) fail_msg("%s: %s: %s", name, what, qn_error_text());
}

/* Runs the passes that the first line names. */
static void run_passes(const char *name, qn_sv text, ir_module *m) {
  static const char prefix[] = "; passes:";
  const char *at = text.data + sizeof prefix - 1, *end = memchr(text.data, '\n', text.size);
  if (!end || !qn_sv_starts_with(text, QN_SV(prefix))) fail_msg("%s: the first line does not name passes", name);
  while (at < end) {
    while (at < end && *at == ' ') at++;
    const char *start = at;
    while (at < end && *at != ' ') at++;
    if (at == start) break;
    const named_pass *pass = find_pass(qn_sv_make(start, (size_t)(at - start)));
    check(name, pass->name, pass->run(m));
    check(name, pass->name, ir_verify(m));
  }
}

static void compare(const char *name, const char *expected_path, const qn_bytes *text) {
  if (getenv("QUERN_UPDATE_GOLDEN")) {
    FILE *file = fopen(expected_path, "wb");
    assert_non_null(file);
    fwrite(text->data, 1, text->size, file);
    fclose(file);
    return;
  }
  qn_bytes expected = {0};
  if (!read_file(expected_path, &expected)) fail_msg("%s is missing", expected_path);
  size_t same = 0, line = 1;
  while (same < text->size && same < expected.size && text->data[same] == expected.data[same])
    line += text->data[same++] == '\n';
  if (text->size != expected.size || same != text->size)
    fail_msg("%s: line %zu of the outcome differs from %s:\n%s", name, line, expected_path, text->data);
  qn_bytes_free(&expected);
}

static void run_one(const char *name) {
  char path[512], expected[512];
  snprintf(path, sizeof path, DIRECTORY "/%s", name);
  snprintf(expected, sizeof expected, DIRECTORY "/%.*s.out", (int)strlen(name) - 3, name);
  qn_bytes text = {0}, printed = {0};
  assert_true(read_file(path, &text));
  qn_arena arena;
  qn_arena_init(&arena, 0);
  qn_model model = {64, true, true, true};
  ir_module *m = ir_module_new(&arena, &model);
  assert_non_null(m);
  check(name, "read", ir_parse(m, qn_bytes_view(&text), name));
  check(name, "verify", ir_verify(m));
  run_passes(name, qn_bytes_view(&text), m);
  ir_print(m, &printed);
  qn_bytes_append(&printed, notes.data, notes.size);
  qn_bytes_free(&notes);
  compare(name, expected, &printed);
  ir_module_free(m);
  qn_arena_free(&arena);
  qn_bytes_free(&text);
  qn_bytes_free(&printed);
}

static void test_passes_give_what_is_expected(void **state) {
  (void)state;
  DIR *directory = opendir(DIRECTORY);
  assert_non_null(directory);
  int count = 0;
  for (struct dirent *entry; (entry = readdir(directory));) {
    if (!qn_sv_ends_with(qn_sv_from(entry->d_name), QN_SV(".ir"))) continue;
    run_one(entry->d_name);
    count++;
  }
  closedir(directory);
  assert_true(count >= 5);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_passes_give_what_is_expected)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}

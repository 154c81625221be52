/* mutations.c - one fault, one error, at its place. Each token of each kernel is deleted, doubled, swapped with the next
 * one, and replaced by other words: a sample of all that, or with QUERN_LONG=1 everything. Checked: no crash, a time limit, no inner name
 * in a message; how many of the texts that are refused have exactly one error, and in how many of those it is in the
 * changed statement or a neighbour of it. Names and types that are then not known are told where they are used, and a
 * brace that misses at the end of the file; those are not counted as far away. So that silence isn't the way to that: of two tokens
 * that are deleted in different statements, each a fault by itself, both must be told.
 *
 *   mutations FILE.cl... [--list WHAT] [--every]
 *
 * --list tells each text with WHAT: "more" (errors than one), "far", "none", "pairs" (of which one
 * is told) or "all"; --write DIRECTORY writes them all. */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/os/files.h"
#include "base/status.h"
#include "cut.h"
#include "judge.h"
#include "support/rounds.h"

/* What must hold, in thousandths: of the refused, those with one error; of these, those that are near; of texts with two
 * faults, those where both are told. */
enum { ONE_ERROR = 970, NEAR = 980, BOTH = 700 };
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define SANITIZED 1
#endif
#endif
#ifdef SANITIZED
enum { SHORT_TEXTS = 1500, PAIR_STEP = 29 };
#else
enum { SHORT_TEXTS = 6000, PAIR_STEP = 7 };
#endif
#define TIME_LIMIT_NS UINT64_C(5000000000)

typedef struct tally {
  uint64_t texts, accepted, one, more, far;
} tally;

static struct {
  const char *list, *directory;
  char now[512]; /* what is compiled, for a crash */
  uint64_t numbered, longest_ns, faults, pairs, both;
  tally all, changes[CUT_CHANGES];
} run;

extern void __sanitizer_set_death_callback(void (*callback)(void)) __attribute__((weak));
static void tell_now(void) {
  if (run.now[0] != '\0' && write(2, run.now, strlen(run.now)) < 0) return;
}

/* ---- One text ---------------------------------------------------------------------------------------------------- */

static bool is_told_elsewhere(const char *message) {
  static const char *const starts[] = {"use of undeclared", "call of undeclared", "unknown type name",
                                       "function '",        "no member named",    "expected '}' at the end"};
  for (size_t i = 0; i < sizeof starts / sizeof *starts; i++) {
    if (strncmp(message, starts[i], strlen(starts[i])) == 0) return true;
  }
  return false;
}

static bool is_far(qn_sv text, uint32_t statement, const verdict *v) {
  cut now;
  if (v->line == 0 || is_told_elsewhere(v->first) || !cut_read(&now, text)) return false;
  uint32_t at = cut_statement_at(&now, v->line, v->column);
  cut_free(&now);
  return at + 1 < statement || at > statement + 1;
}

static void count(tally *t, const verdict *v, bool far) {
  t->texts++;
  t->accepted += v->errors == 0;
  t->one += v->errors == 1;
  t->more += v->errors > 1;
  t->far += far;
}

static void tell(const char *what, const verdict *v, bool far) {
  const char *kind = v->errors == 0 ? "none" : v->errors > 1 ? "more" : far ? "far" : "one";
  if (run.list == NULL || (strcmp(run.list, kind) != 0 && strcmp(run.list, "all") != 0)) return;
  printf("---- %s: %s%s\n%.*s", kind, what, v->errors > 1 ? " (more errors than one)" : "", (int)v->told.size,
         v->told.data ? v->told.data : "");
}

/* NUMBER_ERRORS.cl is the text, NUMBER_ERRORS.txt what was changed and the first error. */
static void write_text(qn_sv text, const verdict *v) {
  char path[600];
  qn_bytes what = {0};
  if (run.directory == NULL) return;
  qn_bytes_append(&what, run.now, strcspn(run.now, "\n"));
  qn_bytes_append_char(&what, '\n');
  if (v->first) qn_bytes_append(&what, v->first, strcspn(v->first, "\n"));
  int size =
      snprintf(path, sizeof path, "%s/%06llu_%u.cl", run.directory, (unsigned long long)run.numbered++, v->errors);
  if (qn_file_write(path, text.data, text.size) < 0) printf("%s\n", qn_error_text());
  snprintf(path + size - 2, 4, "txt");
  if (qn_file_write(path, what.data, what.size) < 0) printf("%s\n", qn_error_text());
  qn_bytes_free(&what);
}

static void try_text(const char *file, const cut *c, size_t index, cut_change change, const char *word, qn_sv text,
                     const kernel_setting *setting) {
  qn_sv token = cut_text(c, index);
  snprintf(run.now, sizeof run.now, "%s:%u: %s '%.*s'%s%s\n", file, c->tokens[index].line, cut_change_names[change],
           (int)token.size, token.data, word ? " by " : "", word ? word : "");
  verdict v;
  judge(file, text, setting, &v);
  bool far = v.errors == 1 && is_far(text, c->tokens[index].statement, &v);
  count(&run.all, &v, far);
  count(&run.changes[change], &v, far);
  if (v.ns > run.longest_ns) run.longest_ns = v.ns;
  const char *fault = v.ns > TIME_LIMIT_NS ? "takes too long" : v.fault;
  if (fault != NULL) {
    run.faults++;
    printf("FAILED %s: %s\n%s", fault, run.now, v.told.data ? v.told.data : "");
  }
  tell(run.now, &v, far);
  write_text(text, &v);
  run.now[0] = '\0';
  verdict_free(&v);
}

/* ---- One kernel -------------------------------------------------------------------------------------------------- */

static void each_change(const char *file, const cut *c, const kernel_setting *setting, uint64_t step) {
  static uint64_t turn; /* goes on over all files, so that the sample is spread */
  size_t kinds = CUT_CHANGES - 1 + cut_word_count;
  for (size_t i = 0; i < c->count * kinds; i++) {
    if (turn++ % step != 0) continue;
    size_t kind = i % kinds, word = kind < CUT_CHANGES - 1 ? 0 : kind - (CUT_CHANGES - 1);
    static const cut_change plain[] = {CUT_DELETE, CUT_DOUBLE, CUT_SWAP};
    cut_change change = kind < CUT_CHANGES - 1 ? plain[kind] : CUT_REPLACE;
    qn_bytes text = {0};
    bool is_new = cut_changed(c, i / kinds, change, word, &text);
    qn_bytes_append_char(&text, '\0');
    if (is_new && !text.failed) {
      try_text(file, c, i / kinds, change, change == CUT_REPLACE ? cut_words[word] : NULL,
               qn_sv_make(text.data, text.size - 1), setting);
    }
    qn_bytes_free(&text);
  }
}

/* ---- Two faults ------------------------------------------------------------------------------------------------- */

static uint32_t errors_of(const char *file, qn_sv text, const kernel_setting *setting) {
  verdict v;
  judge(file, text, setting, &v);
  uint32_t errors = v.errors;
  verdict_free(&v);
  return errors;
}

/* The text without the tokens at two places. */
static uint32_t errors_without(const cut *c, const char *file, const kernel_setting *setting, size_t one,
                               size_t other) {
  qn_bytes text = {0};
  size_t from = 0;
  for (size_t i = 0; i < c->count; i++) {
    if (i != one && i != other) continue;
    qn_bytes_append(&text, c->text.data + from, c->tokens[i].at - from);
    from = c->tokens[i].at + c->tokens[i].size;
  }
  qn_bytes_append(&text, c->text.data + from, c->text.size - from + 1); /* and the NUL */
  uint32_t errors = text.failed ? 0 : errors_of(file, qn_sv_make(text.data, text.size - 1), setting);
  qn_bytes_free(&text);
  return errors;
}

/* Pairs of places half a kernel apart. */
static void each_pair(const char *file, const cut *c, const kernel_setting *setting, uint64_t step) {
  static uint64_t turn;
  for (size_t i = 0; i + c->count / 2 < c->count; i++) {
    size_t j = i + c->count / 2;
    if (turn++ % step != 0 || c->tokens[i].statement + 2 > c->tokens[j].statement) continue;
    if (errors_without(c, file, setting, i, i) != 1 || errors_without(c, file, setting, j, j) != 1) continue;
    uint32_t errors = errors_without(c, file, setting, i, j);
    run.pairs++;
    run.both += errors >= 2;
    if (errors < 2 && run.list != NULL && strcmp(run.list, "pairs") == 0) {
      qn_sv one = cut_text(c, i), other = cut_text(c, j);
      printf("---- pair: %s:%u '%.*s' and %u '%.*s': %u\n", file, c->tokens[i].line, (int)one.size, one.data,
             c->tokens[j].line, (int)other.size, other.data, errors);
    }
  }
}

typedef struct kernel {
  const char *file;
  qn_bytes text;
  qn_arena arena;
  kernel_setting setting;
  cut cut;
} kernel;

/* False: it doesn't compile as it is, so it is none to change. */
static bool open_kernel(const char *file, kernel *k) {
  *k = (kernel){.file = file};
  qn_arena_init(&k->arena, 0);
  if (qn_file_read(file, UINT64_C(1) << 28, &k->text) < 0 ||
      kernel_setting_read(&k->arena, k->text.data, &k->setting) < 0)
    return false;
  verdict v;
  judge(file, qn_bytes_view(&k->text), &k->setting, &v);
  verdict_free(&v);
  return v.errors == 0 && v.fault == NULL && cut_read(&k->cut, qn_bytes_view(&k->text));
}

static void close_kernel(kernel *k) {
  cut_free(&k->cut);
  qn_bytes_free(&k->text);
  qn_arena_free(&k->arena);
}

/* ---- All of them ------------------------------------------------------------------------------------------------- */

static uint64_t per_mille(uint64_t part, uint64_t whole) { return whole > 0 ? part * 1000 / whole : 1000; }

static void print_tally(const char *name, const tally *t) {
  uint64_t refused = t->one + t->more, one = per_mille(t->one, refused), near = per_mille(t->one - t->far, t->one);
  printf(
      "measured: %-8s %7llu texts, %6llu still legal, %7llu refused: %llu.%llu%% with one error, %llu.%llu%% of these "
      "near\n",
      name, (unsigned long long)t->texts, (unsigned long long)t->accepted, (unsigned long long)refused,
      (unsigned long long)one / 10, (unsigned long long)one % 10, (unsigned long long)near / 10,
      (unsigned long long)near % 10);
}

static int result(void) {
  for (size_t i = 0; i < CUT_CHANGES; i++) print_tally(cut_change_names[i], &run.changes[i]);
  print_tally("all", &run.all);
  printf("measured: the longest took %.1f ms\n", (double)run.longest_ns / 1e6);
  uint64_t one = per_mille(run.all.one, run.all.one + run.all.more);
  uint64_t near = per_mille(run.all.one - run.all.far, run.all.one), both = per_mille(run.both, run.pairs);
  printf("measured: of %llu texts with two faults %llu.%llu%% tell both\n", (unsigned long long)run.pairs,
         (unsigned long long)both / 10, (unsigned long long)both % 10);
  if (both < BOTH) printf("FAILED: fewer than %d.%d%% tell both\n", BOTH / 10, BOTH % 10);
  if (run.all.one == 0) printf("FAILED: nothing was refused\n");
  if (one < ONE_ERROR) printf("FAILED: fewer than %d.%d%% have one error\n", ONE_ERROR / 10, ONE_ERROR % 10);
  if (near < NEAR) printf("FAILED: fewer than %d.%d%% are near\n", NEAR / 10, NEAR % 10);
  return run.faults > 0 || run.all.one == 0 || one < ONE_ERROR || near < NEAR || both < BOTH;
}

int main(int argc, char **argv) {
  uint64_t places = 0;
  int files = 0;
  kernel *kernels = calloc((size_t)argc, sizeof *kernels);
  if (kernels == NULL) return 2;
  if (__sanitizer_set_death_callback) __sanitizer_set_death_callback(tell_now);
  for (int i = 1; i < argc; i++) {
    const char **option = strcmp(argv[i], "--list") == 0    ? &run.list
                          : strcmp(argv[i], "--write") == 0 ? &run.directory
                                                            : NULL;
    if (option != NULL && i + 1 < argc) {
      *option = argv[++i];
      continue;
    }
    if (!open_kernel(argv[i], &kernels[files])) {
      close_kernel(&kernels[files]);
      continue;
    }
    places += kernels[files++].cut.count * (CUT_CHANGES - 1 + cut_word_count);
  }
  uint64_t wanted = test_rounds("changed kernels", SHORT_TEXTS, places);
  printf("rounds: %d kernels, of %llu places\n", files, (unsigned long long)places);
  /* An odd step that shares no factor with the changes of a place comes to each of them. */
  uint64_t step = wanted >= places ? 1 : places / wanted | 1;
  while (step > 1 && (step % 3 == 0 || step % 5 == 0 || step % 7 == 0 || step % 11 == 0 || step % 13 == 0)) step += 2;
  uint64_t pair_step = test_rounds("pairs of faults, one in", PAIR_STEP, 1);
  for (int i = 0; i < files; i++) {
    each_pair(kernels[i].file, &kernels[i].cut, &kernels[i].setting, pair_step);
    each_change(kernels[i].file, &kernels[i].cut, &kernels[i].setting, step);
    close_kernel(&kernels[i]);
  }
  free(kernels);
  return result();
}

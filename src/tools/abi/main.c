/* main.c - quern-abi, run as `quern abi`: checks the binary interface that headers, libraries and objects give. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../option.h"
#include "allow.h"
#include "check.h"
#include "input.h"
#include "layout.h"
#include "report.h"
#include "stand_in.h"

static const char help[] =
    "quern abi FILE...   check binary interfaces: what crosses calls and stands in memory, on seven targets\n"
    "\n"
    "FILE is a header in C, a shared library or object (ELF) with debug information, or a file that --layout wrote.\n"
    "\n"
    "  -I DIR, -isystem DIR, -idirafter DIR, -D NAME[=V], -U NAME, -std=STANDARD   for the compiler; what only "
    "-isystem and\n"
    "                     -idirafter find isn't judged\n"
    "  --targets LIST     of headers: "
    "x86_64-linux,i386-linux,armv7-linux,aarch64-linux,arm64-macos,x86_64-windows,wasm32\n"
    "  --against OLD      also what a program compiled with OLD (a header, library or layout) finds changed\n"
    "  --allow FILE       violations that are allowed, a line each: KIND SUBJECT REASON\n"
    "  --fixed-width      int and long long are violations too\n"
    "  --json             one JSON object\n"
    "  --layout           write what was read as a layout, for --against, instead of checking it\n"
    "  --kinds            list the kinds of violations, with why each is a hazard and what to do\n"
    "  --clang PROGRAM    the compiler; otherwise clang-19 or clang\n"
    "  --timeout SECONDS  for reading a header for one target, or a library (60)\n"
    "\n"
    "Exit status: 0 nothing found, 1 violations or a file that can't be read, 2 wrong usage.\n"
    "\n"
    "Examples\n"
    "  quern abi include/library.h\n"
    "  quern abi --against golden/library.layout include/library.h\n"
    "  quern abi build/liblibrary.so\n";

enum {
  O_INCLUDE,
  O_SYSTEM,
  O_AFTER,
  O_DEFINE,
  O_UNDEFINE,
  O_STANDARD,
  O_TARGETS,
  O_AGAINST,
  O_ALLOW,
  O_WIDTH,
  O_JSON,
  O_LAYOUT,
  O_KINDS,
  O_CLANG,
  O_TIMEOUT,
  O_HELP
};

static const tool_option options[] = {
    {"--include", "-I", O_INCLUDE, true, true},
    {"-idirafter", NULL, O_AFTER, true, true},
    {"-isystem", NULL, O_SYSTEM, true, true},
    {"--define", "-D", O_DEFINE, true, true},
    {"--undefine", "-U", O_UNDEFINE, true, true},
    {"-std", NULL, O_STANDARD, true},
    {"--targets", NULL, O_TARGETS, true},
    {"--against", NULL, O_AGAINST, true},
    {"--allow", NULL, O_ALLOW, true, true},
    {"--fixed-width", NULL, O_WIDTH, false},
    {"--json", NULL, O_JSON, false},
    {"--layout", NULL, O_LAYOUT, false},
    {"--kinds", NULL, O_KINDS, false},
    {"--clang", NULL, O_CLANG, true},
    {"--timeout", NULL, O_TIMEOUT, true},
    {"--help", "-h", O_HELP, false},
};
#define OPTION_COUNT (sizeof options / sizeof *options)

typedef struct request {
  input_options input;
  const char *against, *clang;
  bool fixed_width, as_json, as_layout, kinds, help;
  struct {
    const char **items;
    size_t count, capacity;
  } files;
  allow_list allowed;
} request;

/* ---- The words ------------------------------------------------------------------------------------------------------- */

/* Several lines, each as a message of its own. */
static tool_status tell_lines(tool_status status, const char *lines) {
  while (lines && *lines) {
    int length = (int)strcspn(lines, "\n");
    tool_error(status, "%.*s", length, lines);
    lines += length + (lines[length] != 0);
  }
  return status;
}

static tool_status take_targets(request *r, const char *list) {
  const abi_target **targets = pool_alloc(ABI_TARGETS * sizeof *targets);
  size_t count = 0;
  while (*list) {
    size_t length = strcspn(list, ",");
    const abi_target *target = abi_target_known(pool_copy(list, length));
    if (!target)
      return tool_error(TOOL_USAGE, "--targets: there is no target '%.*s'; --help lists them", (int)length, list);
    for (size_t i = 0; i < count; i++)
      if (targets[i] == target) return tool_error(TOOL_USAGE, "--targets: %s is there twice", target->name);
    targets[count++] = target;
    list += length + (list[length] == ',');
  }
  if (!count) return tool_error(TOOL_USAGE, "--targets needs a target");
  r->input.targets = targets;
  r->input.target_count = count;
  return TOOL_OK;
}

static tool_status take_timeout(request *r, const char *word) {
  uint64_t seconds;
  if (!tool_parse_u64(word, &seconds) || seconds < 1 || seconds > 86400)
    return tool_error(TOOL_USAGE, "--timeout: '%s' is no number of seconds from 1 to 86400", word);
  r->input.seconds = (unsigned)seconds;
  return TOOL_OK;
}

static tool_status take_option(request *r, int id, const char *word) {
  clang_words *words = &r->input.header.arguments;
  switch (id) {
    case O_INCLUDE:
      clang_add(words, pool_format("-I%s", word));
      break;
    case O_SYSTEM:
      clang_add(words, "-isystem"), clang_add(words, word);
      break;
    case O_AFTER:
      clang_add(words, "-idirafter"), clang_add(words, word);
      break;
    case O_DEFINE:
      clang_add(words, pool_format("-D%s", word));
      break;
    case O_UNDEFINE:
      clang_add(words, pool_format("-U%s", word));
      break;
    case O_STANDARD:
      clang_add(words, pool_format("-std=%s", word));
      break;
    case O_TARGETS:
      return take_targets(r, word);
    case O_AGAINST:
      r->against = word;
      break;
    case O_ALLOW: {
      const char *error;
      return allow_read(word, &r->allowed, &error) ? TOOL_OK : tell_lines(TOOL_FAILED, error);
    }
    case O_WIDTH:
      r->fixed_width = true;
      break;
    case O_JSON:
      r->as_json = true;
      break;
    case O_LAYOUT:
      r->as_layout = true;
      break;
    case O_KINDS:
      r->kinds = true;
      break;
    case O_CLANG:
      r->clang = word;
      break;
    case O_TIMEOUT:
      return take_timeout(r, word);
    default:
      r->help = true;
      break;
  }
  return TOOL_OK;
}

static tool_status take_words(request *r, int argc, char **argv) {
  bool only_files = false;
  const char *given[OPTION_COUNT] = {0};
  const tool_options table = {options, OPTION_COUNT, given};
  for (int i = 1; i < argc; i++) {
    const char *word = argv[i];
    int id;
    if (!only_files && !strcmp(word, "--")) {
      only_files = true;
    } else if (only_files || word[0] != '-' || !word[1]) {
      *POOL_PUSH(&r->files) = word;
    } else {
      TOOL_TRY(tool_option_take(&table, argc, argv, &i, &id, &word));
      TOOL_TRY(take_option(r, id, word));
    }
  }
  if (r->help || r->kinds) return TOOL_OK;
  if (!r->files.count) return tool_error(TOOL_USAGE, "no file is given; quern abi --help shows what it takes");
  if (r->against && r->files.count != 1) return tool_error(TOOL_USAGE, "--against compares one file with an older one");
  if (r->as_layout && (r->files.count != 1 || r->against || r->as_json))
    return tool_error(TOOL_USAGE, "--layout writes one file's layout, and nothing else");
  return TOOL_OK;
}

/* ---- The work -------------------------------------------------------------------------------------------------------- */

/* Headers need a compiler and stand-ins; binaries and layouts need neither. */
static tool_status prepare_headers(request *r) {
  header_options *h = &r->input.header;
  const char *error;
  if (!clang_find(r->clang, &h->clang))
    return tool_error(TOOL_FAILED,
                      "%s isn't there: headers are compiled with clang (package clang-19; --clang PROGRAM says which)",
                      r->clang ? r->clang : "clang-19 or clang");
  if (!clang_resources(h->clang, &h->resources, &error))
    return tool_error(TOOL_FAILED, "%s doesn't tell where its headers are: %s", h->clang, error);
  if (!stand_in_make(&h->stand_ins, &error)) return tool_error(TOOL_FAILED, "%s", error);
  return TOOL_OK;
}

static tool_status read_one(request *r, const char *path, report_input *out) {
  out->path = path;
  bool done = input_recognise(path, &out->kind, &out->error);
  if (done && out->kind == INPUT_HEADER && !r->input.header.clang) TOOL_TRY(prepare_headers(r));
  if (done) done = input_read(path, &r->input, &out->kind, &out->set, &out->error);
  if (!done) {
    out->set = (abi_set){.path = path};
    return tell_lines(TOOL_FAILED, out->error);
  }
  out->error = NULL;
  return TOOL_OK;
}

/* What one file says to be plain data is so in the others too: a binary can't say it. */
static void share_plain_data(report *all) {
  pool_map plain = {0};
  for (int pass = 0; pass < 2; pass++) {
    for (size_t i = 0; i < all->input_count; i++) {
      for (size_t t = 0; t < all->inputs[i].set.count; t++) {
        abi_interface *interface = all->inputs[i].set.each[t];
        for (size_t n = 0; n < interface->records.count; n++) {
          abi_record *record = &interface->records.items[n];
          if (pass == 1)
            record->is_plain = pool_find(&plain, record->name) != POOL_NONE;
          else if (record->is_plain)
            pool_put(&plain, record->name, 0);
        }
      }
    }
  }
}

static void check(const request *r, report *all, const abi_set *old) {
  share_plain_data(all);
  for (size_t i = 0; i < all->input_count; i++) {
    const report_input *input = &all->inputs[i];
    if (input->error) continue;
    all->violations.input = &input->set;
    check_calls(&all->violations, &input->set, r->fixed_width);
    check_records(&all->violations, &input->set, r->fixed_width);
    if (input->set.count > 1) check_targets(&all->violations, &input->set);
    if (old && !check_growth(&all->violations, &input->set, old))
      tool_note("%s: it has no target of %s, so nothing was compared", r->against, input->path);
  }
  violations_sort(&all->violations);
  allow_apply(&all->allowed, &all->violations);
}

static void tell_unmatched(const allow_list *list) {
  for (size_t i = 0; i < list->count; i++)
    if (!list->items[i].matched)
      tool_note("%s:%u: the entry '%s %s' matches nothing: remove it", list->items[i].path, list->items[i].line,
                list->items[i].kind, list->items[i].subject);
}

static tool_status write_layout(const abi_set *set) {
  pool_text text = {0};
  layout_write(&text, set, false);
  fwrite(text.data, 1, text.length, stdout);
  return TOOL_OK;
}

static tool_status work(request *r) {
  report all = {.input_count = r->files.count, .allowed = r->allowed};
  report_input old = {0};
  tool_status status = TOOL_OK;
  all.inputs = pool_alloc(all.input_count * sizeof *all.inputs);
  if (r->against) TOOL_TRY(read_one(r, r->against, &old));
  for (size_t i = 0; i < all.input_count; i++) {
    report_input *input = &all.inputs[i];
    if (read_one(r, r->files.items[i], input) == TOOL_OK) continue;
    status = TOOL_FAILED;
    if (!input->error) return status; /* nothing to read headers with */
  }
  if (r->as_layout) return status == TOOL_OK ? write_layout(&all.inputs[0].set) : status;
  check(r, &all, r->against ? &old.set : NULL);
  (r->as_json ? report_json : report_text)(&all, stdout);
  tell_unmatched(&all.allowed);
  return report_count(&all) ? TOOL_FAILED : status;
}

int main(int argc, char **argv) {
  request r = {.input = {.target_count = ABI_TARGETS, .seconds = 60}};
  const abi_target *every[ABI_TARGETS];
  tool_command = "quern abi";
  for (size_t i = 0; i < ABI_TARGETS; i++) every[i] = &abi_targets[i];
  r.input.targets = every;
  tool_status status = take_words(&r, argc, argv);
  if (status == TOOL_OK && r.help)
    fputs(help, stdout);
  else if (status == TOOL_OK && r.kinds)
    report_kinds(stdout);
  else if (status == TOOL_OK)
    status = work(&r);
  stand_in_remove();
  if ((fflush(stdout) != 0 || ferror(stdout)) && status == TOOL_OK)
    status = tool_error(TOOL_FAILED, "standard output: %s", strerror(errno));
  return (int)status;
}

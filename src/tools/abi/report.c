/* report.c - what quern-abi prints. */
#include "report.h"

#include <string.h>

#include "../json.h"
#include "grouping.h"

size_t report_count(const report *r) {
  size_t count = 0;
  for (size_t i = 0; i < r->violations.count; i++) count += !r->violations.items[i].allowed;
  return count;
}

static size_t count_functions(const abi_set *set, bool callbacks) {
  size_t count = 0;
  const abi_interface *first = set->each[0];
  for (size_t i = 0; i < first->functions.count; i++) count += first->functions.items[i].is_callback == callbacks;
  return count;
}

/* ---- Text ------------------------------------------------------------------------------------------------------------ */

static void print_violation(const violation *v, FILE *out) {
  const violation_text *text = &violation_texts[v->kind];
  const char *on = abi_target_list(v->targets, v->target_count, v->on);
  bool everywhere = v->target_count == (size_t)__builtin_popcountll(v->on);
  fprintf(out, "%s:%u: %s: %s; %s [%s %s%s%s]\n", v->place.file ? v->place.file : v->path, v->place.line, v->what,
          text->why, text->advice, text->rule, text->name, everywhere ? "" : "; ", everywhere ? "" : on);
}

static void print_input(const report *r, const report_input *input, FILE *out) {
  const abi_set *set = &input->set;
  size_t told = 0, allowed = 0;
  for (size_t i = 0; i < r->violations.count; i++) {
    if (r->violations.items[i].path != input->path) continue;
    *(r->violations.items[i].allowed ? &allowed : &told) += 1;
  }
  fprintf(out, "%s: %zu functions, %zu callbacks, %zu structs and unions, %zu enums on %zu target%s: %zu violation%s",
          input->path, count_functions(set, false), count_functions(set, true), set->each[0]->records.count,
          set->each[0]->enums.count, set->count, set->count == 1 ? "" : "s", told, told == 1 ? "" : "s");
  if (allowed) fprintf(out, ", %zu allowed", allowed);
  fputc('\n', out);
  if (set->unread)
    fprintf(out,
            "%s: %zu exported functions are not in its debug information as functions of C, and were not looked at\n",
            input->path, set->unread);
}

void report_text(const report *r, FILE *out) {
  for (size_t i = 0; i < r->violations.count; i++)
    if (!r->violations.items[i].allowed) print_violation(&r->violations.items[i], out);
  for (size_t i = 0; i < r->input_count; i++)
    if (!r->inputs[i].error) print_input(r, &r->inputs[i], out);
}

void report_kinds(FILE *out) {
  fputs("| rule | kind | why | what to do |\n|---|---|---|---|\n", out);
  for (unsigned k = 0; k < VIOLATION_KINDS; k++) {
    const violation_text *text = &violation_texts[k];
    fprintf(out, "| %s | %s | %s | %s |\n", text->rule, text->name, text->why, text->advice);
  }
}

/* ---- JSON ------------------------------------------------------------------------------------------------------------ */

static void json_targets(json *j, const char *key, const abi_target *const *targets, size_t count, abi_target_set on) {
  json_open(j, key, '[');
  for (size_t t = 0; t < count; t++)
    if (on >> t & 1) json_string(j, NULL, targets[t]->name);
  json_close(j, ']');
}

static void json_input(json *j, const report_input *input) {
  const abi_set *set = &input->set;
  json_open(j, NULL, '{');
  json_string(j, "path", input->path);
  if (input->error) {
    json_string(j, "error", input->error);
  } else {
    json_string(j, "kind", input_kind_names[input->kind]);
    json_targets(j, "targets", set->targets, set->count, UINT64_MAX);
    json_u64(j, "functions", count_functions(set, false));
    json_u64(j, "callbacks", count_functions(set, true));
    json_u64(j, "records", set->each[0]->records.count);
    json_u64(j, "enums", set->each[0]->enums.count);
    json_u64(j, "variables", set->each[0]->variables.count);
    json_u64(j, "unread", set->unread);
  }
  json_close(j, '}');
}

static void json_violation(json *j, const violation *v) {
  const violation_text *text = &violation_texts[v->kind];
  json_open(j, NULL, '{');
  json_string(j, "file", v->place.file ? v->place.file : v->path);
  json_u64(j, "line", v->place.line);
  json_string(j, "rule", text->rule);
  json_string(j, "kind", text->name);
  json_string(j, "subject", v->subject);
  json_string(j, "what", v->what);
  json_string(j, "why", text->why);
  json_string(j, "advice", text->advice);
  json_targets(j, "targets", v->targets, v->target_count, v->on);
  json_string(j, "input", v->path);
  if (v->allowed) json_string(j, "allowed", v->allowed);
  json_close(j, '}');
}

static void json_lowering(json *j, const abi_set *set, const abi_function *f) {
  grouping g = {0};
  for (size_t t = 0; t < set->count; t++) {
    const abi_function *other = abi_function_named(set->each[t], f->name);
    if (other && other->lowered) grouping_add(&g, other->lowered, t);
  }
  if (g.count < 2) return;
  json_open(j, NULL, '{');
  json_string(j, "name", f->name);
  json_string(j, "kind", f->is_callback ? "callback" : "function");
  json_open(j, "groups", '[');
  for (size_t i = 0; i < g.count; i++) {
    json_open(j, NULL, '{');
    json_targets(j, "targets", set->targets, set->count, g.items[i].on);
    json_string(j, "lowered", g.items[i].text);
    json_close(j, '}');
  }
  json_close(j, ']');
  json_close(j, '}');
}

/* What lowers differently, by the first target that has it; a header that another one includes is told once. */
static void json_lowerings(json *j, const report *r) {
  pool_map seen = {0};
  json_open(j, "lowerings", '[');
  for (size_t i = 0; i < r->input_count; i++) {
    const abi_set *set = &r->inputs[i].set;
    for (size_t t = 0; !r->inputs[i].error && t < set->count; t++) {
      for (size_t n = 0; n < set->each[t]->functions.count; n++) {
        const abi_function *f = &set->each[t]->functions.items[n];
        if (pool_find(&seen, f->name) != POOL_NONE) continue;
        pool_put(&seen, f->name, 0);
        json_lowering(j, set, f);
      }
    }
  }
  json_close(j, ']');
}

static void json_counts(json *j, const report *r) {
  json_open(j, "counts", '{');
  for (unsigned k = 0; k < VIOLATION_KINDS; k++) {
    size_t count = 0;
    for (size_t i = 0; i < r->violations.count; i++)
      count += r->violations.items[i].kind == k && !r->violations.items[i].allowed;
    if (count) json_u64(j, violation_texts[k].name, count);
  }
  json_close(j, '}');
}

static void json_unmatched(json *j, const report *r) {
  json_open(j, "unmatched", '[');
  for (size_t i = 0; i < r->allowed.count; i++) {
    const allow_entry *entry = &r->allowed.items[i];
    if (entry->matched) continue;
    json_open(j, NULL, '{');
    json_string(j, "file", entry->path);
    json_u64(j, "line", entry->line);
    json_string(j, "kind", entry->kind);
    json_string(j, "subject", entry->subject);
    json_close(j, '}');
  }
  json_close(j, ']');
}

void report_json(const report *r, FILE *out) {
  json j = {out, false};
  json_open(&j, NULL, '{');
  json_open(&j, "inputs", '[');
  for (size_t i = 0; i < r->input_count; i++) json_input(&j, &r->inputs[i]);
  json_close(&j, ']');
  json_open(&j, "violations", '[');
  for (size_t i = 0; i < r->violations.count; i++) json_violation(&j, &r->violations.items[i]);
  json_close(&j, ']');
  json_counts(&j, r);
  json_lowerings(&j, r);
  json_unmatched(&j, r);
  json_close(&j, '}');
  fputc('\n', out);
}

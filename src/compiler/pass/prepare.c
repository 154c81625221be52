/* prepare.c - the passes that a target asks for, in order. Each leaves a module that the verifier accepts: it is asked
 * after each pass in builds with assertions, and in all with QUERN_VERIFY=1. */
#include "base/os/environment.h"
#include "base/stage.h"
#include "base/status.h"
#include "compiler/pass/pass.h"

static qn_status inline_some(ir_module *m) { return pass_inline(m, false); }

typedef struct pass_step {
  const char *name;
  qn_status (*run)(ir_module *m);
} pass_step;

static const pass_step cpu_passes[] = {
    {"link", pass_link},     {"spell_rsqrt", pass_spell_rsqrt}, {"simplify", pass_simplify},
    {"inline", inline_some}, {"simplify", pass_simplify},       {"access", pass_access},
    {"layout", pass_layout}, {"regions", pass_regions},         {"simplify", pass_simplify},
};
/* What division is spelt out by is in the library too. */
static const pass_step rounding_passes[] = {{"link", pass_link}, {"round_division", pass_round_division}};
static const pass_step text_passes[] = {{"link", pass_link}, {"simplify", pass_simplify}, {"layout", pass_layout}};

static bool verifies(void) {
#ifndef NDEBUG
  return true;
#else
  const char *value = qn_environment("QUERN_VERIFY");
  return value && value[0] != '0';
#endif
}

static qn_status check(ir_module *m, const char *pass) {
  qn_status status = ir_verify(m);
  if (status == QN_ERROR_INTERNAL) qn_error_prefix("after the pass %s: ", pass);
  return status;
}

qn_status pass_check(ir_module *m, const char *pass) { return verifies() ? check(m, pass) : QN_OK; }

static qn_status run_passes(ir_module *m, const pass_step *steps, size_t count) {
  bool verify = verifies();
  for (size_t i = 0; i < count; i++) {
    uint64_t start = qn_stage_start();
    QN_TRY(steps[i].run(m));
    qn_stage_end(steps[i].name, start);
    if (verify) QN_TRY(check(m, steps[i].name));
  }
  return QN_OK;
}
#define RUN_PASSES(m, steps) run_passes((m), (steps), sizeof(steps) / sizeof *(steps))

qn_status qn_prepare_cpu(ir_module *m) { return RUN_PASSES(m, cpu_passes); }

qn_status qn_prepare_text(ir_module *m, bool rounds) {
  if (!rounds) QN_TRY(RUN_PASSES(m, rounding_passes));
  return RUN_PASSES(m, text_passes);
}

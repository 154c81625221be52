/* prepare.c - the passes that a target asks for, in order. Each leaves a module that the verifier accepts: it is asked
 * after each pass in builds with assertions, and in all with QUERN_VERIFY=1. */
#include "base/os/environment.h"
#include "base/stage.h"
#include "base/status.h"
#include "compiler/pass/pass.h"

static qn_status inline_some(ir_module *m) { return pass_inline(m, false); }

static const struct {
  const char *name;
  qn_status (*run)(ir_module *m);
} cpu_passes[] = {
    {"link", pass_link},     {"simplify", pass_simplify}, {"inline", inline_some},   {"simplify", pass_simplify},
    {"access", pass_access}, {"layout", pass_layout},     {"regions", pass_regions}, {"simplify", pass_simplify},
};

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

qn_status qn_prepare_cpu(ir_module *m) {
  bool verify = verifies();
  for (size_t i = 0; i < sizeof cpu_passes / sizeof *cpu_passes; i++) {
    uint64_t start = qn_stage_start();
    QN_TRY(cpu_passes[i].run(m));
    qn_stage_end(cpu_passes[i].name, start);
    if (verify) QN_TRY(check(m, cpu_passes[i].name));
  }
  return QN_OK;
}

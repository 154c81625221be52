/* atomic.c - atomics of 32 bits on buffers and local memory. Words are unsigned; what WGSL has no function for is a loop. */
#include "compiler/target/wgsl/emit.h"

typedef struct atomic_row {
  const char *function; /* WGSL's; NULL: a loop */
  const char *next;     /* in the loop: the new value, of `old` and `v` */
} atomic_row;

/* clang-format off */
static const atomic_row rows[IR_RMW_COUNT] = {
  [IR_RMW_LOAD] = {"atomicLoad", NULL},
  [IR_RMW_STORE] = {"atomicStore", NULL},
  [IR_RMW_XCHG] = {"atomicExchange", NULL},
  [IR_RMW_CMPXCHG] = {NULL, NULL},
  [IR_RMW_ADD] = {"atomicAdd", NULL},
  [IR_RMW_SUB] = {"atomicSub", NULL},
  [IR_RMW_AND] = {"atomicAnd", NULL},
  [IR_RMW_OR] = {"atomicOr", NULL},
  [IR_RMW_XOR] = {"atomicXor", NULL},
  [IR_RMW_SMIN] = {NULL, "u32(min(i32(old), i32(v)))"},
  [IR_RMW_SMAX] = {NULL, "u32(max(i32(old), i32(v)))"},
  [IR_RMW_UMIN] = {"atomicMin", NULL},
  [IR_RMW_UMAX] = {"atomicMax", NULL},
  [IR_RMW_FADD] = {NULL, "bitcast<u32>(bitcast<f32>(old) + bitcast<f32>(v))"},
  [IR_RMW_FMIN] = {NULL, NULL},
  [IR_RMW_FMAX] = {NULL, NULL},
};
/* clang-format on */

static const char *next_value(emitter *e, ir_rmw rmw) {
  if (rmw == IR_RMW_FMIN || rmw == IR_RMW_FMAX)
    return wgsl_text_of(e, "bitcast<u32>(%s(bitcast<f32>(old), bitcast<f32>(v)))",
                        wgsl_helper(e, rmw == IR_RMW_FMIN ? "quern_fmin" : "quern_fmax", 1));
  return rows[rmw].next;
}

static const char *atomic_call(emitter *e, const wgsl_memory *m, ir_rmw rmw, const char *index, const char *values);

static void put_flat(emitter *e, const wgsl_memory *m, ir_rmw rmw, const char *values, qn_bytes *text) {
  const char *word = rmw == IR_RMW_STORE ? "" : "return ";
  for (uint32_t i = m->member_count; i-- > 0;) {
    if (m->members[i]->kind == WGSL_CONSTANT) continue;
    const char *call = atomic_call(e, m->members[i], rmw, wgsl_member_index(e, m->members[i], "i"), values);
    if (i)
      qn_bytes_printf(text, "  if (i >= %s) {\n    %s%s;\n%s  }\n", m->members[i]->base, word, call,
                      *word ? "" : "    return;\n");
    else
      qn_bytes_printf(text, "  %s%s;\n", word, call);
  }
}

/* A compare-and-exchange of WGSL may fail without a reason. */
static void put_exchange(emitter *e, const wgsl_memory *m, qn_bytes *text) {
  qn_bytes_printf(text,
                  "  loop {\n"
                  "    let r = atomicCompareExchangeWeak(&%s, expected, v);\n"
                  "    if (r.exchanged || r.old_value != expected) {\n"
                  "      return r.old_value;\n"
                  "    }\n"
                  "  }\n"
                  "  return 0u;\n",
                  wgsl_word_place(e, m, "i", 0));
}

static void put_update(emitter *e, const wgsl_memory *m, ir_rmw rmw, qn_bytes *text) {
  const char *place = wgsl_word_place(e, m, "i", 0);
  qn_bytes_printf(text,
                  "  var old = atomicLoad(&%s);\n"
                  "  loop {\n"
                  "    let r = atomicCompareExchangeWeak(&%s, old, %s);\n"
                  "    if (r.exchanged) {\n"
                  "      return old;\n"
                  "    }\n"
                  "    old = r.old_value;\n"
                  "  }\n"
                  "  return old;\n",
                  place, place, next_value(e, rmw));
}

static const char *atomic_function(emitter *e, const wgsl_memory *m, ir_rmw rmw) {
  static const char *const words[IR_RMW_COUNT] = {
#define QN_X(id, text) text,
      IR_RMWS(QN_X)
#undef QN_X
  };
  const char *key = wgsl_text_of(e, "atomic_%s_%s", words[rmw], m->key), *name = wgsl_made_name(e, key);
  if (name) return name;
  qn_bytes text = {0};
  name = wgsl_make_function(e, key, key);
  const char *parameters = rmw == IR_RMW_CMPXCHG ? ", expected: u32, v: u32" : rmw == IR_RMW_LOAD ? "" : ", v: u32";
  const char *values = rmw == IR_RMW_CMPXCHG ? ", expected, v" : rmw == IR_RMW_LOAD ? "" : ", v";
  qn_bytes_printf(&text, "fn %s(i: u32%s)%s {\n", name, parameters, rmw == IR_RMW_STORE ? "" : " -> u32");
  if (m->kind == WGSL_FLAT)
    put_flat(e, m, rmw, values, &text);
  else if (rmw == IR_RMW_CMPXCHG)
    put_exchange(e, m, &text);
  else
    put_update(e, m, rmw, &text);
  qn_bytes_append_str(&text, "}\n");
  wgsl_add_function(e, &text);
  qn_bytes_free(&text);
  return name;
}

static const char *atomic_call(emitter *e, const wgsl_memory *m, ir_rmw rmw, const char *index, const char *values) {
  bool is_direct = m->kind != WGSL_FLAT && rows[rmw].function;
  if (is_direct) return wgsl_text_of(e, "%s(&%s%s)", rows[rmw].function, wgsl_word_place(e, m, index, 0), values);
  return wgsl_text_of(e, "%s(%s%s)", atomic_function(e, m, rmw), index, values);
}

void wgsl_put_atomic(emitter *e, const ir_inst *inst) {
  const ir_inst *p = inst->args[0];
  ir_rmw rmw = inst->u.atomic.rmw;
  const ir_type *type = p->type->elem;
  bool is_float = type->kind == IR_FLOAT;
  if (type->bits == 64) {
    wgsl_emit_refuse(e, inst, "atomics of 64 bits");
    return;
  }
  if (wgsl_is_plain(e, p)) {
    wgsl_emit_refuse(e, inst, "atomics on private memory");
    return;
  }
  wgsl_memory *m = wgsl_memory_of(e, p, inst);
  if (!m) return;
  if (m->kind == WGSL_FUNCTION || m->kind == WGSL_CONSTANT) {
    wgsl_emit_refuse(e, inst, "atomics on private memory");
    return;
  }
  const char *index = wgsl_operand_text(e, p, TEXT_ANY), *values = "";
  for (uint32_t i = 1; i < inst->arg_count; i++)
    values = wgsl_text_of(e, is_float ? "%s, bitcast<u32>(%s)" : "%s, %s", values,
                          wgsl_operand_text(e, inst->args[i], TEXT_ANY));
  const char *call = atomic_call(e, m, rmw, index, values);
  putf(e, is_float && rmw != IR_RMW_STORE ? "bitcast<f32>(%s)" : "%s", call);
}

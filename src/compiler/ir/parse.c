/* parse.c - tokens and what stands at the top of a text: header, structs, constants, functions. */
#include "compiler/ir/parse.h"

#include <stdio.h>
#include <stdlib.h>

/* ---- Tokens ---- */

qn_status ir_parse_no_memory(void) {
  return qn_error_set(QN_ERROR_OUT_OF_HOST_MEMORY, "out of memory while reading IR");
}

qn_status ir_parse_error_at(ir_parser *p, const char *where, const char *format, ...) {
  uint32_t line = 1, column = 1;
  for (const char *c = p->text.data; c < where; c++) {
    column = *c == '\n' ? 1 : column + 1;
    line += *c == '\n';
  }
  char text[512];
  va_list args;
  va_start(args, format);
  vsnprintf(text, sizeof text, format, args);
  va_end(args);
  return qn_error_set(QN_ERROR_DATA, "%s:%u:%u: %s", p->name, line, column, text);
}

qn_status ir_parse_expected(ir_parser *p, const char *what) {
  if (p->token.kind == IR_T_END)
    return ir_parse_error_at(p, p->token.start, "expected %s, found the end of the text", what);
  const char *end = p->token.text.data + p->token.text.size;
  int length = (int)(end - p->token.start > 40 ? 40 : end - p->token.start);
  char shown[48];
  for (int i = 0; i < length; i++)
    shown[i] = p->token.start[i] >= ' ' && p->token.start[i] <= '~' ? p->token.start[i] : '?';
  shown[length] = 0;
  return ir_parse_error_at(p, p->token.start, "expected %s, found '%s'", what, shown);
}

void ir_parse_next(ir_parser *p) { p->token = ir_lex(&p->lexer); }

bool ir_parse_at_punct(const ir_parser *p, char c) { return p->token.kind == IR_T_PUNCT && p->token.text.data[0] == c; }

bool ir_parse_take_punct(ir_parser *p, char c) {
  bool at = ir_parse_at_punct(p, c);
  if (at) ir_parse_next(p);
  return at;
}

bool ir_parse_take_word(ir_parser *p, const char *word) {
  bool at = p->token.kind == IR_T_WORD && qn_sv_is(p->token.text, word);
  if (at) ir_parse_next(p);
  return at;
}

qn_status ir_parse_punct(ir_parser *p, char c) {
  if (ir_parse_take_punct(p, c)) return QN_OK;
  char what[] = {'\'', c, '\'', 0};
  return ir_parse_expected(p, what);
}

qn_status ir_parse_u64(ir_parser *p, uint64_t *out) {
  if (p->token.kind != IR_T_NUMBER || !qn_sv_to_u64(p->token.text, out)) return ir_parse_expected(p, "a number");
  ir_parse_next(p);
  return QN_OK;
}

qn_status ir_parse_align(ir_parser *p, uint64_t *out) {
  const char *start = p->token.start;
  QN_TRY(ir_parse_u64(p, out));
  if (*out == 0 || *out > IR_ALIGN_LIMIT || (*out & (*out - 1)))
    return ir_parse_error_at(p, start, "an alignment is a power of two, %d at most", IR_ALIGN_LIMIT);
  return QN_OK;
}

int32_t ir_parse_find(const ir_parser *p, const char *const *names, uint32_t count) {
  for (uint32_t i = 0; i < count && p->token.kind == IR_T_WORD; i++)
    if (qn_sv_is(p->token.text, names[i])) return (int32_t)i;
  return -1;
}

qn_status ir_parse_choice(ir_parser *p, const char *const *names, uint32_t count, const char *what, uint32_t *out) {
  int32_t index = ir_parse_find(p, names, count);
  if (index < 0) return ir_parse_expected(p, what);
  *out = (uint32_t)index;
  ir_parse_next(p);
  return QN_OK;
}

qn_status ir_parse_deeper(ir_parser *p) {
  if (++p->depth > IR_DEPTH_LIMIT) return ir_parse_error_at(p, p->token.start, "nested too deep");
  return QN_OK;
}

/* ---- Header ---- */

static bool is_empty(const ir_module *m) {
  return !m->functions && !m->constants && m->intern->next_type_id == m->intern->first_type_id;
}

static qn_status parse_header(ir_parser *p) {
  static const char *const words[] = {"double", "half", "int64_atomics", "fast"};
  uint64_t version, bits;
  if (!ir_parse_take_word(p, "quern")) return ir_parse_expected(p, "'quern 1'");
  const char *start = p->token.start;
  QN_TRY(ir_parse_u64(p, &version));
  if (version != 1) return ir_parse_error_at(p, start, "this version of the text form is not known; only 1 is");
  if (!ir_parse_take_word(p, "bits")) return ir_parse_expected(p, "'bits'");
  start = p->token.start;
  QN_TRY(ir_parse_u64(p, &bits));
  if (bits != 32 && bits != 64) return ir_parse_error_at(p, start, "bits are 32 or 64");
  bool has[4] = {false};
  for (int32_t word; (word = ir_parse_find(p, words, 4)) >= 0; ir_parse_next(p)) has[word] = true;
  if (is_empty(p->m)) {
    p->m->model = (qn_model){(uint32_t)bits, has[0], has[1], has[2]};
    p->m->fast_math = has[3];
  } else if (bits != p->m->model.address_bits) {
    return ir_parse_error_at(p, start, "the module that this is read into has %u bits", p->m->model.address_bits);
  }
  return QN_OK;
}

/* ---- Structs ---- */

/* What a struct's declaration says; the lists are freed by the caller. */
typedef struct field_list {
  qn_bytes types, aligns;
  uint32_t count;
} field_list;

static qn_status parse_field(ir_parser *p, field_list *list) {
  const ir_type *type;
  uint64_t align = 0;
  QN_TRY(ir_parse_object_type(p, &type));
  if (ir_parse_take_word(p, "align")) QN_TRY(ir_parse_align(p, &align));
  qn_bytes_append(&list->types, &type, sizeof type);
  qn_bytes_append(&list->aligns, &align, sizeof align);
  list->count++;
  return list->types.failed || list->aligns.failed ? ir_parse_no_memory() : QN_OK;
}

static qn_status parse_fields(ir_parser *p, field_list *list) {
  while (!ir_parse_take_punct(p, '}')) {
    if (list->count) QN_TRY(ir_parse_punct(p, ','));
    QN_TRY(parse_field(p, list));
  }
  return QN_OK;
}

/* The struct of this name, made when nothing has mentioned it. */
static qn_status declare_struct(ir_parser *p, qn_sv name, ir_type **out) {
  const char *start = p->token.start;
  ir_type *t = qn_map_get(&p->structs, name);
  if (t && !qn_map_remove(&p->struct_mentions, name))
    return ir_parse_error_at(p, start, "struct @%.*s is declared twice", QN_SV_ARG(name));
  if (!t) {
    char *copy = qn_arena_copy(p->m->arena, name);
    if (!copy) return ir_parse_no_memory();
    t = ir_struct_new(p->m, copy);
    if (!qn_map_set(&p->structs, name, t)) return ir_parse_no_memory();
  }
  t->id = p->m->intern->next_type_id++;
  *out = t;
  return QN_OK;
}

static qn_status parse_struct(ir_parser *p, bool is_union) {
  ir_type *t = NULL;
  uint64_t align = 0;
  qn_sv name = p->token.text;
  if (p->token.kind != IR_T_GLOBAL) return ir_parse_expected(p, "@ and a name");
  ir_parse_next(p);
  QN_TRY(declare_struct(p, name, &t));
  bool is_packed = ir_parse_take_word(p, "packed");
  if (ir_parse_take_word(p, "align")) QN_TRY(ir_parse_align(p, &align));
  t->is_union = is_union;
  t->is_packed = is_packed;
  t->declared_align = align;
  if (!ir_parse_take_punct(p, '{')) return QN_OK;
  field_list list = {0};
  qn_status status = parse_fields(p, &list);
  if (status == QN_OK)
    ir_struct_complete(p->m, t, (const ir_type *const *)(void *)list.types.data, NULL,
                       (const uint64_t *)(void *)list.aligns.data, list.count, is_union, is_packed, align);
  qn_bytes_free(&list.types);
  qn_bytes_free(&list.aligns);
  return status;
}

qn_status ir_parse_check_name(ir_parser *p, const ir_token *name) {
  if (name->text.size == 0 || name->text.data[0] < '0' || name->text.data[0] > '9') return QN_OK;
  return ir_parse_error_at(p, name->start, "the name of a parameter or variable starts with a digit: %.*s",
                           QN_SV_ARG(name->text));
}

/* ---- Constants ---- */

static qn_status parse_constant(ir_parser *p) {
  const ir_type *type;
  uint64_t align = 0;
  qn_sv name = p->token.text;
  if (p->token.kind != IR_T_GLOBAL) return ir_parse_expected(p, "@ and a name");
  if (qn_map_get(&p->constants, name))
    return ir_parse_error_at(p, p->token.start, "constant @%.*s is defined twice", QN_SV_ARG(name));
  ir_parse_next(p);
  QN_TRY(ir_parse_punct(p, ':'));
  QN_TRY(ir_parse_object_type(p, &type));
  if (ir_parse_take_word(p, "align")) QN_TRY(ir_parse_align(p, &align));
  char *copy = qn_arena_copy(p->m->arena, name);
  if (!copy) return ir_parse_no_memory();
  ir_var *var = ir_var_constant(p->m, copy, type, NULL); /* before its value, which may hold its address */
  var->align = align;
  if (!qn_map_set(&p->constants, name, var)) return ir_parse_no_memory();
  QN_TRY(ir_parse_punct(p, '='));
  return ir_parse_literal(p, type, &var->init);
}

/* ---- Functions ---- */

static bool hex_digit(char c, uint32_t *out) {
  *out = c >= '0' && c <= '9' ? (uint32_t)(c - '0') : (uint32_t)(c - 'a') + 10;
  return *out < 16;
}

/* Escapes are a backslash and two digits. */
static qn_status parse_string(ir_parser *p, const char **out) {
  qn_sv in = p->token.text;
  if (p->token.kind != IR_T_STRING) return ir_parse_expected(p, "a string");
  char *text = qn_arena_copy(p->m->arena, in);
  if (!text) return ir_parse_no_memory();
  size_t n = 0;
  for (size_t i = 0; i < in.size; i++) {
    uint32_t high, low;
    text[n] = in.data[i];
    if (in.data[i] == '\\') {
      if (i + 2 >= in.size + 0 || !hex_digit(in.data[i + 1], &high) || !hex_digit(in.data[i + 2], &low) ||
          !(high | low))
        return ir_parse_error_at(p, p->token.start, "\\ stands before two digits 0-9 a-f, not 00");
      text[n] = (char)(high << 4 | low);
      i += 2;
    } else if (!in.data[i]) {
      return ir_parse_error_at(p, p->token.start, "a string holds no zero bytes");
    }
    n++;
  }
  text[n] = 0;
  *out = text;
  ir_parse_next(p);
  return QN_OK;
}

static qn_status parse_param_words(ir_parser *p, ir_param *param) {
  for (;;) {
    if (ir_parse_take_word(p, "byval"))
      param->byval = true;
    else if (ir_parse_take_word(p, "sret"))
      param->sret = true;
    else if (ir_parse_take_word(p, "const"))
      param->is_const = true;
    else if (ir_parse_take_word(p, "restrict"))
      param->is_restrict = true;
    else if (ir_parse_take_word(p, "volatile"))
      param->is_volatile = true;
    else if (ir_parse_take_word(p, "access"))
      QN_TRY(ir_parse_choice(p, ir_access_names, 4, "read, write or readwrite", &param->access));
    else if (ir_parse_take_word(p, "element"))
      QN_TRY(ir_parse_choice(p, ir_element_names, IR_ELEMENT_COUNT, "an element type", &param->element_type));
    else if (ir_parse_take_word(p, "type"))
      QN_TRY(parse_string(p, &param->type_name));
    else
      return QN_OK;
  }
}

/* A parameter as the text says it; `name` is a copy. */
static qn_status parse_param(ir_parser *p, qn_bytes *params) {
  ir_param param = {0};
  qn_sv name = p->token.text;
  if (p->token.kind != IR_T_VALUE) return ir_parse_expected(p, "% and a parameter's name");
  QN_TRY(ir_parse_check_name(p, &p->token));
  if (qn_map_get(&p->values, name))
    return ir_parse_error_at(p, p->token.start, "%%%.*s is defined twice", QN_SV_ARG(name));
  param.name = qn_arena_copy(p->m->arena, name);
  /* The value comes with the signature; until then the name holds its place. */
  if (!param.name || !qn_map_set(&p->values, name, p->m->intern->spare_inst)) return ir_parse_no_memory();
  ir_parse_next(p);
  QN_TRY(ir_parse_punct(p, ':'));
  QN_TRY(ir_parse_object_type(p, &param.type));
  QN_TRY(parse_param_words(p, &param));
  qn_bytes_append(params, &param, sizeof param);
  return params->failed ? ir_parse_no_memory() : QN_OK;
}

static qn_status parse_sizes(ir_parser *p, uint64_t sizes[3]) {
  for (uint32_t i = 0; i < 3; i++) {
    const char *start = p->token.start;
    QN_TRY(ir_parse_u64(p, &sizes[i]));
    if (!sizes[i]) return ir_parse_error_at(p, start, "a size is not zero");
  }
  return QN_OK;
}

static qn_status parse_function_words(ir_parser *p, ir_function *f) {
  for (;;) {
    if (ir_parse_take_word(p, "inline")) {
      f->is_inline = true;
    } else if (ir_parse_take_word(p, "noinline")) {
      f->is_noinline = true;
    } else if (ir_parse_take_word(p, "reqd")) {
      QN_TRY(parse_sizes(p, f->required_local));
    } else if (ir_parse_take_word(p, "hint")) {
      QN_TRY(parse_sizes(p, f->hinted_local));
    } else if (ir_parse_take_word(p, "static")) {
      QN_TRY(ir_parse_u64(p, &f->static_local_bytes));
    } else if (ir_parse_take_word(p, "regions")) {
      f->has_regions = true;
      QN_TRY(ir_parse_u64(p, &f->scratch_bytes_per_item));
      QN_TRY(ir_parse_u64(p, &f->scratch_bytes_per_group));
    } else {
      return QN_OK;
    }
  }
}

static bool same_signature(const ir_function *f, const ir_type *result, const ir_param *params, uint32_t count) {
  if (f->result != result || f->param_count != count) return false;
  for (uint32_t i = 0; i < count; i++)
    if (f->params[i].type != params[i].type) return false;
  return true;
}

static qn_status new_signature(ir_parser *p, ir_function *f, const ir_type *result, const ir_param *params,
                               uint32_t count) {
  const ir_type **types = ir_alloc_array(p->m, sizeof *types, count);
  const char **names = ir_alloc_array(p->m, sizeof *names, count);
  if (!types || !names) return ir_parse_no_memory();
  for (uint32_t i = 0; i < count; i++) {
    types[i] = params[i].type;
    names[i] = params[i].name;
  }
  ir_function_signature(f, result, types, names, count);
  return p->m->failed ? ir_parse_no_memory() : QN_OK;
}

/* Puts what the text says into the function, which keeps its own names where it was declared before. */
static qn_status take_params(ir_parser *p, ir_function *f, const ir_param *params, uint32_t count) {
  for (uint32_t i = 0; i < count; i++) {
    ir_param said = params[i];
    said.name = f->params[i].name;
    said.value = f->params[i].value;
    f->params[i] = said;
    if (!qn_map_set(&p->values, qn_sv_from(params[i].name), said.value)) return ir_parse_no_memory();
  }
  return QN_OK;
}

/* The function of a name: one that the module has, or that a call mentioned, or a new one. */
static qn_status declared_function(ir_parser *p, qn_sv name, ir_function **out) {
  ir_function *f = ir_function_find(p->m, name);
  bool mentioned = f && qn_map_remove(&p->function_mentions, name);
  if (!f) {
    f = ir_function_new(p->m, name);
    if (!f) return ir_parse_no_memory();
    mentioned = true;
  }
  if (mentioned) ir_function_enlist(p->m, f);
  *out = f;
  return QN_OK;
}

static qn_status parse_signature(ir_parser *p, ir_function *f, const char *start, qn_bytes *params) {
  uint32_t count = 0;
  const ir_type *result = ir_void(p->m);
  QN_TRY(ir_parse_punct(p, '('));
  while (!ir_parse_take_punct(p, ')')) {
    if (count++) QN_TRY(ir_parse_punct(p, ','));
    QN_TRY(parse_param(p, params));
  }
  if (ir_parse_take_punct(p, ':')) QN_TRY(ir_parse_object_type(p, &result));
  const ir_param *said = (const ir_param *)(const void *)params->data;
  if (!f->params)
    QN_TRY(new_signature(p, f, result, said, count));
  else if (!same_signature(f, result, said, count))
    return ir_parse_error_at(p, start, "function @%s is declared with another signature", f->name);
  return take_params(p, f, said, count);
}

static qn_status parse_function_inside(ir_parser *p, bool is_kernel) {
  ir_function *f = NULL;
  const char *start = p->token.start;
  if (p->token.kind != IR_T_GLOBAL) return ir_parse_expected(p, "@ and a function's name");
  QN_TRY(declared_function(p, p->token.text, &f));
  ir_parse_next(p);
  qn_bytes params = {0};
  qn_status status = parse_signature(p, f, start, &params);
  qn_bytes_free(&params);
  QN_TRY(status);
  f->is_kernel = is_kernel;
  QN_TRY(parse_function_words(p, f));
  if (!ir_parse_take_punct(p, '{')) return QN_OK;
  if (f->body) return ir_parse_error_at(p, start, "function @%s is defined twice", f->name);
  p->f = f;
  return ir_parse_body(p);
}

static qn_status parse_function(ir_parser *p, bool is_kernel) {
  qn_status status = parse_function_inside(p, is_kernel);
  qn_map_free(&p->values);
  qn_map_free(&p->locals);
  return status;
}

/* ---- The text ---- */

static qn_status parse_item(ir_parser *p) {
  if (ir_parse_take_word(p, "struct")) return parse_struct(p, false);
  if (ir_parse_take_word(p, "union")) return parse_struct(p, true);
  if (ir_parse_take_word(p, "constant")) return parse_constant(p);
  if (ir_parse_take_word(p, "func")) return parse_function(p, false);
  if (ir_parse_take_word(p, "kernel")) return parse_function(p, true);
  return ir_parse_expected(p, "struct, union, constant, func or kernel");
}

/* The first place of a map of mentions that are still open. */
static qn_status check_mentions(ir_parser *p, const qn_map *map, const char *what) {
  const qn_map_entry *first = NULL;
  for (size_t i = 0; i < map->capacity; i++) {
    const qn_map_entry *e = &map->entries[i];
    if (e->value && (!first || (const char *)e->value < (const char *)first->value)) first = e;
  }
  if (!first) return QN_OK;
  return ir_parse_error_at(p, first->value, "%s @%.*s is not declared", what, QN_SV_ARG(first->key));
}

static qn_status parse_text(ir_parser *p) {
#define QN_X(id, text, operands, class) \
  if (!qn_map_set(&p->ops, QN_SV(text), (void *)&ir_op_table[IR_##id])) return ir_parse_no_memory();
  IR_OPS(QN_X)
#undef QN_X
  ir_parse_next(p);
  QN_TRY(parse_header(p));
  while (p->token.kind != IR_T_END) QN_TRY(parse_item(p));
  QN_TRY(check_mentions(p, &p->struct_mentions, "struct"));
  QN_TRY(check_mentions(p, &p->function_mentions, "function"));
  return p->m->failed ? ir_parse_no_memory() : QN_OK;
}

qn_status ir_parse(ir_module *m, qn_sv text, const char *name) {
  ir_parser p = {.m = m, .name = name ? name : "<ir>", .text = text};
  p.lexer = (ir_lexer){text.data, text.data + text.size};
  p.b = (ir_builder){.m = m};
  qn_status status = parse_text(&p);
  qn_map *maps[] = {&p.ops, &p.structs, &p.constants, &p.values, &p.locals, &p.struct_mentions, &p.function_mentions};
  for (size_t i = 0; i < sizeof maps / sizeof *maps; i++) qn_map_free(maps[i]);
  if (status != QN_OK) m->failed = true;
  return status;
}

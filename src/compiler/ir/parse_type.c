#include "base/bytes.h"
#include "compiler/ir/float.h"
#include "compiler/ir/parse.h"

/* "i32", "f16", "bool" ...; NULL: no scalar. */
static const ir_type *scalar_named(ir_module *m, qn_sv text) {
  uint64_t bits;
  if (qn_sv_is(text, "bool")) return ir_bool(m);
  if (text.size < 2 || !qn_sv_to_u64(qn_sv_make(text.data + 1, text.size - 1), &bits)) return NULL;
  if (text.data[0] == 'i' && (bits == 8 || bits == 16 || bits == 32 || bits == 64)) return ir_int(m, (uint32_t)bits);
  if (text.data[0] == 'f' && (bits == 16 || bits == 32 || bits == 64)) return ir_float(m, (uint32_t)bits);
  return NULL;
}

/* A scalar or "f32x4". */
static const ir_type *plain_named(ir_module *m, qn_sv text) {
  size_t x = 0;
  while (x < text.size && text.data[x] != 'x') x++;
  const ir_type *scalar = scalar_named(m, qn_sv_make(text.data, x));
  if (!scalar || x == text.size) return scalar;
  static const char *const counts[] = {"2", "3", "4", "8", "16"};
  static const uint32_t numbers[] = {2, 3, 4, 8, 16};
  for (uint32_t i = 0; i < 5; i++)
    if (qn_sv_is(qn_sv_make(text.data + x + 1, text.size - x - 1), counts[i])) return ir_vector(m, scalar, numbers[i]);
  return NULL;
}

static qn_status parse_pointer(ir_parser *p, const ir_type **out) {
  uint32_t space;
  const ir_type *elem;
  QN_TRY(ir_parse_choice(p, ir_space_names, IR_SPACE_COUNT, "an address space", &space));
  QN_TRY(ir_parse_type(p, &elem));
  *out = ir_pointer(p->m, (ir_space)space, elem);
  return QN_OK;
}

static qn_status parse_array(ir_parser *p, const ir_type **out) {
  uint64_t length;
  const ir_type *elem;
  QN_TRY(ir_parse_u64(p, &length));
  if (!ir_parse_take_word(p, "x")) return ir_parse_expected(p, "'x' and the element type");
  QN_TRY(ir_parse_object_type(p, &elem));
  QN_TRY(ir_parse_punct(p, ']'));
  *out = ir_array(p->m, elem, length);
  return QN_OK;
}

/* A struct that isn't known yet is made, without fields, and must be declared later. */
static qn_status parse_struct_name(ir_parser *p, const ir_type **out) {
  qn_sv name = p->token.text;
  ir_type *t = qn_map_get(&p->structs, name);
  if (!t) {
    char *copy = qn_arena_copy(p->m->arena, name);
    if (!copy) return ir_parse_no_memory();
    t = ir_struct_new(p->m, copy);
    if (!qn_map_set(&p->structs, name, t)) return ir_parse_no_memory();
    if (!qn_map_set(&p->struct_mentions, name, (void *)p->token.start)) return ir_parse_no_memory();
  }
  ir_parse_next(p);
  *out = t;
  return QN_OK;
}

static qn_status parse_type_inside(ir_parser *p, const ir_type **out) {
  if (ir_parse_take_punct(p, '[')) return parse_array(p, out);
  if (p->token.kind == IR_T_GLOBAL) return parse_struct_name(p, out);
  if (ir_parse_take_word(p, "ptr")) return parse_pointer(p, out);
  if (p->token.kind != IR_T_WORD) return ir_parse_expected(p, "a type");
  const ir_type *type = qn_sv_is(p->token.text, "void") ? ir_void(p->m) : plain_named(p->m, p->token.text);
  if (!type) return ir_parse_expected(p, "a type");
  ir_parse_next(p);
  *out = type;
  return QN_OK;
}

qn_status ir_parse_type(ir_parser *p, const ir_type **out) {
  QN_TRY(ir_parse_deeper(p));
  QN_TRY(parse_type_inside(p, out));
  p->depth--;
  return QN_OK;
}

qn_status ir_parse_object_type(ir_parser *p, const ir_type **out) {
  const char *start = p->token.start;
  QN_TRY(ir_parse_type(p, out));
  if ((*out)->kind == IR_VOID) return ir_parse_error_at(p, start, "void has no size");
  if ((*out)->is_complete && (*out)->size == 0) return ir_parse_error_at(p, start, "an object has at least one byte");
  if (!(*out)->is_complete) return ir_parse_error_at(p, start, "struct @%s is not complete here", (*out)->name);
  return QN_OK;
}

/* ---- Constants ---- */

qn_status ir_parse_int(ir_parser *p, const ir_type *type, uint64_t *out) {
  uint32_t width = type->kind == IR_BOOL ? 1 : type->bits;
  int64_t negative;
  uint64_t value;
  qn_sv text = p->token.text;
  bool is_number = p->token.kind == IR_T_NUMBER;
  if (is_number && qn_sv_to_u64(text, &value)) {
    if (width < 64 && value >> width) return ir_parse_error_at(p, p->token.start, "the number does not fit i%u", width);
  } else if (is_number && qn_sv_to_i64(text, &negative)) {
    value = (uint64_t)negative;
    if (negative < 0 && (-(negative + 1)) >> (width - 1) != 0)
      return ir_parse_error_at(p, p->token.start, "the number does not fit i%u", width);
  } else {
    return ir_parse_expected(p, "an integer");
  }
  ir_parse_next(p);
  *out = width < 64 ? value & (((uint64_t)1 << width) - 1) : value;
  return QN_OK;
}

/* nan:0x7fc00000 */
static bool nan_bits(qn_sv text, uint32_t bits, uint64_t *out) {
  if (!qn_sv_starts_with(text, QN_SV("nan:"))) return false;
  if (!qn_sv_to_u64(qn_sv_make(text.data + 4, text.size - 4), out)) return false;
  return (bits == 64 || !(*out >> bits)) && ir_float_is_nan(*out, bits);
}

static qn_status parse_float(ir_parser *p, const ir_type *type, ir_inst **out) {
  qn_sv text = p->token.text;
  uint64_t bits;
  double value;
  bool is_number = p->token.kind == IR_T_NUMBER || p->token.kind == IR_T_WORD;
  if (is_number && nan_bits(text, type->bits, &bits)) {
    *out = ir_const_bits(p->m, type, bits);
  } else if (is_number && qn_sv_to_f64(text, &value) && value == value) {
    *out = ir_const_float(p->m, type, value);
    double rounded = ir_float_to_double((*out)->imm, type->bits);
    bool grew = rounded - rounded != 0 && value - value == 0;
    if (grew) return ir_parse_error_at(p, p->token.start, "the number does not fit f%u", type->bits);
  } else {
    return ir_parse_expected(p, "a number, inf or nan:0x...");
  }
  ir_parse_next(p);
  return QN_OK;
}

static qn_status parse_bool(ir_parser *p, ir_inst **out) {
  bool is_true = ir_parse_take_word(p, "true");
  if (!is_true && !ir_parse_take_word(p, "false")) return ir_parse_expected(p, "true or false");
  *out = ir_const_int(p->m, ir_bool(p->m), is_true);
  return QN_OK;
}

/* @var, or @var + bytes; of constants only. */
static qn_status parse_address(ir_parser *p, const ir_type *type, ir_inst **out) {
  ir_var *var = p->token.kind == IR_T_GLOBAL ? qn_map_get(&p->constants, p->token.text) : NULL;
  if (!var) return ir_parse_expected(p, "zero, undef or a constant of the module");
  ir_parse_next(p);
  uint64_t bytes = 0;
  if (ir_parse_take_punct(p, '+')) QN_TRY(ir_parse_u64(p, &bytes));
  *out = ir_address_offset(p->m, var, type, bytes);
  return QN_OK;
}

/* How many parts a constant of an aggregate type has at most. */
static uint64_t part_limit(const ir_type *type) {
  if (type->kind == IR_VECTOR) return type->count;
  if (type->kind == IR_ARRAY) return type->length;
  return type->is_union ? 1 : type->field_count;
}

static qn_status part_type(ir_parser *p, const ir_type *type, uint64_t index, const ir_type **out) {
  *out = type->elem;
  if (type->kind != IR_STRUCT) return QN_OK;
  if (type->is_union) {
    QN_TRY(ir_parse_punct(p, '.'));
    const char *start = p->token.start;
    QN_TRY(ir_parse_u64(p, &index));
    if (index >= type->field_count) return ir_parse_error_at(p, start, "the union has no field of this number");
    QN_TRY(ir_parse_punct(p, '='));
  }
  *out = type->fields[index].type;
  return QN_OK;
}

/* Parts up to the closing brace, as an array of pointers in `parts`. */
static qn_status parse_parts(ir_parser *p, const ir_type *type, qn_bytes *parts, uint32_t *count) {
  const char *start = p->token.start;
  uint64_t limit = part_limit(type);
  while (!ir_parse_at_punct(p, '}')) {
    const ir_type *inner;
    ir_inst *part;
    if (*count) QN_TRY(ir_parse_punct(p, ','));
    if (*count >= limit || *count == UINT32_MAX)
      return ir_parse_error_at(p, p->token.start, "more parts than the type has");
    QN_TRY(part_type(p, type, *count, &inner));
    QN_TRY(ir_parse_literal(p, inner, &part));
    qn_bytes_append(parts, &part, sizeof(part));
    if (parts->failed) return ir_parse_no_memory();
    ++*count;
  }
  if (type->kind != IR_ARRAY && *count != limit) return ir_parse_error_at(p, start, "fewer parts than the type has");
  ir_parse_next(p);
  return QN_OK;
}

static qn_status parse_aggregate(ir_parser *p, const ir_type *type, ir_inst **out) {
  qn_bytes parts = {0};
  uint32_t count = 0;
  qn_status status = parse_parts(p, type, &parts, &count);
  if (status == QN_OK) *out = ir_const_aggregate(p->m, type, (ir_inst *const *)(void *)parts.data, count);
  qn_bytes_free(&parts);
  return status;
}

static qn_status parse_literal_inside(ir_parser *p, const ir_type *type, ir_inst **out) {
  bool aggregate = type->kind == IR_VECTOR || type->kind == IR_ARRAY || type->kind == IR_STRUCT;
  if (type->kind == IR_VOID || !type->is_complete) return ir_parse_expected(p, "a type that has values");
  if (ir_parse_take_word(p, "undef")) {
    *out = ir_undef(p->m, type);
    return QN_OK;
  }
  if ((aggregate || type->kind == IR_POINTER) && ir_parse_take_word(p, "zero")) {
    *out = ir_zero(p->m, type);
    return QN_OK;
  }
  if (aggregate) {
    QN_TRY(ir_parse_punct(p, '{'));
    return parse_aggregate(p, type, out);
  }
  if (type->kind == IR_POINTER) return parse_address(p, type, out);
  if (type->kind == IR_FLOAT) return parse_float(p, type, out);
  if (type->kind == IR_BOOL) return parse_bool(p, out);
  uint64_t bits;
  QN_TRY(ir_parse_int(p, type, &bits));
  *out = ir_const_int(p->m, type, bits);
  return QN_OK;
}

qn_status ir_parse_literal(ir_parser *p, const ir_type *type, ir_inst **out) {
  QN_TRY(ir_parse_deeper(p));
  QN_TRY(parse_literal_inside(p, type, out));
  p->depth--;
  return QN_OK;
}

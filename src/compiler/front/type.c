#include "compiler/front/type.h"

#include <stdio.h>

#include <string.h>

#include "base/bytes.h"
#include "compiler/front/state.h"

/* ---- Interning ----------------------------------------------------------------------------------- */

typedef struct type_key {
  uint64_t kind; /* front_kind, or QUALIFIED */
  uint64_t a;    /* the operand's address */
  uint64_t b;    /* lanes, length, qualifiers and space */
} type_key;
#define KEY_QUALIFIED 100

/* An existing type for the key, or a new zeroed one entered under it. NULL: out of memory. */
static front_type *intern(front *f, type_key key, bool *out_new) {
  qn_sv bytes = qn_sv_make((const char *)&key, sizeof(key));
  front_type *type = qn_map_get(&f->types, bytes);
  *out_new = type == NULL;
  if (type != NULL) return type;
  char *kept = qn_arena_copy(f->arena, bytes);
  type = QN_ARENA_NEW(f->arena, front_type);
  if (kept == NULL || type == NULL || !qn_map_set(&f->types, qn_sv_make(kept, sizeof(key)), type)) {
    f->failed = true;
    return NULL;
  }
  type->plain = type;
  type->lanes = 1;
  return type;
}

static front_type *new_type(front *f, front_kind kind) {
  front_type *type = QN_ARENA_NEW(f->arena, front_type);
  if (type == NULL) {
    f->failed = true;
    return NULL;
  }
  type->kind = kind;
  type->plain = type;
  type->lanes = 1;
  return type;
}

const front_type *front_error_type(front *f) {
  static const front_type error = {.kind = FRONT_ERROR, .lanes = 1, .plain = &error};
  (void)f;
  return &error;
}

static const front_type *make_basic(front *f, const front_type **slot, front_kind kind, uint32_t bits, bool is_signed) {
  if (*slot != NULL) return *slot;
  front_type *type = new_type(f, kind);
  if (type == NULL) return front_error_type(f);
  type->bits = bits;
  type->is_signed = is_signed;
  *slot = type;
  return type;
}

static uint32_t log2_of_bytes(uint32_t bits) {
  switch (bits) {
    case 8:
      return 0;
    case 16:
      return 1;
    case 32:
      return 2;
    default:
      return 3;
  }
}

const front_type *front_void(front *f) { return make_basic(f, &f->void_type, FRONT_VOID, 0, false); }
const front_type *front_bool(front *f) { return make_basic(f, &f->bool_type, FRONT_BOOL, 1, false); }
const front_type *front_int(front *f, uint32_t bits, bool is_signed) {
  return make_basic(f, &f->ints[log2_of_bytes(bits)][is_signed], FRONT_INT, bits, is_signed);
}
const front_type *front_float(front *f, uint32_t bits) {
  return make_basic(f, &f->floats[log2_of_bytes(bits) - 1], FRONT_FLOAT, bits, true);
}

const front_type *front_vector(front *f, const front_type *elem, uint32_t lanes) {
  if (elem->kind == FRONT_ERROR) return elem;
  bool is_new;
  front_type *type = intern(f, (type_key){FRONT_VECTOR, (uintptr_t)elem->plain, lanes}, &is_new);
  if (type == NULL) return front_error_type(f);
  if (is_new) {
    type->kind = FRONT_VECTOR;
    type->elem = elem->plain;
    type->lanes = lanes;
  }
  return type;
}

const front_type *front_pointer(front *f, const front_type *pointee) {
  if (pointee->kind == FRONT_ERROR) return pointee;
  bool is_new;
  front_type *type = intern(f, (type_key){FRONT_POINTER, (uintptr_t)pointee, 0}, &is_new);
  if (type == NULL) return front_error_type(f);
  if (is_new) {
    type->kind = FRONT_POINTER;
    type->elem = pointee;
    type->depth = pointee->depth + 1;
  }
  return type;
}

const front_type *front_array(front *f, const front_type *elem, uint64_t length) {
  if (elem->kind == FRONT_ERROR) return elem;
  bool is_new;
  front_type *type = intern(f, (type_key){FRONT_ARRAY, (uintptr_t)elem, length}, &is_new);
  if (type == NULL) return front_error_type(f);
  if (is_new) {
    type->kind = FRONT_ARRAY;
    type->elem = elem;
    type->length = length;
    type->quals = elem->quals;
    type->space = elem->space;
    type->depth = (elem->kind == FRONT_RECORD ? elem->record->depth : elem->depth) + 1;
    if (elem->plain != elem) type->plain = front_array(f, elem->plain, length);
  }
  return type;
}

const front_type *front_function_type(front *f, const front_type *result, const front_type *const *params,
                                      uint32_t count) {
  /* The key has the parameters' addresses behind the fixed part. */
  size_t size = sizeof(type_key) + count * sizeof(params[0]);
  char *bytes = qn_arena_alloc(f->arena, size);
  if (bytes == NULL) {
    f->failed = true;
    return front_error_type(f);
  }
  type_key key = {FRONT_FUNCTION, (uintptr_t)result, count};
  memcpy(bytes, &key, sizeof(key));
  if (count > 0) memcpy(bytes + sizeof(key), params, count * sizeof(params[0]));
  front_type *type = qn_map_get(&f->types, qn_sv_make(bytes, size));
  if (type != NULL) return type;
  type = new_type(f, FRONT_FUNCTION);
  if (type == NULL || !qn_map_set(&f->types, qn_sv_make(bytes, size), type)) {
    f->failed = true;
    return front_error_type(f);
  }
  type->elem = result;
  type->params = (const front_type *const *)(void *)(bytes + sizeof(key));
  type->param_count = count;
  return type;
}

const front_type *front_record_type(front *f, front_record *record) {
  bool is_new;
  front_type *type = intern(f, (type_key){FRONT_RECORD, (uintptr_t)record, 0}, &is_new);
  if (type == NULL) return front_error_type(f);
  if (is_new) {
    type->kind = FRONT_RECORD;
    type->record = record;
  }
  return type;
}

const front_type *front_qualify(front *f, const front_type *type, uint32_t quals, ir_space space) {
  if (type->kind == FRONT_ERROR || type->kind == FRONT_FUNCTION) return type;
  if (type->kind == FRONT_ARRAY) return front_array(f, front_qualify(f, type->elem, quals, space), type->length);
  quals |= type->quals;
  if (space == IR_PRIVATE) space = type->space;
  if (quals == type->quals && space == type->space) return type;
  bool is_new;
  uint64_t how = (uint64_t)quals | (uint64_t)space << 8;
  front_type *made = intern(f, (type_key){KEY_QUALIFIED, (uintptr_t)type->plain, how}, &is_new);
  if (made == NULL) return front_error_type(f);
  if (is_new) {
    *made = *type->plain;
    made->quals = quals;
    made->space = space;
    made->plain = type->plain;
  }
  return made;
}

const front_type *front_size_type(front *f) { return front_int(f, f->m->model.address_bits, false); }
const front_type *front_ptrdiff_type(front *f) { return front_int(f, f->m->model.address_bits, true); }

const front_type *front_pointer_to(front *f, const front_type *elem, ir_space space, uint32_t quals) {
  return front_pointer(f, front_qualify(f, elem->plain, quals, space));
}

const front_type *front_with_elem(front *f, const front_type *type, const front_type *elem) {
  return type->kind == FRONT_VECTOR ? front_vector(f, elem, type->lanes) : elem;
}

const front_type *front_truth_type(front *f, const front_type *type) {
  if (type->kind != FRONT_VECTOR) return front_int(f, 32, true);
  return front_vector(f, front_int(f, type->elem->bits, true), type->lanes);
}

/* ---- Names --------------------------------------------------------------------------------------- */

/* bits 0: as wide as an address. */
typedef struct basic_name {
  const char *name;
  front_kind kind;
  uint8_t bits;
  bool is_signed;
  bool has_vectors;
} basic_name;

static const basic_name basic_names[] = {
    {"void", FRONT_VOID, 0, false, false},     {"bool", FRONT_BOOL, 1, false, false},
    {"_Bool", FRONT_BOOL, 1, false, false},    {"char", FRONT_INT, 8, true, true},
    {"uchar", FRONT_INT, 8, false, true},      {"short", FRONT_INT, 16, true, true},
    {"ushort", FRONT_INT, 16, false, true},    {"int", FRONT_INT, 32, true, true},
    {"uint", FRONT_INT, 32, false, true},      {"long", FRONT_INT, 64, true, true},
    {"ulong", FRONT_INT, 64, false, true},     {"half", FRONT_FLOAT, 16, true, true},
    {"float", FRONT_FLOAT, 32, true, true},    {"double", FRONT_FLOAT, 64, true, true},
    {"unsigned", FRONT_INT, 32, false, false}, {"signed", FRONT_INT, 32, true, false},
    {"size_t", FRONT_INT, 0, false, false},    {"uintptr_t", FRONT_INT, 0, false, false},
    {"ptrdiff_t", FRONT_INT, 0, true, false},  {"intptr_t", FRONT_INT, 0, true, false},
};

static const front_type *basic_type(front *f, const basic_name *basic) {
  switch (basic->kind) {
    case FRONT_VOID:
      return front_void(f);
    case FRONT_BOOL:
      return front_bool(f);
    case FRONT_INT:
      return front_int(f, basic->bits != 0 ? basic->bits : f->m->model.address_bits, basic->is_signed);
    default:
      return front_float(f, basic->bits);
  }
}

/* Splits "float16" into "float" and 16. Lanes 1: no number; 0: a number that isn't a vector's. */
static qn_sv split_lanes(qn_sv name, uint32_t *lanes) {
  size_t digits = 0;
  uint32_t number = 0;
  while (digits < name.size && name.data[name.size - 1 - digits] >= '0' && name.data[name.size - 1 - digits] <= '9') {
    digits++;
  }
  qn_sv stem = qn_sv_make(name.data, name.size - digits);
  for (size_t i = stem.size; i < name.size && digits <= 2; i++) number = number * 10 + (uint32_t)(name.data[i] - '0');
  bool is_width = number == 2 || number == 3 || number == 4 || number == 8 || number == 16;
  bool leading_zero = digits > 0 && name.data[stem.size] == '0';
  *lanes = digits == 0 ? 1 : is_width && !leading_zero ? number : 0;
  return stem;
}

const front_type *front_type_named(front *f, qn_sv name) {
  if (name.size < 3 || name.size > 9) return NULL; /* "int" to "ptrdiff_t", "uintptr_t" */
  uint32_t lanes;
  qn_sv stem = split_lanes(name, &lanes);
  if (lanes == 0) return NULL;
  for (size_t i = 0; i < sizeof(basic_names) / sizeof(basic_names[0]); i++) {
    const basic_name *basic = &basic_names[i];
    if (!qn_sv_is(stem, basic->name)) continue;
    if (lanes == 1) return basic_type(f, basic);
    return basic->has_vectors ? front_vector(f, basic_type(f, basic), lanes) : NULL;
  }
  return NULL;
}

void front_type_names(void (*fn)(void *user, qn_sv name), void *user, bool numbers_only) {
  static const char *const lanes[] = {"", "2", "3", "4", "8", "16"};
  for (size_t i = 0; i < sizeof(basic_names) / sizeof(basic_names[0]); i++) {
    const basic_name *basic = &basic_names[i];
    if (numbers_only && !basic->has_vectors) continue;
    for (size_t n = 0; n < (basic->has_vectors ? sizeof(lanes) / sizeof(lanes[0]) : 1); n++) {
      char text[16];
      int size = snprintf(text, sizeof text, "%s%s", basic->name, lanes[n]);
      fn(user, qn_sv_make(text, (size_t)size));
    }
  }
}

static const char *basic_text(const front_type *t) {
  for (size_t i = 0; i < sizeof(basic_names) / sizeof(basic_names[0]); i++) {
    const basic_name *basic = &basic_names[i];
    if (basic->kind == t->kind && basic->bits == t->bits &&
        (t->kind != FRONT_INT || basic->is_signed == t->is_signed)) {
      return basic->name;
    }
  }
  return "?";
}

static void print_quals(qn_bytes *out, uint32_t quals, ir_space space) {
  static const char *const spaces[] = {"", "__global ", "__constant ", "__local ", "__generic "};
  qn_bytes_append_str(out, spaces[space]);
  if (quals & FRONT_CONST) qn_bytes_append_str(out, "const ");
  if (quals & FRONT_VOLATILE) qn_bytes_append_str(out, "volatile ");
}

static void print_type(qn_bytes *out, const front_type *t, uint32_t depth);

/* Declarators are written inside out: `left` has printed all before the name, this prints all behind it. */
static void print_suffix(qn_bytes *out, const front_type *t, uint32_t depth) {
  for (; t->kind == FRONT_ARRAY && depth < 64; t = t->elem, depth++) {
    if (t->length == FRONT_UNKNOWN_LENGTH) {
      qn_bytes_append_str(out, "[]");
    } else {
      qn_bytes_printf(out, "[%llu]", (unsigned long long)t->length);
    }
  }
}

static void print_pointer(qn_bytes *out, const front_type *t, uint32_t depth) {
  const front_type *inner = t->elem;
  const front_type *base = inner;
  while (base->kind == FRONT_ARRAY) base = base->elem;
  print_type(out, base, depth + 1);
  if (inner->kind == FRONT_ARRAY) {
    qn_bytes_append_str(out, " (*)");
    print_suffix(out, inner, depth);
    return;
  }
  qn_bytes_append_str(out, base->kind == FRONT_POINTER ? "*" : " *");
  if (t->space != IR_PRIVATE || (t->quals & ~(uint32_t)FRONT_RESTRICT) != 0) {
    qn_bytes_append_char(out, ' ');
    print_quals(out, t->quals, t->space);
    if (out->size > 0 && out->data[out->size - 1] == ' ') out->data[--out->size] = 0;
  }
}

static void print_function(qn_bytes *out, const front_type *t, uint32_t depth) {
  print_type(out, t->elem, depth + 1);
  qn_bytes_append_str(out, " (");
  for (uint32_t i = 0; i < t->param_count; i++) {
    if (i > 0) qn_bytes_append_str(out, ", ");
    print_type(out, t->params[i], depth + 1);
  }
  qn_bytes_append_str(out, t->param_count == 0 ? "void)" : ")");
}

static void print_type(qn_bytes *out, const front_type *t, uint32_t depth) {
  if (depth > 64) {
    qn_bytes_append_str(out, "...");
    return;
  }
  switch (t->kind) {
    case FRONT_ERROR:
      qn_bytes_append_str(out, "<error>");
      return;
    case FRONT_POINTER:
      print_pointer(out, t, depth);
      return;
    case FRONT_FUNCTION:
      print_function(out, t, depth);
      return;
    case FRONT_ARRAY: {
      const front_type *base = t;
      while (base->kind == FRONT_ARRAY) base = base->elem;
      print_type(out, base, depth + 1);
      print_suffix(out, t, depth);
      return;
    }
    case FRONT_RECORD:
      print_quals(out, t->quals, t->space);
      qn_bytes_append_str(out, t->record->is_union ? "union " : "struct ");
      if (t->record->tag.size > 0) {
        qn_bytes_append_sv(out, t->record->tag);
      } else {
        qn_bytes_append_str(out, "(unnamed)");
      }
      return;
    case FRONT_VECTOR:
      print_quals(out, t->quals, t->space);
      qn_bytes_printf(out, "%s%u", basic_text(t->elem), t->lanes);
      return;
    default:
      print_quals(out, t->quals, t->space);
      qn_bytes_append_str(out, basic_text(t));
  }
}

const char *front_type_text(front *f, const front_type *t) {
  qn_bytes out = {0};
  print_type(&out, t, 0);
  const char *text = out.failed ? NULL : qn_arena_copy(f->arena, qn_bytes_view(&out));
  qn_bytes_free(&out);
  if (text == NULL) {
    f->failed = true;
    return "?";
  }
  return text;
}

/* ---- Questions ----------------------------------------------------------------------------------- */

bool front_is_complete(const front_type *t) {
  switch (t->kind) {
    case FRONT_VOID:
    case FRONT_FUNCTION:
      return false;
    case FRONT_ARRAY:
      return t->length != FRONT_UNKNOWN_LENGTH;
    case FRONT_RECORD:
      return t->record->is_complete;
    default:
      return true;
  }
}

const ir_type *front_ir(front *f, const front_type *t) {
  switch (t->kind) {
    case FRONT_BOOL:
      return ir_bool(f->m);
    case FRONT_INT:
      return ir_int(f->m, t->bits);
    case FRONT_FLOAT:
      return ir_float(f->m, t->bits);
    case FRONT_VECTOR:
      return ir_vector(f->m, front_ir(f, t->elem), t->lanes);
    case FRONT_POINTER:
      return ir_pointer(f->m, t->elem->space, front_ir(f, t->elem));
    case FRONT_ARRAY:
      return ir_array(f->m, front_ir(f, t->elem), t->length == FRONT_UNKNOWN_LENGTH ? 0 : t->length);
    case FRONT_RECORD:
      return t->record->ir;
    default:
      return ir_void(f->m);
  }
}

uint64_t front_sizeof(front *f, const front_type *t) {
  const ir_type *ir = front_ir(f, t);
  return ir == NULL ? 0 : ir->size;
}

uint64_t front_alignof(front *f, const front_type *t) {
  const ir_type *ir = front_ir(f, t);
  return ir == NULL ? 1 : ir->align;
}

uint32_t front_element_code(const front_type *t) {
  const front_type *e = front_elem(t);
  if (e->kind == FRONT_BOOL) return QN_TYPE_U8;
  if (e->kind == FRONT_FLOAT) return e->bits == 16 ? QN_TYPE_F16 : e->bits == 32 ? QN_TYPE_F32 : QN_TYPE_F64;
  if (e->kind != FRONT_INT) return QN_TYPE_NONE;
  static const uint32_t codes[4][2] = {
      {QN_TYPE_U8, QN_TYPE_I8}, {QN_TYPE_U16, QN_TYPE_I16}, {QN_TYPE_U32, QN_TYPE_I32}, {QN_TYPE_U64, QN_TYPE_I64}};
  return codes[log2_of_bytes(e->bits)][e->is_signed];
}

/* header_declare.c - declarations of a parsed header. */
#include "header_declare.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "header_type.h"

/* The interface's pseudo-enum of `static const` integers. */
static const char constants[] = "(constants)";

typedef struct walk {
  abi_interface *out;
  header_spellings *spellings;
} walk;

static abi_place place_of(CXCursor cursor) {
  CXFile file;
  unsigned line;
  clang_getExpansionLocation(clang_getCursorLocation(cursor), &file, &line, NULL, NULL);
  const char *name = file ? header_text(clang_getFileName(file)) : NULL;
  if (name && !strncmp(name, "./", 2)) name += 2;
  return (abi_place){name, line};
}

static bool is_ours(CXCursor cursor) { return !clang_Location_isInSystemHeader(clang_getCursorLocation(cursor)); }

/* ---- Structs and enums ---------------------------------------------------------------------------------------------- */

static bool says_plain_data(CXCursor cursor) {
  return strcasestr(header_text(clang_Cursor_getRawCommentText(cursor)), "plain data") != NULL;
}

static void add_callbacks(walk *w, CXCursor owner, CXType type, const char *name);
static const char *add_record(walk *w, CXCursor declaration, const char *fallback);
static void add_enum(walk *w, CXCursor declaration);

/* The type's own record among ours; of a nameless one after where it stands. */
static const char *record_of(walk *w, CXType type, const char *fallback) {
  CXCursor declaration = header_type_declaration(type);
  if (clang_Cursor_isNull(declaration)) return NULL;
  if (clang_getCursorKind(declaration) == CXCursor_EnumDecl) {
    if (clang_Cursor_isAnonymous(declaration) && is_ours(declaration)) add_enum(w, declaration);
    return NULL;
  }
  return add_record(w, clang_getCursorDefinition(declaration), fallback);
}

typedef struct fields {
  walk *walk;
  abi_record *record;
} fields;

static enum CXVisitorResult add_field(CXCursor cursor, CXClientData data) {
  fields *f = data;
  abi_record *record = f->record;
  CXType type = clang_getCursorType(cursor);
  const char *name = header_text(clang_getCursorSpelling(cursor));
  if (!*name || header_is_nameless(name)) name = pool_format("(%zu)", record->fields.count + 1);
  abi_field field = {.name = name, .place = place_of(cursor), .type = header_type(type, false)};
  long long bits = clang_Cursor_getOffsetOfField(cursor);
  field.is_bits = clang_Cursor_isBitField(cursor) != 0;
  field.offset = bits < 0 ? 0 : (uint64_t)bits / (field.is_bits ? 1 : 8);
  int width = field.is_bits ? clang_getFieldDeclBitWidth(cursor) : 0;
  field.size = field.is_bits ? (width > 0 ? (uint64_t)width : 0) : field.type.size;
  const char *whole = pool_format("%s.%s", record->name, name);
  field.type.record = record_of(f->walk, type, whole);
  add_callbacks(f->walk, cursor, type, whole);
  *POOL_PUSH(&record->fields) = field;
  return CXVisit_Continue;
}

/* Its name when it is one of ours, also when it was there before. A null cursor is a struct that is never defined. */
static const char *add_record(walk *w, CXCursor declaration, const char *fallback) {
  if (clang_Cursor_isNull(declaration) || !is_ours(declaration)) return NULL;
  const char *name = header_tag_name(declaration);
  abi_record record = {.name = name ? name : fallback, .place = place_of(declaration), .is_nested = !name};
  if (!record.name) return NULL;
  if (!abi_add_record(w->out, record.name)) return record.name;
  size_t at = w->out->records.count - 1;
  CXType type = clang_getCursorType(declaration);
  long long size = clang_Type_getSizeOf(type), align = clang_Type_getAlignOf(type);
  record.spelling = header_text(clang_getTypeSpelling(type));
  record.is_union = clang_getCursorKind(declaration) == CXCursor_UnionDecl;
  record.is_plain = says_plain_data(declaration);
  record.size = size > 0 ? (uint64_t)size : 0;
  record.align = align > 0 ? (uint64_t)align : 0;
  fields f = {w, &record};
  clang_Type_visitFields(type, add_field, &f);
  w->out->records.items[at] = record;
  return record.name;
}

static enum CXChildVisitResult add_value(CXCursor cursor, CXCursor parent, CXClientData data) {
  abi_enum *e = data;
  (void)parent;
  if (clang_getCursorKind(cursor) == CXCursor_EnumConstantDecl) {
    abi_value *value = POOL_PUSH(&e->values);
    value->name = header_text(clang_getCursorSpelling(cursor));
    value->place = place_of(cursor);
    value->value = clang_getEnumConstantDeclValue(cursor);
  }
  return CXChildVisit_Continue;
}

static void add_enum(walk *w, CXCursor declaration) {
  abi_enum e = {.name = header_tag_name(declaration), .place = place_of(declaration)};
  clang_visitChildren(declaration, add_value, &e);
  long long size = clang_Type_getSizeOf(clang_getCursorType(declaration));
  e.size = size > 0 ? (uint64_t)size : 0;
  if (!e.name && e.values.count) e.name = pool_format("(%s)", e.values.items[0].name);
  abi_enum *added = e.name ? abi_add_enum(w->out, e.name) : NULL;
  if (added) *added = e;
}

/* ---- Functions and callbacks ---------------------------------------------------------------------------------------- */

/* The parameters that are declared directly below a cursor. */
typedef struct parameters {
  CXCursor *items;
  size_t count, capacity;
} parameters;

static enum CXChildVisitResult collect_parameter(CXCursor cursor, CXCursor parent, CXClientData data) {
  (void)parent;
  if (clang_getCursorKind(cursor) == CXCursor_ParmDecl) *POOL_PUSH((parameters *)data) = cursor;
  return CXChildVisit_Continue;
}

static void fill_function(walk *w, abi_function *f, CXCursor owner, CXType type) {
  parameters names = {0};
  int count = clang_getNumArgTypes(type);
  clang_visitChildren(owner, collect_parameter, &names);
  bool named = count >= 0 && names.count == (size_t)count;
  CXType result = clang_getResultType(type);
  f->is_unprototyped = clang_getCanonicalType(type).kind == CXType_FunctionNoProto;
  f->is_variadic = !f->is_unprototyped && clang_isFunctionTypeVariadic(type);
  f->result = header_type(result, true);
  f->result.record = record_of(w, result, NULL);
  for (int i = 0; i < count; i++) {
    CXType argument = clang_getArgType(type, (unsigned)i);
    abi_parameter *parameter = POOL_PUSH(&f->parameters);
    parameter->name = named ? header_text(clang_getCursorSpelling(names.items[i])) : "";
    parameter->type = header_type(argument, true);
    parameter->type.record = record_of(w, argument, NULL);
  }
  /* Functions that its parameters point to, and its result. */
  for (int i = 0; i < count; i++) {
    const char *word = f->parameters.items[i].name;
    add_callbacks(w, named ? names.items[i] : owner, clang_getArgType(type, (unsigned)i),
                  *word ? pool_format("%s.%s", f->name, word) : pool_format("%s.(%d)", f->name, i + 1));
  }
  add_callbacks(w, owner, result, pool_format("%s.result", f->name));
}

/* Spelled as the probe can name it: what is nameless can't be. */
static const char *spelling_of(CXType type) {
  const char *text = header_text(clang_getTypeSpelling(type));
  return header_is_nameless(text) ? NULL : text;
}

static void add_function_type(walk *w, const char *name, bool is_callback, CXCursor owner, CXType type,
                              const char *spelling) {
  abi_function f = {.name = name, .place = place_of(owner), .is_callback = is_callback};
  if (!abi_add_function(w->out, name)) return;
  size_t at = w->out->functions.count - 1;
  *POOL_PUSH(w->spellings) = spelling;
  fill_function(w, &f, owner, type);
  w->out->functions.items[at] = f;
}

static void add_callbacks(walk *w, CXCursor owner, CXType type, const char *name) {
  CXType function;
  if (header_function_type(type, &function)) add_function_type(w, name, true, owner, function, spelling_of(function));
}

static void add_function(walk *w, CXCursor cursor) {
  /* An inline function is the user's own code. */
  if (clang_Cursor_getStorageClass(cursor) == CX_SC_Static || clang_Cursor_isFunctionInlined(cursor)) return;
  const char *name = header_text(clang_getCursorSpelling(cursor));
  add_function_type(w, name, false, cursor, clang_getCursorType(cursor), name);
}

static void add_typedef(walk *w, CXCursor cursor) {
  CXType type = clang_getTypedefDeclUnderlyingType(cursor);
  CXCursor tag = header_type_declaration(type);
  const char *name = header_text(clang_getCursorSpelling(cursor));
  add_callbacks(w, cursor, type, name);
  if (clang_Cursor_isNull(tag) || !says_plain_data(cursor)) return;
  const char *record = header_tag_name(tag);
  size_t at = record ? pool_find(&w->out->records.names, record) : POOL_NONE;
  if (at != POOL_NONE) w->out->records.items[at].is_plain = true;
}

/* ---- Variables ------------------------------------------------------------------------------------------------------ */

static void add_constant(walk *w, CXCursor cursor) {
  CXEvalResult result = clang_Cursor_Evaluate(cursor);
  if (!result) return;
  if (clang_EvalResult_getKind(result) == CXEval_Int) {
    size_t at = pool_find(&w->out->enums.names, constants);
    if (at == POOL_NONE) {
      abi_add_enum(w->out, constants)->place = place_of(cursor);
      at = w->out->enums.count - 1;
    }
    abi_value *value = POOL_PUSH(&w->out->enums.items[at].values);
    value->name = header_text(clang_getCursorSpelling(cursor));
    value->place = place_of(cursor);
    value->value = clang_EvalResult_isUnsignedInt(result) ? (int64_t)clang_EvalResult_getAsUnsigned(result)
                                                          : clang_EvalResult_getAsLongLong(result);
  }
  clang_EvalResult_dispose(result);
}

static void add_variable(walk *w, CXCursor cursor) {
  CXType type = clang_getCursorType(cursor);
  if (clang_Cursor_getStorageClass(cursor) == CX_SC_Static) {
    if (clang_isConstQualifiedType(type)) add_constant(w, cursor);
    return;
  }
  const char *name = header_text(clang_getCursorSpelling(cursor));
  abi_variable v = {.name = name, .place = place_of(cursor), .type = header_type(type, false)};
  v.type.record = record_of(w, type, name);
  add_callbacks(w, cursor, type, name);
  abi_variable *added = abi_add_variable(w->out, name);
  if (added) *added = v;
}

/* ---- The walk ------------------------------------------------------------------------------------------------------- */

static enum CXChildVisitResult visit(CXCursor cursor, CXCursor parent, CXClientData data) {
  walk *w = data;
  (void)parent;
  if (!is_ours(cursor)) return CXChildVisit_Continue;
  switch (clang_getCursorKind(cursor)) {
    case CXCursor_StructDecl:
    case CXCursor_UnionDecl:
      /* A nameless one is named by the variable or typedef behind it. */
      if (clang_isCursorDefinition(cursor)) add_record(w, cursor, NULL);
      break;
    case CXCursor_EnumDecl:
      if (clang_isCursorDefinition(cursor)) add_enum(w, cursor);
      break;
    case CXCursor_FunctionDecl:
      add_function(w, cursor);
      break;
    case CXCursor_TypedefDecl:
      add_typedef(w, cursor);
      break;
    case CXCursor_VarDecl:
      add_variable(w, cursor);
      break;
    default:
      break;
  }
  return CXChildVisit_Continue;
}

void header_declare(CXTranslationUnit unit, abi_interface *out, header_spellings *out_spellings) {
  walk w = {out, out_spellings};
  clang_visitChildren(clang_getTranslationUnitCursor(unit), visit, &w);
}

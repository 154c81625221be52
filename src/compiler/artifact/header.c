/* header.c - the C header of an image: a typed, inline function for each kernel. */
#include <stdio.h>
#include <string.h>

#include "compiler/artifact/artifact.h"

/* ---- Names -------------------------------------------------------------------------------------- */

/* What a parameter must not be called in C or C++, or in the functions written here. */
static const char *const reserved[] = {"alignas",
                                       "alignof",
                                       "and",
                                       "and_eq",
                                       "arguments",
                                       "asm",
                                       "auto",
                                       "bitand",
                                       "bitor",
                                       "bool",
                                       "break",
                                       "case",
                                       "catch",
                                       "char",
                                       "char16_t",
                                       "char32_t",
                                       "class",
                                       "compl",
                                       "const",
                                       "const_cast",
                                       "constexpr",
                                       "continue",
                                       "decltype",
                                       "default",
                                       "delete",
                                       "do",
                                       "double",
                                       "dynamic_cast",
                                       "else",
                                       "enum",
                                       "explicit",
                                       "export",
                                       "extern",
                                       "false",
                                       "float",
                                       "for",
                                       "friend",
                                       "goto",
                                       "if",
                                       "inline",
                                       "int",
                                       "linux",
                                       "long",
                                       "mutable",
                                       "namespace",
                                       "new",
                                       "noexcept",
                                       "not",
                                       "not_eq",
                                       "nullptr",
                                       "operator",
                                       "or",
                                       "or_eq",
                                       "out_point",
                                       "private",
                                       "protected",
                                       "public",
                                       "queue",
                                       "range",
                                       "register",
                                       "reinterpret_cast",
                                       "requires",
                                       "restrict",
                                       "return",
                                       "short",
                                       "signed",
                                       "sizeof",
                                       "static",
                                       "static_assert",
                                       "static_cast",
                                       "struct",
                                       "switch",
                                       "template",
                                       "this",
                                       "thread_local",
                                       "throw",
                                       "true",
                                       "try",
                                       "typedef",
                                       "typeid",
                                       "typename",
                                       "typeof",
                                       "union",
                                       "unix",
                                       "unsigned",
                                       "using",
                                       "virtual",
                                       "void",
                                       "volatile",
                                       "wchar_t",
                                       "while",
                                       "xor",
                                       "xor_eq"};

static void put_name(qn_bytes *out, const char *name) {
  qn_bytes_append_str(out, name);
  for (size_t i = 0; i < sizeof reserved / sizeof *reserved; i++)
    if (strcmp(name, reserved[i]) == 0) qn_bytes_append_char(out, '_');
}

/* ---- Types -------------------------------------------------------------------------------------- */

/* By QN_TYPE_...; a half is its bits. */
static const struct {
  const char *c, *maker;
} types[] = {{"", ""},
             {"int8_t", "qn_arg_i8"},
             {"uint8_t", "qn_arg_u8"},
             {"int16_t", "qn_arg_i16"},
             {"uint16_t", "qn_arg_u16"},
             {"int32_t", "qn_arg_i32"},
             {"uint32_t", "qn_arg_u32"},
             {"int64_t", "qn_arg_i64"},
             {"uint64_t", "qn_arg_u64"},
             {"uint16_t", ""},
             {"float", "qn_arg_f32"},
             {"double", "qn_arg_f64"}};
enum { TYPE_COUNT = sizeof types / sizeof *types };

static bool is_bytes(const qn_argument_info *a) {
  return a->element_type == QN_TYPE_NONE || a->element_type >= TYPE_COUNT;
}
static bool is_vector(const qn_argument_info *a) { return !is_bytes(a) && a->vector_width > 1; }

static void put_parameter(qn_bytes *out, const qn_argument_info *a) {
  if (a->kind == QN_ARGUMENT_BUFFER) {
    qn_bytes_append_str(out, "const qn_view *");
    put_name(out, a->name);
  } else if (a->kind == QN_ARGUMENT_LOCAL) {
    qn_bytes_append_str(out, "uint64_t ");
    put_name(out, a->name);
    qn_bytes_append_str(out, "_bytes");
  } else if (is_bytes(a)) {
    qn_bytes_append_str(out, "const void *");
    put_name(out, a->name);
  } else {
    qn_bytes_printf(out, "%s%s ", is_vector(a) ? "const " : "", types[a->element_type].c);
    put_name(out, a->name);
    if (is_vector(a)) qn_bytes_printf(out, "[%u]", a->vector_width);
  }
}

static void put_value(qn_bytes *out, const qn_argument_info *a) {
  if (is_bytes(a) || is_vector(a)) {
    qn_bytes_append_str(out, "qn_arg_bytes(");
    put_name(out, a->name);
    qn_bytes_printf(out, "%s, %u)", is_vector(a) && a->vector_width == 3 ? "_padded" : "", a->element_bytes);
  } else if (types[a->element_type].maker[0]) {
    qn_bytes_printf(out, "%s(", types[a->element_type].maker);
    put_name(out, a->name);
    qn_bytes_append_str(out, ")");
  } else {
    qn_bytes_append_str(out, "qn_arg_bytes(&");
    put_name(out, a->name);
    qn_bytes_printf(out, ", %u)", a->element_bytes);
  }
}

static void put_argument(qn_bytes *out, const qn_argument_info *a) {
  if (a->kind == QN_ARGUMENT_BUFFER) {
    put_name(out, a->name);
    qn_bytes_append_str(out, " ? qn_arg_view(");
    put_name(out, a->name);
    qn_bytes_append_str(out, ") : qn_arg_buffer((qn_buffer)0)");
  } else if (a->kind == QN_ARGUMENT_LOCAL) {
    qn_bytes_append_str(out, "qn_arg_local(");
    put_name(out, a->name);
    qn_bytes_append_str(out, "_bytes)");
  } else {
    put_value(out, a);
  }
}

/* ---- Functions ---------------------------------------------------------------------------------- */

static const char *kind_text(const qn_argument_info *a) {
  if (a->kind == QN_ARGUMENT_BUFFER)
    return a->access == QN_ACCESS_READ    ? "read"
           : a->access == QN_ACCESS_WRITE ? "written"
           : a->access                    ? "read and written"
                                          : "not used";
  return a->kind == QN_ARGUMENT_LOCAL ? "local memory" : "value";
}

static void put_comment(qn_bytes *out, const qn_artifact_kernel *k) {
  qn_bytes_printf(out, "/* Launches the kernel %s.\n", k->name);
  for (uint32_t i = 0; i < k->argument_count; i++) {
    const qn_argument_info *a = &k->arguments[i];
    qn_bytes_printf(out, " *   %s: %s, %s", a->name, a->type_name, kind_text(a));
    if (a->kind == QN_ARGUMENT_BUFFER) qn_bytes_printf(out, "; elements of %u bytes", a->element_bytes);
    if (a->kind == QN_ARGUMENT_VALUE && is_bytes(a))
      qn_bytes_printf(out, "; %u bytes in OpenCL's layout", a->element_bytes);
    qn_bytes_append_str(out, "\n");
  }
  qn_bytes_append_str(
      out, " * out_point may be NULL. Errors: those of qn_launch; the first call on a queue loads the program. */\n");
}

/* A 3-vector has the room of four. */
static void put_padded(qn_bytes *out, const qn_argument_info *a) {
  const char *type = types[a->element_type].c;
  qn_bytes_printf(out, "  const %s ", type);
  put_name(out, a->name);
  qn_bytes_append_str(out, "_padded[4] = {");
  for (int i = 0; i < 3; i++) {
    put_name(out, a->name);
    qn_bytes_printf(out, "[%d], ", i);
  }
  qn_bytes_append_str(out, "0};\n");
}

static void put_launch(qn_bytes *out, const char *name, const qn_artifact_kernel *k, uint32_t index) {
  put_comment(out, k);
  qn_bytes_printf(out, "static inline qn_status %s_launch(qn_queue queue, const qn_range *range", k->name);
  for (uint32_t i = 0; i < k->argument_count; i++) {
    qn_bytes_append_str(out, ", ");
    put_parameter(out, &k->arguments[i]);
  }
  qn_bytes_append_str(out, ",\n    qn_point *out_point) {\n");
  for (uint32_t i = 0; i < k->argument_count; i++) {
    const qn_argument_info *a = &k->arguments[i];
    if (a->kind == QN_ARGUMENT_VALUE && is_vector(a) && a->vector_width == 3) put_padded(out, a);
  }
  if (k->argument_count > 0) qn_bytes_append_str(out, "  const qn_argument arguments[] = {\n");
  for (uint32_t i = 0; i < k->argument_count; i++) {
    qn_bytes_append_str(out, "      ");
    put_argument(out, &k->arguments[i]);
    qn_bytes_append_str(out, i + 1 < k->argument_count ? ",\n" : "};\n");
  }
  qn_bytes_printf(
      out,
      "  return qn_launch_image(queue, quern_image_%s, quern_image_%s_size, %uu, range, %s, %uu, out_point);\n}\n\n",
      name, name, index, k->argument_count ? "arguments" : "0", k->argument_count);
}

static void put_upper(qn_bytes *out, const char *name) {
  for (; *name; name++) qn_bytes_append_char(out, (char)(*name >= 'a' && *name <= 'z' ? *name - 'a' + 'A' : *name));
}

void qn_artifact_header(const char *name, const qn_artifact_kernel *kernels, uint32_t count, qn_bytes *out) {
  qn_bytes_printf(
      out, "/* %s.h - kernels of the image %s. Made by `quern build`; link %s.o, lib%s.a or lib%s.so, and quern. */\n",
      name, name, name, name, name);
  qn_bytes_append_str(out, "#ifndef QUERN_IMAGE_");
  put_upper(out, name);
  qn_bytes_append_str(out, "_H\n#define QUERN_IMAGE_");
  put_upper(out, name);
  qn_bytes_append_str(out, "_H\n\n#include <quern/quern.h>\n\n#ifdef __cplusplus\nextern \"C\" {\n#endif\n");
  qn_bytes_printf(out, "extern const unsigned char quern_image_%s[];\nextern const uint64_t quern_image_%s_size;\n",
                  name, name);
  qn_bytes_append_str(out, "#ifdef __cplusplus\n}\n#endif\n\n");
  qn_bytes_printf(out,
                  "/* The program, for qn_kernel_get and reflection. The functions below need no such call. */\n"
                  "static inline qn_status %s_load(qn_device device, qn_program *out_program) {\n"
                  "  return qn_program_load(device, quern_image_%s, quern_image_%s_size, out_program);\n}\n\n",
                  name, name, name);
  for (uint32_t i = 0; i < count; i++) put_launch(out, name, &kernels[i], i);
  qn_bytes_append_str(out, "#endif\n");
}

/* header.c - the C header of an image: typed, inline functions for each kernel. */
#include <stdio.h>
#include <string.h>

#include "compiler/artifact/artifact.h"
#include "compiler/artifact/header_names.h"

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

/* ---- Names -------------------------------------------------------------------------------------- */

/* What a kernel is called by. */
typedef struct function {
  const qn_artifact_kernel *kernel;
  const char *name;       /* KERNEL_launch, which another image's header may have too */
  bool is_kept;           /* and is that very name */
  const char *full_name;  /* IMAGE_KERNEL_launch */
  const char **arguments; /* names of its parameters */
  const char **padded;    /* names of the four-element copies of 3-vectors; NULL: none */
} function;

typedef struct header {
  const char *image;
  qn_arena arena;
  header_names global;
  const char *load;
  function *functions;
  uint32_t count;
  qn_map hidden; /* names of parameters, each once */
  const char **names;
  uint32_t name_count;
} header;

static bool needs_padding(const qn_argument_info *a) {
  return a->kind == QN_ARGUMENT_VALUE && is_vector(a) && a->vector_width == 3;
}

static void choose_argument(header_names *scope, qn_arena *arena, const qn_argument_info *a, const char **out_name) {
  if (*out_name) return; /* kept */
  const char *wanted = a->name[0] ? a->name : "argument";
  if (a->kind == QN_ARGUMENT_LOCAL) wanted = qn_arena_printf(arena, "%s_bytes", wanted);
  *out_name = wanted ? header_names_choose(scope, wanted) : "";
  scope->failed |= !wanted;
}

static void choose_padded(header_names *scope, qn_arena *arena, const char *name, const char **out_name) {
  const char *wanted = qn_arena_printf(arena, "%s_padded", name);
  *out_name = wanted ? header_names_choose(scope, wanted) : "";
  scope->failed |= !wanted;
}

/* A parameter keeps its name where it can; what is not kept is chosen then, so that none of it changes one that is. */
static bool choose_arguments(qn_arena *arena, function *f) {
  static const char *const own[] = {"queue", "range", "arguments", "out_point"};
  header_names scope = {.arena = arena};
  const qn_artifact_kernel *k = f->kernel;
  uint32_t count = k->argument_count ? k->argument_count : 1;
  f->arguments = QN_ARENA_ARRAY(arena, const char *, count);
  f->padded = QN_ARENA_ARRAY(arena, const char *, count);
  if (!f->arguments || !f->padded) return false;
  for (size_t i = 0; i < sizeof own / sizeof *own; i++) header_names_take(&scope, own[i]);
  header_names_take(&scope, f->full_name); /* which the body calls */
  for (uint32_t i = 0; i < k->argument_count; i++) {
    const qn_argument_info *a = &k->arguments[i];
    if (a->kind != QN_ARGUMENT_LOCAL && header_names_keep(&scope, a->name)) f->arguments[i] = a->name;
  }
  for (uint32_t i = 0; i < k->argument_count; i++) choose_argument(&scope, arena, &k->arguments[i], &f->arguments[i]);
  for (uint32_t i = 0; i < k->argument_count; i++)
    if (needs_padding(&k->arguments[i])) choose_padded(&scope, arena, f->arguments[i], &f->padded[i]);
  header_names_free(&scope);
  return !scope.failed;
}

/* The same for the functions: NAME_load first, then KERNEL_launch as they are, then the rest. */
static bool choose_functions(header *h) {
  char *load = qn_arena_printf(&h->arena, "%s_load", h->image);
  if (!load) return false;
  h->load = header_names_choose(&h->global, load);
  for (uint32_t i = 0; i < h->count; i++) {
    char *name = qn_arena_printf(&h->arena, "%s_launch", h->functions[i].kernel->name);
    if (!name) return false;
    h->functions[i].name = name;
    h->functions[i].is_kept = header_names_keep(&h->global, name);
  }
  for (uint32_t i = 0; i < h->count; i++) {
    function *f = &h->functions[i];
    if (!f->is_kept) f->name = header_names_choose(&h->global, f->name);
    char *full = qn_arena_printf(&h->arena, "%s_%s_launch", h->image, f->kernel->name);
    if (!full) return false;
    f->full_name = header_names_choose(&h->global, full);
  }
  return !h->global.failed;
}

static bool hide(header *h, const char *name) {
  if (!name || qn_map_get(&h->hidden, qn_sv_from(name))) return true;
  h->names[h->name_count++] = name;
  return qn_map_set(&h->hidden, qn_sv_from(name), h);
}

/* Any other name may be a macro of some header's, or of the program's. */
static bool list_hidden(header *h) {
  size_t most = 0;
  for (uint32_t i = 0; i < h->count; i++) most += 2 * (size_t)h->functions[i].kernel->argument_count;
  h->names = QN_ARENA_ARRAY(&h->arena, const char *, most ? most : 1);
  if (!h->names) return false;
  for (uint32_t i = 0; i < h->count; i++)
    for (uint32_t j = 0; j < h->functions[i].kernel->argument_count; j++)
      if (!hide(h, h->functions[i].arguments[j]) || !hide(h, h->functions[i].padded[j])) return false;
  return true;
}

static bool choose_names(header *h, const qn_artifact_kernel *kernels) {
  h->functions = QN_ARENA_ARRAY(&h->arena, function, h->count ? h->count : 1);
  if (!h->functions) return false;
  for (uint32_t i = 0; i < h->count; i++) h->functions[i].kernel = &kernels[i];
  if (!choose_functions(h)) return false;
  for (uint32_t i = 0; i < h->count; i++)
    if (!choose_arguments(&h->arena, &h->functions[i])) return false;
  return list_hidden(h);
}

/* ---- Parameters and arguments ------------------------------------------------------------------- */

static void put_parameter(qn_bytes *out, const qn_argument_info *a, const char *name) {
  if (a->kind == QN_ARGUMENT_BUFFER)
    qn_bytes_printf(out, "const qn_view *%s", name);
  else if (a->kind == QN_ARGUMENT_LOCAL)
    qn_bytes_printf(out, "uint64_t %s", name);
  else if (is_bytes(a))
    qn_bytes_printf(out, "const void *%s", name);
  else if (is_vector(a))
    qn_bytes_printf(out, "const %s %s[%u]", types[a->element_type].c, name, a->vector_width);
  else
    qn_bytes_printf(out, "%s %s", types[a->element_type].c, name);
}

static void put_value(qn_bytes *out, const qn_argument_info *a, const char *name) {
  const char *maker = is_bytes(a) ? "" : types[a->element_type].maker;
  if (is_bytes(a) || is_vector(a))
    qn_bytes_printf(out, "qn_arg_bytes(%s, %u)", name, a->element_bytes);
  else if (maker[0])
    qn_bytes_printf(out, "%s(%s)", maker, name);
  else
    qn_bytes_printf(out, "qn_arg_bytes(&%s, %u)", name, a->element_bytes);
}

static void put_argument(qn_bytes *out, const function *f, uint32_t i) {
  const qn_argument_info *a = &f->kernel->arguments[i];
  const char *name = f->arguments[i];
  if (a->kind == QN_ARGUMENT_BUFFER)
    qn_bytes_printf(out, "%s ? qn_arg_view(%s) : qn_arg_buffer((qn_buffer)0)", name, name);
  else if (a->kind == QN_ARGUMENT_LOCAL)
    qn_bytes_printf(out, "qn_arg_local(%s)", name);
  else
    put_value(out, a, f->padded[i] ? f->padded[i] : name);
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

static void put_comment(qn_bytes *out, const function *f) {
  const qn_artifact_kernel *k = f->kernel;
  qn_bytes_printf(out, "/* Launches the kernel %s.\n", k->name);
  for (uint32_t i = 0; i < k->argument_count; i++) {
    const qn_argument_info *a = &k->arguments[i];
    qn_bytes_printf(out, " *   %s: ", f->arguments[i]);
    if (strcmp(a->name, f->arguments[i]) != 0 && a->name[0]) qn_bytes_printf(out, "the kernel's %s, ", a->name);
    qn_bytes_printf(out, "%s, %s", a->type_name, kind_text(a));
    if (a->kind == QN_ARGUMENT_BUFFER) qn_bytes_printf(out, "; elements of %u bytes", a->element_bytes);
    if (a->kind == QN_ARGUMENT_VALUE && is_bytes(a))
      qn_bytes_printf(out, "; %u bytes in OpenCL's layout", a->element_bytes);
    qn_bytes_append_str(out, "\n");
  }
  qn_bytes_append_str(
      out, " * out_point may be NULL. Errors: those of qn_launch; the first call on a queue loads the program. */\n");
}

static void put_signature(qn_bytes *out, const function *f, const char *name) {
  qn_bytes_printf(out, "static inline qn_status %s(qn_queue queue, const qn_range *range", name);
  for (uint32_t i = 0; i < f->kernel->argument_count; i++) {
    qn_bytes_append_str(out, ", ");
    put_parameter(out, &f->kernel->arguments[i], f->arguments[i]);
  }
  qn_bytes_append_str(out, ",\n    qn_point *out_point) {\n");
}

/* A 3-vector has the room of four. */
static void put_padded(qn_bytes *out, const function *f, uint32_t i) {
  const char *name = f->arguments[i];
  qn_bytes_printf(out, "  const %s %s[4] = {%s[0], %s[1], %s[2], 0};\n", types[f->kernel->arguments[i].element_type].c,
                  f->padded[i], name, name, name);
}

static void put_full(qn_bytes *out, const header *h, uint32_t index) {
  const function *f = &h->functions[index];
  uint32_t count = f->kernel->argument_count;
  put_signature(out, f, f->full_name);
  for (uint32_t i = 0; i < count; i++)
    if (f->padded[i]) put_padded(out, f, i);
  if (count > 0) qn_bytes_append_str(out, "  const qn_argument arguments[] = {\n");
  for (uint32_t i = 0; i < count; i++) {
    qn_bytes_append_str(out, "      ");
    put_argument(out, f, i);
    qn_bytes_append_str(out, i + 1 < count ? ",\n" : "};\n");
  }
  qn_bytes_printf(
      out, "  return qn_launch_image(queue, quern_image_%s, quern_image_%s_size, %uu, range, %s, %uu, out_point);\n}\n",
      h->image, h->image, index, count ? "arguments" : "0", count);
}

/* The kernel's own name, as long as one header alone has it. Of two kernels of one name neither is taken for the other: who
 * uses it is told to say which. */
static void put_short(qn_bytes *out, const function *f) {
  qn_bytes_printf(out, "#ifndef QUERN_HAS_%s\n#define QUERN_HAS_%s\n", f->name, f->name);
  put_signature(out, f, f->name);
  qn_bytes_printf(out, "  return %s(queue, range", f->full_name);
  for (uint32_t i = 0; i < f->kernel->argument_count; i++) qn_bytes_printf(out, ", %s", f->arguments[i]);
  qn_bytes_printf(out, ", out_point);\n}\n#else\n#define %s (%s_is_in_several_images_call_IMAGE_%s)\n#endif\n\n",
                  f->name, f->name, f->name);
}

static void put_declarations(qn_bytes *out, const header *h) {
  const char *name = h->image;
  qn_bytes_append_str(out, "#include <quern/quern.h>\n\n#ifdef __cplusplus\nextern \"C\" {\n#endif\n");
  qn_bytes_printf(out, "extern const unsigned char quern_image_%s[];\nextern const uint64_t quern_image_%s_size;\n",
                  name, name);
  qn_bytes_append_str(out, "#ifdef __cplusplus\n}\n#endif\n\n");
  qn_bytes_printf(out,
                  "/* The program, for qn_kernel_get and reflection. The functions below need no such call. */\n"
                  "static inline qn_status %s(qn_device device, qn_program *out_program) {\n"
                  "  return qn_program_load(device, quern_image_%s, quern_image_%s_size, out_program);\n}\n\n",
                  h->load, name, name);
}

/* Parameters may be called like macros and variables that were there before: these are out of sight up to the end. */
static void put_hiding(qn_bytes *out, const header *h) {
  if (h->name_count == 0) return;
  qn_bytes_append_str(
      out,
      "/* Parameters are called as in the source: macros and variables of these names are hidden up to the end. */\n"
      "#ifdef __GNUC__\n#pragma GCC diagnostic push\n#pragma GCC diagnostic ignored \"-Wshadow\"\n#endif\n");
  for (uint32_t i = 0; i < h->name_count; i++)
    qn_bytes_printf(out, "#pragma push_macro(\"%s\")\n#undef %s\n", h->names[i], h->names[i]);
  qn_bytes_append_str(out, "\n");
}

static void put_showing(qn_bytes *out, const header *h) {
  if (h->name_count == 0) return;
  for (uint32_t i = 0; i < h->name_count; i++) qn_bytes_printf(out, "#pragma pop_macro(\"%s\")\n", h->names[i]);
  qn_bytes_append_str(out, "#ifdef __GNUC__\n#pragma GCC diagnostic pop\n#endif\n");
}

/* ---- The header --------------------------------------------------------------------------------- */

/* Tells two headers of one name apart. */
static uint32_t hash_of(qn_sv text) {
  uint32_t hash = 2166136261u;
  for (size_t i = 0; i < text.size; i++) hash = (hash ^ (unsigned char)text.data[i]) * 16777619u;
  return hash;
}

static void put_header(const header *h, qn_bytes *out) {
  qn_bytes body = {0};
  const char *name = h->image;
  put_declarations(&body, h);
  put_hiding(&body, h);
  for (uint32_t i = 0; i < h->count; i++) {
    put_comment(&body, &h->functions[i]);
    put_full(&body, h, i);
    put_short(&body, &h->functions[i]);
  }
  put_showing(&body, h);
  uint32_t hash = hash_of(qn_bytes_view(&body));
  qn_bytes_printf(
      out, "/* %s.h - kernels of the image %s. Made by `quern build`; link %s.o, lib%s.a or lib%s.so, and quern. */\n",
      name, name, name, name, name);
  qn_bytes_printf(out,
                  "#ifdef QUERN_IMAGE_%s_H\n#if QUERN_IMAGE_%s_H != 0x%08xu\n"
                  "#error \"two images are named '%s': build one of them with another --name\"\n#endif\n#else\n"
                  "#define QUERN_IMAGE_%s_H 0x%08xu\n\n",
                  name, name, hash, name, name, hash);
  qn_bytes_append_sv(out, qn_bytes_view(&body));
  qn_bytes_append_str(out, "#endif\n");
  out->failed |= body.failed;
  qn_bytes_free(&body);
}

void qn_artifact_header(const char *name, const qn_artifact_kernel *kernels, uint32_t count, qn_bytes *out) {
  header h = {.image = name, .count = count};
  qn_arena_init(&h.arena, 0);
  h.global.arena = &h.arena;
  if (choose_names(&h, kernels))
    put_header(&h, out);
  else
    out->failed = true;
  header_names_free(&h.global);
  qn_map_free(&h.hidden);
  qn_arena_free(&h.arena);
}

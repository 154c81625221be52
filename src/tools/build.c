/* build.c - `quern build`: outputs of OpenCL C files, all of them or none. */
#include "build.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char help[] =
    "quern build FILE.cl... -o DIR [--emit KIND[,KIND]] [--target T[,T]] [--name NAME] [-P NAME=V]   compile ahead of "
    "time\n"
    "\n"
    "  -o DIR               where the outputs go; all of them are replaced, or none is\n"
    "  --emit KIND,...      object, static_library, shared_library (these carry an image), c_header, image, ir, "
    "llvm_ir,\n"
    "                       assembly, opencl_c, wgsl, ptx; default object,c_header. spirv comes with a later "
    "version\n"
    "  --target T,...       host, x86-64-linux, x86-64-v2-linux, -v3-, -v4-, aarch64-linux, opencl, webgpu, "
    "cuda-sm_NN; default "
    "host. An "
    "image\n"
    "                       holds code for each, and the device takes the best that it can run\n"
    "  --name NAME          of the image: a C identifier; default the file's name\n"
    "  -P NAME=V            a parameter of the source;  --params lists those that there are\n"
    "  -D NAME[=V], -I DIR, -cl-..., -w, -Werror   as OpenCL C compilers take them;  -b OPTION any other\n"
    "  --depfile FILE       a makefile rule with the files that were read; a device or a pipe gets it after the "
    "outputs\n"
    "  --touch              an output that is the same already gets a new time\n"
    "  -j N                 compile N outputs at once; default: one a core\n"
    "  -h, --help           this text\n"
    "  --                   what follows is a file, whatever it begins with\n"
    "\n"
    "An option that takes one value, or a parameter, is given once: two values are wrong usage. Of two -D of a name "
    "the "
    "last counts.\n"
    "What was built before comes from the cache (quern cache; QUERN_LOG=cache tells). Exit status: 0 done, 1 a file "
    "or\n"
    "kernel failed, 2 wrong usage.\n"
    "\n"
    "Examples\n"
    "  quern build examples/add.cl -P offset=2 --emit object,static_library,c_header -o out\n"
    "  quern build kernels/*.cl --target x86-64-linux,x86-64-v3-linux -j 8 -o out\n"
    "  quern build examples/add.cl --params\n";

enum { SOURCE_LIMIT = 256 << 20 };

typedef struct source {
  const char *file;
  char *text;
  uint64_t size;
  char *stem;
} source;

typedef struct plan {
  build_options options;
  source *sources;
  build_job *jobs;
  size_t job_count;
} plan;

/* ---- Names -------------------------------------------------------------------------------------- */

/* As the library makes an image's name of a file's. */
static char *stem_of(const build_options *o, const char *file) {
  if (o->name) return tool_copy(o->name, strlen(o->name));
  const char *slash = strrchr(file, '/'), *name = slash ? slash + 1 : file;
  size_t length = name[0] ? strcspn(name + 1, ".") + 1 : 0;
  bool is_digit = name[0] >= '0' && name[0] <= '9';
  char *stem = tool_alloc(length + 2, 1);
  snprintf(stem, length + 2, "%s%.*s", is_digit || !length ? "_" : "", (int)length, name);
  for (char *at = stem; *at; at++)
    if (!((*at >= 'a' && *at <= 'z') || (*at >= 'A' && *at <= 'Z') || (*at >= '0' && *at <= '9'))) *at = '_';
  return stem;
}

static char *output_name(const plan *p, const source *s, const build_kind *kind, const char *target) {
  bool several = kind->per_target && p->options.target_count > 1;
  size_t size = strlen(s->stem) + strlen(kind->prefix) + strlen(kind->suffix) + (several ? strlen(target) + 1 : 0) + 1;
  char *name = tool_alloc(size, 1);
  snprintf(name, size, "%s%s%s%s%s", kind->prefix, s->stem, several ? "-" : "", several ? target : "", kind->suffix);
  return name;
}

static tool_status check_names(const plan *p) {
  for (size_t i = 0; i < p->job_count; i++)
    for (size_t j = 0; j < i; j++)
      if (strcmp(p->jobs[i].output, p->jobs[j].output) == 0)
        return tool_error(TOOL_USAGE, "'%s' would come from '%s' and from '%s': build them to two directories",
                          p->jobs[i].output, p->jobs[j].file, p->jobs[i].file);
  return TOOL_OK;
}

/* ---- Planning ----------------------------------------------------------------------------------- */

static tool_status read_sources(plan *p) {
  p->sources = tool_alloc(p->options.file_count, sizeof *p->sources);
  for (size_t i = 0; i < p->options.file_count; i++) {
    source *s = &p->sources[i];
    s->file = p->options.files[i];
    TOOL_TRY(tool_read_file(s->file, SOURCE_LIMIT, &s->text, &s->size));
    s->stem = stem_of(&p->options, s->file);
  }
  return TOOL_OK;
}

static void add_job(plan *p, const source *s, const build_kind *kind, const char *target) {
  p->jobs = tool_grow(p->jobs, p->job_count + 1, sizeof *p->jobs);
  p->jobs[p->job_count++] = (build_job){.file = s->file,
                                        .source = s->text,
                                        .source_bytes = s->size,
                                        .kind = kind,
                                        .target = target,
                                        .output = output_name(p, s, kind, target)};
}

static tool_status plan_jobs(plan *p) {
  const build_options *o = &p->options;
  for (size_t i = 0; i < o->file_count; i++)
    for (size_t k = 0; k < o->kind_count; k++) {
      if (!o->kinds[k]->per_target || o->target_count == 0)
        add_job(p, &p->sources[i], o->kinds[k], o->target);
      else
        for (size_t t = 0; t < o->target_count; t++) add_job(p, &p->sources[i], o->kinds[k], o->targets[t]);
    }
  return check_names(p);
}

/* ---- Results ------------------------------------------------------------------------------------ */

/* Diagnostics have their places, an error of another kind belongs to the output. */
static void tell_failure(const build_job *job, tool_status status) {
  if (job->status == QN_ERROR_COMPILE)
    tool_error_lines(status, job->error, "%s does not compile", job->file);
  else
    tool_error_text(status, job->error, "%s", job->output);
}

/* The first job of each file that failed is told: the others say the same. */
static tool_status tell_failures(const plan *p) {
  tool_status worst = TOOL_OK;
  const char *told = NULL;
  for (size_t i = 0; i < p->job_count; i++) {
    const build_job *job = &p->jobs[i];
    if (job->status >= 0) continue;
    bool is_usage = job->status == QN_ERROR_INVALID_ARGUMENT || job->status == QN_ERROR_UNSUPPORTED;
    tool_status status = is_usage ? TOOL_USAGE : TOOL_FAILED;
    if (told != job->file) tell_failure(job, status);
    told = job->file;
    if (worst == TOOL_OK || status == TOOL_USAGE) worst = status;
  }
  return worst;
}

static void tell_warnings(const plan *p) {
  const char *told = NULL;
  for (size_t i = 0; i < p->job_count; i++) {
    const build_job *job = &p->jobs[i];
    if (told == job->file || job->artifact.log_bytes == 0) continue;
    tool_tell_lines(job->artifact.log);
    told = job->file;
  }
}

/* A kernel's function in a header that was made. */
typedef struct kernel_name {
  const char *text; /* not ended */
  size_t length;
  const char *file;
} kernel_name;

static int by_name(const void *a, const void *b) {
  const kernel_name *x = a, *y = b;
  size_t common = x->length < y->length ? x->length : y->length;
  int order = memcmp(x->text, y->text, common);
  if (order == 0) order = (x->length > y->length) - (x->length < y->length);
  return order ? order : strcmp(x->file, y->file);
}

/* The headers say which functions they have that may be in others. */
static kernel_name *list_kernels(const plan *p, size_t *out_count) {
  static const char mark[] = "#ifndef QUERN_HAS_", end[] = "_launch";
  kernel_name *names = NULL;
  *out_count = 0;
  for (size_t i = 0; i < p->job_count; i++) {
    if (p->jobs[i].kind->kind != QN_ARTIFACT_C_HEADER) continue;
    for (const char *at = strstr(p->jobs[i].artifact.bytes, mark); at; at = strstr(at, mark)) {
      at += sizeof mark - 1;
      size_t length = strcspn(at, "\n");
      if (length < sizeof end) continue;
      names = tool_grow(names, *out_count + 1, sizeof *names);
      names[(*out_count)++] = (kernel_name){at, length - (sizeof end - 1), p->jobs[i].file};
    }
  }
  return names;
}

/* Kernels of two files that have one name: their functions would be one. */
static tool_status check_kernels(const plan *p) {
  size_t count;
  tool_status status = TOOL_OK;
  kernel_name *names = list_kernels(p, &count);
  if (count > 0) qsort(names, count, sizeof *names, by_name);
  for (size_t i = 1; i < count && status == TOOL_OK; i++) {
    const kernel_name *a = &names[i - 1], *b = &names[i];
    if (a->length != b->length || memcmp(a->text, b->text, a->length) != 0) continue;
    status = tool_error(TOOL_USAGE, "two kernels are named '%.*s': in '%s' and in '%s'", (int)a->length, a->text,
                        a->file, b->file);
  }
  free(names);
  return status;
}

/* ---- Overwriting -------------------------------------------------------------------------------- */

/* The source that a path stands for, or NULL. */
static const char *source_at(const plan *p, const char *path) {
  struct stat there, given;
  if (stat(path, &there) != 0) return NULL;
  for (size_t i = 0; i < p->options.file_count; i++)
    if (stat(p->options.files[i], &given) == 0 && given.st_dev == there.st_dev && given.st_ino == there.st_ino)
      return p->options.files[i];
  return NULL;
}

static char *output_path(const plan *p, const char *name) {
  size_t size = strlen(p->options.directory) + strlen(name) + 2;
  char *path = tool_alloc(size, 1);
  snprintf(path, size, "%s/%s", p->options.directory, name);
  return path;
}

static bool is_one_place(const char *path, const char *other) {
  struct stat a, b;
  if (strcmp(path, other) == 0 || tool_outputs_same(path, other)) return true;
  return stat(path, &a) == 0 && stat(other, &b) == 0 && a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}

/* No source may be overwritten, and no output by the depfile. What is no directory is told before anything is compiled. */
static tool_status check_places(const plan *p) {
  const char *depfile = p->options.depfile;
  struct stat directory;
  if (stat(p->options.directory, &directory) == 0 && !S_ISDIR(directory.st_mode))
    return tool_error(TOOL_USAGE, "-o %s is not a directory", p->options.directory);
  if (depfile && source_at(p, depfile))
    return tool_error(TOOL_USAGE, "--depfile %s would overwrite the source '%s'", depfile, source_at(p, depfile));
  for (size_t i = 0; i < p->job_count; i++) {
    char *path = output_path(p, p->jobs[i].output);
    const char *over = source_at(p, path);
    bool meets = depfile && is_one_place(depfile, path);
    tool_status status = TOOL_OK;
    if (over) status = tool_error(TOOL_USAGE, "the output '%s' would overwrite the source '%s'", path, over);
    if (!over && meets) status = tool_error(TOOL_USAGE, "--depfile %s would overwrite an output", depfile);
    free(path);
    TOOL_TRY(status);
  }
  return TOOL_OK;
}

/* ---- Build -------------------------------------------------------------------------------------- */

static tool_status build(plan *p) {
  TOOL_TRY(read_sources(p));
  if (p->options.lists_params) {
    for (size_t i = 0; i < p->options.file_count; i++)
      TOOL_TRY(build_list_parameters(&p->options, p->sources[i].file, p->sources[i].text, p->sources[i].size));
    return TOOL_OK;
  }
  TOOL_TRY(plan_jobs(p));
  TOOL_TRY(check_places(p));
  build_run_jobs(&p->options, p->jobs, p->job_count);
  TOOL_TRY(tell_failures(p));
  TOOL_TRY(check_kernels(p));
  tell_warnings(p);
  return build_write(&p->options, p->jobs, p->job_count);
}

static void free_plan(plan *p) {
  for (size_t i = 0; i < p->job_count; i++) {
    qn_artifact_free(&p->jobs[i].artifact);
    free(p->jobs[i].output);
    free(p->jobs[i].error);
  }
  for (size_t i = 0; p->sources && i < p->options.file_count; i++) {
    free(p->sources[i].text);
    free(p->sources[i].stem);
  }
  free(p->jobs);
  free(p->sources);
  build_options_free(&p->options);
}

int command_build(int argc, char **argv) {
  plan p = {0};
  tool_command = "quern build";
  tool_status status = build_options_parse(argc, argv, &p.options);
  if (status == TOOL_OK && p.options.help)
    fputs(help, stdout);
  else if (status == TOOL_OK)
    status = build(&p);
  free_plan(&p);
  return (int)status;
}

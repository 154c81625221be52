/* build_params.c - `quern build --params`: the generator parameters of a file. */
#include <stdio.h>
#include <string.h>

#include "build.h"

/* The parameters stand in the preprocessed text as they were written:  #pragma quern param(NAME, TYPE, DEFAULT, "text") */
static void print_parameter(const char *line, size_t length) {
  char name[128] = "", type[32] = "", value[128] = "", text[512] = "";
  char copy[1024];
  snprintf(copy, sizeof copy, "%.*s", (int)(length < sizeof copy ? length : sizeof copy - 1), line);
  int words = sscanf(copy, " ( %127[^, ] , %31[^, ] , %127[^,)] , \"%511[^\"]\"", name, type, value, text);
  if (words < 3) return;
  for (size_t end = strlen(value); end > 0 && value[end - 1] == ' '; end--) value[end - 1] = '\0';
  printf("  %-20s %-8s %-12s %s\n", name, type, value, text);
}

/* A header that is included again declares its parameters again. */
static bool is_told(const char *text, const char *line, size_t length) {
  for (const char *at = text; at < line; at = strchr(at, '\n') + 1)
    if (strncmp(at, line, length) == 0 && at[length] == '\n') return true;
  return false;
}

tool_status build_list_parameters(const build_options *o, const char *file, const char *source, uint64_t size) {
  static const char mark[] = "#pragma quern param";
  qn_build_options options = QN_INIT(qn_build_options);
  qn_artifact artifact = QN_INIT(qn_artifact);
  options.kind = QN_ARTIFACT_PREPROCESSED;
  options.source = source;
  options.source_bytes = size;
  options.file_name = file;
  options.options = o->build;
  qn_status status = qn_build(&options, &artifact);
  if (status == QN_ERROR_COMPILE) return tool_error_lines(TOOL_FAILED, qn_error_text(), "%s does not compile", file);
  if (status < 0) return tool_library_error(status, "%s", file);
  printf("%s\n", file);
  uint32_t count = 0;
  for (const char *line = artifact.bytes; line && *line;) {
    const char *end = strchr(line, '\n');
    size_t length = end ? (size_t)(end - line) : strlen(line);
    if (length > sizeof mark && strncmp(line, mark, sizeof mark - 1) == 0 && !is_told(artifact.bytes, line, length)) {
      if (count++ == 0) printf("  %-20s %-8s %-12s %s\n", "NAME", "TYPE", "DEFAULT", "WHAT IT IS");
      print_parameter(line + sizeof mark - 1, length - (sizeof mark - 1));
    }
    line = end ? end + 1 : NULL;
  }
  if (count == 0) printf("  no parameters\n");
  qn_artifact_free(&artifact);
  return TOOL_OK;
}

/* archive.c - a static library: the format of ar, with the GNU index of symbols, without times and users. */
#include <stdio.h>

#include "compiler/artifact/artifact.h"

enum { MEMBER_HEADER_BYTES = 60 };

static void put_member(qn_bytes *out, const char *name, qn_sv bytes) {
  char header[MEMBER_HEADER_BYTES + 1];
  snprintf(header, sizeof header, "%-16s%-12d%-6d%-6d%-8s%-10zu`\n", name, 0, 0, 0, "644", bytes.size);
  qn_bytes_append(out, header, MEMBER_HEADER_BYTES);
  qn_bytes_append_sv(out, bytes);
  if (bytes.size % 2) qn_bytes_append_char(out, '\n');
}

/* Numbers of the index have their big end first. */
static void put_big(qn_bytes *out, uint32_t value) {
  const unsigned char text[4] = {(unsigned char)(value >> 24), (unsigned char)(value >> 16),
                                 (unsigned char)(value >> 8), (unsigned char)value};
  qn_bytes_append(out, text, sizeof text);
}

void qn_artifact_static_library(const qn_artifact_data *data, qn_bytes *out) {
  static const char magic[] = "!<arch>\n";
  qn_bytes object = {0}, index = {0}, names = {0}, long_name = {0};
  qn_artifact_object(data, &object);
  qn_bytes_printf(&names, "quern_image_%s", data->name);
  qn_bytes_append(&names, "", 1);
  qn_bytes_printf(&names, "quern_image_%s_size", data->name);
  qn_bytes_append(&names, "", 1);
  qn_bytes_printf(&long_name, "%s.o/\n", data->name);
  size_t index_bytes = 4 + 2 * 4 + names.size, padded = index_bytes + index_bytes % 2;
  size_t long_padded = long_name.size + long_name.size % 2;
  uint32_t member_at = (uint32_t)(sizeof magic - 1 + MEMBER_HEADER_BYTES + padded + MEMBER_HEADER_BYTES + long_padded);
  put_big(&index, 2);
  put_big(&index, member_at);
  put_big(&index, member_at);
  qn_bytes_append_sv(&index, qn_bytes_view(&names));
  qn_bytes_append(out, magic, sizeof magic - 1);
  put_member(out, "/", qn_bytes_view(&index));
  put_member(out, "//", qn_bytes_view(&long_name));
  put_member(out, "/0", qn_bytes_view(&object));
  out->failed |= object.failed | index.failed | names.failed | long_name.failed;
  qn_bytes_free(&object);
  qn_bytes_free(&index);
  qn_bytes_free(&names);
  qn_bytes_free(&long_name);
}

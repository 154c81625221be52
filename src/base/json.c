#include "base/json.h"

#include <stddef.h>
#include <string.h>

/* Bytes of the UTF-8 sequence at `s`; 0: it isn't one. RFC 3629: no longer form than needed, no surrogates, up to U+10FFFF. */
static size_t sequence(const unsigned char *s) {
  static const struct {
    unsigned char mask, lead;
    uint32_t least;
  } forms[] = {{0x80, 0x00, 0}, {0xe0, 0xc0, 0x80}, {0xf0, 0xe0, 0x800}, {0xf8, 0xf0, 0x10000}};
  for (size_t n = 0; n < sizeof forms / sizeof *forms; n++) {
    if ((s[0] & forms[n].mask) != forms[n].lead) continue;
    uint32_t code = s[0] & (unsigned char)~forms[n].mask;
    for (size_t i = 1; i <= n; i++) {
      if ((s[i] & 0xc0) != 0x80) return 0; /* a NUL too */
      code = code << 6 | (s[i] & 0x3fu);
    }
    bool is_valid = code >= forms[n].least && code <= 0x10ffff && (code < 0xd800 || code > 0xdfff);
    return is_valid ? n + 1 : 0;
  }
  return 0;
}

void qn_json_append_text(qn_bytes *out, const char *text) {
  qn_bytes_append_char(out, '"');
  for (const unsigned char *at = (const unsigned char *)text; *at;) {
    size_t length = sequence(at);
    if (length == 0)
      qn_bytes_append_char(out, '?');
    else if (*at < 0x20 || *at == 0x7f)
      qn_bytes_printf(out, "\\u%04x", *at);
    else if (*at == '"' || *at == '\\')
      qn_bytes_printf(out, "\\%c", *at);
    else
      qn_bytes_append(out, at, length);
    at += length ? length : 1;
  }
  qn_bytes_append_char(out, '"');
}

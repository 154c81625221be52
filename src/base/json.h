/* json.h - JSON text, for reports. */
#ifndef QUERN_BASE_JSON_H
#define QUERN_BASE_JSON_H

#include "base/bytes.h"

/* Appends a string with its quotes. Control characters are escaped; bytes that aren't UTF-8 become '?'. */
void qn_json_append_text(qn_bytes *out, const char *text);

#endif

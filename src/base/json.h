/* SPDX-License-Identifier: MIT */
/* json.h - writing JSON in a stable order.  (Reading is jansson's.)
 *
 *   bs_json j; bs_json_init(&j, &text, indent);
 *   bs_json_object(&j, NULL); bs_json_int(&j, "schema", 1); bs_json_end(&j);
 *
 * `key` is NULL inside arrays and at the top. */
#ifndef BASE_JSON_H
#define BASE_JSON_H

#include "base/text.h"

typedef struct bs_json {
  bs_text *out;
  int indent; /* spaces a level; 0 = one line */
  uint32_t depth;
  bool first;       /* nothing written in the current container yet */
  uint64_t objects; /* bit d: the container at depth d is an object (<= 63) */
} bs_json;

void bs_json_init(bs_json *, bs_text *, int indent);
void bs_json_object(bs_json *, const char *key);
void bs_json_array(bs_json *, const char *key);
void bs_json_end(bs_json *); /* closes the innermost container */
void bs_json_int(bs_json *, const char *key, int64_t);
void bs_json_real(bs_json *, const char *key, double); /* non-finite: null */
void bs_json_bool(bs_json *, const char *key, bool);
void bs_json_string(bs_json *, const char *key, const char *s);
void bs_json_null(bs_json *, const char *key);

#endif

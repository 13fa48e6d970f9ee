/* SPDX-License-Identifier: MIT */
/* above_table.h - a row of the table of helpers (private to its folder). */
#ifndef CODEGEN_ABOVE_TABLE_H
#define CODEGEN_ABOVE_TABLE_H

#include "codegen/above/above.h"

/* Writes the text of a helper. */
typedef void cg_put_above(const cg_above *, cg_helper, bs_text *out);

enum { CG_MOST_NEEDED = 3 };

typedef struct cg_row {
  cg_helper needs[CG_MOST_NEEDED];
  /* Its text; or what writes one that depends on the file; or neither: it is a
   * function of values, or stands in the text of what it needs. */
  const char *text;
  cg_put_above *put;
  struct {
    const char *type, *parameters, *body;
    const char *strict; /* the body under --strict-fp, where it differs */
  } function;
} cg_row;

extern const cg_row cg_rows[CG_HELPER_COUNT];

/* macros.c */
cg_put_above cg_put_team_macros, cg_put_mac_headers, cg_put_hold;
/* lanes.c */
cg_put_above cg_put_turn_macros;
/* parts.c */
cg_put_above cg_put_parts, cg_put_some;
void cg_put_parts_again(const cg_above *, bs_text *out);
/* above_memory.c */
cg_put_above cg_put_stream, cg_put_fetch;

#endif

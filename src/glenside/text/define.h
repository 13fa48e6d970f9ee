/* SPDX-License-Identifier: MIT */
/* define.h - definitions for those who show them: editors, hints. */
#ifndef GLENSIDE_DEFINE_H
#define GLENSIDE_DEFINE_H

#include "glenside/type/context.h"

/* (define (NAME PARAMETER...) ["WHAT"] ITEM... TERM) */
typedef struct gs_definition {
  const char *name, *usage; /* usage: "(matmul a b)" */
  const char *what;         /* one line, or "" */
  bs_span name_span, form;
  bool built_in;
} gs_definition;

typedef BS_VEC(gs_definition) gs_definitions;

/* The definitions of a program's text, without faulty ones, then the
 * definitions that come with the language. Faults are not reported. */
void gs_list_definitions(const gs_context *, uint32_t source,
                         gs_definitions *out);
/* One of the program goes first; NULL: there is none. */
const gs_definition *gs_find_definition(const gs_definitions *,
                                        const char *name);
/* Whether one of that name comes with the language. */
bool gs_is_defined(const gs_context *, const char *name);
/* The name of the source of those that come with the language. */
#define GS_DEFINITIONS_PATH "<definitions>"

#endif

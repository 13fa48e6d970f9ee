/* SPDX-License-Identifier: MIT */
/* focus.h - the part of a problem that a good DAG can be in. */
#ifndef EXTRACT_FOCUS_H
#define EXTRACT_FOCUS_H

#include "extract/internal.h"

typedef struct ex_focus {
  ex_problem p; /* has the same optimal DAGs, and the cheapest trees */
  uint32_t *class_at, *node_at; /* what they were; NULL: p is the whole */
} ex_focus;

/* False when the problem has no solution. */
bool ex_focus_start(const ex_problem *, ex_focus *);
void ex_focus_done(ex_focus *);
/* A choice for the part as one for the whole; others stay as they are. */
void ex_focus_choice(const ex_focus *, const uint32_t *from, uint32_t *to);

#endif

/* SPDX-License-Identifier: MIT */
/* negative.h - problems with costs below zero. */
#ifndef EXTRACT_NEGATIVE_H
#define EXTRACT_NEGATIVE_H

#include "extract/internal.h"

bool ex_has_negative(const ex_problem *);
/* A problem without any: the classes and nodes of the given one have their
 * numbers, others stand behind them.  Returns what its costs are too high by, a
 * negative number.  Freed by ex_problem_done. */
double ex_without_negative(const ex_problem *, ex_problem *out);
/* A choice for p, of what a solution of q = ex_without_negative(p) has for its
 * classes, made cheaper by single replacements. */
void ex_climb(const ex_problem *p, const ex_problem *q, ex_watch *,
              uint32_t *choice);

#endif

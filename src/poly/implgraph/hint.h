/* SPDX-License-Identifier: MIT */
/* hint.h - hint graphs of a loop program, one for every nest with loops.
 *
 * Every loop is an original axis.  Loops that stand side by side below the
 * same loop and have the same number of iterations are one axis, so that the
 * statements of a nest run over the same axes: each of them in loops of its
 * own, one after the other. */
#ifndef POLY_AXIS_HINT_H
#define POLY_AXIS_HINT_H

#include "poly/implgraph/candidates.h"
#include "poly/loops/loops.h"

typedef struct po_hints {
  BS_VEC(po_hint *) list;
  BS_VEC(const char *) skipped; /* why a nest has no graph */
} po_hints;

/* Makes them, in the program's arena; the nest's loops get their axes. */
void po_make_hints(po_program *, po_hints *);
void po_hints_done(const po_program *, po_hints *);

/* What is known of the order of a loop's iterations: none waits for another, or
 * only for what it adds to, or they stay in order. */
po_axis_order po_order_of(po_program *, uint32_t loop);

/* A copy of the program in which no loop is given to cores yet: its graphs say
 * what a schedule did but for that, which is a plan's to choose. */
po_program *po_without_blocks(const po_program *);

/* implgraph_report.c: every graph with its candidates and the chosen one, for
 * the program's target. */
void po_print_implgraphs(po_program *, bs_text *);
void po_json_implgraphs(po_program *, bs_text *);
/* The members of an object for one impl graph, its buffers included. */
void po_json_impl(const po_impl *, const po_graph_machine *, bs_json *);

#endif

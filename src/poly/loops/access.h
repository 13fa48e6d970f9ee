/* SPDX-License-Identifier: MIT */
/* access.h - what statements read and write, array by array, and the flow of
 * values through it; for depend.c, legal.c and the checks of primitives.
 *
 * isl objects are given to the caller, who holds them across no allocation on
 * a heap; NULL where isl gave up. */
#ifndef POLY_ACCESS_H
#define POLY_ACCESS_H

#include "poly/loops/limit.h"
#include "poly/loops/loops.h"
#include <isl/union_map.h>

/* Of one array: { S[i] -> A[x] }. */
typedef struct po_accesses {
  isl_union_map *reads;   /* by bodies, calls, and updates of fixed order */
  isl_union_map *updates; /* by reductions that may be reordered */
  isl_union_map *writes;  /* by all other statements */
} po_accesses;

po_accesses po_accesses_of(const po_program *, uint32_t array);
void po_accesses_free(po_accesses *);
/* { S[i] -> A[x] } to { S[i] -> A[x modulo the folds] }. */
__isl_give isl_union_map *po_to_places(const po_program *, uint32_t array,
                                       __isl_take isl_union_map *);
/* Updates of one such class of an element may change places; 0: none. */
enum {
  PO_ORDER_SUM = 1,
  PO_ORDER_PRODUCT,
  PO_ORDER_MAX,
  PO_ORDER_MIN,
};
uint32_t po_reorder_class(const po_program *, const po_stmt *);
/* Whether a statement reads an array in its body or gives it to its call; or
 * writes it. */
bool po_stmt_reads(const po_stmt *, uint32_t array);
bool po_stmt_accesses(const po_stmt *, uint32_t array);
/* The statement of this name; the number of statements where there is none. */
uint32_t po_stmt_named(const po_program *, const char *name);

/* ---- the order of instances (run_order.c) ---- */

/* The first n functions of a statement's time. */
__isl_give isl_multi_aff *po_outer_time(const po_stmt *, uint32_t n);
/* The number of loops around both leaves; ties: instances that have the same
 * values of them do not run in the order source, sink. */
uint32_t po_common_loops(const po_program *, uint32_t source, uint32_t sink,
                         bool *ties);
/* { S[i] -> T[j] } for which the values of the first n loops around both are
 * related by `values`, which is taken. */
__isl_give isl_map *po_related(const po_stmt *source, const po_stmt *sink,
                               uint32_t n, __isl_take isl_map *values);
/* { S[i] -> T[j] } where the nest runs S[i] before T[j]; po_not_before is the
 * rest. */
__isl_give isl_map *po_in_order(const po_program *, const po_stmt *source,
                                const po_stmt *sink);
/* { source -> sink } of accesses of one element, the source before the sink.
 * A sink that is no statement is the caller's, after everything. */
__isl_give isl_union_map *po_earlier(const po_program *,
                                     __isl_keep isl_union_map *sources,
                                     __isl_keep isl_union_map *sinks);

/* ---- flow ---- */

/* Which writes give each read its value: { write -> read }, the last write of
 * fixed order before it and the updates after that.  Reads are those of
 * bodies, those of updates of what they update, and, for an output, those of
 * the caller: OUT_A[x], after everything. */
typedef struct po_flow {
  isl_union_map *from;      /* { write -> read } */
  isl_union_map *unwritten; /* { read -> A[x] } of what no write preceded */
} po_flow;

/* folded: elements that are kept in one place are one element. */
po_flow po_flow_through(const po_program *, uint32_t array, bool folded);
/* The dependences without those between updates whose order is free. Where no
 * element is written twice, nothing hides a write, and isl need not look for
 * the last one. */
po_flow po_flow_of_values(const po_program *, uint32_t array);
void po_flow_free(po_flow *);

/* Every element is written once at most, and before all that updates it, so
 * that no write hides another.  accesses: of this array */
bool po_is_written_once(const po_program *, uint32_t array,
                        const po_accesses *);

#endif

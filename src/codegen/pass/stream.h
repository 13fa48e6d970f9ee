/* SPDX-License-Identifier: MIT */
/* stream.h - arrays larger than the caches (stream.c, pass_rows.c, fetch.c). */
#ifndef CODEGEN_PASS_STREAM_H
#define CODEGEN_PASS_STREAM_H

#include "codegen/pass/pass.h"

/* When what is fetched is needed: in the next iteration of a loop around, soon,
 * or soon to be written. */
typedef enum cg_fetch_kind {
  CG_FETCH_ROW,
  CG_FETCH_SOON,
  CG_FETCH_WRITE
} cg_fetch_kind;

/* An access that comes first to its lines, and how many bytes ahead it is
 * fetched. */
typedef struct cg_fetch {
  uint32_t array;
  const cg_expr *index;
  int64_t ahead;
  cg_fetch_kind kind;
} cg_fetch;

/* A loop that is run in rows: its stores that go through them, or else the
 * reads that are fetched ahead. */
enum { CG_MOST_ROWS = 4, CG_MOST_FETCHED = 8 };

typedef struct cg_stream {
  const char *iterator;
  int64_t row;   /* elements */
  bool by_lines; /* of a line, nothing goes through rows */
  uint32_t n, n_fetched;
  cg_node *write[CG_MOST_ROWS];
  cg_fetch fetch[CG_MOST_FETCHED];
} cg_stream;

/* What loops of an iteration ask for that others read in the next. */
typedef struct cg_ahead {
  uint32_t n;
  cg_fetch fetch[CG_MOST_FETCHED];
  const cg_node *by[CG_MOST_FETCHED]; /* the loop that asks */
  const cg_node *parts; /* a loop around all of them; NULL: there is none */
} cg_ahead;

/* fetch.c: the reads that are worth it of the statements that every iteration
 * runs. */
void cg_find_fetches(cg_emitter *, const cg_node *loop, cg_stream *);
/* fetch.c: whether loops in an iteration of this one are to ask for what the
 * next iteration reads. */
bool cg_find_ahead(cg_emitter *, const cg_node *rows, cg_ahead *);
/* pass_rows.c: what stands for a loop that is run in rows, or by lines: its own
 * node is the loop over one of them. */
cg_node *cg_make_rows(cg_emitter *, const cg_scope *, cg_node *loop,
                      const cg_stream *);
cg_node *cg_make_lines(cg_emitter *, const cg_scope *, cg_node *loop,
                       const cg_stream *);

#endif

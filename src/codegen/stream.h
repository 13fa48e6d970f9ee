/* SPDX-License-Identifier: MIT */
/* stream.h - arrays larger than the caches (stream.c, stream_text.c,
 * fetch.c). */
#ifndef CODEGEN_STREAM_H
#define CODEGEN_STREAM_H

#include "codegen/loop.h"

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
  isl_ast_expr *index;
  int64_t ahead;
  cg_fetch_kind kind;
} cg_fetch;

/* Bytes that a loop asks for ahead of what it reads or writes itself. */
enum { CG_FETCH_AHEAD = 2048 };

/* A loop that is run in rows: its stores that go through them, or else the
 * reads that are fetched ahead. */
enum { CG_MOST_ROWS = 4, CG_MOST_FETCHED = 8 };

typedef struct cg_stream {
  const char *iterator;
  int64_t row;   /* elements */
  bool by_lines; /* of a line, nothing goes through rows */
  uint32_t n, n_fetched;
  const cg_user_note *write[CG_MOST_ROWS];
  cg_fetch fetch[CG_MOST_FETCHED];
} cg_stream;

/* What loops of an iteration ask for that others read in the next. */
typedef struct cg_ahead {
  uint32_t n;
  cg_fetch fetch[CG_MOST_FETCHED];
  isl_ast_node *by[CG_MOST_FETCHED]; /* the loop that asks */
  isl_ast_node *parts; /* a loop around all of them; NULL: there is none */
} cg_ahead;

/* Sets e->streamed and e->fetched: the arrays that are worth it. */
void cg_find_streamed(cg_emitter *);
/* Some array of a kernel is one of them. */
bool cg_may_stream(const cg_emitter *, const cg_use *);

/* Of the second cache; where there is none, as far as all of them go. */
int64_t cg_near_bytes(const gs_target *);
int64_t cg_element_bytes(const cg_emitter *, uint32_t array);

/* Whether some store in the body of a loop goes through a row, or something
 * is fetched ahead: what the loop reads itself, or where there is `ahead`, of
 * the iteration around it, what that tells this node to. */
bool cg_find_stream(cg_emitter *, const cg_scope *, const cg_loop *,
                    __isl_keep isl_ast_node *, cg_stream *);
/* fetch.c: the reads that are worth it of the statements that every iteration
 * runs. */
void cg_find_fetches(cg_emitter *, const cg_loop *, cg_stream *);
/* fetch.c: whether loops in an iteration of this one are to ask for what the
 * next iteration reads. */
bool cg_find_ahead(cg_emitter *, const cg_loop *rows, cg_ahead *);
/* The loop over rows around it; the loop itself then runs from glen_from to
 * glen_to. */
void cg_open_stream(cg_emitter *, const cg_scope *, const cg_loop *,
                    const cg_stream *, uint32_t indent);
void cg_close_stream(cg_emitter *, const cg_scope *, const cg_loop *,
                     const cg_stream *, bool fenced, uint32_t indent);
/* A loop that is streamed by lines has code around the loop for whole ones,
 * between that and the loop for what is left, and behind that. */
void cg_open_lines(cg_emitter *, const cg_scope *, const cg_loop *,
                   const cg_stream *, uint32_t indent);
void cg_open_rest(cg_emitter *, const cg_scope *, const cg_loop *,
                  const cg_stream *, uint32_t indent);
void cg_close_lines(cg_emitter *, uint32_t indent);
/* stream: NULL where there is none. */
bool cg_is_streamed_here(const cg_stream *, const cg_user_note *);
void cg_put_stream_element(const cg_stream *, const cg_user_note *,
                           bs_text *out);
void cg_put_fence(cg_emitter *, uint32_t indent);
/* What they include; glen_stream and glen_fence. */
void cg_put_stream_includes(bs_text *out);
void cg_put_stream_helpers(bs_text *out);
/* glen_prefetch, glen_prefetch_row, glen_prefetch_write */
void cg_put_fetch_helpers(const cg_emitter *, bs_text *out);

#endif

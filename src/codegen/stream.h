/* stream.h - arrays larger than the caches (stream.c, fetch.c). */
#ifndef CODEGEN_STREAM_H
#define CODEGEN_STREAM_H

#include "codegen/loop.h"

/* A read that comes first to its lines. */
typedef struct cg_fetch {
  uint32_t array;
  isl_ast_expr *index;
} cg_fetch;

/* A loop that is run in rows: its stores that go through them, or else the
 * reads that are fetched ahead. */
enum { CG_MOST_ROWS = 4, CG_MOST_FETCHED = 8 };
typedef struct cg_stream {
  const char *iterator;
  int64_t row; /* elements */
  uint32_t n, n_fetched;
  const cg_user_note *write[CG_MOST_ROWS];
  cg_fetch fetch[CG_MOST_FETCHED];
} cg_stream;

/* Sets e->streamed and e->fetched: the arrays that are worth it. */
void cg_find_streamed(cg_emitter *);
/* Some array of a kernel is one of them. */
bool cg_may_stream(const cg_emitter *, const cg_use *);

/* Whether some store in the body of a loop goes through a row, or something
 * that it reads is fetched ahead. */
bool cg_find_stream(cg_emitter *, const cg_loop *, cg_stream *);
/* fetch.c: the reads that are worth it of the statements that every iteration
 * runs. */
void cg_find_fetches(cg_emitter *, const cg_loop *, cg_stream *);
/* The loop over rows around it; the loop itself then runs from glen_from to
 * glen_to. */
void cg_open_stream(cg_emitter *, const cg_scope *, const cg_loop *,
                    const cg_stream *, uint32_t indent);
void cg_close_stream(cg_emitter *, const cg_scope *, const cg_loop *,
                     const cg_stream *, bool fenced, uint32_t indent);
/* stream: NULL where there is none. */
bool cg_is_streamed_here(const cg_stream *, const cg_user_note *);
void cg_put_stream_element(const cg_stream *, const cg_user_note *,
                           bs_text *out);
void cg_put_fence(cg_emitter *, uint32_t indent);
/* What they include; glen_stream and glen_fence. */
void cg_put_stream_includes(bs_text *out);
void cg_put_stream_helpers(bs_text *out);
/* glen_prefetch */
void cg_put_fetch_helper(const cg_emitter *, bs_text *out);

#endif

/* stream.h - outputs stored past the caches (stream.c). */
#ifndef CODEGEN_STREAM_H
#define CODEGEN_STREAM_H

#include "codegen/loop.h"

/* The stores of a loop that go through rows. */
enum { CG_MOST_ROWS = 4 };
typedef struct cg_stream {
  const char *iterator;
  int64_t row; /* elements */
  uint32_t n;
  const cg_user_note *write[CG_MOST_ROWS];
} cg_stream;

/* Sets e->streamed: the arrays that are worth it. */
void cg_find_streamed(cg_emitter *);
/* Some array of a kernel is one of them. */
bool cg_may_stream(const cg_emitter *, const cg_use *);

/* Whether some store in the body of a loop goes through a row. */
bool cg_find_stream(cg_emitter *, const cg_loop *, cg_stream *);
/* The loop over rows around it; the loop itself then runs from glen_from to
 * glen_to. */
void cg_open_stream(cg_emitter *, const cg_loop *, const cg_stream *,
                    uint32_t indent);
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

#endif

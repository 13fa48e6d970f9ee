/* SPDX-License-Identifier: MIT */
/* enter.h - how a public function begins.
 *
 * One that may allocate begins with API_ENTER, and is plain code from there on:
 *
 *   const char *
 *   glen_loops_text(glen_context *ctx, const glen_loops *loops) {
 *     API_ENTER(ctx, "");
 *     ...
 *
 * Where memory runs out in the rest of it, it returns what stands there, here
 * "", and the context remembers that there was none.  The host's locale is put
 * aside for as long.  Locals may be set as one likes, since none is looked at
 * once control came back. */
#ifndef API_ENTER_H
#define API_ENTER_H

#include "base/governor.h"
#include "base/heap.h"
#include "base/portable.h"
#include "glen/glen.h"

typedef struct api_frame {
  bs_trap trap;
  glen_context *ctx; /* NULL: it was not opened */
  locale_t hosts;
  bs_stage before;
  bool listens;
} api_frame;

bool api_open(api_frame *, glen_context *);
/* As a stage of that name, which may take that part of the time that is left.
 */
bool api_open_stage(api_frame *, glen_context *, const char *name,
                    double of_time);
/* Of a function that looks at ctx->interrupt. */
bool api_open_listening(api_frame *, glen_context *);
/* The function returns, by whatever way. */
void api_close(api_frame *);

/* The stage fails: says so where a limit was the reason, and ends it. */
void api_blame_limit(api_frame *);

#define API_FRAME_OR(open, failed)                                             \
  api_frame frame __attribute__((cleanup(api_close)));                         \
  if (!open)                                                                   \
    return failed;                                                             \
  if (setjmp(frame.trap.place))                                                \
  return failed

#define API_ENTER(ctx, failed) API_FRAME_OR(api_open(&frame, ctx), failed)
#define API_ENTER_STAGE(ctx, name, of_time, failed)                            \
  API_FRAME_OR(api_open_stage(&frame, ctx, name, of_time), failed)
#define API_ENTER_LISTENING(ctx, failed)                                       \
  API_FRAME_OR(api_open_listening(&frame, ctx), failed)

#endif

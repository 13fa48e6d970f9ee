/* SPDX-License-Identifier: MIT */
/* object.c - memory of objects that are freed one by one.
 *
 * An object lives in a heap of its own below that of the context.  Heaps that
 * were emptied are taken again, so that a context does not grow with the number
 * of objects that it ever had. */
#include "api/object.h"
#include <assert.h>

struct api_box {
  api_box *next; /* unused ones */
  glen_context *ctx;
  bs_heap heap;
  bs_arena arena;
  gs_context gs;
  uint32_t source; /* that it was read from, if from memory; 0: none */
};

static void
done_heap(void *heap) {
  bs_heap_done(heap);
}

static api_box *
new_box(glen_context *ctx) {
  api_box *box = BS_NEW(&ctx->arena, api_box);
  bs_heap_init_child(&box->heap, &ctx->heap, 0);
  /* What is not freed goes with its context. */
  bs_defer(&ctx->heap, done_heap, &box->heap);
  return box;
}

api_box *
api_box_take(glen_context *ctx) {
  api_box *box = ctx->boxes;
  if (box) {
    ctx->boxes = box->next;
    bs_heap_init_child(&box->heap, &ctx->heap, 0);
  } else {
    box = new_box(ctx);
  }
  bs_arena_init(&box->arena, &box->heap);
  box->ctx = ctx;
  box->gs = ctx->gs;
  box->gs.heap = &box->heap;
  box->gs.arena = &box->arena;
  box->source = 0;
  return box;
}

const gs_context *
api_box_context(const api_box *box) {
  return &box->gs;
}

gs_program
api_program_in(const api_box *box, const gs_program *p) {
  gs_program there = *p;
  there.ctx = box->gs;
  return there;
}

void
api_box_read(api_box *box, uint32_t source) {
  box->source = source;
}

void
api_box_free(api_box *box) {
  if (!box)
    return;
  glen_context *ctx = box->ctx;
  if (box->source)
    bs_source_unused(&ctx->diags, box->source);
  bs_heap_done(&box->heap);
  assert(box != ctx->boxes);
  box->next = ctx->boxes;
  ctx->boxes = box;
  /* Nothing that was told can be about it. */
  if (!ctx->diags.list.len)
    bs_sources_forget(&ctx->diags);
}

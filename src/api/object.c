/* SPDX-License-Identifier: MIT */
/* object.c - memory of objects that are freed one by one.
 *
 * An object lives in a heap of its own below that of the context.  Heaps that
 * were emptied are taken again, so that a context does not grow with the number
 * of objects that it ever had. */
#include "api/object.h"
#include <assert.h>

struct api_object {
  api_object *next; /* unused ones */
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

static api_object *
new_object(glen_context *ctx) {
  api_object *object = BS_NEW(&ctx->arena, api_object);
  bs_heap_init_child(&object->heap, &ctx->heap, 0);
  /* What is not freed goes with its context. */
  bs_defer(&ctx->heap, done_heap, &object->heap);
  return object;
}

api_object *
api_object_take(glen_context *ctx) {
  api_object *object = ctx->objects;
  if (object) {
    ctx->objects = object->next;
    bs_heap_init_child(&object->heap, &ctx->heap, 0);
  } else {
    object = new_object(ctx);
  }
  bs_arena_init(&object->arena, &object->heap);
  object->ctx = ctx;
  object->gs = ctx->gs;
  object->gs.heap = &object->heap;
  object->gs.arena = &object->arena;
  object->source = 0;
  return object;
}

const gs_context *
api_object_context(const api_object *object) {
  return &object->gs;
}

gs_program
api_program_in(const api_object *object, const gs_program *p) {
  gs_program there = *p;
  there.ctx = object->gs;
  return there;
}

void
api_object_read(api_object *object, uint32_t source) {
  object->source = source;
}

void
api_object_free(api_object *object) {
  if (!object)
    return;
  glen_context *ctx = object->ctx;
  if (object->source)
    bs_source_unused(&ctx->diags, object->source);
  bs_heap_done(&object->heap);
  assert(object != ctx->objects);
  object->next = ctx->objects;
  ctx->objects = object;
  /* Nothing that was told can be about it. */
  if (!ctx->diags.list.len)
    bs_sources_forget(&ctx->diags);
}

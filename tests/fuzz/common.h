/* SPDX-License-Identifier: MIT */
/* common.h - what the executions of a fuzz target have in common, made once: a
 * context with its values, and a small target that has an instruction.
 *
 * It is made anew after some executions, so that the names that inputs bring do
 * not pile up in it, and what one input does may be found by running it with
 * those before it. */
#ifndef TESTS_FUZZ_COMMON_H
#define TESTS_FUZZ_COMMON_H

#include "fuzz.h"
#include "glenside/target/target.h"

enum { MOST_EXECUTIONS = 256 };

typedef struct common {
  bs_heap heap;
  bs_arena arena;
  bs_diags diags;
  gs_context ctx;
  const gs_target *target;
  uint32_t executions; /* that are left */
} common;

static const char target_text[] =
    "(target t (set unit 2)) (instr mm (params r c)"
    " (operands (a ((b) (r)) f32) (w (() (r c)) f32)) (result ((b c) ()) f32)"
    " (semantics (compute dotProd (cartProd a"
    " (access (transpose w (list 1 0)) 1)))) (emit \"mm();\"))";

static inline uint32_t
add_target_text(bs_diags *diags) {
  return bs_source_add(diags, "t", target_text, sizeof target_text - 1);
}

/* For the next execution; true where it was made anew. */
static inline bool
renew(common *c) {
  if (c->executions && c->executions--)
    return false;
  if (c->heap.used)
    bs_heap_done(&c->heap);
  bs_heap_init(&c->heap, NULL, 0);
  bs_arena_init(&c->arena, &c->heap);
  bs_diags_init(&c->diags, &c->heap);
  c->ctx =
      (gs_context){&c->heap, &c->arena, bs_values_new(&c->heap), &c->diags};
  c->target = gs_target_parse(&c->ctx, add_target_text(&c->diags));
  c->executions = MOST_EXECUTIONS;
  require(c->target != NULL);
  return true;
}

/* A context of its own over the values of all.  What the target says of places
 * is about its first source. */
static inline gs_context
context_over(const common *c, bs_heap *heap, bs_arena *arena, bs_diags *diags) {
  bs_arena_init(arena, heap);
  bs_diags_init(diags, heap);
  add_target_text(diags);
  return (gs_context){heap, arena, c->ctx.values, diags};
}

#endif

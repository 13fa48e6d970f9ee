/* SPDX-License-Identifier: MIT */
/* loops_program.c - the life of loop programs.
 *
 * What a program owns beside its heap's blocks is its pool of isl objects and
 * a share of the isl context: copies of a program live in the same context, so
 * that objects of one can be compared with those of the other.  The last one
 * to go frees the context. */
#include "poly/loops/storage.h"
#include "poly/loops/axes_kept.h"
#include "poly/loops/limit.h"
#include "poly/loops/loops.h"
#include "poly/loops/memo.h"
#include <assert.h>
#include <isl/ast_build.h>
#include <isl/options.h>

typedef struct po_isl_users {
  isl_ctx *isl;
  uint32_t n;
  po_memo memo;
} po_isl_users;

/* Only what is not on the heap, but for what the users of one context share. */
static void
release(void *arg) {
  po_program *p = arg;
  if (!p->users)
    return;
  po_pool_done(&p->pool);
  if (--p->users->n == 0) {
    po_memo_clear(&p->users->memo);
    po_free_isl(p->users->isl);
    bs_free(p->ctx.heap, p->users);
  }
}

static void
make_isl(bs_heap *heap, po_isl_users *users) {
  users->isl = isl_ctx_alloc();
  if (!users->isl)
    bs_out_of_memory(heap);
  isl_options_set_on_error(users->isl, ISL_ON_ERROR_CONTINUE);
  isl_options_set_ast_build_group_coscheduled(users->isl, 1);
  po_bind_isl(users->isl, heap, 0);
}

po_program *
po_new_program(const gs_context *ctx, const gs_program *source,
               const gs_target *target, const po_program *like) {
  assert(ctx->heap && ctx->values);
  bs_heap *heap = ctx->heap;
  po_program *p = bs_calloc(heap, 1, sizeof *p);
  po_isl_users *users = like ? like->users : bs_calloc(heap, 1, sizeof *users);
  p->ctx = *ctx;
  p->source = source;
  p->target = target || !source ? target : source->target;
  bs_arena_init(&p->arena, heap);
  po_pool_init(&p->pool, heap);
  bs_defer(heap, release, p);
  if (!like)
    make_isl(heap, users);
  users->n++;
  p->users = users;
  p->isl = users->isl;
  p->memo = &users->memo;
  po_nest_init(p);
  return p;
}

void
po_free(po_program *p) {
  if (!p)
    return;
  bs_heap *heap = p->ctx.heap;
  bs_vec_done(heap, &p->sizes);
  bs_vec_done(heap, &p->arrays);
  bs_vec_done(heap, &p->stmts);
  bs_vec_done(heap, &p->nest.nodes);
  bs_vec_done(heap, &p->script);
  bs_vec_done(heap, &p->deps);
  po_axes_forget(p);
  bs_vec_done(heap, &p->contractions);
  bs_vec_done(heap, &p->slides);
  bs_undefer(heap, release, p);
  release(p);
  bs_arena_done(&p->arena);
  bs_free(heap, p);
}

void
po_simplify_domains(const po_program *p) {
  for (uint32_t k = 0; k < p->stmts.len; k++) {
    isl_set *set = isl_set_copy(p->stmts.data[k].domain);
    set = isl_set_compute_divs(isl_set_detect_equalities(set));
    isl_set_free(isl_set_remove_redundancies(set));
  }
}

void
po_places(const po_array *array, int64_t *place) {
  assert(array->rank <= GS_MAX_RANK);
  for (uint32_t d = 0; d < array->rank; d++) {
    int64_t fold = array->fold[d];
    place[d] = fold && fold < array->dim[d] ? fold : array->dim[d];
    if (place[d] > 1 || array->role == PO_MEMORY)
      place[d] += array->pad[d]; /* a memory has whole rows */
  }
}

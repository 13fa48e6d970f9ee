/* SPDX-License-Identifier: MIT */
/* lower.c - a program as loops: views, plan, placements, statements, workspace.
 *
 * Each base is turned into statements in the order of the plan; what an
 * output shows but no base writes there is copied at the end.
 *
 * isl reports failure (a bound on its operations, memory) by NULL: it is
 * looked for once a base, so that every pass below may assume success.  After
 * a failure all is done once more, cautiously: intricate views are copied, so
 * that no relation is a composition of many. */
#include "poly/loops/loops_check.h"
#include "glenside/program/scan.h"
#include "poly/lower/again.h"
#include "poly/memory/memory.h"
#include "poly/loops/limit.h"
#include "poly/loops/open.h"
#include <assert.h>
#include <string.h>

/* isl operations that one term may take. */
#define MAX_OPERATIONS 50000000ul

enum { DEFAULT_PIECES = 64 };

/* What is left to clean up whenever the heap ends. */
typedef struct owner {
  po_program *program;
  po_lowering low;
} owner;

static void
release_views(po_views *views) {
  po_pool_done(&views->scratch);
  po_pool_done(&views->pool);
}

/* Only what is not on the heap. */
static void
release(void *arg) {
  owner *o = arg;
  po_close_sizes();
  release_views(&o->low.layout);
  release_views(&o->low.views);
  po_pool_done(&o->low.scratch);
}

static owner *
new_owner(const gs_program *source, const gs_target *target,
          const po_options *options, bool cautious) {
  bs_heap *heap = source->ctx.heap;
  po_program *p = po_new_program(&source->ctx, source, target, options->like);
  owner *o = bs_calloc(heap, 1, sizeof *o);
  o->program = p;
  p->strict_fp = options->strict_fp;
  o->low = (po_lowering){.out = p, .source = source, .heap = heap};
  po_pool_init(&o->low.scratch, heap);
  po_pool_init(&o->low.views.pool, heap);
  po_pool_init(&o->low.views.scratch, heap);
  po_pool_init(&o->low.layout.pool, heap);
  po_pool_init(&o->low.layout.scratch, heap);
  bs_defer(heap, release, o);
  o->low.most_operations =
      options->max_operations ? options->max_operations : MAX_OPERATIONS;
  po_bind_isl(p->isl, heap, o->low.most_operations);
  o->low.isl = p->isl;
  o->low.chains = p->chains = options->chains;
  o->low.cautious = p->copies_views = cautious;
  o->low.max_pieces =
      options->max_pieces ? options->max_pieces : DEFAULT_PIECES;
  return o;
}

/* C has them as parameters. */
static void
open_sizes(po_lowering *low) {
  const gs_sizes *s = low->source->sizes;
  const char *names[GS_MOST_SIZES];
  for (uint32_t k = 0; s && k < s->n; k++)
    names[k] = po_fresh_name(low, "", s->list[k].name);
  if (s)
    po_open_sizes(low->out, names);
}

static void
emit_base(po_lowering *low, gs_term t) {
  gs_op op = gs_at(low->source, t)->op;
  if (op == GS_COMPUTE && !low->cut[t.i].made) {
    if (po_recurs_in(low, t))
      po_emit_compute(low, t); /* its nest will not stay as it is */
    else
      po_emit_alike(low, t);
  } else if (op == GS_CALL) {
    po_emit_call(low, t);
  } else {
    const po_placement *placement = po_placement_of(low, t);
    gs_type type;
    gs_type_at(low->source, t, &type);
    po_emit_copies(low, po_stored(low, t), &type,
                   &(po_target){placement->array, placement->map}, t);
  }
}

static void
emit_output(po_lowering *low, uint32_t k) {
  assert(k < low->source->outputs.len);
  gs_term t = low->source->outputs.data[k].term;
  gs_type type;
  gs_type_at(low->source, t, &type);
  po_pool_reserve(&low->scratch, 1);
  isl_multi_aff *map =
      po_keep_multi_aff(&low->scratch, po_identity(low->isl, type.rank));
  po_emit_copies(low, &low->views.of[t.i], &type,
                 &(po_target){low->source->inputs.len + k, map}, t);
}

/* The recurrence whose steps are being emitted. */
typedef struct steps {
  uint32_t of;     /* as po_recurs_in */
  uint32_t before; /* the last child of the root before them */
} steps;

static void
enter_step(po_lowering *low, steps *s, uint32_t step) {
  if (s->of == step)
    return;
  if (s->of)
    po_join_steps(low, s->before);
  *s = (steps){step, low->out->nest.nodes.data[0].last};
}

static void
emit_all(po_lowering *low) {
  uint32_t n = low->order.len + low->source->outputs.len;
  steps s = {0};
  for (uint32_t k = 0; k < n && !po_has_failed(low); k++) {
    uint32_t mark = po_pool_mark(&low->scratch);
    po_bind_isl(low->isl, low->heap, low->most_operations);
    enter_step(low, &s,
               k < low->order.len ? po_recurs_in(low, low->order.data[k]) : 0);
    if (k < low->order.len)
      emit_base(low, low->order.data[k]);
    else
      emit_output(low, k - low->order.len);
    po_pool_release(&low->scratch, mark);
  }
}

static void
lower(po_lowering *low) {
  uint32_t n = low->source->nodes.len;
  open_sizes(low);
  if (!po_check_sizes(low)) {
    low->failed = true;
    return;
  }
  low->cut = bs_calloc(low->heap, n, sizeof *low->cut);
  low->placements = bs_calloc(low->heap, n, sizeof *low->placements);
  low->packed_of = bs_calloc(low->heap, n, sizeof *low->packed_of);
  po_declare_arrays(low);
  if (!po_plan(low)) {
    low->failed = true;
    return;
  }
  if (!po_has_failed(low) && low->chains && !low->cautious)
    po_find_chains(low);
  if (!po_has_failed(low))
    po_find_placements(low);
  emit_all(low);
  if (po_has_failed(low))
    return;
  po_close_sizes();
  if (low->out->chains)
    po_turn_sums(low->out);
  po_turn_divisors(low->out);
  low->failed = !po_allocate(low->out);
  po_lay_out(low->out);
}

static void
end_lowering(owner *o) {
  po_lowering *low = &o->low;
  bs_heap *heap = low->heap;
  bs_undefer(heap, release, o);
  po_close_sizes();
  for (uint32_t k = 0; low->cut && k < low->source->nodes.len; k++)
    bs_vec_done(heap, &low->cut[k].pieces);
  po_views_done(&low->layout);
  po_views_done(&low->views);
  po_pool_done(&low->scratch);
  bs_free(heap, low->cut);
  bs_free(heap, low->placements);
  bs_free(heap, low->chained);
  bs_free(heap, low->recurs);
  bs_free(heap, low->packed_of);
  po_known_done(heap, &low->seen);
  po_known_done(heap, &low->composed);
  po_known_done(heap, &low->threads);
  po_known_done(heap, &low->cuts);
  po_emitted_done(low);
  bs_vec_done(heap, &low->packed);
  bs_vec_done(heap, &low->widened);
  bs_vec_done(heap, &low->named);
  bs_vec_done(heap, &low->order);
  bs_free(heap, o);
}

static void
report(const gs_program *source, isl_ctx *isl) {
  bool quota = po_gave_up(isl);
  const char *message = isl_ctx_last_error_msg(isl);
  bs_error(source->ctx.diags, BS_NOWHERE, "too-complex",
           "the program could not be lowered: %s",
           quota ? "its access relations are too complex"
                 : "the integer set library failed");
  if (!quota && message)
    bs_hint(source->ctx.diags, "it says: %s", message);
}

/* NULL when it failed; *again: another way is worth a try. */
static po_program *
try_to_lower(const gs_program *source, const gs_target *target,
             const po_options *options, bool cautious, bool *again) {
  owner *o = new_owner(source, target, options, cautious);
  po_program *p = o->program;
  lower(&o->low);
  bool ok = !po_has_failed(&o->low), told = o->low.failed;
  end_lowering(o);
  *again = !ok && !told && !cautious;
  if (!ok && !told && cautious)
    report(source, p->isl);
  po_bind_isl(p->isl, p->ctx.heap, 0);
  if (ok && po_verify(p, "lowering"))
    return p;
  po_free(p);
  return NULL;
}

po_program *
po_lower(const gs_program *source, const gs_target *target,
         const po_options *options) {
  bool again = false;
  source = gs_without_scans(source);
  if (!source)
    return NULL;
  po_program *p = try_to_lower(source, target, options, false, &again);
  return again ? try_to_lower(source, target, options, true, &again) : p;
}

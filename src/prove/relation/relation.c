/* SPDX-License-Identifier: MIT */
/* relation.c - proofs by relations: every base term once, in order, then the
 * pairs.
 *
 * A base whose value cannot be said is an atom of its own, so that what reads
 * it can still be compared.  isl's operations are counted over the whole
 * session; past the bound every one of them fails, and nothing is proved. */
#include "prove/relation/relation.h"
#include "glenside/array/inspect.h"
#include "poly/loops/limit.h"
#include <isl/ctx.h>
#include <isl/options.h>

/* isl's objects; what is on the heap goes with it. */
static void
done(void *arg) {
  pv_relations *r = arg;
  if (!r->isl)
    return;
  po_pool_done(&r->views.scratch);
  po_pool_done(&r->views.pool);
  po_pool_done(&r->passing);
  po_pool_done(&r->kept);
  po_free_isl(r->isl);
  r->isl = NULL;
}

/* The views read what is used how often: roots are used, too. */
static void
note_roots(pv_session *s) {
  for (uint32_t k = 0; k < s->n_pairs; k++) {
    gs_add_output(s->plain, bs_arena_printf(s->ctx.arena, "left %u", k),
                  s->pairs[k].left, BS_NOWHERE);
    gs_add_output(s->plain, bs_arena_printf(s->ctx.arena, "right %u", k),
                  s->pairs[k].right, BS_NOWHERE);
  }
}

static pv_relations *
open_relations(pv_session *s, const uint8_t *live) {
  bs_heap *heap = s->ctx.heap;
  pv_relations *r = bs_calloc(heap, 1, sizeof *r);
  bs_defer(heap, done, r);
  r->s = s;
  r->heap = heap;
  po_pool_init(&r->kept, heap);
  po_pool_init(&r->passing, heap);
  r->views.heap = heap;
  po_pool_init(&r->views.pool, heap);
  po_pool_init(&r->views.scratch, heap);
  r->isl = isl_ctx_alloc();
  isl_options_set_on_error(r->isl, ISL_ON_ERROR_CONTINUE);
  po_bind_isl(r->isl, heap, s->options->max_operations);
  po_views_init(&r->views, s->plain, r->isl, heap, live);
  r->of = bs_calloc(heap, s->plain->nodes.len + (size_t)1, sizeof *r->of);
  r->seen = bs_calloc(heap, s->plain->nodes.len + (size_t)1, 1);
  bs_push(heap, &r->atoms, (pv_atom_row){.kind = PV_ATOM_LOWEST});
  return r;
}

static bool
isl_is_well(const pv_relations *r) {
  return isl_ctx_last_error(r->isl) == isl_error_none &&
         !r->views.pool.failed && !r->views.too_many;
}

/* --- bases ---------------------------------------------------------------- */

static void
make_atom(pv_relations *r, gs_term t, pv_series *out) {
  gs_type type;
  gs_type_at(r->s->plain, t, &type);
  pv_entry e = {.times = PV_ONE, .n = 1, .atoms = {pv_atom_of_term(r, t)}};
  po_pool_reserve(&r->passing, 1);
  isl_map *all = isl_map_from_multi_aff(po_identity(r->isl, type.rank));
  e.map = isl_map_intersect_domain(all, po_box(r->isl, type.dim, type.rank));
  e.map = PV_PASS(r, e.map);
  bs_push(r->heap, out, e);
}

static bool
same_everywhere(const gs_constant *c, pv_number *out) {
  gs_tensor t = gs_tensor_of(c);
  double first;
  return gs_has_one_value(&t, &first) &&
         pv_number_of_real(c->type.dtype, first, out);
}

static void
make_constant(pv_relations *r, gs_term t, pv_series *out) {
  const gs_program *p = r->s->plain;
  const gs_constant *c = gs_constant_of(p, gs_at(p, t)->attr);
  pv_entry e = {0};
  if (!c || !same_everywhere(c, &e.times)) {
    make_atom(r, t, out);
    return;
  }
  isl_set *box = PV_PASS_SET(r, po_box(r->isl, c->type.dim, c->type.rank));
  e.map = PV_PASS(r, isl_map_from_domain(isl_set_copy(box)));
  pv_series_put(r, c->type.dtype, out, &e);
}

static void
make_compute(pv_relations *r, gs_term t, pv_series *out) {
  for (int solid = 0; solid < 2; solid++) {
    if (pv_relate_compute(r, t, solid, out))
      return;
    pv_series_done(r, out);
    if (!isl_is_well(r))
      return;
    r->failed = false;
  }
  make_atom(r, t, out);
}

/* Views are made where something looks through them. */
static void
mark_looked_at(const gs_program *p, const pv_session *s, const uint8_t *live,
               uint8_t *wanted) {
  for (uint32_t k = 0; k < s->n_pairs; k++)
    wanted[s->pairs[k].left.i] = wanted[s->pairs[k].right.i] = 1;
  for (uint32_t i = p->nodes.len; i-- > 0;) {
    const gs_node *n = &p->nodes.data[i];
    if (!live[i] || (gs_op_table[n->op].view && !wanted[i]))
      continue;
    if (pv_reads_apart(p, (gs_term){i}))
      n = gs_at(p, n->kids[0]);
    for (uint32_t k = 0; k < n->n_kids; k++)
      wanted[n->kids[k].i] = 1;
  }
}

static bool
make_term(pv_relations *r, gs_term t) {
  gs_op op = gs_at(r->s->plain, t)->op;
  po_view_make(&r->views, t);
  if (!isl_is_well(r))
    return false;
  if (gs_op_table[op].view)
    return true;
  if (op == GS_TENSOR)
    make_atom(r, t, &r->of[t.i]);
  else if (op == GS_CONST)
    make_constant(r, t, &r->of[t.i]);
  else
    make_compute(r, t, &r->of[t.i]);
  pv_series_keep(r, &r->of[t.i]);
  r->seen[t.i] = 1;
  po_pool_release(&r->passing, 0);
  return !r->failed;
}

static bool
prove_pair(pv_relations *r, const pv_pair *pair) {
  gs_type type;
  gs_type_at(r->s->plain, pair->left, &type);
  pv_series a = pv_series_of_view(r, pair->left);
  pv_series b = pv_series_of_view(r, pair->right);
  bool equal = !r->failed && pv_series_equal(r, type.dtype, &a, &b) &&
               !r->failed && isl_is_well(r);
  pv_series_done(r, &a);
  pv_series_done(r, &b);
  po_pool_release(&r->passing, 0);
  if (isl_is_well(r))
    r->failed = false;
  return equal;
}

static void
count_relations(const pv_relations *r) {
  pv_counts *c = r->s->options->counts;
  pv_count(c, PV_W_ATOMS, r->atoms.len);
  for (uint32_t k = 0; k < r->s->plain->nodes.len; k++)
    pv_count(c, PV_W_ENTRIES, r->of[k].len);
}

void
pv_prove_by_relations(pv_session *s) {
  uint32_t n = s->plain->nodes.len;
  uint8_t *live = bs_calloc(s->ctx.heap, n + (size_t)1, 1);
  pv_mark(s->plain, s->pairs, s->n_pairs, live);
  bool plain = pv_is_plain(s->plain, live);
  note_roots(s);
  if (!plain)
    return;
  uint8_t *wanted = bs_calloc(s->ctx.heap, n + (size_t)1, 1);
  mark_looked_at(s->plain, s, live, wanted);
  pv_relations *r = open_relations(s, live);
  for (uint32_t k = 0; k < n && !r->failed; k++)
    if (wanted[k] && !make_term(r, (gs_term){k}))
      r->failed = true;
  for (uint32_t k = 0; k < s->n_pairs && !r->failed; k++)
    if (!s->proved[k])
      s->proved[k] = prove_pair(r, &s->pairs[k]);
  s->any_order |= r->any_order;
  count_relations(r);
  done(r);
}

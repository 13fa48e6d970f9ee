/* SPDX-License-Identifier: MIT */
/* contraction_program.c - the contractions of a program: which groups of
 * statements run around a register-tiled kernel, and the arrays they pack. */
#include "poly/loops/affine.h"
#include "poly/kernel/contraction.h"

static int64_t
round_up(int64_t n, int64_t to) {
  return (n + to - 1) / to * to;
}

/* Below this the kernel is not worth its code. */
#define LEAST_PRODUCTS 4096

static bool
is_worth_it(const po_contraction *c) {
  int64_t m = po_cdims_size(&c->dims[PO_DIM_M]);
  int64_t n = po_cdims_size(&c->dims[PO_DIM_N]);
  int64_t k = po_cdims_size(&c->dims[PO_DIM_K]);
  return m > 1 && n > 1 && (double)m * (double)n * (double)k >= LEAST_PRODUCTS;
}

/* The array of an operand that is packed whole. */
static uint32_t
add_packed(po_program *p, const po_contraction *c, bool x) {
  int64_t panel = (int64_t)c->nv * c->lanes;
  int64_t rows = x ? round_up(po_cdims_size(&c->dims[PO_DIM_M]), c->mr)
                   : round_up(po_cdims_size(&c->dims[PO_DIM_N]), panel);
  po_array packed = {
      .name = bs_arena_printf(&p->arena, "glen_packed%u", p->arrays.len),
      .role = (x ? c->x_mode : c->y_mode) == PO_BEFORE ? PO_PREPACKED
                                                       : PO_WORKSPACE,
      .dtype = c->dtype,
      .rank = 1,
      .dim = {rows * po_cdims_size(&c->dims[PO_DIM_K])},
      .term = GS_NO_TERM,
      .packed = true};
  bs_push(p->ctx.heap, &p->arrays, packed);
  return p->arrays.len - 1;
}

/* Each loop runs over one index, in order, and has no mark but parallel. */
static bool
is_as_lowered(const po_program *p, const po_stmt *s) {
  uint32_t loops[PO_MAX_DEPTH], n = po_nest_loops(p, s->leaf, loops);
  for (uint32_t k = 0; k < n; k++)
    if (p->nest.nodes.data[loops[k]].mark > PO_PARALLEL)
      return false;
  if (n != s->n_iters)
    return false;
  isl_multi_aff *identity = po_identity(p->isl, n);
  isl_multi_aff *time =
      isl_multi_aff_reset_tuple_id(isl_multi_aff_copy(s->time), isl_dim_in);
  time = isl_multi_aff_reset_tuple_id(time, isl_dim_out);
  bool same = isl_multi_aff_plain_is_equal(time, identity) == isl_bool_true;
  isl_multi_aff_free(time);
  isl_multi_aff_free(identity);
  return same;
}

/* One packed array serves all of the outer loops: there must be none. */
static bool
is_constant(const po_program *p, const po_contraction *c, uint32_t array) {
  const po_array *a = &p->arrays.data[array];
  return (a->prepack || a->before) && !c->dims[PO_DIM_O].n;
}

/* formula: a statement that may be computed where sums are stored. */
static bool
plan_group(po_program *p, const uint32_t *stmts, uint32_t n, uint32_t formula,
           po_contraction *out, po_contraction room[2]) {
  if (n < 2 || n > 3)
    return false;
  for (uint32_t k = 0; k < n; k++)
    if (!is_as_lowered(p, &p->stmts.data[stmts[k]]))
      return false;
  uint32_t store = n == 3 ? stmts[2] : UINT32_MAX;
  bool found = formula != UINT32_MAX &&
               po_may_be_formula(p, stmts[n - 1], formula) &&
               po_find_contraction(p, stmts[0], stmts[1], store, formula, out);
  found = found ||
          po_find_contraction(p, stmts[0], stmts[1], store, UINT32_MAX, out);
  if (!found || !is_worth_it(out))
    return false;
  const bool constant[2] = {is_constant(p, out, out->x.array),
                            is_constant(p, out, out->y.array)};
  po_plan_contraction(p->target, constant, out, room);
  return true;
}

/* The statement of the next group, where it is alone and as it was lowered; for
 * a group that may be a contraction: this is asked after each step of a
 * schedule. */
static uint32_t
formula_behind(const po_program *p, const po_groups *groups, uint32_t k) {
  const po_group *next = &groups->list.data[k] + 1;
  if (k + 1 == groups->list.len || next->n != 1 || next[-1].n < 2)
    return UINT32_MAX;
  uint32_t stmt = groups->stmts.data[next->first];
  return is_as_lowered(p, &p->stmts.data[stmt]) ? stmt : UINT32_MAX;
}

void
po_plan_contractions(po_program *p, const po_groups *groups) {
  while (p->arrays.len && p->arrays.data[p->arrays.len - 1].packed)
    p->arrays.len--;
  bs_clear(&p->contractions);
  po_contraction *room = bs_calloc(p->ctx.heap, 3, sizeof *room), *c = room;
  for (uint32_t k = 0; k < groups->list.len && !p->plain; k++) {
    const po_group *group = &groups->list.data[k];
    if (!plan_group(p, groups->stmts.data + group->first, group->n,
                    formula_behind(p, groups, k), c, room + 1))
      continue;
    if (po_is_packed_whole(c->x_mode))
      c->packed_x = add_packed(p, c, true);
    if (po_is_packed_whole(c->y_mode))
      c->packed_y = add_packed(p, c, false);
    const po_contraction *kept = bs_arena_copy(&p->arena, c, sizeof *c);
    bs_push(p->ctx.heap, &p->contractions, kept);
  }
  bs_free(p->ctx.heap, room);
}

const po_contraction *
po_contraction_of(const po_program *p, const po_groups *groups,
                  const po_group *group) {
  uint32_t first = groups->stmts.data[group->first];
  uint32_t lo = 0, hi = p->contractions.len;
  if (group->n < 2 || group->n > 4)
    return NULL;
  for (uint32_t k = lo; k < hi; k++)
    if (p->contractions.data[k]->init == first)
      return p->contractions.data[k];
  return NULL;
}

/* SPDX-License-Identifier: MIT */
/* operate.c - the value of a compute term as a sum over relations.
 *
 * Sums and products are taken apart; extrema are sets; every other operator
 * makes new atoms of the elements of its operand.  Where integers change to a
 * wider dtype, and where bf16 rounds, a sum is one element from then on. */
#include "glenside/array/tensor.h"
#include "prove/relation/operating.h"
#include <assert.h>

/* A sum as elements, over a box. */
static void
solidify(pv_relations *r, gs_dtype d, pv_series *s, const gs_type *over) {
  pv_cells cells = pv_cells_of(r, d, s, over);
  pv_series_done(r, s);
  *s = pv_series_of_cells(r, d, &cells);
  pv_cells_done(r, &cells);
}

/* What sums need: elements where a sum wraps or rounds before. */
static void
solidify_operand(pv_operating *x) {
  if (x->from.dtype != x->to.dtype || gs_is_half(x->from.dtype))
    solidify(x->r, x->from.dtype, &x->in, &x->from);
}

void
pv_operating_solidify_items(pv_operating *x) {
  x->solid |= x->from.dtype != x->to.dtype || gs_is_half(x->from.dtype);
}

/* One side of a pair or cartProd as a sum over the item's indices. */
static pv_series
side(pv_operating *x, uint32_t k) {
  pv_relations *r = x->r;
  const gs_program *p = r->s->plain;
  const gs_node *node = gs_at(p, x->tuple);
  const pv_series *seen = pv_series_seen(r, node->kids[k]);
  pv_series out = {0};
  gs_type mine;
  gs_type_at(p, node->kids[k], &mine);
  uint32_t others = (uint32_t)x->item.access - mine.access;
  isl_set *box = PV_PASS_SET(r, po_box(r->isl, x->item.dim, x->item.rank));
  for (uint32_t i = 0; i < seen->len && !r->failed; i++) {
    pv_entry e = seen->data[i];
    if (others) {
      po_pool_reserve(&r->passing, 1);
      isl_map *m = isl_map_insert_dims(isl_map_copy(e.map), isl_dim_in,
                                       k ? 0 : mine.access, others);
      e.map = PV_PASS(r, isl_map_intersect_domain(m, isl_set_copy(box)));
    }
    bs_push(r->heap, &out, e);
  }
  return out;
}

/* Item k of the tuple. */
pv_series
pv_operating_item_at(pv_operating *x, uint32_t k) {
  assert(gs_term_ok(x->tuple) || x->from.access < x->from.rank);
  pv_series out = gs_term_ok(x->tuple)
                      ? side(x, k)
                      : pv_series_item(x->r, &x->in, &x->from, k);
  if (x->solid && !x->r->failed)
    solidify(x->r, x->from.dtype, &out, &x->item);
  return out;
}

static int64_t
item_elements(const pv_operating *x) {
  return gs_prod(x->from.dim + x->from.access,
                 (uint32_t)x->from.rank - x->from.access);
}

uint32_t
pv_operating_tuple_size(const pv_operating *x) {
  assert(x->from.access < x->from.rank);
  return x->from.dim[x->from.access] > PV_MAX_TUPLE
             ? 0
             : (uint32_t)x->from.dim[x->from.access];
}

/* --- applications --------------------------------------------------------- */

/* What 0 becomes; false where that is not known, and `out` means nothing. */
static bool
of_zero(gs_compute op, pv_number *out) {
  assert(op < GS_COMPUTE_COUNT);
  gs_of_zeros z = gs_compute_table[op].of_zeros;
  *out = z == GS_OF_ZEROS_ONE ? PV_ONE : PV_ZERO;
  return z == GS_OF_ZEROS_ZERO || z == GS_OF_ZEROS_ONE;
}

/* The operator on each cell of one operand. */
static pv_series
apply_one(pv_relations *r, gs_dtype to, gs_compute op, bs_value o,
          uint32_t more, const pv_cells *cells) {
  assert(op < GS_COMPUTE_COUNT);
  pv_series out = {0};
  for (uint32_t k = 0; k < cells->len && !r->failed; k++) {
    const pv_cell *c = &cells->data[k];
    pv_entry arg = {.times = PV_ONE, .n = 1, .atoms = {c->atom}};
    pv_entry e = {.times = PV_ONE, .n = 1, .map = c->map};
    if (c->number) {
      arg.times = c->value;
      arg.n = 0;
      e.map = PV_PASS(r, isl_map_from_domain(isl_set_copy(c->set)));
    }
    pv_number made;
    if (c->number && !c->value.num && of_zero(op, &made)) {
      e.times = made;
      e.n = 0;
    } else {
      e.atoms[0] = pv_atom_apply(r, to, o, more, &arg, 1);
    }
    pv_series_put(r, to, &out, &e);
  }
  return out;
}

pv_series
pv_operating_apply(pv_operating *x, gs_compute op, bs_value o, uint32_t more,
                   pv_series *in, gs_dtype from, const gs_type *over) {
  assert(op < GS_COMPUTE_COUNT && from < GS_DTYPE_COUNT);
  pv_cells cells = pv_cells_of(x->r, from, in, over);
  pv_series out = apply_one(x->r, x->to.dtype, op, o, more, &cells);
  pv_cells_done(x->r, &cells);
  return out;
}

/* One cell of each operand, over the set where all cells overlap. */
typedef struct overlap {
  pv_operating *x;
  const pv_cells *operands;
  uint32_t n;
  const pv_cell *at[PV_MAX_ITEMS];
  pv_series out;
} overlap;

static void
apply_overlap(overlap *m, isl_set *set) {
  pv_relations *r = m->x->r;
  pv_entry args[PV_MAX_ITEMS];
  pv_entry e = {.times = PV_ONE, .n = 1};
  e.map = PV_PASS(r, isl_map_from_domain(isl_set_copy(set)));
  for (uint32_t k = 0; k < m->n; k++) {
    const pv_cell *c = m->at[k];
    args[k] = (pv_entry){.times = PV_ONE, .n = 1, .atoms = {c->atom}};
    if (c->number) {
      args[k].times = c->value;
      args[k].n = 0;
    } else {
      e.map = PV_PASS(r, isl_map_flat_range_product(isl_map_copy(e.map),
                                                    isl_map_copy(c->map)));
    }
  }
  e.atoms[0] = pv_atom_apply(r, m->x->to.dtype, m->x->o, 0, args, m->n);
  pv_series_put(r, m->x->to.dtype, &m->out, &e);
}

static void
overlap_from(overlap *m, uint32_t k, isl_set *set) {
  assert(k <= m->n);
  pv_relations *r = m->x->r;
  if (k == m->n || k == PV_MAX_ITEMS) {
    apply_overlap(m, set);
    return;
  }
  for (uint32_t i = 0; i < m->operands[k].len && !r->failed; i++) {
    m->at[k] = &m->operands[k].data[i];
    isl_set *both = PV_PASS_SET(
        r, isl_set_intersect(isl_set_copy(set), isl_set_copy(m->at[k]->set)));
    if (!pv_is_true(r, isl_set_is_empty(both)))
      overlap_from(m, k + 1, both);
  }
}

/* An operator of two or three items, element by element. */
pv_series
pv_operating_apply_items(pv_operating *x) {
  pv_relations *r = x->r;
  pv_cells cells[PV_MAX_ITEMS] = {0};
  overlap m = {.x = x, .operands = cells, .n = pv_operating_tuple_size(x)};
  if (m.n < 2 || m.n > PV_MAX_ITEMS) {
    r->failed = true;
    return m.out;
  }
  for (uint32_t k = 0; k < m.n && !r->failed; k++) {
    pv_series item = pv_operating_item_at(x, k);
    cells[k] = pv_cells_of(r, x->from.dtype, &item, &x->item);
    pv_series_done(r, &item);
  }
  isl_set *box = PV_PASS_SET(r, po_box(r->isl, x->item.dim, x->item.rank));
  if (!r->failed)
    overlap_from(&m, 0, box);
  for (uint32_t k = 0; k < m.n; k++)
    pv_cells_done(r, &cells[k]);
  return m.out;
}

/* --- linear operators ----------------------------------------------------- */

static pv_series
mean(pv_operating *x) {
  pv_relations *r = x->r;
  int64_t n = item_elements(x);
  pv_series sum =
      pv_series_reduced(r, x->to.dtype, &x->in, &x->from, x->from.access);
  if (!pv_is_integer(x->to.dtype)) {
    pv_series_times(r, x->to.dtype, &sum, pv_number_share(n));
    return sum;
  }
  pv_series out = {0};
  if (n > UINT32_MAX)
    r->failed = true;
  if (!r->failed)
    out = pv_operating_apply(x, GS_C_REDUCE_MEAN, x->o, (uint32_t)n, &sum,
                             x->to.dtype, &x->to);
  pv_series_done(r, &sum);
  return out;
}

pv_series
pv_operating_product_of_items(pv_operating *x, uint32_t n) {
  pv_relations *r = x->r;
  pv_series out = pv_operating_item_at(x, 0);
  r->failed |= n == 0;
  for (uint32_t k = 1; k < n && !r->failed; k++) {
    pv_series item = pv_operating_item_at(x, k);
    pv_series both = pv_series_product(r, x->to.dtype, &out, &item);
    pv_series_done(r, &out);
    pv_series_done(r, &item);
    out = both;
  }
  return out;
}

static pv_series
dot(pv_operating *x) {
  pv_operating_solidify_items(x);
  pv_series product =
      pv_operating_product_of_items(x, pv_operating_tuple_size(x));
  pv_series out =
      pv_series_reduced(x->r, x->to.dtype, &product, &x->item, x->from.access);
  pv_series_done(x->r, &product);
  return out;
}

/* The number everywhere. */
static pv_series
constant(pv_relations *r, gs_dtype d, pv_number n, const gs_type *over) {
  pv_series out = {0};
  pv_entry e = {.times = n};
  isl_set *box = PV_PASS_SET(r, po_box(r->isl, over->dim, over->rank));
  e.map = PV_PASS(r, isl_map_from_domain(isl_set_copy(box)));
  pv_series_put(r, d, &out, &e);
  return out;
}

static bool
parameter(pv_operating *x, uint32_t k, pv_number *out) {
  assert(k < 2);
  gs_dtype d = x->to.dtype;
  double p = gs_parameter_value(x->values, x->o, k, d);
  return pv_number_of_real(d, pv_taken_number(x->op, d, p), out);
}

/* --- elementwise ---------------------------------------------------------- */

static pv_series
bounded(pv_operating *x, bool max, const pv_series *s, pv_number bound) {
  pv_series both[2] = {*s, constant(x->r, x->to.dtype, bound, &x->to)};
  /* a bound of 0 is no entry: its cell is the number all the same */
  pv_series out =
      pv_series_extremum(x->r, x->to.dtype, max, both, 2, &x->to, x->to.rank);
  pv_series_done(x->r, &both[1]);
  return out;
}

static pv_series
clip(pv_operating *x) {
  pv_number lo, hi;
  if (!parameter(x, 0, &lo) || !parameter(x, 1, &hi)) {
    x->r->failed = true;
    return (pv_series){0};
  }
  pv_series raised = bounded(x, true, &x->in, lo);
  pv_series out = {0};
  if (!x->r->failed)
    out = bounded(x, false, &raised, hi);
  pv_series_done(x->r, &raised);
  return out;
}

static pv_series
copy_of(pv_relations *r, const pv_series *s) {
  pv_series out = {0};
  for (uint32_t k = 0; k < s->len; k++)
    bs_push(r->heap, &out, s->data[k]);
  return out;
}

static pv_series
scaled(pv_operating *x) {
  pv_number n;
  pv_series out;
  if (x->op == GS_C_NEG) {
    n = pv_number_of_int(x->to.dtype, -1);
  } else {
    solidify_operand(x);
    if (!parameter(x, 0, &n))
      x->r->failed = true;
  }
  out = copy_of(x->r, &x->in);
  if (!x->r->failed)
    pv_series_times(x->r, x->to.dtype, &out, n);
  return out;
}

static pv_series
shifted(pv_operating *x) {
  pv_number n;
  if (!parameter(x, 0, &n)) {
    x->r->failed = true;
    return (pv_series){0};
  }
  solidify_operand(x);
  pv_series out = copy_of(x->r, &x->in);
  pv_series c = constant(x->r, x->to.dtype, n, &x->to);
  pv_operating_add_all(x->r, x->to.dtype, &out, &c);
  pv_series_done(x->r, &c);
  return out;
}

static pv_series
applied(pv_operating *x) {
  return pv_operating_apply(x, x->op, x->o, 0, &x->in, x->from.dtype, &x->from);
}

static pv_series
elementwise(pv_operating *x) {
  switch (gs_compute_table[x->op].form) {
  case GS_FORM_NEGATE:
  case GS_FORM_SCALE:
    return scaled(x);
  case GS_FORM_OFFSET:
    return shifted(x);
  case GS_FORM_SQUARE:
    solidify_operand(x);
    return pv_series_product(x->r, x->to.dtype, &x->in, &x->in);
  case GS_FORM_RELU:
    return bounded(x, true, &x->in, PV_ZERO);
  case GS_FORM_CLIP:
    return clip(x);
  case GS_FORM_ABS:
    return gs_is_unsigned(x->to.dtype) ? copy_of(x->r, &x->in) : applied(x);
  case GS_FORM_FLOOR:
    return pv_is_integer(x->to.dtype) ? copy_of(x->r, &x->in) : applied(x);
  case GS_FORM_FUNCTION:
  case GS_FORM_NONE:
    break;
  }
  return applied(x);
}

/* Whether every value of `from` is one of `to`. */
static bool
holds(gs_dtype to, gs_dtype from) {
  return !gs_is_half(to) && gs_dtype_holds(to, from);
}

static pv_series
cast(pv_operating *x) {
  if (x->to.dtype == x->from.dtype)
    return copy_of(x->r, &x->in);
  if (!holds(x->to.dtype, x->from.dtype))
    return pv_operating_apply(x, x->op, x->o, 1 + x->from.dtype, &x->in,
                              x->from.dtype, &x->from);
  solidify(x->r, x->from.dtype, &x->in, &x->from);
  return copy_of(x->r, &x->in);
}

/* exp(x) / sum of exp over the item, where no x is infinite */
static pv_series
softmax(pv_operating *x) {
  pv_relations *r = x->r;
  bs_value name = bs_sym(r->s->ctx.values, gs_compute_table[GS_C_EXP].name);
  gs_type outer = x->from;
  pv_series wide = {0};
  outer.rank = outer.access;
  if (!pv_is_real(x->to.dtype)) {
    r->failed = true;
    return wide;
  }
  for (uint32_t k = 0; k < x->in.len; k++)
    r->failed |= pv_entry_is_partial(r, &x->in.data[k]);
  pv_series e =
      pv_operating_apply(x, GS_C_EXP, name, 0, &x->in, x->from.dtype, &x->from);
  pv_series sum =
      pv_series_reduced(r, x->to.dtype, &e, &x->from, x->from.access);
  pv_series inverse = {0}, out = {0};
  if (!r->failed)
    inverse = pv_operating_recip(x, &sum, &outer);
  isl_set *box = PV_PASS_SET(r, po_box(r->isl, x->from.dim, x->from.rank));
  for (uint32_t k = 0; k < inverse.len && !r->failed; k++) {
    pv_entry p = inverse.data[k];
    po_pool_reserve(&r->passing, 1);
    isl_map *m =
        isl_map_insert_dims(isl_map_copy(p.map), isl_dim_in, x->from.access,
                            (unsigned)x->from.rank - x->from.access);
    p.map = PV_PASS(r, isl_map_intersect_domain(m, isl_set_copy(box)));
    pv_series_put(r, x->to.dtype, &wide, &p);
  }
  if (!r->failed)
    out = pv_series_product(r, x->to.dtype, &e, &wide);
  pv_series_done(r, &e);
  pv_series_done(r, &sum);
  pv_series_done(r, &inverse);
  pv_series_done(r, &wide);
  return out;
}

/* --- all ------------------------------------------------------------------ */

static pv_series
reduce(pv_operating *x) {
  gs_fold fold = gs_compute_table[x->op].fold;
  switch (fold) {
  case GS_FOLD_ADD:
    solidify_operand(x);
    return x->op == GS_C_REDUCE_MEAN
               ? mean(x)
               : pv_series_reduced(x->r, x->to.dtype, &x->in, &x->from,
                                   x->from.access);
  case GS_FOLD_MAX:
  case GS_FOLD_MIN:
    return pv_series_extremum(x->r, x->to.dtype, fold == GS_FOLD_MAX, &x->in, 1,
                              &x->from, x->from.access);
  case GS_FOLD_MUL:
  case GS_FOLD_SUB:
  case GS_FOLD_DIV:
  case GS_FOLD_NONE:
  case GS_FOLD_COUNT:
    break;
  }
  x->r->failed = true;
  return (pv_series){0};
}

/* Operands and results of more than two items have an order. */
static bool
has_order(const pv_operating *x) {
  gs_compute_kind kind = gs_compute_table[x->op].kind;
  return gs_is_half(x->to.dtype) &&
         (kind == GS_REDUCE || kind == GS_DOT ||
          (kind == GS_FOLD && pv_operating_tuple_size(x) > 2));
}

static pv_series
operate(pv_operating *x) {
  x->r->any_order |= has_order(x);
  switch (gs_compute_table[x->op].kind) {
  case GS_REDUCE:
    return reduce(x);
  case GS_DOT:
    return dot(x);
  case GS_FOLD:
    return pv_operating_fold(x);
  case GS_ELEMENTWISE:
    return elementwise(x);
  case GS_CAST:
    return cast(x);
  case GS_SOFTMAX:
    return softmax(x);
  case GS_SELECT:
    return pv_operating_apply_items(x);
  case GS_GATHER:
  case GS_LOOKUP:
  default:
    x->r->failed = true;
    return (pv_series){0};
  }
}

/* The two items of a pair or cartProd need no view of the tuple. */
bool
pv_reads_apart(const gs_program *p, gs_term t) {
  const gs_node *node = gs_at(p, t);
  gs_compute op;
  if (node->op != GS_COMPUTE ||
      !gs_compute_of(p->ctx.values, bs_item(p->ctx.values, node->attr, 0), &op))
    return false;
  gs_op kid = gs_at(p, node->kids[0])->op;
  gs_compute_kind kind = gs_compute_table[op].kind;
  return (kind == GS_DOT || kind == GS_FOLD) &&
         (kid == GS_PAIR || kid == GS_CARTPROD);
}

bool
pv_relate_compute(pv_relations *r, gs_term t, bool solid, pv_series *out) {
  assert(gs_at(r->s->plain, t)->op == GS_COMPUTE);
  const gs_program *p = r->s->plain;
  const gs_node *node = gs_at(p, t);
  pv_operating x = {.r = r, .values = p->ctx.values};
  x.o = bs_item(x.values, node->attr, 0);
  gs_compute_of(x.values, x.o, &x.op);
  gs_type_at(p, t, &x.to);
  gs_type_at(p, node->kids[0], &x.from);
  x.item = x.from;
  if (x.from.rank > x.from.access) {
    x.item.rank--;
    for (uint32_t d = x.from.access; d < x.item.rank; d++)
      x.item.dim[d] = x.from.dim[d + 1];
  }
  x.tuple = pv_reads_apart(p, t) ? node->kids[0] : GS_NO_TERM;
  x.solid = solid;
  if (!gs_term_ok(x.tuple))
    x.in = pv_series_of_view(r, node->kids[0]);
  if (solid && !gs_term_ok(x.tuple) && !r->failed)
    solidify(r, x.from.dtype, &x.in, &x.from);
  if (!r->failed)
    *out = operate(&x);
  pv_series_done(r, &x.in);
  return !r->failed;
}

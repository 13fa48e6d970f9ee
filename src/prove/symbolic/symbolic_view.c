/* SPDX-License-Identifier: MIT */
/* symbolic_view.c - views over the numbers of a form: their types and rows.
 *
 * What a view is stands in glenside/type/view.h, once for all kinds of numbers;
 * here is what the numbers of a form answer.  What a type needs of its children
 * is known of the left side, since it has a type, and must be shown of the
 * right one. */
#include "prove/symbolic/symbolic_form.h"
#include "glenside/type/view.h"
#include <string.h>

typedef struct reader {
  fm_form *f;
  fm_node *node;
  bool typed; /* which dimensions a broadcast repeats is known */
} reader;

static gs_number
constant(void *arg, int64_t c) {
  return fm_constant(((reader *)arg)->f, c);
}

static gs_number
combine(void *arg, int64_t a, gs_number x, int64_t b, gs_number y, int64_t c) {
  return fm_combine(((reader *)arg)->f, a, (fm_number)x, b, (fm_number)y, c);
}

static gs_number
product(void *arg, gs_number x, gs_number y) {
  return fm_product(((reader *)arg)->f, (fm_number)x, (fm_number)y);
}

static gs_number
quotient(void *arg, gs_number x, gs_number by) {
  return fm_quotient(((reader *)arg)->f, (fm_number)x, (fm_number)by);
}

static bool
is_constant(void *arg, gs_number x, int64_t *out) {
  return fm_is_constant(((reader *)arg)->f, (fm_number)x, out);
}

static bool
needs(void *arg, gs_number x, bool zero) {
  fm_form *f = ((reader *)arg)->f;
  fm_need(f, (fm_number)x, zero);
  return !f->why;
}

/* Where nothing says whether a dimension is repeated, both are looked at. */
static bool
expands(fm_form *f, fm_number from, fm_number to) {
  if (fm_is_equal(f, from, to))
    return false;
  if (fm_is_one(f, from))
    return true;
  fm_number more = fm_combine(f, 1, from, 0, from, -2);
  if (!fm_implied(f, more, false)) {
    if (fm_choose(f)) {
      fm_assume(f, fm_combine(f, 1, from, 0, from, -1), true);
      return true;
    }
    fm_assume(f, more, false);
  }
  fm_need_equal(f, from, to);
  return false;
}

static int
repeats(void *arg, uint32_t k, gs_number from, gs_number to) {
  reader *r = arg;
  if (!r->typed && expands(r->f, (fm_number)from, (fm_number)to))
    r->node->expands |= 1u << k;
  return r->f->why ? -1 : (int)(r->node->expands >> k & 1);
}

static int32_t
item(void *arg, uint32_t k, gs_number *out, uint32_t max) {
  const fm_value *v = &((reader *)arg)->node->attr[k];
  if ((v->kind != FM_INT && v->kind != FM_LIST) || v->n > max)
    return -1;
  for (uint32_t i = 0; i < v->n; i++)
    out[i] = v->at[i];
  return (int32_t)v->n;
}

static bs_value
word(void *arg, uint32_t k) {
  const fm_value *v = &((reader *)arg)->node->attr[k];
  return v->kind == FM_DATUM ? v->datum : BS_NIL;
}

static gs_numbers
numbers_of(reader *r) {
  return (gs_numbers){.arg = r,
                      .constant = constant,
                      .combine = combine,
                      .product = product,
                      .quotient = quotient,
                      .is_constant = is_constant,
                      .needs = needs,
                      .repeats = repeats,
                      .item = item,
                      .word = word};
}

static gs_type
type_of(const fm_type *t) {
  gs_type out = {.access = (uint8_t)t->access,
                 .rank = (uint8_t)t->rank,
                 .dtype = t->dtype};
  for (uint32_t d = 0; d < t->rank; d++)
    out.dim[d] = t->dim[d];
  return out;
}

/* The list of one number a compute dimension that is left out is of ones. */
static void
fill_in(fm_form *f, fm_node *node, uint32_t items) {
  const char *letters = gs_op_table[node->sk->op].attrs;
  for (uint32_t k = 0; letters[k]; k++) {
    fm_value *v = &node->attr[k];
    bool is_left_out = k >= node->sk->n_attrs || !node->sk->attrs[k];
    if (letters[k] != 'C' || v->kind != FM_UNKNOWN || !is_left_out)
      continue;
    *v = (fm_value){.kind = FM_LIST, .n = items};
    for (uint32_t i = 0; i < items; i++)
      v->at[i] = fm_constant(f, 1);
  }
}

/* Types of both children, the second the first where there is one. */
static void
types_of(const fm_side *side, const fm_node *node, gs_type out[2]) {
  const gs_sk_node *sk = node->sk;
  out[0] = type_of(&side->node[sk->kids[0]].type);
  out[1] = type_of(&side->node[sk->kids[sk->n_kids - 1]].type);
}

void
fm_infer_view(fm_form *f, const fm_side *side, fm_node *node) {
  reader r = {.f = f, .node = node};
  gs_numbers over = numbers_of(&r);
  gs_type kids[2], made;
  types_of(side, node, kids);
  fill_in(f, node, kids[0].rank - kids[0].access);
  if (!gs_infer_over(&over, node->sk->op,
                     (const gs_type *[]){&kids[0], &kids[1]}, &made)) {
    fm_fail(f, "attributes that are not known");
    return;
  }
  node->type = (fm_type){made.access, made.rank, made.dtype, {0}};
  for (uint32_t d = 0; d < made.rank; d++)
    node->type.dim[d] = (fm_number)made.dim[d];
}

static fm_number
row_at(fm_form *f, const gs_view_row *row, const fm_number *index) {
  fm_number at = (fm_number)row->offset;
  for (uint32_t k = 0; k < row->n; k++) {
    fm_number term =
        fm_product(f, (fm_number)row->term[k].times, index[row->term[k].of]);
    at = fm_combine(f, 1, term, 1, at, 0);
  }
  return row->divided ? fm_quotient(f, at, (fm_number)row->by) : at;
}

/* The part that the index is in: where it depends, cases are told apart. */
static const gs_view_part *
part_at(fm_form *f, const gs_view *view, const fm_number *index) {
  uint32_t k = 0;
  while (k + 1 < view->n &&
         fm_decide(f, fm_combine(f, 1, index[view->axis], -1,
                                 (fm_number)view->part[k + 1].from, 0)))
    k++;
  return &view->part[k];
}

static pv_value
number_of(fm_form *f, gs_dtype dtype, gs_view_source source) {
  return source == GS_VIEW_ZERO ? pv_number_value(&f->elements, dtype, PV_ZERO)
                                : pv_lowest(&f->elements, dtype);
}

void
fm_follow_view(fm_form *f, const fm_side *side, const fm_node *node,
               const fm_number *index, fm_place *out) {
  fm_node copy = *node;
  reader r = {.f = f, .node = &copy, .typed = true};
  gs_numbers over = numbers_of(&r);
  gs_type type = type_of(&node->type), kids[2];
  gs_view view;
  types_of(side, node, kids);
  gs_view_of(&(gs_viewed){.over = &over,
                          .values = f->values,
                          .op = node->sk->op,
                          .kids = (const gs_type *[]){&kids[0], &kids[1]},
                          .type = &type},
             &view);
  out->keeps_order = view.keeps_order;
  if (view.keeps_order || f->why)
    return;
  const gs_view_part *part = part_at(f, &view, index);
  out->kid = part->kid;
  if (part->source != GS_VIEW_CHILD)
    out->value = number_of(f, node->type.dtype, part->source);
  for (uint32_t k = 0; !out->value && k < kids[part->kid].rank; k++)
    out->to[k] = row_at(f, &part->row[k], index);
}

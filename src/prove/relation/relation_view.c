/* SPDX-License-Identifier: MIT */
/* relation_view.c - the elements of a view are elements of its children, or
 * padding.
 *
 * In every part of a view (glenside/type/view.h) the place of the child's
 * element is a sum over the dimensions of a function of the index there: a
 * table for each dimension (prove/relation/element.h evaluates small terms
 * only). */
#include "prove/relation/element.h"
#include "glenside/type/view.h"
#include <assert.h>
#include <string.h>

typedef struct filling {
  pv_elements *e;
  const gs_node *node;
  const gs_type *type;
  const gs_view *view;
  gs_type child[2];
  int64_t *table[GS_MAX_RANK]; /* by dimension of the view */
  int64_t first;               /* the place where all of them are 0 */
} filling;

static bs_heap *
heap_of(const filling *f) {
  return f->e->values->heap;
}

/* A row that is divided is of one dimension, as it is not a sum of parts. */
static void
add_row(filling *f, const gs_view_row *row, int64_t stride) {
  assert(!row->divided || row->n == 1);
  if (row->divided) {
    uint32_t d = row->term[0].of;
    for (int64_t i = 0; i < f->type->dim[d]; i++)
      f->table[d][i] +=
          gs_quotient(NULL, row->term[0].times * i + row->offset, row->by) *
          stride;
    return;
  }
  f->first += row->offset * stride;
  for (uint32_t k = 0; k < row->n; k++)
    for (int64_t i = 0; i < f->type->dim[row->term[k].of]; i++)
      f->table[row->term[k].of][i] += row->term[k].times * i * stride;
}

static void
make_tables(filling *f, const gs_view_part *part) {
  const gs_type *child = &f->child[part->kid];
  int64_t stride = 1;
  f->first = 0;
  for (uint32_t d = 0; d < f->type->rank; d++)
    memset(f->table[d], 0, (size_t)f->type->dim[d] * sizeof(int64_t));
  for (uint32_t k = child->rank; k-- > 0; stride *= child->dim[k])
    add_row(f, &part->row[k], stride);
}

static pv_value
number_of(const filling *f, gs_view_source source) {
  return source == GS_VIEW_LOWEST
             ? pv_lowest(f->e->values, f->type->dtype)
             : pv_number_value(f->e->values, f->type->dtype, PV_ZERO);
}

/* Fills the part; `pad`, when not 0, stands everywhere in it. */
static void
fill(const filling *f, const gs_view_part *part, pv_value pad, pv_value *out) {
  const gs_type *t = f->type;
  const pv_value *from = f->e->of[f->node->kids[part->kid].i];
  uint32_t axis = f->view->axis;
  int64_t index[GS_MAX_RANK] = {0}, n = gs_elements(t);
  for (int64_t at = 0; at < n; at++) {
    bool inside = f->view->n == 1 ||
                  (index[axis] >= part->from && index[axis] < part->to);
    int64_t place = f->first;
    for (uint32_t d = 0; inside && !pad && d < t->rank; d++)
      place += f->table[d][index[d]];
    if (inside)
      out[at] = pad ? pad : from[place];
    for (uint32_t d = t->rank; d-- > 0 && ++index[d] == t->dim[d];)
      index[d] = 0;
  }
}

static void
fill_parts(filling *f, pv_value *out) {
  for (uint32_t d = 0; d < f->type->rank; d++)
    f->table[d] =
        bs_calloc(heap_of(f), (size_t)f->type->dim[d], sizeof(int64_t));
  for (uint32_t k = 0; k < f->view->n; k++) {
    const gs_view_part *part = &f->view->part[k];
    pv_value pad =
        part->source == GS_VIEW_CHILD ? 0 : number_of(f, part->source);
    make_tables(f, part);
    fill(f, part, pad, out);
  }
  for (uint32_t d = 0; d < f->type->rank; d++)
    bs_free(heap_of(f), f->table[d]);
}

void
pv_evaluate_view(pv_elements *e, gs_term t, const gs_type *type,
                 pv_value *out) {
  assert(gs_is_type(type));
  const gs_node *node = gs_at(e->p, t);
  gs_view view = {.keeps_order = true};
  filling f = {.e = e, .node = node, .type = type, .view = &view};
  for (uint32_t k = 0; k < node->n_kids; k++)
    gs_type_at(e->p, node->kids[k], &f.child[k]);
  if (gs_op_table[node->op].view)
    gs_view_at(e->p, t, &view);
  if (view.keeps_order)
    memcpy(out, e->of[node->kids[0].i],
           (size_t)gs_elements(type) * sizeof *out);
  else
    fill_parts(&f, out);
}

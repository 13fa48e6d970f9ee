/* SPDX-License-Identifier: MIT */
/* view.c - the rows of every view, one function each.
 *
 * A function starts from one part in which every index is the child's, and
 * says what is different.  All arithmetic goes through numbers.h. */
#include "glenside/type/view.h"
#include <assert.h>
#include <string.h>

typedef struct maker {
  const gs_viewed *of;
  const gs_numbers *over;
  const gs_type *a, *t; /* of the first child, and of the view */
  gs_view *view;
  gs_view_row *row; /* of the first part */
} maker;

/* --- attributes ----------------------------------------------------------- */

/* The numbers of an item: a list's, or one. */
static void
numbers(const maker *m, uint32_t item, gs_number *out) {
  const bs_values *values = m->of->values;
  uint32_t n;
  if (m->over)
    m->over->item(m->over->arg, item, out, GS_MAX_RANK);
  else
    bs_to_ints(values, bs_item(values, m->of->attr, item), out, GS_MAX_RANK,
               &n);
}

static gs_number
number(const maker *m, uint32_t item) {
  const bs_values *values = m->of->values;
  gs_number out[GS_MAX_RANK] = {0};
  if (!m->over)
    return bs_as_int(values, bs_item(values, m->of->attr, item));
  m->over->item(m->over->arg, item, out, GS_MAX_RANK);
  return out[0];
}

static uint32_t
place(const maker *m, gs_number x) {
  int64_t c = 0;
  if (!m->over)
    return (uint32_t)x;
  bool is_known = m->over->is_constant(m->over->arg, x, &c);
  return is_known && c >= 0 && c < GS_MAX_RANK ? (uint32_t)c : 0;
}

static uint32_t
axis(const maker *m, uint32_t item) {
  return place(m, number(m, item));
}

/* Inference accepts no pad without a kind. */
static gs_padding
padding(const maker *m, uint32_t item) {
  const bs_values *values = m->of->values;
  gs_padding kind = GS_PADDING_ZERO;
  bs_value w = m->over ? m->over->word(m->over->arg, item)
                       : bs_item(values, m->of->attr, item);
  bool known = gs_padding_of(values, w, &kind);
  assert(known);
  (void)known;
  return kind;
}

/* --- rows ----------------------------------------------------------------- */

static gs_number
constant(const maker *m, int64_t c) {
  return gs_constant_number(m->over, c);
}

static gs_view_row
fixed(gs_number at) {
  return (gs_view_row){.offset = at};
}

static gs_view_row
index_of(const maker *m, uint32_t of) {
  return (gs_view_row){
      .n = 1, .term = {{of, constant(m, 1)}}, .offset = constant(m, 0)};
}

/* One part more, in which every index is that of child `kid`. */
static gs_view_part *
add_part(const maker *m, uint32_t kid, gs_number from, gs_number to) {
  gs_view_part *part = &m->view->part[m->view->n++];
  part->from = from;
  part->to = to;
  part->source = GS_VIEW_CHILD;
  part->kid = kid;
  part->repeated = false;
  for (uint32_t k = 0; k < m->of->kids[kid]->rank; k++)
    part->row[k] = index_of(m, k);
  return part;
}

/* The parts are side by side along an axis, the first up to `to`. */
static void
cut(const maker *m, uint32_t along, gs_number from, gs_number to) {
  m->view->axis = along;
  m->view->part[0].from = from;
  m->view->part[0].to = to;
}

/* --- views ---------------------------------------------------------------- */

static void
view_ACCESS(const maker *m) {
  (void)m;
}

static void
view_TRANSPOSE(const maker *m) {
  gs_number p[GS_MAX_RANK] = {0};
  numbers(m, 0, p);
  for (uint32_t k = 0; k < m->t->rank; k++)
    m->row[place(m, p[k])] = index_of(m, k);
}

/* Item `part->kid` of tuples: the access indices of that child begin at `at` of
 * the view's, the index of the tuple stands after all of those. */
static void
tuple_rows(const maker *m, gs_view_part *part, uint32_t at) {
  const gs_type *child = m->of->kids[part->kid];
  for (uint32_t k = 0; k < child->rank; k++)
    part->row[k] = index_of(
        m, k < child->access ? at + k : m->t->access + 1 + k - child->access);
}

static void
tuple(const maker *m, uint32_t second) {
  cut(m, m->t->access, constant(m, 0), constant(m, 1));
  add_part(m, 1, constant(m, 1), constant(m, 2));
  tuple_rows(m, &m->view->part[0], 0);
  tuple_rows(m, &m->view->part[1], second);
}

static void
view_PAIR(const maker *m) {
  tuple(m, 0);
}

static void
view_CARTPROD(const maker *m) {
  tuple(m, m->a->access);
}

/* Element j of window i stands at stride * i + dilation * j. */
static void
view_WINDOWS(const maker *m) {
  uint32_t s = m->a->access, n = m->a->rank - s;
  gs_number stride[GS_MAX_RANK] = {0}, dilation[GS_MAX_RANK] = {0};
  numbers(m, 1, stride);
  numbers(m, 2, dilation);
  for (uint32_t k = 0; k < n; k++)
    m->row[s + k] =
        (gs_view_row){.n = 2,
                      .term = {{s + k, stride[k]}, {s + n + k, dilation[k]}},
                      .offset = constant(m, 0)};
}

static void
view_SLICE(const maker *m) {
  m->row[axis(m, 0)].offset = number(m, 1);
}

static void
view_CONCAT(const maker *m) {
  uint32_t d = axis(m, 0);
  gs_number size = m->a->dim[d];
  cut(m, d, constant(m, 0), size);
  gs_view_part *second = add_part(m, 1, size, m->t->dim[d]);
  second->row[d].offset = gs_combine(m->over, -1, size, 0, size, 0);
}

static const gs_view_source sources[] = {[GS_PADDING_ZERO] = GS_VIEW_ZERO,
                                         [GS_PADDING_MIN] = GS_VIEW_LOWEST,
                                         [GS_PADDING_EDGE] = GS_VIEW_CHILD};
_Static_assert(sizeof sources / sizeof *sources == GS_PADDING_COUNT,
               "each kind of padding has a source");

/* What stands beside the inner part of a pad: the element next to it, or a
 * number. */
static void
border(const maker *m, gs_view_part *part, uint32_t d, gs_number next) {
  part->repeated = true;
  part->row[d] = fixed(next);
  part->source = sources[padding(m, 0)];
}

static void
view_PAD(const maker *m) {
  uint32_t d = axis(m, 1);
  gs_number before = number(m, 2), size = m->a->dim[d];
  gs_number end = gs_sum(m->over, before, size);
  cut(m, d, constant(m, 0), before);
  gs_view_part *inner = add_part(m, 0, before, end);
  inner->row[d].offset = gs_combine(m->over, -1, before, 0, before, 0);
  add_part(m, 0, end, m->t->dim[d]);
  border(m, &m->view->part[0], d, constant(m, 0));
  border(m, &m->view->part[2], d, gs_plus(m->over, size, -1));
}

static void
view_SQUEEZE(const maker *m) {
  uint32_t d = axis(m, 0);
  m->row[d] = fixed(constant(m, 0));
  for (uint32_t k = d + 1; k < m->a->rank; k++)
    m->row[k] = index_of(m, k - 1);
}

static void
view_INSERT_AXIS(const maker *m) {
  for (uint32_t k = axis(m, 0); k < m->a->rank; k++)
    m->row[k] = index_of(m, k + 1);
}

static void
view_BROADCAST(const maker *m) {
  for (uint32_t k = 0; k < m->a->rank; k++) {
    gs_number from = m->a->dim[k], to = m->t->dim[k];
    if (m->over ? m->over->repeats(m->over->arg, k, from, to) > 0 : from != to)
      m->row[k] = fixed(constant(m, 0));
  }
}

static void
view_RESHAPE(const maker *m) {
  m->view->keeps_order = true;
}

static void
view_FLATTEN(const maker *m) {
  view_RESHAPE(m);
}

static void
view_REPEAT(const maker *m) {
  gs_view_row *row = &m->row[axis(m, 0)];
  row->divided = true;
  row->by = number(m, 1);
}

static void
view_REVERSE(const maker *m) {
  uint32_t d = axis(m, 0);
  m->row[d].term[0].times = constant(m, -1);
  m->row[d].offset = gs_plus(m->over, m->a->dim[d], -1);
}

#define ROWS_0(id)
#define ROWS_1(id)                                 [GS_##id] = view_##id,
#define X(id, name, kids, attrs, first, view, ...) ROWS_##view(id)
static void (*const views[GS_OP_COUNT])(const maker *) = {GS_OPS(X)};
#undef X

void
gs_view_of(const gs_viewed *of, gs_view *out) {
  assert(gs_op_table[of->op].view && views[of->op]);
  assert(gs_is_type(of->type));
  maker m = {of, of->over, of->kids[0], of->type, out, out->part[0].row};
  out->axis = out->n = 0;
  out->keeps_order = false;
  add_part(&m, 0, constant(&m, 0),
           of->type->rank ? of->type->dim[0] : constant(&m, 1));
  views[of->op](&m);
}

bool
gs_view_is_identity(const gs_view *view, const gs_type *of,
                    const gs_type *type) {
  assert(view->n >= 1 && view->n <= GS_VIEW_PARTS);
  assert(gs_is_type(of) && gs_is_type(type));
  if (view->n > 1 || view->keeps_order || of->rank != type->rank)
    return false;
  for (uint32_t k = 0; k < of->rank; k++) {
    const gs_view_row *row = &view->part[0].row[k];
    if (row->n != 1 || row->term[0].of != k || row->term[0].times != 1 ||
        row->offset || (row->divided && row->by != 1) ||
        of->dim[k] != type->dim[k])
      return false;
  }
  return true;
}

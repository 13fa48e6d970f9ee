/* SPDX-License-Identifier: MIT */
/* test_view.c - the rows of every view against the interpreter.
 *
 * A program is one random view over two arrays whose elements are all
 * different, so that an element tells where it comes from. */
#include "glenside/interpret/interpret.h"
#include "glenside/type/view.h"
#include "../random_view.h"
#include <math.h>

TestSuite(view, .init = fixture_start);

static gs_term
leaf(gs_program *p, const char *name, const gs_type *t) {
  gs_type whole = *t;
  gs_fault fault;
  bs_value split = bs_int(ctx.values, t->access);
  whole.access = whole.rank;
  gs_term x = gs_add_tensor(p, name, &whole, BS_NOWHERE);
  return gs_add(p, GS_ACCESS, bs_list(ctx.values, &split, 1), &x, 1, BS_NOWHERE,
                &fault);
}

static gs_type
random_type(void) {
  gs_type t = {.dtype = GS_F64, .rank = (uint8_t)below(5)};
  t.access = (uint8_t)below(t.rank + 1);
  for (uint32_t d = 0; d < t.rank; d++)
    t.dim[d] = 1 + below(4);
  return t;
}

/* The second child of a concat and of tuples: another size somewhere. */
static gs_type
other_type(gs_op op, const gs_type *t, bs_value attr) {
  gs_type o = *t;
  if (op == GS_CONCAT && t->rank)
    o.dim[bs_as_int(ctx.values, bs_item(ctx.values, attr, 0))] = 1 + below(3);
  for (uint32_t d = 0; op == GS_CARTPROD && d < t->access; d++)
    o.dim[d] = 1 + below(3);
  return o;
}

static int64_t
place_of(const gs_type *t, const int64_t *index) {
  int64_t at = 0;
  for (uint32_t d = 0; d < t->rank; d++) {
    cr_assert(index[d] >= 0 && index[d] < t->dim[d], "a row leaves its child");
    at = at * t->dim[d] + index[d];
  }
  return at;
}

static const gs_view_part *
part_of(const gs_view *view, const int64_t *index) {
  for (uint32_t k = 0; k < view->n; k++)
    if (view->n == 1 || (index[view->axis] >= view->part[k].from &&
                         index[view->axis] < view->part[k].to))
      return &view->part[k];
  cr_assert_fail("no part has the index");
  return NULL;
}

/* The index of the row over integers. */
static int64_t
row_at(const gs_view_row *row, const int64_t *index) {
  assert(row->n <= GS_ROW_TERMS && (!row->divided || row->by >= 1));
  int64_t at = row->offset;
  for (uint32_t k = 0; k < row->n; k++)
    at += row->term[k].times * index[row->term[k].of];
  return row->divided ? gs_quotient(NULL, at, row->by) : at;
}

/* Elements of child k are 1000 * k + 1 and on. */
static double
by_rows(const gs_view *view, const gs_type *kids, const int64_t *index,
        int64_t at) {
  int64_t from[GS_MAX_RANK];
  if (view->keeps_order)
    return (double)(at + 1);
  const gs_view_part *part = part_of(view, index);
  const gs_type *child = &kids[part->kid];
  if (part->source != GS_VIEW_CHILD)
    return part->source == GS_VIEW_ZERO ? 0 : -INFINITY;
  for (uint32_t k = 0; k < child->rank; k++)
    from[k] = row_at(&part->row[k], index);
  return (double)(1000 * part->kid + place_of(child, from) + 1);
}

static void
fill(gs_tensor *t, const gs_type *type, int64_t first) {
  gs_tensor_init(&heap, t, type);
  for (int64_t i = 0; i < t->elements; i++)
    gs_tensor_set(t, i, (double)(first + i));
}

/* One view of one kind; false where the attribute did not fit. */
static bool
agrees(gs_op op) {
  gs_program *p = gs_program_new(&ctx, NULL);
  gs_type kids[2] = {random_type()}, type;
  gs_fault fault;
  if (strchr(gs_op_table[op].attrs, 'd') && !kids[0].rank)
    return false;
  bs_value attr = attribute_of(op, &kids[0]);
  kids[1] = other_type(op, &kids[0], attr);
  gs_term k[2] = {leaf(p, "a", &kids[0]), leaf(p, "b", &kids[1])};
  gs_term t = gs_add(p, op, attr, k, (uint32_t)gs_op_table[op].kids, BS_NOWHERE,
                     &fault);
  if (!gs_term_ok(t))
    return false;
  gs_type_at(p, t, &type);
  gs_add_output(p, "out", t, BS_NOWHERE);
  gs_view view;
  gs_view_of(&(gs_viewed){.values = ctx.values,
                          .op = op,
                          .attr = attr,
                          .kids = (const gs_type *[]){&kids[0], &kids[1]},
                          .type = &type},
             &view);
  gs_tensor in[2], out;
  fill(&in[0], &kids[0], 1);
  fill(&in[1], &kids[1], 1001);
  cr_assert(gs_interpret(p, in, &out));
  int64_t index[GS_MAX_RANK] = {0};
  for (int64_t at = 0; at < out.elements; at++) {
    cr_assert_eq(gs_tensor_get(&out, at), by_rows(&view, kids, index, at),
                 "%s, element %lld", gs_op_table[op].name, (long long)at);
    for (uint32_t d = type.rank; d-- > 0 && ++index[d] == type.dim[d];)
      index[d] = 0;
  }
  return true;
}

Test(view, rows_lead_where_the_interpreter_reads) {
  for (int op = 0; op < GS_OP_COUNT; op++) {
    uint32_t n = 0;
    if (!gs_op_table[op].view)
      continue;
    state = (uint64_t)op;
    for (uint32_t tries = 0; tries < 20000 && n < 200; tries++)
      n += agrees((gs_op)op);
    cr_assert(n >= 200, "%s: %u programs", gs_op_table[op].name, n);
  }
}

/* (reverse (reverse a d) d) leads back to a. */
Test(view, reversing_twice_is_the_identity) {
  gs_type t = {.dtype = GS_F32, .rank = 2, .access = 2, .dim = {3, 5}};
  const gs_type *kids[2] = {&t, &t};
  bs_value d = bs_int(ctx.values, 1), attr = bs_list(ctx.values, &d, 1);
  gs_view view;
  gs_view_of(&(gs_viewed){.values = ctx.values,
                          .op = GS_REVERSE,
                          .attr = attr,
                          .kids = kids,
                          .type = &t},
             &view);
  cr_assert(!gs_view_is_identity(&view, &t, &t));
  for (int64_t i = 0; i < 5; i++) {
    int64_t once[2] = {1, row_at(&view.part[0].row[1], (int64_t[]){1, i})};
    cr_assert_eq(row_at(&view.part[0].row[1], once), i);
  }
}

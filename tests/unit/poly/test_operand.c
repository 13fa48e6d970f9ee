/* SPDX-License-Identifier: MIT */
/* test_operand.c - the elements that an operand of a call covers are those at
 * its distances in memory from its first one, whatever these are. */
#include "poly/loops/operand.h"
#include "fixture.h"

TestSuite(operand, .init = fixture_start, .fini = fixture_stop);

static const char copies[] =
    "(target t)(instr cp (operands (a (() (r c)) f32)) (result (() (r c)) f32)"
    " (semantics (compute relu a)) (emit \"cp({r}, {c}, {a}, {a.stride.0},"
    " {a.stride.1}, {result}, {result.stride.0}, {result.stride.1});\"))";

enum { ROWS = 6, COLUMNS = 8 };

typedef struct row {
  int64_t i, j; /* loops */
  int64_t step_i, step_j;
  int64_t dim[2], stride[2];
} row;

static po_program *
program_of_row(const row *x) {
  const char *text = bs_arena_printf(
      &arena,
      "input A: f32[%d, %d]\noutput C: f32[%d, %d]\n"
      "for i in 0..%lld { for j in 0..%lld {\n"
      "  S: C[%lld * i, %lld * j] over [%lld by %lld, %lld by %lld] = call "
      "cp{_, %lld, %lld}(A[%lld * i, %lld * j] over [%lld by %lld, %lld by "
      "%lld])\n"
      "} }\n",
      ROWS, COLUMNS, ROWS, COLUMNS, (long long)x->i, (long long)x->j,
      (long long)x->step_i, (long long)x->step_j, (long long)x->dim[0],
      (long long)x->stride[0], (long long)x->dim[1], (long long)x->stride[1],
      (long long)x->dim[0], (long long)x->dim[1], (long long)x->step_i,
      (long long)x->step_j, (long long)x->dim[0], (long long)x->stride[0],
      (long long)x->dim[1], (long long)x->stride[1]);
  po_program *p =
      po_read_loops(&ctx, target_of(copies),
                    bs_source_add(&diags, "l", text, strlen(text)), NULL, 0);
  cr_assert(p, "%s\n%s", text, faults());
  return p;
}

/* Is the element at that distance one of the instance? */
static bool
covers(const row *x, int64_t i, int64_t j, int64_t at) {
  int64_t first = COLUMNS * x->step_i * i + x->step_j * j;
  for (int64_t r = 0; r < x->dim[0]; r++)
    for (int64_t c = 0; c < x->dim[1]; c++)
      if (first + r * x->stride[0] + c * x->stride[1] == at)
        return true;
  return false;
}

/* The elements of one instance, as isl has them. */
static isl_set *
of_instance(isl_map *map, int64_t i, int64_t j) {
  map = isl_map_fix_si(isl_map_copy(map), isl_dim_in, 0, (int)i);
  map = isl_map_fix_si(map, isl_dim_in, 1, (int)j);
  return isl_map_range(map);
}

static bool
has(isl_set *set, int64_t at) {
  isl_set *one = isl_set_copy(set);
  one = isl_set_fix_si(one, isl_dim_set, 0, (int)(at / COLUMNS));
  one = isl_set_fix_si(one, isl_dim_set, 1, (int)(at % COLUMNS));
  bool found = isl_set_is_empty(one) == isl_bool_false;
  isl_set_free(one);
  return found;
}

static void
expect_row(const row *x) {
  po_program *p = program_of_row(x);
  const po_stmt *s = &p->stmts.data[0];
  cr_assert_eq(s->n_iters, 2);
  for (uint32_t k = 0; k < 2; k++) {
    isl_map *map = po_operand_map(p, s, &s->operands[k]);
    cr_expect(po_operand_is_inside(p, s, &s->operands[k]));
    for (int64_t i = 0; i < x->i; i++)
      for (int64_t j = 0; j < x->j; j++) {
        isl_set *set = of_instance(map, i, j);
        for (int64_t at = 0; at < ROWS * COLUMNS; at++)
          cr_expect_eq(has(set, at), covers(x, i, j, at),
                       "%lld by %lld, %lld by %lld: element %lld of [%lld, "
                       "%lld]",
                       (long long)x->dim[0], (long long)x->stride[0],
                       (long long)x->dim[1], (long long)x->stride[1],
                       (long long)at, (long long)i, (long long)j);
        isl_set_free(set);
      }
    isl_map_free(map);
  }
  po_free(p);
}

Test(operand, elements_are_at_their_distances) {
  static const row rows[] = {
      {6, 8, 1, 1, {1, 1}, {8, 1}},  /* one element */
      {6, 2, 1, 4, {1, 4}, {8, 1}},  /* a part of a row */
      {2, 8, 3, 1, {3, 1}, {8, 1}},  /* of a column */
      {2, 2, 3, 4, {3, 4}, {8, 1}},  /* of both */
      {2, 2, 3, 4, {4, 3}, {1, 8}},  /* turned */
      {3, 2, 2, 4, {2, 2}, {8, 2}},  /* every other element */
      {4, 6, 1, 1, {3, 1}, {9, 1}},  /* a diagonal */
      {2, 2, 3, 2, {2, 3}, {10, 1}}, /* rows that move on */
      {3, 1, 2, 1, {4, 4}, {4, 1}},  /* over the end of a row */
      {1, 3, 1, 1, {5, 2}, {7, 3}},  /* by no sum of the array's strides */
  };
  for (uint32_t k = 0; k < sizeof rows / sizeof *rows; k++)
    expect_row(&rows[k]);
}

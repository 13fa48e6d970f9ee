/* SPDX-License-Identifier: MIT */
/* pass_join.c - sums over rows that follow one another in memory, as one row.
 *
 * A row of 7 elements fills no vector; the 49 of a plane fill three:
 *
 *   for (int i = 0; i <= 6; i++)         for (int j = 0; j <= 48; j++)
 *     for (int j = 0; j <= 6; j++)         acc += x[j];
 *       acc += x[7 * i + j];
 *
 * Terms are added in the same order as before; simd.c then finds the lanes. */
#include "glenside/target/tuned.h"
#include "codegen/pass/pass.h"
#include "codegen/build/build.h"

typedef struct rows {
  cg_emitter *e;
  cg_node *outer, *inner;
  int64_t n, length; /* rows, elements of each */
  int64_t around;    /* iterations of the loops right around that may join */
} rows;

/* ---- what is looked for ---- */

/* An address goes on at the end of a row as within it. */
static bool
goes_on(const rows *x, const cg_expr *index) {
  int64_t row, one, apart;
  return cg_coefficient(index, x->outer->head.iterator, &row) &&
         cg_coefficient(index, x->inner->head.iterator, &one) &&
         !__builtin_mul_overflow(one, x->length, &apart) && row == apart;
}

/* Both loops are seen in addresses alone, all of which go on. */
static bool
all_go_on(const rows *x, const cg_expr *value) {
  if (value->kind == CG_ELEMENT)
    return goes_on(x, value->args[1]);
  if (cg_is_name(value, x->outer->head.iterator) ||
      cg_is_name(value, x->inner->head.iterator))
    return false;
  for (uint32_t k = 0; k < value->n; k++)
    if (!all_go_on(x, value->args[k]))
      return false;
  return true;
}

static bool
is_sum(const rows *x, const cg_node *store) {
  return store->kind == CG_STORE && store->origin &&
         store->store.target->kind == CG_NAME &&
         x->e->p->stmts.data[store->origin->stmt].kind == PO_UPDATE &&
         all_go_on(x, store->store.value);
}

/* A loop from 0 on, whose iterations nobody shares or asked anything of. */
static bool
is_plain(const cg_emitter *e, const cg_node *n, int64_t *trips) {
  int64_t first;
  return cg_is_loop(n) && n->iteration != CG_NO_LOOP && !n->head.is_team &&
         n->head.step == 1 &&
         e->p->nest.nodes.data[n->loop].mark == PO_SERIAL &&
         cg_fixed_range(&n->head, &first, trips) && !first && *trips > 0;
}

/* All rows together are worth vectors. */
static bool
is_long(const rows *x) {
  int64_t all;
  return !__builtin_mul_overflow(x->n, x->length, &all) &&
         (__builtin_mul_overflow(all, x->around, &all) || all >= GS_SUM_ROWS);
}

static bool
find_rows(rows *x) {
  if (!is_plain(x->e, x->outer, &x->n))
    return false;
  x->inner = cg_below_marks(x->outer->first);
  if (!cg_is_one(x->inner) || !is_plain(x->e, x->inner, &x->length) ||
      !is_long(x))
    return false;
  for (const cg_node *at = cg_below_marks(x->inner->first); at; at = at->next)
    if (!is_sum(x, at))
      return false;
  return true;
}

/* ---- what is made ---- */

/* A number times the name, or just the name. */
static bool
is_multiple_of(const cg_expr *term, const char *name) {
  int64_t factor;
  return cg_is_name(term, name) ||
         (term->op == CG_OP_MULTIPLY && term->n == 2 &&
          cg_is_number(term->args[0], &factor) &&
          cg_is_name(term->args[1], name));
}

/* In the first row, which has the elements of all others now: terms of the
 * number of the row are left out. */
static const cg_expr *
in_one_row(const rows *x, const cg_expr *value) {
  bs_arena *arena = &x->e->arena;
  const char *row = x->outer->head.iterator;
  if (!value || !value->n || is_multiple_of(value, row))
    return value && is_multiple_of(value, row) ? cg_number(arena, 0) : value;
  bool sum = value->op == CG_OP_ADD;
  const cg_expr **args = BS_NEWS(arena, const cg_expr *, value->n);
  uint32_t n = 0;
  for (uint32_t k = 0; k < value->n; k++)
    if (!sum || !is_multiple_of(value->args[k], row))
      args[n++] = in_one_row(x, value->args[k]);
  if (sum && n < 2)
    return n ? args[0] : cg_number(arena, 0);
  cg_expr *out = BS_NEW(arena, cg_expr);
  *out = *value;
  out->n = n;
  out->args = args;
  return out;
}

static const cg_origin *
origin_in_one_row(const rows *x, const cg_origin *old) {
  cg_origin *out =
      bs_arena_alloc(&x->e->arena, sizeof *out + old->n * sizeof *out->index);
  out->stmt = old->stmt;
  out->n = old->n;
  for (uint32_t k = 0; k < old->n; k++)
    out->index[k] = in_one_row(x, old->index[k]);
  return out;
}

/* The inner loop, over all rows. */
static cg_node *
join(const rows *x) {
  bs_arena *arena = &x->e->arena;
  cg_for *head = &x->inner->head;
  head->trips = x->n * x->length;
  head->last = cg_number(arena, head->trips - 1);
  head->last_excluded = false;
  head->condition = cg_infix(arena, CG_OP_AT_MOST,
                             cg_name(arena, head->iterator), head->last);
  for (cg_node *at = cg_below_marks(x->inner->first); at; at = at->next) {
    at->store.value = in_one_row(x, at->store.value);
    at->origin = origin_in_one_row(x, at->origin);
  }
  x->inner->next = x->outer->next;
  return x->inner;
}

/* From the inside out: a row of rows may follow another one. */
static void
visit(cg_emitter *e, cg_node **body, int64_t around) {
  for (; *body; body = &(*body)->next) {
    cg_node *n = *body;
    int64_t trips, below = n->kind == CG_MARK ? around : 1;
    if (is_plain(e, n, &trips) && cg_is_one(cg_below_marks(n->first)) &&
        __builtin_mul_overflow(around, trips, &below))
      below = 1;
    visit(e, &n->first, below);
    if (n->kind == CG_IF)
      visit(e, &n->test.otherwise, 1);
    rows x = {.e = e, .outer = n, .around = around};
    if (find_rows(&x))
      *body = join(&x);
  }
}

void
cg_join_rows(cg_pass_state *s) {
  visit(s->e, s->body, 1);
}

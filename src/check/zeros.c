/* SPDX-License-Identifier: MIT */
/* zeros.c - where the elements of a term are known to be zero.
 *
 * A question about a range of one axis is answered from questions about the
 * operands: it holds when all its clauses do, and a clause holds when one of
 * its questions does.  What nothing is said of is not known.  Values are taken
 * as finite: 0 * x is 0.  The questions under way stand on a stack of their
 * own, as a proof may be of any depth; an answer is kept, so that each question
 * is looked into once. */
#include "check/check.h"
#include "base/hash.h"
#include "base/map.h"
#include "glenside/tensor.h"
#include "glenside/view.h"
#include <string.h>

enum { MOST_QUESTIONS = 100000, MOST_DATA = 1 << 24 };

/* Is the term zero where its index along the axis is in [lo, hi)? */
typedef struct question {
  uint32_t term, axis;
  int64_t lo, hi;
} question;

typedef enum answer { NO, YES, OPEN } answer;

typedef struct way {
  question q;
  uint32_t clause;
} way;

/* A question that is being looked into: its ways begin at `first`, and `at` is
 * the one that is asked now.  Those of the innermost one end the list. */
typedef struct inquiry {
  uint32_t first, at;
} inquiry;

typedef struct asking {
  const ck_env *e;
  uint32_t asked, clause; /* the clause that ways are added to */
  BS_VEC(way) ways;
  BS_VEC(inquiry) open;
  BS_VEC(way) settled; /* `clause` is the answer */
  bs_map places;       /* by hash, in `settled` */
} asking;

static gs_type
type_of(const asking *a, gs_term t) {
  gs_type type;
  gs_type_at(a->e->p, t, &type);
  return type;
}

/* ---- ways ---- */

static void
add_way(asking *a, gs_term t, uint32_t d, int64_t lo, int64_t hi) {
  way w = {{t.i, d, lo, hi}, a->clause};
  bs_push(a->e->ctx->heap, &a->ways, w);
}

/* It is zero along the whole of some axis; of a scalar nothing is known. */
static void
add_whole(asking *a, gs_term t) {
  gs_type type = type_of(a, t);
  for (uint32_t d = 0; d < type.rank; d++)
    add_way(a, t, d, 0, type.dim[d]);
}

/* ---- views ---- */

/* A dimension of a reshaped array is one of the other's, when as many elements
 * stand before it and it has the same size. */
static answer
ask_reshape(asking *a, const gs_node *n, const gs_type *type,
            const question *q) {
  gs_type from = type_of(a, n->kids[0]);
  int64_t before = gs_prod(type->dim, q->axis);
  for (uint32_t k = 0; k < from.rank; k++)
    if (from.dim[k] == type->dim[q->axis] && gs_prod(from.dim, k) == before)
      add_way(a, n->kids[0], k, q->lo, q->hi);
  add_whole(a, n->kids[0]);
  return OPEN;
}

/* The indices of a row, where those of the view are in the question. */
static void
reach(const gs_view_row *row, const gs_type *type, const question *q,
      int64_t *least, int64_t *most) {
  *least = *most = row->offset;
  for (uint32_t k = 0; k < row->n; k++) {
    bool along = row->term[k].of == q->axis;
    int64_t times = row->term[k].times, one = along ? q->lo : 0;
    int64_t other = along ? q->hi - 1 : type->dim[row->term[k].of] - 1;
    *least += times * (times > 0 ? one : other);
    *most += times * (times > 0 ? other : one);
  }
  if (row->divided) {
    *least = gs_quotient(NULL, *least, row->by);
    *most = gs_quotient(NULL, *most, row->by);
  }
}

static bool
looks_along(const gs_view_row *row, uint32_t d) {
  bool found = !row->n;
  for (uint32_t k = 0; k < row->n; k++)
    found |= row->term[k].of == d;
  return found;
}

/* The clause of a part, in whose indices the question is. */
static answer
ask_part(asking *a, const gs_node *n, const gs_type *type,
         const gs_view_part *part, const question *q) {
  gs_term child = n->kids[part->kid];
  uint32_t rank = type_of(a, child).rank, first = a->ways.len;
  bool least_is_zero = !gs_dtype_table[type->dtype].is_signed;
  if (part->source != GS_VIEW_CHILD)
    return part->source == GS_VIEW_ZERO || least_is_zero ? YES : NO;
  for (uint32_t k = 0; k < rank; k++) {
    int64_t least, most;
    reach(&part->row[k], type, q, &least, &most);
    if (looks_along(&part->row[k], q->axis))
      add_way(a, child, k, least, most + 1);
  }
  add_whole(a, child);
  return a->ways.len > first ? OPEN : NO;
}

static void
describe(const asking *a, const gs_node *n, const gs_type *type, gs_view *out) {
  gs_type kids[2];
  for (uint32_t k = 0; k < n->n_kids; k++)
    kids[k] = type_of(a, n->kids[k]);
  gs_view_of(&(gs_viewed){.values = a->e->ctx->values,
                          .op = n->op,
                          .attr = n->attr,
                          .kids = (const gs_type *[]){&kids[0], &kids[1]},
                          .type = type},
             out);
}

/* A clause for each part that the question reaches. */
static answer
ask_view(asking *a, const gs_node *n, const gs_type *type, const question *q) {
  gs_view view;
  describe(a, n, type, &view);
  if (view.keeps_order)
    return ask_reshape(a, n, type, q);
  answer all = YES;
  for (uint32_t k = 0; k < view.n && all != NO; k++, a->clause++) {
    const gs_view_part *part = &view.part[k];
    bool cut = view.n > 1 && q->axis == view.axis;
    question in = *q;
    in.lo = cut && part->from > q->lo ? part->from : q->lo;
    in.hi = cut && part->to < q->hi ? part->to : q->hi;
    bool is_empty = in.lo >= in.hi || (view.n > 1 && part->from >= part->to);
    answer one = is_empty ? YES : ask_part(a, n, type, part, &in);
    all = one == YES ? all : one;
  }
  return all;
}

/* A product is zero where one factor is. */
static void
ask_product(asking *a, gs_term pair, const question *q) {
  const gs_node *n = gs_at(a->e->p, pair);
  gs_type type = type_of(a, pair);
  gs_view view;
  if (n->op != GS_PAIR && n->op != GS_CARTPROD)
    return;
  describe(a, n, &type, &view);
  ask_part(a, n, &type, &view.part[0], q);
  ask_part(a, n, &type, &view.part[1], q);
}

/* ---- compute ---- */

static answer
ask_compute(asking *a, const gs_node *n, const question *q) {
  const bs_values *values = a->e->ctx->values;
  bs_value o = bs_item(values, n->attr, 0);
  gs_compute op;
  gs_term x = n->kids[0];
  question in = *q;
  if (!gs_compute_of(values, o, &op) || !gs_compute_keeps_zero(values, o, op))
    return NO;
  bool folds = gs_compute_table[op].kind == GS_FOLD ||
               gs_compute_table[op].kind == GS_SELECT;
  if (folds && in.axis >= type_of(a, x).access)
    in.axis++;
  if (op == GS_C_MUL || op == GS_C_DOT_PROD)
    ask_product(a, x, &in);
  add_way(a, x, in.axis, in.lo, in.hi);
  return OPEN;
}

/* ---- constants ---- */

static const gs_constant *
constant_of(const asking *a, const gs_node *n) {
  const bs_values *values = a->e->ctx->values;
  const char *name = bs_as_sym(values, bs_item(values, n->attr, 0));
  return gs_find_constant(a->e->p, name);
}

static gs_tensor
data_of(const gs_constant *c) {
  return (gs_tensor){.dtype = c->type.dtype,
                     .elements = gs_elements(&c->type),
                     .data = (void *)(uintptr_t)c->data};
}

static bool
is_zero_data(const asking *a, const gs_node *n, const question *q) {
  const gs_constant *c = constant_of(a, n);
  uint32_t d = q->axis;
  if (!c || gs_elements(&c->type) > MOST_DATA)
    return false;
  gs_tensor data = data_of(c);
  int64_t inner = gs_prod(c->type.dim + d + 1, c->type.rank - d - 1);
  for (int64_t i = 0; i < data.elements; i++) {
    int64_t at = i / inner % c->type.dim[d];
    if (at >= q->lo && at < q->hi && gs_tensor_get(&data, i) != 0)
      return false;
  }
  return true;
}

/* ---- all operators ---- */

/* OPEN: the ways that were added. */
static answer
look_into(asking *a, const question *q) {
  gs_term t = {q->term};
  const gs_node *n = gs_at(a->e->p, t);
  gs_type type = type_of(a, t);
  a->clause = 0;
  if (gs_op_table[n->op].view)
    return ask_view(a, n, &type, q);
  if (n->op == GS_CONST)
    return is_zero_data(a, n, q) ? YES : NO;
  if (n->op == GS_COMPUTE)
    return ask_compute(a, n, q);
  if (n->op != GS_MATERIALIZE)
    return NO;
  add_way(a, n->kids[0], q->axis, q->lo, q->hi);
  return OPEN;
}

/* ---- questions under way ---- */

static bool
find(const asking *a, const question *q, answer *out) {
  uint32_t at = bs_map_get(&a->places, bs_hash(q, sizeof *q));
  if (at == BS_NO_ENTRY || memcmp(&a->settled.data[at].q, q, sizeof *q))
    return false;
  *out = (answer)a->settled.data[at].clause;
  return true;
}

static void
settle(asking *a, const question *q, answer known) {
  way w = {*q, known};
  uint64_t hash = bs_hash(q, sizeof *q);
  bs_map_put_first(a->e->ctx->heap, &a->places, hash, a->settled.len);
  bs_push(a->e->ctx->heap, &a->settled, w);
}

/* An answer, or OPEN where the question was opened. */
static answer
look(asking *a, question q) {
  uint32_t first = a->ways.len;
  answer known = OPEN;
  if (q.lo >= q.hi)
    return YES;
  if (find(a, &q, &known))
    return known;
  if (++a->asked > MOST_QUESTIONS)
    return NO;
  known = look_into(a, &q);
  if (known == OPEN && first < a->ways.len) {
    inquiry i = {first, first};
    bs_push(a->e->ctx->heap, &a->open, i);
    return OPEN;
  }
  a->ways.len = first;
  return known == YES ? YES : NO;
}

/* What the answer to the way that is asked tells of its question: OPEN where
 * another way is to be asked. */
static answer
tell(asking *a, answer known) {
  inquiry *i = &bs_last(&a->open);
  uint32_t clause = a->ways.data[i->at].clause;
  do
    i->at++;
  while (known == YES && i->at < a->ways.len &&
         a->ways.data[i->at].clause == clause);
  bool more = i->at < a->ways.len;
  if (known == NO && (!more || a->ways.data[i->at].clause != clause))
    return NO;
  return more ? OPEN : YES;
}

/* Closes the innermost question; the way that asked it is the next one's. */
static void
close_question(asking *a, answer known) {
  a->ways.len = bs_pop(&a->open).first;
  if (a->open.len)
    settle(a, &a->ways.data[bs_last(&a->open).at].q, known);
}

/* Are the ways that were added for nothing else enough? */
static bool
is_shown(asking *a) {
  inquiry all = {0, 0};
  answer known = a->ways.len ? OPEN : NO;
  if (known == OPEN)
    bs_push(a->e->ctx->heap, &a->open, all);
  while (a->open.len) {
    known = look(a, a->ways.data[bs_last(&a->open).at].q);
    while (known != OPEN && a->open.len) {
      known = tell(a, known);
      if (known != OPEN)
        close_question(a, known);
    }
  }
  return known == YES;
}

static bool
zero(asking *a, gs_term t, uint32_t d, int64_t lo, int64_t hi) {
  add_way(a, t, d, lo, hi);
  return is_shown(a);
}

static bool
all_zero(asking *a, gs_term t) {
  add_whole(a, t);
  return is_shown(a);
}

static void
done(asking *a) {
  bs_heap *heap = a->e->ctx->heap;
  bs_vec_done(heap, &a->ways);
  bs_vec_done(heap, &a->open);
  bs_vec_done(heap, &a->settled);
  bs_map_done(heap, &a->places);
}

bool
ck_is_zero(const ck_env *e, gs_term t, uint32_t axis, int64_t lo, int64_t hi) {
  asking a = {.e = e};
  bool known = zero(&a, t, axis, lo, hi);
  for (uint32_t k = 0; k < e->n_facts && !known; k++)
    known =
        e->facts[k].term.i == t.i && zero(&a, e->facts[k].shows, axis, lo, hi);
  done(&a);
  return known;
}

bool
ck_all_zero(const ck_env *e, gs_term t) {
  asking a = {.e = e};
  bool known = all_zero(&a, t);
  bs_value one = ck_constant(e, t);
  known |= one.i && bs_as_real(e->ctx->values, one) == 0;
  for (uint32_t k = 0; k < e->n_facts && !known; k++)
    known = e->facts[k].term.i == t.i && all_zero(&a, e->facts[k].shows);
  done(&a);
  return known;
}

/* ---- one value ---- */

static bs_value
one_value(const asking *a, const gs_constant *c) {
  gs_tensor data = data_of(c);
  double first = gs_tensor_get(&data, 0);
  if (data.elements > MOST_DATA)
    return BS_NIL;
  for (int64_t i = 1; i < data.elements; i++)
    if (gs_tensor_get(&data, i) != first)
      return BS_NIL;
  bs_values *values = a->e->ctx->values;
  bool whole = first == (double)(int64_t)first && first < 1e15 && first > -1e15;
  return whole ? bs_int(values, (int64_t)first) : bs_real(values, first);
}

/* Views that take their elements from one operand alone. */
static bool
keeps_values(gs_op op) {
  const gs_op_info *info = &gs_op_table[op];
  return op == GS_MATERIALIZE ||
         (info->view && info->kids == 1 && op != GS_PAD);
}

static bs_value
constant(const asking *a, gs_term t) {
  const gs_node *n = gs_at(a->e->p, t);
  while (keeps_values(n->op))
    n = gs_at(a->e->p, n->kids[0]);
  const gs_constant *c = n->op == GS_CONST ? constant_of(a, n) : NULL;
  return c ? one_value(a, c) : BS_NIL;
}

bs_value
ck_constant(const ck_env *e, gs_term t) {
  asking a = {.e = e};
  bs_value known = constant(&a, t);
  for (uint32_t k = 0; k < e->n_facts && !known.i; k++)
    if (e->facts[k].term.i == t.i)
      known = constant(&a, e->facts[k].shows);
  if (!known.i && all_zero(&a, t))
    known = bs_int(e->ctx->values, 0);
  done(&a);
  return known;
}

/* SPDX-License-Identifier: MIT */
/* check_zeros.c - where the elements of a term are known to be zero.
 *
 * A question about a range of one axis is answered from questions about the
 * operands; what nothing is said of is not known.  Values are taken as finite:
 * 0 * x is 0.  A proof may be of any depth: what needs an answer that is not
 * there yet puts that question on a stack, and is looked into once more when it
 * is answered. */
#include "check/check.h"
#include <math.h>

enum { MOST_QUESTIONS = 100000, MOST_DATA = 1 << 24 };

/* OPEN: another question is asked first. */
typedef enum answer { NO, YES, OPEN } answer;

/* Is the term zero where its index along the axis is in [lo, hi)? */
typedef struct question {
  gs_term term;
  uint32_t axis;
  int64_t lo, hi;
} question;

/* A question is kept as its numbers, a value, which is one for all alike. */
typedef struct asking {
  const ck_env *e;
  BS_VEC(bs_value) open; /* each is asked for the one before it */
  bs_map answers;        /* by question */
} asking;

static answer
ask(asking *a, gs_term t, uint32_t axis, int64_t lo, int64_t hi) {
  const int64_t numbers[] = {t.i, axis, lo, hi};
  if (lo >= hi)
    return YES;
  bs_value q = bs_ints(a->e->ctx->values, numbers, 4);
  uint32_t known = bs_map_get(&a->answers, q.i);
  if (known != BS_NO_ENTRY)
    return (answer)known;
  if (a->answers.n + a->open.len >= MOST_QUESTIONS)
    return NO;
  bs_push(a->e->ctx->heap, &a->open, q);
  return OPEN;
}

/* Along the whole of some axis; of a scalar nothing is known. */
static answer
ask_whole(asking *a, gs_term t) {
  gs_type type = ck_type(a->e->p, t);
  answer found = NO;
  for (uint32_t d = 0; d < type.rank && found == NO; d++)
    found = ask(a, t, d, 0, type.dim[d]);
  return found;
}

/* ---- views ---- */

/* A dimension of a reshaped array is one of the other's, when as many elements
 * stand before it and it has the same size. */
static answer
ask_reshape(asking *a, const question *q) {
  gs_term kid = gs_at(a->e->p, q->term)->kids[0];
  gs_type type = ck_type(a->e->p, q->term), from = ck_type(a->e->p, kid);
  int64_t before = gs_prod(type.dim, q->axis);
  answer found = NO;
  for (uint32_t k = 0; k < from.rank && found == NO; k++)
    if (from.dim[k] == type.dim[q->axis] && gs_prod(from.dim, k) == before)
      found = ask(a, kid, k, q->lo, q->hi);
  return found == NO ? ask_whole(a, kid) : found;
}

/* A part of a view, in whose indices the question is. */
static answer
ask_part(asking *a, const gs_view_part *part, const question *q) {
  gs_type type = ck_type(a->e->p, q->term);
  gs_term kid = gs_at(a->e->p, q->term)->kids[part->kid];
  uint32_t rank = ck_type(a->e->p, kid).rank;
  bool least_is_zero = !gs_dtype_table[type.dtype].is_signed;
  int64_t least, most;
  answer found = NO;
  if (part->source != GS_VIEW_CHILD)
    return part->source == GS_VIEW_ZERO || least_is_zero ? YES : NO;
  for (uint32_t k = 0; k < rank && found == NO; k++)
    if (gs_row_range(&part->row[k], &type, q->axis, q->lo, q->hi, &least,
                     &most))
      found = ask(a, kid, k, least, most + 1);
  return found == NO ? ask_whole(a, kid) : found;
}

/* Each part that the question reaches. */
static answer
ask_view(asking *a, const question *q) {
  gs_view view;
  answer all = YES;
  gs_view_at(a->e->p, q->term, &view);
  if (view.keeps_order)
    return ask_reshape(a, q);
  for (uint32_t k = 0; k < view.n && all == YES; k++) {
    const gs_view_part *part = &view.part[k];
    bool cut = view.n > 1 && q->axis == view.axis;
    question in = *q;
    in.lo = cut && part->from > q->lo ? part->from : q->lo;
    in.hi = cut && part->to < q->hi ? part->to : q->hi;
    bool is_empty = in.lo >= in.hi || (view.n > 1 && part->from >= part->to);
    all = is_empty ? YES : ask_part(a, part, &in);
  }
  return all;
}

/* ---- compute ---- */

/* A product is zero where one factor is. */
static answer
ask_compute(asking *a, const question *q) {
  const bs_values *values = a->e->ctx->values;
  const gs_node *n = gs_at(a->e->p, q->term), *kid = gs_at(a->e->p, n->kids[0]);
  bs_value o = bs_item(values, n->attr, 0);
  question in = {n->kids[0], q->axis, q->lo, q->hi};
  answer found = NO;
  gs_compute op;
  gs_view view;
  if (!gs_compute_of(values, o, &op) || !gs_compute_keeps_zero(values, o, op))
    return NO;
  bool folds = gs_compute_table[op].kind == GS_FOLD ||
               gs_compute_table[op].kind == GS_SELECT;
  in.axis += folds && in.axis >= ck_type(a->e->p, in.term).access;
  if ((op == GS_C_MUL || op == GS_C_DOT_PROD) &&
      (kid->op == GS_PAIR || kid->op == GS_CARTPROD)) {
    gs_view_at(a->e->p, in.term, &view);
    for (uint32_t k = 0; k < 2 && found == NO; k++)
      found = ask_part(a, &view.part[k], &in);
  }
  return found == NO ? ask(a, in.term, in.axis, in.lo, in.hi) : found;
}

/* ---- constants ---- */

/* The elements of a constant that is not too large to look through. */
static bool
elements_of(const ck_env *e, gs_term t, gs_tensor *out) {
  const gs_node *n = gs_at(e->p, t);
  const gs_constant *c =
      n->op == GS_CONST ? gs_constant_of(e->p, n->attr) : NULL;
  if (!c || gs_elements(&c->type) > MOST_DATA)
    return false;
  *out = gs_tensor_of(c);
  return true;
}

static answer
ask_data(const asking *a, const question *q) {
  gs_type type = ck_type(a->e->p, q->term);
  int64_t inner = gs_prod(type.dim + q->axis + 1, type.rank - q->axis - 1);
  gs_tensor data;
  bool zero = elements_of(a->e, q->term, &data);
  for (int64_t i = 0; zero && i < data.elements; i++) {
    int64_t at = i / inner % type.dim[q->axis];
    zero = at < q->lo || at >= q->hi || gs_tensor_get(&data, i) == 0;
  }
  return zero ? YES : NO;
}

/* Of all elements; BS_NIL.  A NaN is not equal to itself: it is no value. */
static bs_value
one_value(const ck_env *e, gs_term t) {
  gs_tensor data;
  double first;
  if (!elements_of(e, t, &data) || !gs_has_one_value(&data, &first))
    return BS_NIL;
  bool whole = fabs(first) < 1e15 && first == floor(first);
  return whole ? bs_int(e->ctx->values, (int64_t)first)
               : bs_real(e->ctx->values, first);
}

/* ---- all operators ---- */

static answer
look_into(asking *a, bs_value asked) {
  int64_t x[4];
  uint32_t n;
  bs_to_ints(a->e->ctx->values, asked, x, 4, &n);
  question q = {{(uint32_t)x[0]}, (uint32_t)x[1], x[2], x[3]};
  const gs_node *node = gs_at(a->e->p, q.term);
  if (gs_op_table[node->op].view)
    return ask_view(a, &q);
  if (node->op == GS_CONST)
    return ask_data(a, &q);
  if (node->op == GS_COMPUTE)
    return ask_compute(a, &q);
  return node->op == GS_MATERIALIZE ? ask(a, node->kids[0], q.axis, q.lo, q.hi)
                                    : NO;
}

/* Answers all that was asked. */
static void
answer_all(asking *a) {
  while (a->open.len) {
    bs_value q = bs_last(&a->open);
    answer known = look_into(a, q);
    if (known == OPEN)
      continue;
    bs_map_put(a->e->ctx->heap, &a->answers, q.i, known);
    a->open.len--;
  }
}

/* ---- what is known of a term ---- */

/* The term, number 0, or what a fact shows that it is equal to; GS_NO_TERM
 * where that is about another one. */
static gs_term
shown(const ck_env *e, gs_term t, uint32_t k) {
  const ck_lemma *f = k ? &e->facts[k - 1] : NULL;
  return !f ? t : f->from.i == t.i ? f->to : GS_NO_TERM;
}

/* In a range of it; NULL: everywhere. */
static bool
is_zero(const ck_env *e, gs_term t, const question *in) {
  asking a = {.e = e};
  answer known = NO;
  for (uint32_t k = 0; k <= e->n_facts && known == NO; k++) {
    gs_term x = shown(e, t, k);
    while (gs_term_ok(x) && (known = in ? ask(&a, x, in->axis, in->lo, in->hi)
                                        : ask_whole(&a, x)) == OPEN)
      answer_all(&a);
  }
  bs_vec_done(e->ctx->heap, &a.open);
  bs_map_done(e->ctx->heap, &a.answers);
  return known == YES;
}

bool
ck_is_zero(const ck_env *e, gs_term t, uint32_t axis, int64_t lo, int64_t hi) {
  return is_zero(e, t, &(question){t, axis, lo, hi});
}

/* What data below views that only choose among them tell, or zero. */
bs_value
ck_constant(const ck_env *e, gs_term t) {
  bs_value known = BS_NIL;
  for (uint32_t k = 0; k <= e->n_facts && !known.i; k++) {
    gs_term x = shown(e, t, k);
    const gs_node *n = gs_term_ok(x) ? gs_at(e->p, x) : NULL;
    while (n && n->n_kids == 1 && n->op != GS_PAD &&
           (gs_op_table[n->op].view || n->op == GS_MATERIALIZE))
      n = gs_at(e->p, x = n->kids[0]);
    if (n)
      known = one_value(e, x);
  }
  return known.i || !is_zero(e, t, NULL) ? known : bs_int(e->ctx->values, 0);
}

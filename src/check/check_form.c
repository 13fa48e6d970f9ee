/* SPDX-License-Identifier: MIT */
/* check_form.c - two computations held against each other by what they compute.
 *
 * What a call over further dimensions means is written with broadcasts, tuples
 * and sums of sums where the program has a product of two patterns.  Both are
 * brought to one form: the operators in the order in which they are met, the
 * terms that are read, and an iteration space.  An index is a row of pieces,
 * each a range of the digits of an iterator: (i / low) % size.  A view says
 * which pieces stand in which dimension of its operand, and a reshape cuts
 * them where it has to.  In the end each iterator is cut wherever one of its
 * pieces begins or ends, into digits, which have a size and a stride in the
 * result and in each term that is read.  Digits that lie behind one another
 * everywhere are one.  Over which digits a sum runs does not depend on their
 * order: equal lists of digits are equal computations, floats being
 * reassociated as the language allows. */
#include "check/check.h"
#include <assert.h>
#include <stdlib.h>
#include <string.h>

enum { LEAVES = 12, TOKENS = 128, PARTS = 24, DEPTH = 24, SWAPS = 4 };

typedef struct digit {
  int64_t size;
  int64_t sum;                /* the sum that runs over it; 0: of the result */
  int64_t stride[LEAVES + 1]; /* in the result, and in what is read */
} digit;

/* (i / low) % size of an iterator. */
typedef struct piece {
  uint32_t of;
  int64_t low, size;
} piece;

/* What an iterator, or some of its digits, moves by in a leaf. */
typedef struct move {
  piece by;
  uint32_t leaf; /* 0: the result */
  int64_t stride;
} move;

typedef struct place {
  uint32_t n;
  piece part[PARTS]; /* the highest first */
  int64_t item;      /* where it is one number */
} place;

typedef struct indices {
  uint32_t rank;
  place at[GS_MAX_RANK];
} indices;

typedef struct form {
  const gs_program *p;
  bs_heap *heap;
  uint32_t n_leaves, n_tokens, depth;
  BS_VEC(digit) iterators; /* with their sizes and sums */
  BS_VEC(move) moves;
  BS_VEC(digit) digits;      /* in order */
  int64_t tokens[TOKENS][4]; /* what it is, and of what */
  int64_t sums;
  uint32_t n_swaps, swaps; /* operators that commute; which change places */
  bool arrays; /* nothing but views that order elements is looked into */
  bool failed;
  gs_view view; /* of the term that is looked at */
} form;

static void
token(form *f, int64_t kind, int64_t x, int64_t y, int64_t z) {
  if (f->n_tokens == TOKENS)
    f->failed = true;
  else
    memcpy(f->tokens[f->n_tokens++], (int64_t[]){kind, x, y, z},
           sizeof f->tokens[0]);
}

static void
push(form *f, place *to, piece x) {
  if (to->n == PARTS)
    f->failed = true;
  else
    to->part[to->n++] = x;
}

/* A dimension of its own. */
static void
fresh(form *f, int64_t size, int64_t sum, place *out) {
  digit d = {.size = size, .sum = sum};
  *out = (place){0};
  if (size == 1)
    return;
  push(f, out, (piece){f->iterators.len, 1, size});
  bs_push(f->heap, &f->iterators, d);
}

/* ---- views, from above down ---- */

/* What is `want` large, from the lower end of the row. */
static void
take(form *f, place *row, int64_t want, place *out) {
  place taken = {0};
  *out = (place){0};
  while (want > 1 && row->n && !f->failed) {
    piece *last = &row->part[row->n - 1], low = *last;
    if (want % low.size == 0) {
      row->n--;
    } else {
      f->failed |= low.size % want != 0;
      low.size = want;
      last->low *= want;
      last->size /= want;
    }
    push(f, &taken, low);
    want /= low.size;
  }
  f->failed |= want > 1;
  while (taken.n)
    push(f, out, taken.part[--taken.n]);
}

static void
down_reshape(form *f, const gs_type *kid, indices *x) {
  place row = {0};
  for (uint32_t d = 0; d < x->rank; d++) {
    f->failed |= x->at[d].item != 0;
    for (uint32_t k = 0; k < x->at[d].n; k++)
      push(f, &row, x->at[d].part[k]);
  }
  x->rank = kid->rank;
  for (uint32_t d = kid->rank; d-- > 0;)
    take(f, &row, kid->dim[d], &x->at[d]);
  f->failed |= row.n != 0;
}

/* From an index of a view to one of the operand that is looked at: of a tuple
 * the one whose number the index has. */
static gs_term
down(form *f, gs_term t, indices *x) {
  const gs_node *n = gs_at(f->p, t);
  const indices from = *x;
  gs_type kid;
  if (n->op == GS_MATERIALIZE)
    return n->kids[0];
  gs_view_at(f->p, t, &f->view);
  const place *at = &from.at[f->view.axis];
  bool tuple = f->view.n > 1;
  const gs_view_part *part = &f->view.part[tuple && at->item == 1];
  f->failed |= tuple && (at->n || at->item > 1);
  gs_type_at(f->p, n->kids[part->kid], &kid);
  if (f->view.keeps_order) {
    down_reshape(f, &kid, x);
    return n->kids[0];
  }
  x->rank = kid.rank;
  for (uint32_t d = 0; d < kid.rank; d++) {
    const gs_view_row *row = &part->row[d];
    x->at[d] = row->n ? from.at[row->term[0].of] : (place){0};
  }
  return n->kids[part->kid];
}

/* ---- what is computed ---- */

enum { SUM, READ, OPERATOR };

bool
ck_keeps_order(gs_op op) {
  return op == GS_ACCESS || op == GS_RESHAPE || op == GS_FLATTEN ||
         op == GS_SQUEEZE || op == GS_INSERT_AXIS || op == GS_MATERIALIZE;
}

bool
ck_only_orders(gs_op op) {
  return op == GS_TRANSPOSE || ck_keeps_order(op);
}

/* Does an index of the view lie behind each one of an operand, or none? */
static bool
moves_indices(gs_op op) {
  return op == GS_BROADCAST || op == GS_PAIR || op == GS_CARTPROD ||
         ck_only_orders(op);
}

/* Whether a term is read as it is, and not looked into. */
static bool
is_leaf(const form *f, gs_term t) {
  const gs_node *n = gs_at(f->p, t);
  gs_compute op;
  if (f->arrays)
    return !ck_only_orders(n->op);
  if (n->op != GS_COMPUTE)
    return !moves_indices(n->op);
  gs_compute_of(f->p->ctx.values, bs_item(f->p->ctx.values, n->attr, 0), &op);
  gs_compute_kind kind = gs_compute_table[op].kind;
  return op != GS_C_DOT_PROD && op != GS_C_REDUCE_SUM && kind != GS_FOLD &&
         kind != GS_SELECT && kind != GS_ELEMENTWISE && kind != GS_CAST;
}

/* What has the same elements in the same order. */
static gs_term
without_shape(const form *f, gs_term t) {
  while (ck_keeps_order(gs_at(f->p, t)->op))
    t = gs_at(f->p, t)->kids[0];
  return t;
}

/* An array of that type, in which the indices move. */
static int64_t
add_moves(form *f, const gs_type *type, uint32_t leaf, const indices *x) {
  int64_t stride = 1, offset = 0;
  for (uint32_t d = type->rank; d-- > 0; stride *= type->dim[d]) {
    int64_t step = stride;
    for (uint32_t k = x->at[d].n; k-- > 0;) {
      move m = {x->at[d].part[k], leaf, step};
      bs_push(f->heap, &f->moves, m);
      step *= m.by.size;
    }
    offset += x->at[d].item * stride;
  }
  return offset;
}

/* `base` has the elements of t in their order. */
static void
read_leaf(form *f, gs_term base, gs_term t, const indices *x) {
  gs_type type;
  gs_type_at(f->p, t, &type);
  f->failed |= f->n_leaves == LEAVES;
  if (f->failed)
    return;
  int64_t offset = add_moves(f, &type, ++f->n_leaves, x);
  token(f, READ, base.i, offset, 0);
}

/* What stands above: a sum, of which dtype, or a product of one. */
typedef struct above {
  int64_t sum;      /* that what stands here is summed by, or 0 */
  gs_dtype of;      /* of that sum */
  gs_dtype product; /* that it is a factor of */
} above;

static const above nothing = {0, GS_DTYPE_COUNT, GS_DTYPE_COUNT};

static void walk(form *, gs_term, indices, above);

/* The items of a tuple, each at the index with its number in the place of the
 * tuple. */
static void
walk_items(form *f, gs_term tuple, const gs_type *type, const indices *x,
           gs_compute op, gs_dtype product) {
  const above up = {0, GS_DTYPE_COUNT, product};
  uint32_t at = type->access;
  int64_t items = type->dim[at];
  bool swap = false;
  if (items == 2 && gs_compute_table[op].is_associative && f->n_swaps < SWAPS)
    swap = f->swaps >> f->n_swaps++ & 1;
  for (int64_t k = 0; k < items && !f->failed; k++) {
    indices y = *x;
    memmove(&y.at[at + 1], &y.at[at], (y.rank - at) * sizeof y.at[0]);
    y.at[at] = (place){.item = swap ? items - 1 - k : k};
    y.rank++;
    walk(f, tuple, y, up);
  }
}

static void
add_sum(form *f, const gs_type *kid, uint32_t from, gs_dtype dtype, indices *x,
        above *up) {
  if (!up->sum || up->of != dtype) {
    *up = (above){++f->sums, dtype, GS_DTYPE_COUNT};
    token(f, SUM, dtype, 0, 0);
  }
  for (uint32_t d = from; d < kid->rank; d++)
    fresh(f, kid->dim[d], up->sum, &x->at[x->rank++]);
}

/* A sum of products is a sum and a product, in the dtype of the sum; a product
 * is exact without casts of its factors to that. */
static void
walk_compute(form *f, gs_term t, indices *x, above up) {
  gs_term below = gs_at(f->p, t)->kids[0];
  bs_value o = bs_item(f->p->ctx.values, gs_at(f->p, t)->attr, 0);
  gs_compute op;
  gs_type kid, type;
  gs_compute_of(f->p->ctx.values, o, &op);
  gs_type_at(f->p, below, &kid);
  gs_type_at(f->p, t, &type);
  gs_compute_kind kind = gs_compute_table[op].kind;
  bool dot = op == GS_C_DOT_PROD, sum = op == GS_C_REDUCE_SUM;
  bool tuple = dot || kind == GS_FOLD || kind == GS_SELECT;
  bool exact = op == GS_C_CAST && up.product == type.dtype &&
               gs_sum_dtype(kid.dtype) == type.dtype;
  if (dot || sum)
    add_sum(f, &kid, kid.access + dot, type.dtype, x, &up);
  else
    up = nothing;
  if (sum || exact) {
    walk(f, below, *x, up);
    return;
  }
  if (dot) {
    op = GS_C_MUL;
    o = bs_sym(f->p->ctx.values, gs_compute_table[op].name);
  }
  token(f, OPERATOR, o.i, type.dtype, tuple ? kid.dim[kid.access] : 1);
  if (tuple)
    walk_items(f, below, &kid, x, op,
               op == GS_C_MUL ? type.dtype : GS_DTYPE_COUNT);
  else
    walk(f, below, *x, nothing);
}

static void
walk(form *f, gs_term t, indices x, above up) {
  if (f->failed || ++f->depth > DEPTH) {
    f->failed = true;
    return;
  }
  gs_term base = without_shape(f, t);
  while (!f->failed && !is_leaf(f, base) && gs_at(f->p, t)->op != GS_COMPUTE) {
    t = down(f, t, &x);
    base = without_shape(f, t);
  }
  if (is_leaf(f, base))
    read_leaf(f, base, t, &x);
  else if (!f->failed)
    walk_compute(f, t, &x, up);
  f->depth--;
}

/* ---- the form ---- */

/* Where the digits of an iterator that begin at `low` end: before the next cut.
 * 0: a piece reaches over it, and does not hold a whole number of them. */
static int64_t
end_of_digits(form *f, uint32_t of, int64_t low) {
  assert(of < f->iterators.len);
  int64_t end = f->iterators.data[of].size;
  for (uint32_t k = 0; k < f->moves.len; k++) {
    piece by = f->moves.data[k].by;
    int64_t high = by.low * by.size;
    if (by.of == of && by.low > low && by.low < end)
      end = by.low;
    if (by.of == of && high > low && high < end)
      end = high;
  }
  f->failed |= end % low != 0;
  return end;
}

static void
cut_iterator(form *f, uint32_t of) {
  assert(of < f->iterators.len);
  digit d = f->iterators.data[of];
  const int64_t size = d.size;
  for (int64_t low = 1, end; low < size && !f->failed; low = end) {
    end = end_of_digits(f, of, low);
    d.size = end / low;
    memset(d.stride, 0, sizeof d.stride);
    for (uint32_t k = 0; k < f->moves.len; k++) {
      const move *m = &f->moves.data[k];
      bool has =
          m->by.of == of && m->by.low <= low && end <= m->by.low * m->by.size;
      d.stride[m->leaf] += has ? m->stride * (low / m->by.low) : 0;
    }
    bs_push(f->heap, &f->digits, d);
  }
}

static bool
follows(const digit *high, const digit *low) {
  for (uint32_t k = 0; k <= LEAVES; k++)
    if (high->stride[k] != low->stride[k] * low->size)
      return false;
  return high->sum == low->sum;
}

/* Some order, in which equal ones are side by side. */
static int
by_content(const void *a, const void *b) {
  return memcmp(a, b, sizeof(digit));
}

/* Joins two digits that lie behind one another everywhere, if there are
 * such. */
static bool
join(form *f) {
  digit *d = f->digits.data;
  for (uint32_t i = 0; i < f->digits.len; i++)
    for (uint32_t j = 0; j < f->digits.len; j++)
      if (i != j && follows(&d[i], &d[j])) {
        d[j].size *= d[i].size;
        d[i] = d[--f->digits.len];
        return true;
      }
  return false;
}

static void
make_form(const gs_program *p, gs_term t, bool arrays, uint32_t swaps,
          form *f) {
  gs_type type;
  indices x = {0};
  gs_type_at(p, t, &type);
  *f = (form){.p = p, .heap = p->ctx.heap, .arrays = arrays, .swaps = swaps};
  x.rank = type.rank;
  for (uint32_t d = 0; d < type.rank; d++)
    fresh(f, type.dim[d], 0, &x.at[d]);
  add_moves(f, &type, 0, &x);
  walk(f, t, x, nothing);
  for (uint32_t k = 0; k < f->iterators.len && !f->failed; k++)
    cut_iterator(f, k);
  while (!f->failed && join(f))
    continue;
  if (f->digits.len)
    qsort(f->digits.data, f->digits.len, sizeof f->digits.data[0], by_content);
}

static void
form_done(form *f) {
  bs_vec_done(f->heap, &f->iterators);
  bs_vec_done(f->heap, &f->moves);
  bs_vec_done(f->heap, &f->digits);
}

static bool
are_same(const form *a, const form *b) {
  return !a->failed && !b->failed && a->n_tokens == b->n_tokens &&
         a->digits.len == b->digits.len &&
         !memcmp(a->tokens, b->tokens, a->n_tokens * sizeof a->tokens[0]) &&
         (!a->digits.len || !memcmp(a->digits.data, b->digits.data,
                                    a->digits.len * sizeof a->digits.data[0]));
}

bool
ck_same_form(const gs_program *p, gs_term a, gs_term b, bool arrays) {
  bool same = false;
  if (!bs_same(gs_at(p, a)->type, gs_at(p, b)->type))
    return false;
  form *f = bs_alloc(p->ctx.heap, 2 * sizeof *f);
  make_form(p, a, arrays, 0, &f[0]);
  for (uint32_t k = 0; !same && k < 1u << f[0].n_swaps; k++) {
    make_form(p, b, arrays, k, &f[1]);
    same = are_same(&f[0], &f[1]);
    form_done(&f[1]);
  }
  form_done(&f[0]);
  bs_free(p->ctx.heap, f);
  return same;
}

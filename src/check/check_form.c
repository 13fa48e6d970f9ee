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
 * reassociated as the language allows.
 *
 * A slice that leaves out what is behind an index, and zeros that are added
 * behind one, are bounds of the digits there: what a sum has nothing of but
 * products with these zeros is left out of it, as the language allows. */
#include "check/check.h"
#include <assert.h>
#include <stdlib.h>
#include <string.h>

enum { LEAVES = 12, TOKENS = 128, PARTS = 24, DEPTH = 24, SWAPS = 4 };
enum { BOUNDS = 16, STRIDES = LEAVES + 1 + BOUNDS, ALWAYS = -1 };

typedef struct digit {
  int64_t size;
  int64_t sum; /* the sum that runs over it; 0: of the result */
  int64_t was; /* the size of an iterator before a slice; 0: as it is */
  int64_t stride[STRIDES]; /* in the result, in what is read, in bounds */
} digit;

/* What a row of digits is below.  The sum has nothing behind it, or, ALWAYS,
 * nobody asks for that. */
typedef struct bound {
  int64_t limit, sum;
  uint32_t above; /* tokens before what it is about */
} bound;

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
  uint32_t n_leaves, n_tokens, n_bounds, depth;
  BS_VEC(digit) iterators; /* with their sizes and sums */
  BS_VEC(move) moves;
  BS_VEC(digit) digits;      /* in order */
  int64_t tokens[TOKENS][4]; /* what it is, and of what */
  bound bounds[BOUNDS];
  int64_t sums;
  uint32_t n_swaps, swaps; /* operators that commute; which change places */
  const bool *known;       /* computes that are read as they are */
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

static void
move_by(form *f, const place *at, uint32_t leaf, int64_t stride) {
  for (uint32_t k = at->n; k-- > 0; stride *= at->part[k].size)
    bs_push(f->heap, &f->moves, ((move){at->part[k], leaf, stride}));
}

/* The index is below a limit.  That of a slice, which is all of an iterator,
 * runs as far as the operand does, and the bound keeps it to what is asked for;
 * behind that of a pad are zeros, with which `sum` has nothing. */
static void
end_at(form *f, place *at, int64_t kid, int64_t here, int64_t sum) {
  digit *of = at->n ? &f->iterators.data[at->part->of] : NULL;
  bool slice = here < kid;
  f->failed |= at->item || f->n_bounds == BOUNDS;
  if (f->failed)
    return;
  if (slice && !of) {
    fresh(f, kid, 0, at);
  } else if (slice && !of->was && at->part->size == of->size) {
    of->was = of->size;
    at->part->size = of->size = kid;
  }
  move_by(f, at, LEAVES + 1 + f->n_bounds, 1);
  f->bounds[f->n_bounds++] =
      (bound){slice ? here : kid, slice ? ALWAYS : sum, f->n_tokens};
}

/* From an index of a view to one of the operand that is looked at: of a tuple
 * the one whose number the index has. */
static gs_term
down(form *f, gs_term t, int64_t sum, indices *x) {
  const gs_node *n = gs_at(f->p, t);
  const indices from = *x;
  const gs_type type = ck_type(f->p, t);
  if (n->op == GS_MATERIALIZE)
    return n->kids[0];
  gs_view_at(f->p, t, &f->view);
  bool tuple = n->n_kids > 1;
  const place *at = &from.at[f->view.axis];
  const gs_view_part *part = f->view.part;
  f->failed |= tuple && (at->n || at->item > 1);
  if (f->failed)
    return t;
  while (part->source != GS_VIEW_CHILD || (tuple && part->kid != at->item))
    part++;
  const gs_type kid = ck_type(f->p, n->kids[part->kid]);
  if (f->view.keeps_order) {
    down_reshape(f, &kid, x);
    return n->kids[0];
  }
  x->rank = kid.rank;
  for (uint32_t d = 0; d < kid.rank; d++) {
    const gs_view_row *row = &part->row[d];
    int64_t here = row->n ? type.dim[row->term[0].of] : kid.dim[d];
    x->at[d] = row->n ? from.at[row->term[0].of] : (place){0};
    if (here != kid.dim[d])
      end_at(f, &x->at[d], kid.dim[d], here, sum);
  }
  return n->kids[part->kid];
}

/* ---- what is computed ---- */

enum { SUM, READ, OPERATOR, BOUND };

/* What has the same elements in the same order. */
static gs_term
without_shape(const form *f, gs_term t) {
  const gs_node *n = gs_at(f->p, t);
  for (; gs_keeps_order(n->op) || n->op == GS_MATERIALIZE; n = gs_at(f->p, t))
    t = n->kids[0];
  return t;
}

/* Whether a term is read as it is, and not looked into.  Zeros beside what is
 * summed are looked into. */
static bool
is_leaf(const form *f, gs_term below, bool in_sum) {
  gs_term t = without_shape(f, below);
  const gs_node *n = gs_at(f->p, t);
  gs_compute op;
  if (gs_op_table[n->op].view)
    return !gs_is_aligned(f->p, t) || (n->op == GS_PAD && !in_sum);
  if (n->op != GS_COMPUTE || f->known[t.i])
    return true;
  gs_compute_of(f->p->ctx.values, bs_item(f->p->ctx.values, n->attr, 0), &op);
  gs_compute_kind kind = gs_compute_table[op].kind;
  return op != GS_C_DOT_PROD && op != GS_C_REDUCE_SUM && kind != GS_FOLD &&
         kind != GS_SELECT && kind != GS_ELEMENTWISE && kind != GS_CAST;
}

/* An array of that type, in which the indices move. */
static int64_t
add_moves(form *f, const gs_type *type, uint32_t leaf, const indices *x) {
  int64_t stride = 1, offset = 0;
  for (uint32_t d = type->rank; d-- > 0; stride *= type->dim[d]) {
    move_by(f, &x->at[d], leaf, stride);
    offset += x->at[d].item * stride;
  }
  return offset;
}

/* What stands above: a sum, of which dtype, or a product of one. */
typedef struct above {
  int64_t sum;      /* that what stands here is summed by, or 0 */
  gs_dtype of;      /* of that sum */
  gs_dtype product; /* that it is a factor of */
  int64_t zero;     /* the sum that has nothing where this is zero, or 0 */
} above;

static const above nothing = {0, GS_DTYPE_COUNT, GS_DTYPE_COUNT, 0};

static void walk(form *, gs_term, indices, above);

/* The items of a tuple, each at the index with its number in the place of the
 * tuple. */
static void
walk_items(form *f, gs_term tuple, const gs_type *type, const indices *x,
           gs_compute op, above up) {
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

/* A sum of one element is that, if it has the dtype. */
static void
add_sum(form *f, const gs_type *kid, uint32_t from, gs_dtype dtype, indices *x,
        above *up) {
  bool one = gs_prod(kid->dim + from, kid->rank - from) == 1;
  if ((!one || kid->dtype != dtype) && (!up->sum || up->of != dtype)) {
    int64_t sum = ++f->sums;
    *up = (above){sum, dtype, GS_DTYPE_COUNT, sum};
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
  const gs_type kid = ck_type(f->p, below), type = ck_type(f->p, t);
  gs_compute op;
  gs_compute_of(f->p->ctx.values, o, &op);
  gs_compute_kind kind = gs_compute_table[op].kind;
  bool dot = op == GS_C_DOT_PROD, sum = op == GS_C_REDUCE_SUM;
  bool tuple = dot || kind == GS_FOLD || kind == GS_SELECT;
  bool exact = op == GS_C_CAST && up.product == type.dtype &&
               gs_sum_dtype(kid.dtype) == type.dtype;
  if (dot || sum)
    add_sum(f, &kid, kid.access + dot, type.dtype, x, &up);
  else
    up = (above){0, GS_DTYPE_COUNT, GS_DTYPE_COUNT, up.zero};
  if (sum || exact) {
    walk(f, below, *x, up);
    return;
  }
  if (dot) {
    op = GS_C_MUL;
    o = bs_sym(f->p->ctx.values, gs_compute_table[op].name);
  }
  token(f, OPERATOR, o.i, type.dtype, tuple ? kid.dim[kid.access] : 1);
  if (op == GS_C_MUL)
    up = (above){0, GS_DTYPE_COUNT, type.dtype, up.zero};
  if (tuple)
    walk_items(f, below, &kid, x, op, op == GS_C_MUL ? up : nothing);
  else
    walk(f, below, *x, nothing);
}

static void
walk(form *f, gs_term t, indices x, above up) {
  f->failed |= ++f->depth > DEPTH;
  while (!f->failed && !is_leaf(f, t, up.zero) &&
         gs_at(f->p, t)->op != GS_COMPUTE)
    t = down(f, t, up.zero, &x);
  bool leaf = is_leaf(f, t, up.zero);
  f->failed |= leaf && f->n_leaves == LEAVES;
  if (!f->failed && leaf) {
    const gs_type type = ck_type(f->p, t);
    int64_t offset = add_moves(f, &type, ++f->n_leaves, &x);
    token(f, READ, without_shape(f, t).i, offset, 0);
  } else if (!f->failed) {
    walk_compute(f, t, &x, up);
  }
  f->depth--;
}

/* ---- the form ---- */

/* One that ended where its iterator did goes on to the end of it. */
static int64_t
end_of_piece(const form *f, const piece *by) {
  const digit *of = &f->iterators.data[by->of];
  int64_t end = by->low * by->size;
  return end == of->was ? of->size : end;
}

/* Where the digits of an iterator that begin at `low` end: before the next cut.
 * 0: a piece reaches over it, and does not hold a whole number of them. */
static int64_t
end_of_digits(form *f, uint32_t of, int64_t low) {
  assert(of < f->iterators.len);
  int64_t end = f->iterators.data[of].size;
  for (uint32_t k = 0; k < f->moves.len; k++) {
    piece by = f->moves.data[k].by;
    int64_t high = end_of_piece(f, &by);
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
  d.was = 0;
  for (int64_t low = 1, end; low < size && !f->failed; low = end) {
    end = end_of_digits(f, of, low);
    d.size = end / low;
    memset(d.stride, 0, sizeof d.stride);
    for (uint32_t k = 0; k < f->moves.len; k++) {
      const move *m = &f->moves.data[k];
      bool has =
          m->by.of == of && m->by.low <= low && end <= end_of_piece(f, &m->by);
      d.stride[m->leaf] += has ? m->stride * (low / m->by.low) : 0;
    }
    bs_push(f->heap, &f->digits, d);
  }
}

static bool
follows(const digit *high, const digit *low) {
  for (uint32_t k = 0; k < STRIDES; k++)
    if (high->stride[k] != low->stride[k] * low->size)
      return false;
  return high->sum == low->sum;
}

/* Some order, in which equal ones are side by side. */
static int
by_content(const void *a, const void *b) {
  return memcmp(a, b, sizeof(digit));
}

/* Joins digits that lie behind one another everywhere. */
static void
join(form *f) {
  digit *d = f->digits.data;
  for (int64_t i = 0; i < f->digits.len; i++)
    for (uint32_t j = 0; j < f->digits.len && !f->failed; j++)
      if (i != j && follows(&d[i], &d[j])) {
        d[j].size *= d[i].size;
        d[i] = d[--f->digits.len];
        i = -1; /* once more from the start */
        break;
      }
}

/* The highest digit of a row ends where the bound is, if no lower one gets over
 * that.  Whether the bound stays, as number `to`, since there is no such
 * digit. */
static bool
keep_bound(form *f, uint32_t from, uint32_t to, const bound *b) {
  digit none = {.size = 1, .stride = {0}}, *high = &none;
  int64_t most = 0;
  for (uint32_t k = 0; k < f->digits.len; k++) {
    digit *d = &f->digits.data[k];
    most += (d->size - 1) * d->stride[from];
    high = d->stride[from] > high->stride[from] ? d : high;
  }
  int64_t step = high->stride[from];
  bool over = most >= b->limit;
  bool ends = over && b->limit % step == 0 &&
              most - (high->size - 1) * step < step &&
              (b->sum == ALWAYS || high->sum == b->sum);
  if (ends)
    high->size = b->limit / step;
  else if (over)
    token(f, BOUND, b->limit, b->above, b->sum);
  for (uint32_t k = 0; k < f->digits.len; k++) {
    int64_t *stride = f->digits.data[k].stride, was = stride[from];
    stride[from] = 0;
    stride[to] = over && !ends ? was : 0;
  }
  return over && !ends;
}

/* Digits that are one behind another are one by then. */
static void
keep_bounds(form *f) {
  uint32_t kept = LEAVES + 1, n = 0;
  for (uint32_t k = 0; k < f->n_bounds; k++)
    kept += keep_bound(f, LEAVES + 1 + k, kept, &f->bounds[k]);
  for (uint32_t k = 0; k < f->digits.len; k++)
    if (f->digits.data[k].size != 1)
      f->digits.data[n++] = f->digits.data[k];
  f->digits.len = n;
}

static void
make_form(const gs_program *p, gs_term t, const bool *known, uint32_t swaps,
          form *f) {
  const gs_type type = ck_type(p, t);
  indices x = {0};
  *f = (form){.p = p, .heap = p->ctx.heap, .known = known, .swaps = swaps};
  x.rank = type.rank;
  for (uint32_t d = 0; d < type.rank; d++)
    fresh(f, type.dim[d], 0, &x.at[d]);
  add_moves(f, &type, 0, &x);
  walk(f, t, x, nothing);
  for (uint32_t k = 0; k < f->iterators.len && !f->failed; k++)
    cut_iterator(f, k);
  join(f);
  keep_bounds(f);
  join(f);
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
ck_same_form(const gs_program *p, gs_term a, gs_term b, const bool *known) {
  bool same = false;
  if (!bs_same(gs_at(p, a)->type, gs_at(p, b)->type) || p->sizes)
    return false;
  form *f = bs_alloc(p->ctx.heap, 2 * sizeof *f);
  make_form(p, a, known, 0, &f[0]);
  for (uint32_t k = 0; !same && k < 1u << f[0].n_swaps; k++) {
    make_form(p, b, known, k, &f[1]);
    same = are_same(&f[0], &f[1]);
    form_done(&f[1]);
  }
  form_done(&f[0]);
  bs_free(p->ctx.heap, f);
  return same;
}

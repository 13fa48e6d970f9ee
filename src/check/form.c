/* SPDX-License-Identifier: MIT */
/* form.c - two computations held against each other by what they compute.
 *
 * What a call over further dimensions means is written with broadcasts, tuples
 * and sums of sums where the program has a product of two patterns.  Both are
 * brought to one form: the operators in the order in which they are met, the
 * terms that are read, and an iteration space.  An index is a row of digits; a
 * view says which digits stand in which dimension of its operand, and a reshape
 * splits digits where it has to.  In the end each digit has a size and a stride
 * in the result and in each term that is read.  Digits that lie behind one
 * another everywhere are one.  Over which digits a sum runs does not depend on
 * their order: equal lists of digits are equal computations, floats being
 * reassociated as the language allows. */
#include "check/check.h"
#include <stdlib.h>
#include <string.h>

enum {
  DIGITS = 256,
  LEAVES = 12,
  TOKENS = 256,
  PARTS = 24,
  DEPTH = 24,
  SWAPS = 4
};

typedef struct digit {
  int64_t size;
  uint32_t high, low; /* what it was split into; 0: nothing */
  int64_t sum;        /* the sum that runs over it; 0: a digit of the result */
  int64_t stride[LEAVES + 1]; /* in the result, and in what is read */
} digit;

typedef struct place {
  uint32_t n, part[PARTS]; /* digits, the highest first */
  int64_t item;            /* where it is one number */
} place;

typedef struct indices {
  uint32_t rank;
  place at[GS_MAX_RANK];
} indices;

typedef struct form {
  const gs_program *p;
  uint32_t n_digits, n_leaves, n_tokens, depth;
  digit digits[DIGITS];
  int64_t tokens[TOKENS];
  int64_t sums;
  uint32_t n_swaps, swaps; /* operators that commute; which change places */
  bool arrays; /* nothing but views that order elements is looked into */
  bool failed;
} form;

static void
token(form *f, int64_t x) {
  if (f->n_tokens == TOKENS)
    f->failed = true;
  else
    f->tokens[f->n_tokens++] = x;
}

static uint32_t
new_digit(form *f, int64_t size, int64_t sum) {
  if (f->n_digits == DIGITS) {
    f->failed = true;
    return 0;
  }
  f->digits[f->n_digits] = (digit){.size = size, .sum = sum};
  return f->n_digits++;
}

static void
push(form *f, place *to, uint32_t d) {
  if (to->n == PARTS)
    f->failed = true;
  else
    to->part[to->n++] = d;
}

/* A dimension of its own. */
static void
fresh(form *f, int64_t size, int64_t sum, place *out) {
  *out = (place){0};
  if (size > 1)
    push(f, out, new_digit(f, size, sum));
}

/* ---- digits ---- */

static void
split(form *f, uint32_t d, int64_t low) {
  uint32_t a = new_digit(f, f->digits[d].size / low, f->digits[d].sum);
  uint32_t b = new_digit(f, low, f->digits[d].sum);
  if (f->failed)
    return;
  f->digits[d].high = a;
  f->digits[d].low = b;
  for (uint32_t k = 0; k <= LEAVES; k++) {
    f->digits[a].stride[k] = f->digits[d].stride[k] * low;
    f->digits[b].stride[k] = f->digits[d].stride[k];
  }
}

/* Digits that were split become what they are now. */
static void
put_split(form *f, uint32_t d, place *to) {
  uint32_t stack[DIGITS], n = 0;
  stack[n++] = d;
  while (n && !f->failed) {
    uint32_t x = stack[--n];
    if (!f->digits[x].low) {
      push(f, to, x);
      continue;
    }
    stack[n++] = f->digits[x].low;
    stack[n++] = f->digits[x].high;
  }
}

/* What is `want` large, from the lower end of the row. */
static void
take(form *f, place *row, int64_t want, place *out) {
  uint32_t taken[PARTS], n = 0;
  *out = (place){0};
  while (want > 1 && !f->failed) {
    if (!row->n || n == PARTS) {
      f->failed = true;
      return;
    }
    uint32_t d = row->part[--row->n];
    int64_t size = f->digits[d].size;
    if (want % size == 0) {
      taken[n++] = d;
      want /= size;
    } else if (size % want == 0) {
      split(f, d, want);
      push(f, row, f->digits[d].high);
      taken[n++] = f->digits[d].low;
      want = 1;
    } else {
      f->failed = true;
    }
  }
  while (n)
    push(f, out, taken[--n]);
}

/* ---- views, from above down ---- */

static void
down_reshape(form *f, const gs_type *kid, indices *x) {
  place row = {0};
  for (uint32_t d = 0; d < x->rank; d++) {
    f->failed |= x->at[d].item != 0;
    for (uint32_t k = 0; k < x->at[d].n; k++)
      put_split(f, x->at[d].part[k], &row);
  }
  x->rank = kid->rank;
  for (uint32_t d = kid->rank; d-- > 0;)
    take(f, &row, kid->dim[d], &x->at[d]);
  f->failed |= row.n != 0;
}

static void
down_transpose(const form *f, bs_value order, indices *x) {
  const bs_values *values = f->p->ctx.values;
  indices old = *x;
  for (uint32_t d = 0; d < x->rank; d++)
    x->at[bs_as_int(values, bs_item(values, order, d))] = old.at[d];
}

static void
down_broadcast(const gs_type *kid, const gs_type *type, indices *x) {
  for (uint32_t d = 0; d < x->rank; d++)
    if (kid->dim[d] != type->dim[d])
      x->at[d] = (place){0};
}

static void
remove_at(indices *x, uint32_t at) {
  memmove(&x->at[at], &x->at[at + 1], (x->rank - at - 1) * sizeof x->at[0]);
  x->rank--;
}

static void
insert_at(indices *x, uint32_t at, const place *what) {
  memmove(&x->at[at + 1], &x->at[at], (x->rank - at) * sizeof x->at[0]);
  x->at[at] = *what;
  x->rank++;
}

/* The item of a tuple that is looked at; its operand. */
static gs_term
down_tuple(form *f, const gs_node *n, const gs_type *type, indices *x) {
  uint32_t at = type->access;
  place item = x->at[at];
  gs_type a;
  f->failed |= item.n != 0 || item.item > 1;
  remove_at(x, at);
  gs_type_at(f->p, n->kids[0], &a);
  if (n->op == GS_CARTPROD && item.item)
    for (uint32_t k = 0; k < a.access; k++)
      remove_at(x, 0);
  else if (n->op == GS_CARTPROD)
    for (uint32_t k = a.access; k < type->access; k++)
      remove_at(x, a.access);
  return n->kids[item.item == 1];
}

/* The operand of a view, and the index into it; false: t is no such view. */
static bool
down(form *f, gs_term t, indices *x, gs_term *below) {
  const gs_node *n = gs_at(f->p, t);
  const bs_values *values = f->p->ctx.values;
  const place none = {0};
  gs_type type, kid;
  gs_type_at(f->p, t, &type);
  if (n->n_kids)
    gs_type_at(f->p, n->kids[0], &kid);
  *below = n->n_kids ? n->kids[0] : t;
  if (n->op == GS_PAIR || n->op == GS_CARTPROD)
    *below = down_tuple(f, n, &type, x);
  else if (n->op == GS_TRANSPOSE)
    down_transpose(f, bs_item(values, n->attr, 0), x);
  else if (n->op == GS_BROADCAST)
    down_broadcast(&kid, &type, x);
  else if (n->op == GS_SQUEEZE)
    insert_at(x, (uint32_t)bs_as_int(values, bs_item(values, n->attr, 0)),
              &none);
  else if (n->op == GS_INSERT_AXIS)
    remove_at(x, (uint32_t)bs_as_int(values, bs_item(values, n->attr, 0)));
  else if (n->op == GS_FLATTEN || n->op == GS_RESHAPE)
    down_reshape(f, &kid, x);
  else
    return n->op == GS_ACCESS || n->op == GS_MATERIALIZE;
  return true;
}

/* ---- what is computed ---- */

enum { SUM = -1, READ = -2, OPERATOR = -3 };

bool
ck_keeps_order(gs_op op) {
  return op == GS_ACCESS || op == GS_RESHAPE || op == GS_FLATTEN ||
         op == GS_SQUEEZE || op == GS_INSERT_AXIS || op == GS_MATERIALIZE;
}

bool
ck_only_orders(gs_op op) {
  return op == GS_TRANSPOSE || ck_keeps_order(op);
}

/* Whether a term is read as it is, and not looked into. */
static bool
is_leaf(const form *f, gs_term t) {
  const gs_node *n = gs_at(f->p, t);
  gs_compute op;
  if (f->arrays)
    return !ck_only_orders(n->op);
  if (n->op == GS_COMPUTE) {
    gs_compute_of(f->p->ctx.values, bs_item(f->p->ctx.values, n->attr, 0), &op);
    gs_compute_kind kind = gs_compute_table[op].kind;
    return op != GS_C_DOT_PROD && op != GS_C_REDUCE_SUM && kind != GS_FOLD &&
           kind != GS_SELECT && kind != GS_ELEMENTWISE && kind != GS_CAST;
  }
  return n->op == GS_TENSOR || n->op == GS_CONST || n->op == GS_WINDOWS ||
         n->op == GS_SLICE || n->op == GS_CONCAT || n->op == GS_PAD ||
         n->op == GS_REPEAT || n->op == GS_CALL;
}

/* What has the same elements in the same order. */
static gs_term
without_shape(const form *f, gs_term t) {
  while (ck_keeps_order(gs_at(f->p, t)->op))
    t = gs_at(f->p, t)->kids[0];
  return t;
}

/* `base` has the elements of t in their order. */
static void
read_leaf(form *f, gs_term base, gs_term t, const indices *x) {
  gs_type type;
  int64_t stride = 1, offset = 0;
  gs_type_at(f->p, t, &type);
  if (f->n_leaves == LEAVES) {
    f->failed = true;
    return;
  }
  uint32_t leaf = ++f->n_leaves;
  for (uint32_t d = type.rank; d-- > 0;) {
    int64_t step = stride;
    place row = {0};
    for (uint32_t k = 0; k < x->at[d].n; k++)
      put_split(f, x->at[d].part[k], &row);
    for (uint32_t k = row.n; k-- > 0;) {
      f->digits[row.part[k]].stride[leaf] += step;
      step *= f->digits[row.part[k]].size;
    }
    offset += x->at[d].item * stride;
    stride *= type.dim[d];
  }
  token(f, READ);
  token(f, base.i);
  token(f, offset);
}

/* What stands above: a sum, of which dtype, or a product of one. */
typedef struct above {
  int64_t sum;      /* that what stands here is summed by, or 0 */
  gs_dtype of;      /* of that sum */
  gs_dtype product; /* that it is a factor of */
} above;

static const above nothing = {0, GS_DTYPE_COUNT, GS_DTYPE_COUNT};

static void walk(form *, gs_term, indices, above);

static bool
commutes(gs_compute op) {
  return op == GS_C_MUL || op == GS_C_ADD || op == GS_C_MAX || op == GS_C_MIN;
}

/* The items of a tuple, each at the index without the tuple. */
static void
walk_items(form *f, gs_term tuple, const indices *x, uint32_t at, int64_t items,
           gs_compute op, gs_dtype product) {
  above up = nothing;
  bool swap = false;
  if (items == 2 && commutes(op) && f->n_swaps < SWAPS)
    swap = f->swaps >> f->n_swaps++ & 1;
  up.product = product;
  for (int64_t k = 0; k < items && !f->failed; k++) {
    indices y = *x;
    place item = {.item = swap ? items - 1 - k : k};
    insert_at(&y, at, &item);
    walk(f, tuple, y, up);
  }
}

static void
add_sum(form *f, const gs_type *kid, uint32_t from, gs_dtype dtype, indices *x,
        above *up) {
  if (!up->sum || up->of != dtype) {
    *up = (above){++f->sums, dtype, GS_DTYPE_COUNT};
    token(f, SUM);
    token(f, dtype);
  }
  for (uint32_t d = from; d < kid->rank; d++)
    fresh(f, kid->dim[d], up->sum, &x->at[x->rank++]);
}

static void
put_operator(form *f, bs_value o, gs_dtype dtype, int64_t items) {
  token(f, OPERATOR);
  token(f, o.i);
  token(f, dtype);
  token(f, items);
}

/* A sum of products in the dtype of the sum. */
static void
walk_dot(form *f, gs_term tuple, const gs_type *kid, gs_dtype dtype, indices *x,
         above up) {
  bs_value mul = bs_sym(f->p->ctx.values, gs_compute_table[GS_C_MUL].name);
  add_sum(f, kid, kid->access + 1, dtype, x, &up);
  put_operator(f, mul, dtype, kid->dim[kid->access]);
  walk_items(f, tuple, x, kid->access, kid->dim[kid->access], GS_C_MUL, dtype);
}

static void
walk_operator(form *f, gs_term t, gs_compute op, bs_value o, indices *x) {
  const gs_node *n = gs_at(f->p, t);
  gs_compute_kind kind = gs_compute_table[op].kind;
  gs_type kid, type;
  gs_type_at(f->p, n->kids[0], &kid);
  gs_type_at(f->p, t, &type);
  bool tuple = kind == GS_FOLD || kind == GS_SELECT;
  put_operator(f, o, type.dtype, tuple ? kid.dim[kid.access] : 1);
  if (tuple)
    walk_items(f, n->kids[0], x, kid.access, kid.dim[kid.access], op,
               op == GS_C_MUL ? type.dtype : GS_DTYPE_COUNT);
  else
    walk(f, n->kids[0], *x, nothing);
}

static void
walk_compute(form *f, gs_term t, indices *x, above up) {
  const gs_node *n = gs_at(f->p, t);
  bs_value o = bs_item(f->p->ctx.values, n->attr, 0);
  gs_compute op;
  gs_type kid, type;
  gs_compute_of(f->p->ctx.values, o, &op);
  gs_type_at(f->p, n->kids[0], &kid);
  gs_type_at(f->p, t, &type);
  if (op == GS_C_DOT_PROD) {
    walk_dot(f, n->kids[0], &kid, type.dtype, x, up);
  } else if (op == GS_C_REDUCE_SUM) {
    add_sum(f, &kid, kid.access, type.dtype, x, &up);
    walk(f, n->kids[0], *x, up);
  } else if (op == GS_C_CAST && up.product == type.dtype &&
             gs_sum_dtype(kid.dtype) == type.dtype) {
    walk(f, n->kids[0], *x, nothing); /* the product is exact without it */
  } else {
    walk_operator(f, t, op, o, x);
  }
}

static void
walk(form *f, gs_term t, indices x, above up) {
  gs_term below;
  if (f->failed || ++f->depth > DEPTH) {
    f->failed = true;
    return;
  }
  gs_term base = without_shape(f, t);
  while (!f->failed && !is_leaf(f, base) && down(f, t, &x, &below)) {
    t = below;
    base = without_shape(f, t);
  }
  if (is_leaf(f, base))
    read_leaf(f, base, t, &x);
  else if (!f->failed)
    walk_compute(f, t, &x, up);
  f->depth--;
}

/* ---- the form ---- */

static bool
follows(const digit *high, const digit *low) {
  for (uint32_t k = 0; k <= LEAVES; k++)
    if (high->stride[k] != low->stride[k] * low->size)
      return false;
  return high->sum == low->sum;
}

static int
by_strides(const void *a, const void *b) {
  const digit *x = a, *y = b;
  if (x->sum != y->sum)
    return x->sum < y->sum ? -1 : 1;
  for (uint32_t k = 0; k <= LEAVES; k++)
    if (x->stride[k] != y->stride[k])
      return x->stride[k] < y->stride[k] ? -1 : 1;
  return (x->size > y->size) - (x->size < y->size);
}

/* Digits that lie behind one another everywhere become one. */
static void
join(form *f) {
  uint32_t n = 0;
  for (uint32_t k = 1; k < f->n_digits; k++)
    if (!f->digits[k].low)
      f->digits[n++] = f->digits[k];
  for (bool more = true; more;) {
    more = false;
    for (uint32_t i = 0; i < n && !more; i++)
      for (uint32_t j = 0; j < n && !more; j++) {
        if (i == j || !follows(&f->digits[i], &f->digits[j]))
          continue;
        f->digits[j].size *= f->digits[i].size;
        f->digits[i] = f->digits[--n];
        more = true;
      }
  }
  qsort(f->digits, n, sizeof f->digits[0], by_strides);
  f->n_digits = n;
}

static void
make_form(const gs_program *p, gs_term t, bool arrays, uint32_t swaps,
          form *f) {
  indices *x = bs_calloc(p->ctx.heap, 1, sizeof *x);
  gs_type type;
  int64_t stride = 1;
  gs_type_at(p, t, &type);
  *f = (form){.p = p, .arrays = arrays, .swaps = swaps};
  new_digit(f, 1, 0); /* no digit has the number 0 */
  x->rank = type.rank;
  for (uint32_t d = type.rank; d-- > 0; stride *= type.dim[d]) {
    fresh(f, type.dim[d], 0, &x->at[d]);
    if (x->at[d].n)
      f->digits[x->at[d].part[0]].stride[0] = stride;
  }
  walk(f, t, *x, nothing);
  bs_free(p->ctx.heap, x);
  if (!f->failed)
    join(f);
}

static bool
are_same(const form *a, const form *b) {
  bool same = !a->failed && !b->failed && a->n_tokens == b->n_tokens &&
              a->n_digits == b->n_digits &&
              !memcmp(a->tokens, b->tokens, a->n_tokens * sizeof a->tokens[0]);
  for (uint32_t k = 0; same && k < a->n_digits; k++)
    same = a->digits[k].size == b->digits[k].size &&
           !by_strides(&a->digits[k], &b->digits[k]);
  return same;
}

static bool
same_form(const gs_program *p, gs_term a, gs_term b, bool arrays) {
  form *f = bs_alloc(p->ctx.heap, 2 * sizeof *f);
  bool same = false;
  make_form(p, a, arrays, 0, &f[0]);
  for (uint32_t k = 0; !same && k < 1u << f[0].n_swaps; k++) {
    make_form(p, b, arrays, k, &f[1]);
    same = are_same(&f[0], &f[1]);
  }
  bs_free(p->ctx.heap, f);
  return same;
}

bool
ck_same_form(const gs_program *p, gs_term a, gs_term b) {
  return same_form(p, a, b, false);
}

bool
ck_same_array(const gs_program *p, gs_term a, gs_term b) {
  gs_type x, y;
  gs_type_at(p, a, &x);
  gs_type_at(p, b, &y);
  return gs_type_equal(&x, &y) && same_form(p, a, b, true);
}

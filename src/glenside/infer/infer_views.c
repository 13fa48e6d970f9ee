/* SPDX-License-Identifier: MIT */
/* infer_views.c - the types of the access pattern transformers.
 *
 * One function an operator, in the order of op.h.  They are said over numbers
 * of any kind: sizes and amounts are only combined, compared by what infer.h
 * asks, and shown in messages, which are of integers.  Places, ranks and
 * permutations are integers always. */
#include "glenside/infer/infer.h"
#include <string.h>

static bool
same_dtype(infer *x) {
  if (x->kids[0]->dtype == x->kids[1]->dtype)
    return true;
  const char *a = gs_dtype_table[x->kids[0]->dtype].name;
  const char *b = gs_dtype_table[x->kids[1]->dtype].name;
  gs_fail(x->fault, "dtype-mismatch", 1, -1,
          "%s needs equal dtypes, found %s and %s", INFER_NAME(x), a, b);
  return infer_hint(x, "convert one: (compute (cast %s) ...)", a);
}

bool
infer_ACCESS(infer *x) {
  const gs_type *a = x->kids[0];
  int64_t k = 0;
  if (!infer_place(x, 0, &k))
    return false;
  if (k < 0 || k > a->rank)
    return gs_fail(x->fault, "axis-range", -1, 0,
                   "access at %lld of a term of rank %d: expected 0 to %d",
                   (long long)k, a->rank, a->rank);
  x->made = *a;
  x->made.access = (uint8_t)k;
  return true;
}

bool
infer_TRANSPOSE(infer *x) {
  const gs_type *a = x->kids[0];
  int64_t p[GS_MAX_RANK];
  uint32_t n, seen = 0;
  if (!infer_places(x, 0, p, &n))
    return false;
  if (n != a->rank) {
    gs_fail(x->fault, "bad-permutation", -1, 0,
            "transpose of a term of rank %d needs %d %s, found %u", a->rank,
            BS_COUNTED_AS(a->rank, "index", "indices"), n);
    return infer_hint(x, "the term is %s; S is permuted too",
                      infer_show_type(x, a).s);
  }
  x->made = *a;
  for (uint32_t k = 0; k < n; k++) {
    if (p[k] < 0 || p[k] >= a->rank || seen >> p[k] & 1)
      return gs_fail(x->fault, "bad-permutation", -1, 0,
                     "transpose needs a permutation of 0 to %d, but %lld is "
                     "%s",
                     a->rank - 1, (long long)p[k],
                     p[k] < 0 || p[k] >= a->rank ? "not among them"
                                                 : "there twice");
    seen |= 1u << p[k];
    x->made.dim[k] = a->dim[p[k]];
  }
  return true;
}

bool
infer_CARTPROD(infer *x) {
  const gs_type *a = x->kids[0], *b = x->kids[1];
  const int64_t *ca = a->dim + a->access, *cb = b->dim + b->access;
  uint32_t na = infer_items(a), nb = infer_items(b);
  gs_number two = gs_constant_number(x->over, 2);
  if (na != nb || !infer_equal_dims(x, ca, cb, na)) {
    gs_fail(x->fault, "shape-mismatch", 1, -1,
            "cartProd needs equal compute shapes, found %s and %s",
            infer_show(ca, na).s, infer_show(cb, nb).s);
    return infer_hint(x, "(access a k) chooses where the compute shape begins");
  }
  if (!same_dtype(x))
    return false;
  x->made.dtype = a->dtype;
  if (!infer_push(x, a->dim, a->access) || !infer_push(x, b->dim, b->access))
    return false;
  x->made.access = x->made.rank;
  return infer_push(x, &two, 1) && infer_push(x, ca, na);
}

bool
infer_PAIR(infer *x) {
  const gs_type *a = x->kids[0], *b = x->kids[1];
  gs_number two = gs_constant_number(x->over, 2);
  if (a->access != b->access || a->rank != b->rank ||
      !infer_equal_dims(x, a->dim, b->dim, a->rank)) {
    gs_fail(x->fault, "shape-mismatch", 1, -1,
            "pair needs equal shapes, found %s and %s", infer_show_type(x, a).s,
            infer_show_type(x, b).s);
    return infer_hint(x, a->rank != b->rank
                             ? "insertAxis and broadcast bring a smaller term "
                               "to the shape of a larger one"
                         : a->access != b->access
                             ? "(access a k) moves the split between S and C"
                             : "broadcast repeats dimensions of size 1; slice "
                               "and pad change a size");
  }
  if (!same_dtype(x))
    return false;
  x->made.dtype = a->dtype;
  if (!infer_push(x, a->dim, a->access))
    return false;
  x->made.access = x->made.rank;
  return infer_push(x, &two, 1) &&
         infer_push(x, a->dim + a->access, infer_items(a));
}

/* One number a compute dimension in each list of windows. */
static bool
window_list(infer *x, uint32_t item, const gs_type *a, gs_number *out) {
  static const char *const what[] = {"kernel size", "stride", "dilation"};
  uint32_t n;
  if (!infer_list(x, item, out, &n))
    return false;
  if (n != infer_items(a) && !infer_items(a)) {
    gs_fail(x->fault, "window-rank", -1, (int)item,
            "windows of a term without compute dimensions: %s",
            infer_show_type(x, a).s);
    return infer_hint(x, "(access a k) chooses which dimensions are windowed");
  }
  if (n != infer_items(a)) {
    gs_fail(
        x->fault, "window-rank", -1, (int)item,
        "windows needs one %s for each compute dimension: %u for %s, found %u",
        what[item], infer_items(a),
        infer_show(a->dim + a->access, infer_items(a)).s, n);
    return infer_hint(x, "(access a k) chooses which dimensions are windowed");
  }
  for (uint32_t k = 0; k < n; k++)
    if (!infer_at_least(x, out[k], 1))
      return gs_fail(x->fault, "bad-size", -1, (int)item,
                     "%s %lld of compute dimension %u is below 1", what[item],
                     (long long)out[k], k);
  return true;
}

/* The windows along compute dimension k. */
static bool
count_windows(infer *x, uint32_t k, gs_number size, gs_number stride,
              gs_number dilation, gs_number *count) {
  gs_number c = x->kids[0]->dim[x->kids[0]->access + k];
  gs_number reach = gs_product(x->over, dilation, gs_plus(x->over, size, -1));
  /* what is left behind the first window */
  gs_number left = gs_combine(x->over, 1, c, -1, reach, -1);
  if (infer_at_least(x, left, 0)) {
    *count = gs_plus(x->over, gs_quotient(x->over, left, stride), 1);
    return true;
  }
  gs_fail(x->fault, "window-size", -1, size > c ? 0 : 2,
          "a window of %lld%s does not fit in compute dimension %u of size "
          "%lld",
          (long long)size, dilation > 1 ? " with its dilation" : "", k,
          (long long)c);
  return infer_hint(x, "dilation * (kernel - 1) + 1 is at most the size; "
                       "pad makes room");
}

bool
infer_WINDOWS(infer *x) {
  const gs_type *a = x->kids[0];
  gs_number size[GS_MAX_RANK], stride[GS_MAX_RANK], dilation[GS_MAX_RANK];
  gs_number count[GS_MAX_RANK];
  uint32_t n = infer_items(a);
  if (!window_list(x, 0, a, size) || !window_list(x, 1, a, stride) ||
      !window_list(x, 2, a, dilation))
    return false;
  for (uint32_t k = 0; k < n; k++)
    if (!count_windows(x, k, size[k], stride[k], dilation[k], &count[k]))
      return false;
  x->made.dtype = a->dtype;
  if (!infer_push(x, a->dim, a->access) || !infer_push(x, count, n))
    return false;
  x->made.access = x->made.rank;
  return infer_push(x, size, n);
}

bool
infer_SLICE(infer *x) {
  const gs_type *a = x->kids[0];
  uint32_t d;
  gs_number lo = 0, hi = 0;
  if (!infer_dim(x, 0, a, false, &d) || !infer_int(x, 1, &lo) ||
      !infer_int(x, 2, &hi))
    return false;
  if (!infer_at_least(x, lo, 0) ||
      !infer_at_least(x, gs_minus(x->over, a->dim[d], hi), 0))
    return gs_fail(x->fault, "slice-range", -1, lo < 0 ? 1 : 2,
                   "slice %lld to %lld leaves dimension %u of size %lld",
                   (long long)lo, (long long)hi, d, (long long)a->dim[d]);
  gs_number size = gs_minus(x->over, hi, lo);
  if (!infer_at_least(x, size, 1)) {
    gs_fail(x->fault, "slice-range", -1, 2, "slice %lld to %lld is empty",
            (long long)lo, (long long)hi);
    return infer_hint(x, "hi is one past the last index kept");
  }
  x->made = *a;
  x->made.dim[d] = size;
  return true;
}

bool
infer_CONCAT(infer *x) {
  const gs_type *a = x->kids[0], *b = x->kids[1];
  uint32_t d;
  if (a->access != b->access || a->rank != b->rank) {
    gs_fail(x->fault, "shape-mismatch", 1, -1,
            "concat needs terms of the same rank and split, found %s and %s",
            infer_show_type(x, a).s, infer_show_type(x, b).s);
    return infer_hint(x, "(access a k) moves the split between S and C");
  }
  if (!infer_dim(x, 0, a, false, &d))
    return false;
  for (uint32_t k = 0; k < a->rank; k++)
    if (k != d && !infer_equal(x, a->dim[k], b->dim[k]))
      return gs_fail(x->fault, "shape-mismatch", 1, -1,
                     "concat along dimension %u needs the other dimensions "
                     "to be equal, but dimension %u is %lld and %lld",
                     d, k, (long long)a->dim[k], (long long)b->dim[k]);
  if (!same_dtype(x))
    return false;
  x->made = *a;
  x->made.dim[d] = gs_sum(x->over, a->dim[d], b->dim[d]);
  return true;
}

static bool
is_pad_kind(const infer *x, bs_value kind) {
  gs_padding known;
  return x->over ? kind.i : gs_padding_of(x->values, kind, &known);
}

bool
infer_PAD(infer *x) {
  const gs_type *a = x->kids[0];
  bs_value kind =
      x->over ? x->over->word(x->over->arg, 0) : bs_item(x->values, x->attr, 0);
  uint32_t d;
  gs_number before = 0, after = 0;
  if (!is_pad_kind(x, kind))
    return gs_fail(x->fault, "bad-attribute", -1, 0,
                   "pad needs a kind: zero, min or edge");
  if (!infer_dim(x, 1, a, false, &d) ||
      !infer_natural(x, 2, 0, "padding before", &before) ||
      !infer_natural(x, 3, 0, "padding after", &after))
    return false;
  if (!x->over && (before > GS_MAX_ELEMENTS || after > GS_MAX_ELEMENTS))
    return gs_fail(x->fault, "too-large", -1, before > after ? 2 : 3,
                   "padding of %lld: a term has at most 2^40 elements",
                   (long long)(before > after ? before : after));
  x->made = *a;
  x->made.dim[d] = gs_sum(x->over, a->dim[d], gs_sum(x->over, before, after));
  return true;
}

bool
infer_SQUEEZE(infer *x) {
  const gs_type *a = x->kids[0];
  uint32_t d;
  if (!infer_dim(x, 0, a, false, &d))
    return false;
  if (!infer_equal(x, a->dim[d], gs_constant_number(x->over, 1)))
    return gs_fail(x->fault, "not-unit", -1, 0,
                   "squeeze removes a dimension of size 1, but dimension %u "
                   "of %s is %lld",
                   d, infer_show_type(x, a).s, (long long)a->dim[d]);
  x->made.dtype = a->dtype;
  x->made.access = (uint8_t)(a->access - (d < a->access));
  return infer_push(x, a->dim, d) &&
         infer_push(x, a->dim + d + 1, a->rank - d - 1);
}

bool
infer_INSERT_AXIS(infer *x) {
  const gs_type *a = x->kids[0];
  uint32_t d;
  gs_number one = gs_constant_number(x->over, 1);
  if (!infer_dim(x, 0, a, true, &d))
    return false;
  x->made.dtype = a->dtype;
  x->made.access = (uint8_t)(a->access + (d <= a->access));
  return infer_push(x, a->dim, d) && infer_push(x, &one, 1) &&
         infer_push(x, a->dim + d, a->rank - d);
}

/* A dimension of one is repeated, any other stays. */
static bool
becomes(const infer *x, uint32_t k, gs_number from, gs_number to) {
  if (!x->over)
    return from == 1 || from == to;
  return x->over->repeats(x->over->arg, k, from, to) >= 0;
}

bool
infer_BROADCAST(infer *x) {
  const gs_type *a = x->kids[0];
  gs_number dim[GS_MAX_RANK];
  uint32_t n;
  if (!infer_shape(x, 0, dim, &n))
    return false;
  if (n != a->rank) {
    gs_fail(x->fault, "broadcast", -1, 0,
            "broadcast of a term of rank %d needs %d %s, found %u", a->rank,
            BS_COUNTED(a->rank, "size"), n);
    return infer_hint(x, "insertAxis adds a dimension of size 1");
  }
  for (uint32_t k = 0; k < n; k++)
    if (!becomes(x, k, a->dim[k], dim[k]))
      return gs_fail(x->fault, "broadcast", -1, 0,
                     "broadcast of dimension %u from %lld to %lld: only a size "
                     "of 1 can be repeated",
                     k, (long long)a->dim[k], (long long)dim[k]);
  x->made.dtype = a->dtype;
  x->made.access = a->access;
  return infer_push(x, dim, n);
}

bool
infer_FLATTEN(infer *x) {
  const gs_type *a = x->kids[0];
  gs_number s = infer_product(x, a->dim, a->access);
  gs_number c = infer_product(x, a->dim + a->access, infer_items(a));
  x->made.dtype = a->dtype;
  if (!infer_push(x, &s, a->access ? 1 : 0))
    return false;
  x->made.access = x->made.rank;
  return infer_push(x, &c, infer_items(a) ? 1 : 0);
}

/* One side of a reshape: the same number of elements, never from the other. */
static bool
reshape_side(infer *x, uint32_t item, const gs_number *from, uint32_t n_from) {
  gs_number dim[GS_MAX_RANK];
  uint32_t n;
  const char *side = item ? "C" : "S";
  if (!infer_shape(x, item, dim, &n))
    return false;
  if (!infer_equal(x, infer_product(x, dim, n),
                   infer_product(x, from, n_from))) {
    gs_fail(x->fault, "reshape", -1, (int)item,
            "reshape of %s from %s to %s changes its number of elements", side,
            infer_show(from, n_from).s, infer_show(dim, n).s);
    return infer_hint(x, "reshape works within S and within C; (access a k) "
                         "moves dimensions between them");
  }
  return infer_push(x, dim, n);
}

bool
infer_RESHAPE(infer *x) {
  const gs_type *a = x->kids[0];
  x->made.dtype = a->dtype;
  if (!reshape_side(x, 0, a->dim, a->access))
    return false;
  x->made.access = x->made.rank;
  return reshape_side(x, 1, a->dim + a->access, infer_items(a));
}

bool
infer_REPEAT(infer *x) {
  const gs_type *a = x->kids[0];
  uint32_t d;
  gs_number f = 0;
  if (!infer_dim(x, 0, a, false, &d) ||
      !infer_natural(x, 1, 1, "the factor", &f))
    return false;
  x->made = *a;
  x->made.dim[d] = gs_product(x->over, f, a->dim[d]);
  if (!x->over && x->made.dim[d] == INT64_MAX)
    return gs_fail(x->fault, "too-large", -1, 1,
                   "repeat by %lld: a term has at most 2^40 elements",
                   (long long)f);
  return true;
}

bool
infer_REVERSE(infer *x) {
  uint32_t d;
  x->made = *x->kids[0];
  return infer_dim(x, 0, x->kids[0], false, &d);
}

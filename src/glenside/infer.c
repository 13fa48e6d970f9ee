/* SPDX-License-Identifier: MIT */
/* infer.c - the type of a term from its operator and its children's types.
 *
 * One small function an operator, dispatched by a table (the rules themselves
 * stand in infer_views.c and infer_compute.c).  Attributes may come from a
 * rule's expression as well as from a file, so nothing about them is taken for
 * granted.  All arithmetic on sizes is checked. */
#include "glenside/infer.h"
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* At most `room` bytes, the closing parenthesis and NUL included. */
static void
show(char *out, size_t room, const int64_t *dims, uint32_t n) {
  size_t at = 0;
  out[at++] = '(';
  for (uint32_t k = 0; k < n; k++) {
    char item[32];
    int len = snprintf(item, sizeof item, "%s%lld", k ? ", " : "",
                       (long long)dims[k]);
    bool cut = at + (size_t)len + sizeof ", ...)" > room;
    if (cut)
      len = snprintf(item, sizeof item, ", ...");
    memcpy(out + at, item, (size_t)len);
    at += (size_t)len;
    if (cut)
      break;
  }
  memcpy(out + at, ")", 2);
}

infer_text
infer_show(const int64_t *dims, uint32_t n) {
  infer_text out;
  show(out.s, 72, dims, n);
  return out;
}

infer_text
infer_show_type(const infer *x, const gs_type *t) {
  infer_text out;
  char s[44], c[44];
  if (!x->fault) {
    out.s[0] = '\0';
    return out;
  }
  show(s, sizeof s, t->dim, t->access);
  show(c, sizeof c, t->dim + t->access, infer_items(t));
  snprintf(out.s, sizeof out.s, "(%s, %s) %s", s, c,
           gs_dtype_table[t->dtype].name);
  return out;
}

bool
infer_hint(infer *x, const char *format, ...) {
  if (!x->fault)
    return false;
  va_list args;
  va_start(args, format);
  vsnprintf(x->fault->hint, sizeof x->fault->hint, format, args);
  va_end(args);
  return false;
}

bool
infer_push(infer *x, const int64_t *dims, uint32_t n) {
  gs_type *t = &x->made;
  if (t->rank + n > GS_MAX_RANK)
    return gs_fail(x->fault, "rank-limit", -1, -1,
                   "the result of %s would pass rank %d, the limit",
                   INFER_NAME(x), GS_MAX_RANK);
  for (uint32_t k = 0; k < n; k++)
    t->dim[t->rank + k] = dims[k];
  t->rank = (uint8_t)(t->rank + n);
  return true;
}

/* Attributes ------------------------------------------------------------- */

bool
infer_int(infer *x, uint32_t item, int64_t *out) {
  bs_value v = bs_item(x->values, x->attr, item);
  if (bs_kind_of(x->values, v) != BS_KIND_INT)
    return gs_fail(x->fault, "bad-attribute", -1, (int)item,
                   "attribute %u of %s is not an integer", item + 1,
                   INFER_NAME(x));
  *out = bs_as_int(x->values, v);
  return true;
}

bool
infer_list(infer *x, uint32_t item, int64_t *out, uint32_t *n) {
  bs_value v = bs_item(x->values, x->attr, item);
  if (bs_kind_of(x->values, v) == BS_KIND_LIST &&
      bs_len(x->values, v) > GS_MAX_RANK)
    return gs_fail(x->fault, "rank-limit", -1, (int)item,
                   "a list of %u items, the limit is rank %d",
                   bs_len(x->values, v), GS_MAX_RANK);
  if (bs_kind_of(x->values, v) != BS_KIND_LIST ||
      !bs_to_ints(x->values, v, out, GS_MAX_RANK, n))
    return gs_fail(x->fault, "bad-attribute", -1, (int)item,
                   "attribute %u of %s is not a list of integers", item + 1,
                   INFER_NAME(x));
  return true;
}

bool
infer_shape(infer *x, uint32_t item, int64_t *out, uint32_t *n) {
  if (!infer_list(x, item, out, n))
    return false;
  for (uint32_t k = 0; k < *n; k++)
    if (out[k] < 1)
      return gs_fail(x->fault, "bad-size", -1, (int)item,
                     "size %lld of dimension %u: every size is at least 1",
                     (long long)out[k], k);
  return true;
}

bool
infer_dim(infer *x, uint32_t item, const gs_type *t, bool past, uint32_t *out) {
  int64_t d = 0;
  if (!infer_int(x, item, &d))
    return false;
  if (d >= 0 && d < t->rank + (past ? 1 : 0)) {
    *out = (uint32_t)d;
    return true;
  }
  gs_fail(x->fault, "axis-range", -1, (int)item,
          "%s has no dimension %lld in %s", INFER_NAME(x), (long long)d,
          infer_show_type(x, t).s);
  if (!t->rank && !past)
    return infer_hint(x, "the term has no dimension at all");
  return infer_hint(x,
                    "dimensions are counted from 0 over S and C together: "
                    "0 to %d here",
                    t->rank - (past ? 0 : 1));
}

bool
infer_natural(infer *x, uint32_t item, int64_t least, const char *what,
              int64_t *out) {
  if (!infer_int(x, item, out))
    return false;
  if (*out >= least)
    return true;
  return gs_fail(x->fault, "bad-size", -1, (int)item,
                 "%s of %s is %lld, it is at least %lld", what, INFER_NAME(x),
                 (long long)*out, (long long)least);
}

/* Leaves ----------------------------------------------------------------- */

static bool
infer_leaf(infer *x) {
  int64_t dim[GS_MAX_RANK];
  uint32_t n;
  bs_value dtype = bs_item(x->values, x->attr, 2);
  if (bs_kind_of(x->values, bs_item(x->values, x->attr, 0)) != BS_KIND_SYM)
    return gs_fail(x->fault, "bad-attribute", -1, 0, "%s needs a name",
                   INFER_NAME(x));
  if (bs_kind_of(x->values, dtype) != BS_KIND_SYM ||
      !gs_dtype_find(bs_as_sym(x->values, dtype), &x->made.dtype))
    return gs_fail(x->fault, "unknown-dtype", -1, 2, "%s needs a dtype",
                   INFER_NAME(x));
  if (!infer_shape(x, 1, dim, &n) || !infer_push(x, dim, n))
    return false;
  x->made.access = x->made.rank;
  return true;
}

static bool
infer_same(infer *x) {
  x->made = *x->kids[0];
  return true;
}

/* Dispatch --------------------------------------------------------------- */

static bool (*const rules[GS_OP_COUNT])(infer *) = {
    [GS_TENSOR] = infer_leaf,         [GS_CONST] = infer_leaf,
    [GS_ACCESS] = infer_access,       [GS_TRANSPOSE] = infer_transpose,
    [GS_CARTPROD] = infer_cartprod,   [GS_PAIR] = infer_pair,
    [GS_WINDOWS] = infer_windows,     [GS_SLICE] = infer_slice,
    [GS_CONCAT] = infer_concat,       [GS_PAD] = infer_pad,
    [GS_SQUEEZE] = infer_squeeze,     [GS_INSERT_AXIS] = infer_insert_axis,
    [GS_BROADCAST] = infer_broadcast, [GS_FLATTEN] = infer_flatten,
    [GS_RESHAPE] = infer_reshape,     [GS_REPEAT] = infer_repeat,
    [GS_COMPUTE] = infer_compute,     [GS_MATERIALIZE] = infer_same,
    [GS_CALL] = infer_call,
};

static bool
counts_fit(infer *x) {
  const gs_op_info *info = &gs_op_table[x->op];
  uint32_t want = (uint32_t)strlen(info->attrs), have = 0;
  if (info->kids >= 0 && x->n_kids != (uint32_t)info->kids)
    return gs_fail(x->fault, "wrong-arity", -1, -1,
                   "%s takes %d terms, found %u", info->name, info->kids,
                   x->n_kids);
  if (bs_kind_of(x->values, x->attr) == BS_KIND_LIST)
    have = bs_len(x->values, x->attr);
  if (x->op == GS_CALL ? have >= 1 : have == want)
    return true;
  return gs_fail(x->fault, "wrong-arity", -1, -1,
                 "%s takes %u attributes, found %u", info->name,
                 x->op == GS_CALL ? 1 : want, have);
}

static bool
size_fits(infer *x) {
  const gs_type *t = &x->made;
  int64_t elements;
  if (gs_checked_prod(t->dim, t->rank, &elements) &&
      elements <= GS_MAX_ELEMENTS)
    return true;
  return gs_fail(x->fault, "too-large", -1, -1,
                 "%s gives %s: a term has at most 2^40 elements", INFER_NAME(x),
                 infer_show_type(x, t).s);
}

bool
gs_infer(bs_values *values, const struct gs_target *target, gs_op op,
         bs_value attr, const gs_type *const *kids, uint32_t n_kids,
         gs_type *out, gs_fault *fault) {
  infer x = {.values = values,
             .target = target,
             .op = op,
             .attr = attr,
             .kids = kids,
             .n_kids = n_kids,
             .fault = fault};
  if (!counts_fit(&x) || !rules[op](&x) || !size_fits(&x))
    return false;
  *out = x.made;
  return true;
}

/* SPDX-License-Identifier: MIT */
/* infer.c - the type of a term from its operator and its children's types.
 *
 * One small function an operator, dispatched by a table (the rules themselves
 * stand in infer_views.c and infer_compute.c).  Attributes may come from a
 * rule's expression as well as from a file, so nothing about them is taken for
 * granted.  All arithmetic on sizes is checked. */
#include "glenside/infer/infer.h"
#include "glenside/type/view.h"
#include <assert.h>
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
  assert(dims || !n);
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
infer_push(infer *x, const gs_number *dims, uint32_t n) {
  assert(x->made.rank <= GS_MAX_RANK);
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

/* The numbers of an item, where they are not integers. */
static bool
numbers_over(const infer *x, uint32_t item, bool is_list, gs_number *out,
             uint32_t *n) {
  gs_number at[GS_MAX_RANK];
  int32_t found = x->over->item(x->over->arg, item, at, GS_MAX_RANK);
  if (found < 0 || (!is_list && found != 1))
    return false;
  memcpy(out, at, (size_t)found * sizeof *at);
  *n = (uint32_t)found;
  return true;
}

bool
infer_int(infer *x, uint32_t item, gs_number *out) {
  uint32_t n;
  if (x->over)
    return numbers_over(x, item, false, out, &n);
  bs_value v = bs_item(x->values, x->attr, item);
  if (bs_kind_of(x->values, v) != BS_KIND_INT)
    return gs_fail(x->fault, "bad-attribute", -1, (int)item,
                   "attribute %u of %s is not an integer", item + 1,
                   INFER_NAME(x));
  *out = bs_as_int(x->values, v);
  return true;
}

bool
infer_list(infer *x, uint32_t item, gs_number *out, uint32_t *n) {
  if (x->over)
    return numbers_over(x, item, true, out, n);
  bs_value v = bs_item(x->values, x->attr, item);
  if (bs_kind_of(x->values, v) == BS_KIND_LIST &&
      bs_len(x->values, v) > GS_MAX_RANK)
    return gs_fail(x->fault, "rank-limit", -1, (int)item,
                   "a list of %u items, more than the limit of rank %d",
                   bs_len(x->values, v), GS_MAX_RANK);
  if (bs_kind_of(x->values, v) != BS_KIND_LIST ||
      !bs_to_ints(x->values, v, out, GS_MAX_RANK, n))
    return gs_fail(x->fault, "bad-attribute", -1, (int)item,
                   "attribute %u of %s is not a list of integers", item + 1,
                   INFER_NAME(x));
  return true;
}

static bool
are_constant(const infer *x, int64_t *at, uint32_t n) {
  for (uint32_t k = 0; x->over && k < n; k++)
    if (!x->over->is_constant(x->over->arg, at[k], &at[k]))
      return false;
  return true;
}

bool
infer_place(infer *x, uint32_t item, int64_t *out) {
  return infer_int(x, item, out) && are_constant(x, out, 1);
}

bool
infer_places(infer *x, uint32_t item, int64_t *out, uint32_t *n) {
  return infer_list(x, item, out, n) && are_constant(x, out, *n);
}

/* -1 stands elsewhere for a size that follows from others, or is open. */
static bool
bad_size(infer *x, uint32_t item, gs_number size, uint32_t k) {
  gs_fail(x->fault, "bad-size", -1, (int)item,
          "size %lld of dimension %u: every size is at least 1",
          (long long)size, k);
  return size == -1 &&
         infer_hint(x, "write the number; one that is only known when the code "
                       "is called is declared first: (size n 1 1024)");
}

bool
infer_shape(infer *x, uint32_t item, gs_number *out, uint32_t *n) {
  if (!infer_list(x, item, out, n))
    return false;
  assert(*n <= GS_MAX_RANK);
  for (uint32_t k = 0; k < *n; k++)
    if (!infer_at_least(x, out[k], 1))
      return bad_size(x, item, out[k], k);
  return true;
}

bool
infer_dim(infer *x, uint32_t item, const gs_type *t, bool past, uint32_t *out) {
  assert(gs_is_type(t));
  int64_t d = 0;
  if (!infer_place(x, item, &d))
    return false;
  if (d >= 0 && d < t->rank + (past ? 1 : 0)) {
    *out = (uint32_t)d;
    return true;
  }
  gs_fail(x->fault, "axis-range", -1, (int)item,
          "%s has no dimension %lld in %s", INFER_NAME(x), (long long)d,
          infer_show_type(x, t).s);
  if (!t->rank && !past)
    return infer_hint(x, "the term has no dimensions");
  return infer_hint(x,
                    "dimensions are counted from 0 over S and C together: "
                    "0 to %d here",
                    t->rank - (past ? 0 : 1));
}

bool
infer_natural(infer *x, uint32_t item, int64_t least, const char *what,
              gs_number *out) {
  assert(what && *what);
  if (!infer_int(x, item, out))
    return false;
  if (infer_at_least(x, *out, least))
    return true;
  return gs_fail(x->fault, "bad-size", -1, (int)item,
                 "%s of %s is %lld, but must be at least %lld", what,
                 INFER_NAME(x), (long long)*out, (long long)least);
}

/* Needs ------------------------------------------------------------------ */

bool
infer_at_least(const infer *x, gs_number n, int64_t least) {
  if (x->over)
    return x->over->needs(x->over->arg, gs_plus(x->over, n, -least), false);
  return n >= least;
}

bool
infer_equal(const infer *x, gs_number a, gs_number b) {
  if (x->over)
    return x->over->needs(x->over->arg, gs_minus(x->over, a, b), true);
  return a == b;
}

bool
infer_equal_dims(const infer *x, const gs_number *a, const gs_number *b,
                 uint32_t n) {
  assert(n <= GS_MAX_RANK);
  for (uint32_t k = 0; k < n; k++)
    if (!infer_equal(x, a[k], b[k]))
      return false;
  return true;
}

gs_number
infer_product(const infer *x, const gs_number *dims, uint32_t n) {
  assert(n <= GS_MAX_RANK);
  gs_number p = gs_constant_number(x->over, 1);
  for (uint32_t k = 0; k < n; k++)
    p = gs_product(x->over, p, dims[k]);
  return p;
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

#define RULE_0(id)
#define RULE_1(id)                                 [GS_##id] = infer_##id,
#define X(id, name, kids, attrs, first, view, ...) RULE_##view(id)
static bool (*const rules[GS_OP_COUNT])(infer *) = {
    [GS_TENSOR] = infer_leaf,
    [GS_CONST] = infer_leaf,
    [GS_COMPUTE] = infer_compute,
    [GS_MATERIALIZE] = infer_same,
    [GS_CALL] = infer_call,
    [GS_SCAN] = infer_scan,
    GS_OPS(X)};
#undef X

static bool
counts_fit(infer *x) {
  const gs_op_info *info = &gs_op_table[x->op];
  uint32_t want = (uint32_t)strlen(info->attrs), have = 0;
  if (info->kids >= 0 && x->n_kids != (uint32_t)info->kids)
    return gs_fail(x->fault, "wrong-arity", -1, -1, "%s takes %d %s, found %u",
                   info->name, BS_COUNTED(info->kids, "term"), x->n_kids);
  if (bs_kind_of(x->values, x->attr) == BS_KIND_LIST)
    have = bs_len(x->values, x->attr);
  if (x->op == GS_CALL ? have >= 1 : have == want)
    return true;
  if (x->op == GS_CALL)
    want = 1;
  return gs_fail(x->fault, "wrong-arity", -1, -1, "%s takes %u %s, found %u",
                 info->name, BS_COUNTED(want, "attribute"), have);
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
infer_run(infer *x) {
  assert(x->op < GS_OP_COUNT && rules[x->op]);
  assert(x->kids || !x->n_kids);
  return counts_fit(x) && rules[x->op](x);
}

bool
gs_infer(bs_values *values, const struct gs_target *target, gs_op op,
         bs_value attr, const gs_type *const *kids, uint32_t n_kids,
         gs_type *out, gs_fault *fault) {
  assert(op < GS_OP_COUNT && (kids || !n_kids));
  infer x = {.values = values,
             .target = target,
             .op = op,
             .attr = attr,
             .kids = kids,
             .n_kids = n_kids,
             .fault = fault};
  if (!infer_run(&x) || !size_fits(&x))
    return false;
  *out = x.made;
  return true;
}

bool
gs_infer_over(const gs_numbers *over, gs_op op, const gs_type *const *kids,
              gs_type *out) {
  assert(over && op < GS_OP_COUNT);
  assert(kids && kids[0]);
  infer x = {.over = over, .op = op, .kids = kids};
  if (!gs_op_table[op].view || !rules[op](&x))
    return false;
  *out = x.made;
  return true;
}

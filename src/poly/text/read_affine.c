/* SPDX-License-Identifier: MIT */
/* read_affine.c - index expressions, conditions and bounds.
 *
 *   sum    = term { (+ | -) term }        term = factor { (* | / | %) factor }
 *   factor = INTEGER | INDEX | - factor | ( sum )
 *
 * One side of a product and the right side of a quotient are integers; `/`
 * rounds down, and x % n is from 0 to n - 1.  The nesting is bounded, so that
 * the descent is recursive. */
#include "poly/loops/limit.h"
#include "poly/text/text_read.h"
#include <isl/val.h>
#include <string.h>

/* isl operations that a loop or a statement may take. */
#define MAX_OPERATIONS 20000000ul

/* The largest divisor. */
#define MAX_DIVISOR (INT64_C(1) << 40)

static bool
keep(po_reader *r, __isl_take isl_aff *aff, isl_aff **out) {
  *out = po_keep_aff(&r->pool, aff);
  return *out || bs_error(r->ctx.diags, po_span_here(r), "too-complex",
                          "the index expression is too complex");
}

static bool
read_name(po_reader *r, isl_aff **out) {
  size_t n = r->now.hi - r->now.lo;
  uint32_t number;
  for (uint32_t k = 0; k < r->n_names; k++)
    if (strlen(r->names[k]) == n &&
        !memcmp(r->names[k], r->text + r->now.lo, n)) {
      po_pool_reserve(&r->pool, 1);
      return keep(r, po_index_in(r, r->n_names, k, 0), out) && po_next_token(r);
    }
  if (po_find_number(r, r->text + r->now.lo, n, &number)) {
    po_pool_reserve(&r->pool, 1);
    return keep(r, po_number_aff(r, number), out) && po_next_token(r);
  }
  bs_error(r->ctx.diags, po_span_here(r), "unknown-name",
           "no index is named `%.*s`", (int)n, r->text + r->now.lo);
  return po_hint_index(r);
}

static bool
read_factor(po_reader *r, isl_aff **out) {
  bool taken;
  if (r->now.kind == PO_T_NAME)
    return read_name(r, out);
  po_pool_reserve(&r->pool, 1);
  if (r->now.kind == PO_T_INT)
    return keep(r, po_index_in(r, r->n_names, r->n_names, r->now.number),
                out) &&
           po_next_token(r);
  if (!po_go_deeper(r) || !po_take_symbol(r, "-", &taken))
    return false;
  if (taken) {
    if (!read_factor(r, out))
      return false;
    po_pool_reserve(&r->pool, 1);
    r->nesting--;
    return keep(r, isl_aff_neg(isl_aff_copy(*out)), out);
  }
  if (!po_is_symbol(r, "("))
    return po_syntax(r, "an index expression");
  if (!po_next_token(r) || !po_read_aff(r, out) || !po_need_symbol(r, ")"))
    return false;
  r->nesting--;
  return true;
}

static bool
is_constant(__isl_keep isl_aff *aff) {
  return isl_aff_is_cst(aff) == isl_bool_true;
}

static bool
multiply(po_reader *r, uint32_t from, isl_aff **out, isl_aff *by) {
  if (!is_constant(*out) && !is_constant(by))
    return bs_error(r->ctx.diags, po_span_from(r, from), "not-affine",
                    "a product of two indices is not affine");
  po_pool_reserve(&r->pool, 1);
  return keep(r, isl_aff_mul(isl_aff_copy(*out), isl_aff_copy(by)), out);
}

void
po_begin_divisions(po_reader *r) {
  r->n_divisions = 0;
  po_bind_isl(r->p->isl, r->ctx.heap, MAX_OPERATIONS);
}

/* isl takes longer for each operation: it may take fewer. */
static void
count_division(po_reader *r) {
  unsigned long weight = po_weight(++r->n_divisions);
  isl_ctx_set_max_operations(r->p->isl, MAX_OPERATIONS / weight + 1);
}

static bool
divide(po_reader *r, uint32_t from, isl_aff **out, isl_aff *by, bool rest) {
  isl_val *val = isl_aff_get_constant_val(by);
  bool ok = is_constant(by) && isl_val_is_pos(val) == isl_bool_true &&
            isl_val_cmp_si(val, MAX_DIVISOR) <= 0;
  if (!ok) {
    isl_val_free(val);
    return bs_error(r->ctx.diags, po_span_from(r, from), "not-affine",
                    "the divisor is not a positive integer");
  }
  count_division(r);
  isl_aff *aff = isl_aff_copy(*out);
  aff = rest ? isl_aff_mod_val(aff, val)
             : isl_aff_floor(isl_aff_scale_down_val(aff, val));
  return keep(r, aff, out);
}

static bool
read_term(po_reader *r, isl_aff **out) {
  uint32_t from = r->now.lo;
  if (!read_factor(r, out))
    return false;
  for (;;) {
    bool times = po_is_symbol(r, "*"), rest = po_is_symbol(r, "%");
    isl_aff *by;
    if (!times && !rest && !po_is_symbol(r, "/"))
      return true;
    if (!po_next_token(r) || !read_factor(r, &by))
      return false;
    po_pool_reserve(&r->pool, 1);
    if (!(times ? multiply(r, from, out, by) : divide(r, from, out, by, rest)))
      return false;
  }
}

bool
po_read_aff(po_reader *r, isl_aff **out) {
  if (!read_term(r, out))
    return false;
  for (;;) {
    bool minus = po_is_symbol(r, "-");
    isl_aff *more;
    if (!minus && !po_is_symbol(r, "+"))
      return true;
    if (!po_next_token(r) || !read_term(r, &more))
      return false;
    po_pool_reserve(&r->pool, 1);
    isl_aff *a = isl_aff_copy(*out), *b = isl_aff_copy(more);
    if (!keep(r, minus ? isl_aff_sub(a, b) : isl_aff_add(a, b), out))
      return false;
  }
}

/* ---- conditions ---- */

static const struct {
  const char *symbol;
  __isl_give isl_set *(*make)(__isl_take isl_aff *, __isl_take isl_aff *);
} relations[] = {
    {"<", isl_aff_lt_set},  {"<=", isl_aff_le_set}, {">", isl_aff_gt_set},
    {">=", isl_aff_ge_set}, {"=", isl_aff_eq_set},  {"==", isl_aff_eq_set},
};

static int
relation_here(const po_reader *r) {
  for (size_t k = 0; k < sizeof relations / sizeof *relations; k++)
    if (po_is_symbol(r, relations[k].symbol))
      return (int)k;
  return -1;
}

static bool
intersect(po_reader *r, isl_set **set, __isl_take isl_set *with) {
  *set = po_keep_set(&r->pool, isl_set_intersect(isl_set_copy(*set), with));
  return *set || bs_error(r->ctx.diags, po_span_here(r), "too-complex",
                          "the condition is too complex");
}

/* 0 <= i < 8 */
static bool
read_chain(po_reader *r, isl_set **set) {
  isl_aff *left, *right;
  if (!po_read_aff(r, &left))
    return false;
  if (relation_here(r) < 0)
    return po_syntax(r, "a comparison");
  for (int k; (k = relation_here(r)) >= 0; left = right) {
    if (!po_next_token(r) || !po_read_aff(r, &right))
      return false;
    po_pool_reserve(&r->pool, 1);
    if (!intersect(r, set,
                   relations[k].make(isl_aff_copy(left), isl_aff_copy(right))))
      return false;
  }
  return true;
}

static bool
read_conjunction(po_reader *r, isl_set **set) {
  bool more;
  po_pool_reserve(&r->pool, 1);
  *set =
      po_keep_set(&r->pool, isl_set_universe(po_space(r->p->isl, r->n_names)));
  do {
    if (!read_chain(r, set) || !po_take_word(r, "and", &more))
      return false;
  } while (more);
  return true;
}

bool
po_read_conditions(po_reader *r, isl_set **out) {
  bool more;
  if (!read_conjunction(r, out) || !po_take_word(r, "or", &more))
    return false;
  while (more) {
    isl_set *next;
    if (!read_conjunction(r, &next))
      return false;
    po_pool_reserve(&r->pool, 1);
    *out = po_keep_set(&r->pool,
                       isl_set_union(isl_set_copy(*out), isl_set_copy(next)));
    if (!*out || !po_take_word(r, "or", &more))
      return false;
  }
  return true;
}

/* ---- bounds ---- */

/* t >= aff, or t < aff */
static bool
limit(po_reader *r, bool lower, isl_set **set) {
  isl_aff *aff;
  if (!po_read_aff(r, &aff))
    return false;
  po_pool_reserve(&r->pool, 1);
  isl_aff *t = po_index_in(r, r->n_names + 1, r->n_names, 0);
  aff = isl_aff_add_dims(isl_aff_copy(aff), isl_dim_in, 1);
  return intersect(r, set,
                   lower ? isl_aff_ge_set(t, aff) : isl_aff_lt_set(t, aff));
}

/* One of them, or max(a, b) below and min(a, b) above. */
static bool
read_limits(po_reader *r, bool lower, isl_set **set) {
  bool several, more;
  if (!po_take_word(r, lower ? "max" : "min", &several))
    return false;
  if (!several)
    return limit(r, lower, set);
  if (!po_need_symbol(r, "("))
    return false;
  do {
    if (!limit(r, lower, set) || !po_take_symbol(r, ",", &more))
      return false;
  } while (more);
  return po_need_symbol(r, ")");
}

bool
po_read_bounds(po_reader *r, isl_set **out) {
  po_pool_reserve(&r->pool, 1);
  *out = po_keep_set(&r->pool,
                     isl_set_universe(po_space(r->p->isl, r->n_names + 1)));
  return read_limits(r, true, out) && po_need_symbol(r, "..") &&
         read_limits(r, false, out);
}

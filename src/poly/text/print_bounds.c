/* SPDX-License-Identifier: MIT */
/* print_bounds.c - the bounds of a loop as text.
 *
 * A loop runs over the union of what its statements ask for; its bounds are
 * the constraints of a convex hull of that which involve the loop.  They may
 * allow more: a statement says what is missing in its `where`. */
#include "poly/loops/affine.h"
#include "poly/loops/loops_sizes.h"
#include "poly/text/poly_text.h"
#include <assert.h>
#include <isl/val.h>

/* Bounds on one side beyond which only numbers are kept. */
#define MAX_BOUNDS 6

typedef struct bound {
  int64_t factor; /* of the loop: positive for a lower bound */
  isl_aff *aff;   /* factor * t + aff >= 0; kept by the pool */
} bound;

typedef struct bounds {
  BS_VEC(bound) list;
} bounds;

/* A convex set around the values of the loop and of those around, without
 * what the bounds around say. */
static isl_basic_set *
hull_of(po_writer *w, uint32_t loop, __isl_keep isl_set *around) {
  po_pool_reserve(&w->pool, 1);
  isl_set *all = isl_set_flatten(isl_map_wrap(po_nest_range_in(w->p, loop)));
  isl_set *context = isl_set_add_dims(isl_set_copy(around), isl_dim_set, 1);
  isl_basic_set *hull = isl_basic_set_remove_divs(isl_set_simple_hull(all));
  hull = isl_basic_set_remove_redundancies(hull);
  hull = isl_basic_set_gist(hull, isl_set_simple_hull(context));
  return po_keep_basic_set(&w->pool, hull);
}

static bool
is_number(__isl_keep isl_aff *aff, uint32_t n) {
  isl_size sizes = isl_aff_dim(aff, isl_dim_param);
  if (sizes > 0 &&
      isl_aff_involves_dims(aff, isl_dim_param, 0, (unsigned)sizes))
    return false;
  for (uint32_t k = 0; k < n; k++)
    if (isl_aff_coefficient_sgn(aff, isl_dim_in, (int)k))
      return false;
  return true;
}

static void
add_bound(po_writer *w, bounds *out, __isl_keep isl_aff *aff, uint32_t depth) {
  isl_val *c = isl_aff_get_coefficient_val(aff, isl_dim_in, (int)depth);
  int64_t factor = isl_val_get_num_si(c);
  isl_val_free(c);
  if (!factor)
    return;
  po_pool_reserve(&w->pool, 1);
  aff = isl_aff_drop_dims(isl_aff_copy(aff), isl_dim_in, depth, 1);
  aff = po_keep_aff(&w->pool, aff);
  bs_push(w->p->ctx.heap, &out->list, (bound){factor, aff});
}

static void
find_bounds(po_writer *w, __isl_keep isl_basic_set *hull, uint32_t depth,
            bounds *out) {
  po_pool_reserve(&w->pool, 1);
  isl_constraint_list *list = po_keep_constraint_list(
      &w->pool, isl_basic_set_get_constraint_list(hull));
  isl_size n = list ? isl_constraint_list_n_constraint(list) : 0;
  for (isl_size k = 0; k < n; k++) {
    po_pool_reserve(&w->pool, 2);
    isl_constraint *c = isl_constraint_list_get_constraint(list, (int)k);
    bool equal = isl_constraint_is_equality(c) == isl_bool_true;
    isl_aff *aff = po_keep_aff(&w->pool, isl_constraint_get_aff(c));
    isl_constraint_free(c);
    add_bound(w, out, aff, depth);
    if (equal) {
      aff = po_keep_aff(&w->pool, isl_aff_neg(isl_aff_copy(aff)));
      add_bound(w, out, aff, depth);
    }
  }
}

/* The first value that a lower bound allows, or the first one that an upper
 * bound does not: ceil(-aff / f), floor(aff / -f) + 1. */
static __isl_give isl_aff *
limit_of(const bound *b) {
  isl_ctx *isl = isl_aff_get_ctx(b->aff);
  isl_aff *aff = isl_aff_copy(b->aff);
  int64_t size = b->factor < 0 ? -b->factor : b->factor;
  if (b->factor > 0)
    aff = isl_aff_add_constant_si(isl_aff_neg(aff), (int)(size - 1));
  if (size != 1)
    aff = isl_aff_floor(
        isl_aff_scale_down_val(aff, isl_val_int_from_si(isl, size)));
  return b->factor < 0 ? isl_aff_add_constant_si(aff, 1) : aff;
}

/* The bounds of one side as text. */
static void
put_side(po_writer *w, const bounds *all, bool lower,
         const char *const *names) {
  const char **texts = BS_NEWS(&w->arena, const char *, all->list.len);
  bs_text *out = w->out, text;
  uint32_t n = 0;
  for (uint32_t k = 0; k < all->list.len; k++) {
    const bound *b = &all->list.data[k];
    if ((b->factor > 0) != lower)
      continue;
    po_pool_reserve(&w->pool, 1);
    isl_aff *limit = po_keep_aff(&w->pool, limit_of(b));
    bs_text_init(&text, w->arena.heap);
    w->out = &text;
    po_write_aff(w, limit, names);
    texts[n++] = bs_arena_strdup(&w->arena, bs_text_str(&text));
    bs_text_done(&text);
  }
  w->out = out;
  n = po_sort_texts(texts, n);
  bs_put(out, n > 1 ? (lower ? "max(" : "min(") : "");
  for (uint32_t k = 0; k < n; k++)
    bs_putf(out, "%s%s", k ? ", " : "", texts[k]);
  bs_put(out, n > 1 ? ")" : n ? "" : "0");
}

/* Too many bounds of a side make no loop that anybody reads: where there is a
 * number among them, it alone is kept. */
static void
thin_out(bounds *all, uint32_t depth) {
  uint32_t count[2] = {0, 0}, numbers[2] = {0, 0}, n = 0;
  for (uint32_t k = 0; k < all->list.len; k++) {
    bool lower = all->list.data[k].factor > 0;
    count[lower]++;
    numbers[lower] += is_number(all->list.data[k].aff, depth);
  }
  for (uint32_t k = 0; k < all->list.len; k++) {
    bool lower = all->list.data[k].factor > 0;
    if (count[lower] <= MAX_BOUNDS || !numbers[lower] ||
        is_number(all->list.data[k].aff, depth))
      all->list.data[n++] = all->list.data[k];
  }
  all->list.len = n;
}

/* factor * t + aff >= 0, in the bounds around */
static isl_set *
meaning(po_writer *w, const bounds *all, uint32_t depth,
        __isl_keep isl_set *around) {
  po_pool_reserve(&w->pool, 1);
  isl_set *set = isl_set_add_dims(isl_set_copy(around), isl_dim_set, 1);
  for (uint32_t k = 0; k < all->list.len; k++) {
    const bound *b = &all->list.data[k];
    isl_aff *zero = isl_aff_zero_on_domain(isl_local_space_from_space(
        po_space_with_sizes(w->p, po_space(w->p->isl, depth + 1))));
    isl_aff *aff = isl_aff_add_dims(isl_aff_copy(b->aff), isl_dim_in, 1);
    aff =
        isl_aff_set_coefficient_si(aff, isl_dim_in, (int)depth, (int)b->factor);
    set = isl_set_intersect(set, isl_aff_ge_set(aff, zero));
  }
  return po_keep_set(&w->pool, set);
}

isl_set *
po_write_bounds(po_writer *w, uint32_t loop, isl_set *around) {
  assert(po_node(w->p, loop)->kind == PO_LOOP);
  uint32_t loops[PO_MAX_DEPTH], depth = po_nest_loops(w->p, loop, loops);
  const char *names[PO_MAX_DEPTH];
  bounds all = {0};
  for (uint32_t k = 0; k < depth; k++)
    names[k] = w->p->nest.nodes.data[loops[k]].name;
  isl_basic_set *hull = hull_of(w, loop, around);
  find_bounds(w, hull, depth, &all);
  thin_out(&all, depth);
  bool empty = isl_basic_set_is_empty(hull) == isl_bool_true;
  if (empty) {
    bs_put(w->out, "0..0");
  } else {
    put_side(w, &all, true, names);
    bs_put(w->out, "..");
    put_side(w, &all, false, names);
  }
  isl_set *set = meaning(w, &all, depth, around);
  bs_vec_done(w->p->ctx.heap, &all.list);
  return set;
}

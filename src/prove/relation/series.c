/* SPDX-License-Identifier: MIT */
/* series.c - sums over relations: made, added up, multiplied, reduced.
 *
 * An entry's map counts each index once.  So relations of one kind are united
 * only where they do not meet, and a dimension is summed away only when the
 * index e tells which element of it is meant, or when the entry does not
 * depend on it, which gives a factor.
 *
 * An entry that is partial may not cancel, not even in part, nor meet what is
 * 0, nor be multiplied by the items of a sum: log x - log x is 0 only where x
 * is above 0, and oo * (2 - 1) is not 2 oo - oo. */
#include "prove/relation/relation.h"
#include <assert.h>
#include <isl/ilp.h>
#include <string.h>
#include <isl/val.h>

void
pv_series_done(pv_relations *r, pv_series *s) {
  bs_vec_done(r->heap, s);
}

static bool
same_kind(const pv_entry *a, const pv_entry *b) {
  return a->n == b->n && pv_number_same(a->times, b->times) &&
         (!a->n || !memcmp(a->atoms, b->atoms, a->n * sizeof *a->atoms));
}

static isl_map *
united(pv_relations *r, isl_map *a, isl_map *b) {
  return PV_PASS(
      r, isl_map_coalesce(isl_map_union(isl_map_copy(a), isl_map_copy(b))));
}

static bool
same_atoms(const pv_entry *a, const pv_entry *b) {
  return a->n == b->n &&
         (!a->n || !memcmp(a->atoms, b->atoms, a->n * sizeof *a->atoms));
}

/* Into an entry that is there; false when it is none of its kind. */
static bool
put_into(pv_relations *r, gs_dtype d, pv_entry *other, const pv_entry *e) {
  assert(d < GS_DTYPE_COUNT);
  if (same_kind(other, e) &&
      pv_is_true(r, isl_map_is_disjoint(other->map, e->map))) {
    other->map = united(r, other->map, e->map);
    return true;
  }
  if (!pv_is_true(r, isl_map_is_equal(other->map, e->map)))
    return false;
  bool cancels = (other->times.num < 0) != (e->times.num < 0);
  r->failed |= cancels && (gs_is_half(d) || pv_entry_is_partial(r, e));
  r->failed |= !pv_number_add(d, other->times, e->times, &other->times);
  return true;
}

/* Where floats have few exponents, a product with a factor below 1 may be
 * rounded to 0. */
static uint8_t
facts_of_times(const pv_relations *r, const pv_entry *e) {
  bool less = pv_number_compare(e->times, PV_ONE) < 0;
  if (less && e->n && gs_has_few_exponents(r->atoms.data[e->atoms[0]].dtype))
    return e->times.num > 0 ? PV_NONNEGATIVE : 0;
  return e->times.num > 0 ? PV_NONNEGATIVE | PV_POSITIVE : 0;
}

uint8_t
pv_entry_facts(const pv_relations *r, const pv_entry *e) {
  uint8_t facts = facts_of_times(r, e);
  for (uint32_t k = 0; k < e->n; k++) {
    uint8_t one = r->atoms.data[e->atoms[k]].facts;
    facts =
        (uint8_t)((facts & one & ~PV_PARTIAL) | ((facts | one) & PV_PARTIAL));
  }
  return facts;
}

bool
pv_entry_is_partial(const pv_relations *r, const pv_entry *e) {
  return pv_entry_facts(r, e) & PV_PARTIAL;
}

/* An entry is 0, or is taken away. */
static void
drop(pv_relations *r, const pv_entry *e) {
  r->failed |= pv_entry_is_partial(r, e);
}

#ifndef NDEBUG
/* Atoms are there and stand sorted, a lone number has none, and the map leads
 * to the indices of all of them one after another. */
static bool
is_entry(const pv_relations *r, const pv_entry *e) {
  uint32_t rank = 0;
  if (e->n > PV_MAX_FACTORS || e->times.den < 1)
    return false;
  for (uint32_t k = 0; k < e->n; k++) {
    if (e->atoms[k] >= r->atoms.len || (k && e->atoms[k] < e->atoms[k - 1]))
      return false;
    rank += r->atoms.data[e->atoms[k]].rank;
  }
  return !e->map || isl_map_dim(e->map, isl_dim_out) == (isl_size)rank;
}
#endif

void
pv_series_put(pv_relations *r, gs_dtype d, pv_series *s, const pv_entry *e) {
  if (!e->times.num)
    drop(r, e);
  if (!e->times.num || r->failed)
    return;
  assert(is_entry(r, e));
  for (uint32_t k = 0; k < s->len; k++) {
    if (!same_atoms(&s->data[k], e) || !put_into(r, d, &s->data[k], e))
      continue;
    if (!s->data[k].times.num) {
      drop(r, e);
      s->data[k] = bs_pop(s);
    }
    return;
  }
  bs_push(r->heap, s, *e);
}

static bool
has_lowest(const pv_entry *e) {
  return e->n && e->atoms[0] == 0;
}

static bool
holds_lowest(const pv_series *s) {
  for (uint32_t k = 0; k < s->len; k++)
    if (has_lowest(&s->data[k]))
      return true;
  return false;
}

void
pv_series_times(pv_relations *r, gs_dtype d, pv_series *s, pv_number n) {
  assert(n.den > 0);
  uint32_t kept = 0;
  r->failed |= n.num <= 0 && holds_lowest(s);
  for (uint32_t k = 0; k < s->len; k++) {
    if (!pv_number_mul(d, s->data[k].times, n, &s->data[k].times))
      r->failed = true;
    if (s->data[k].times.num)
      s->data[kept++] = s->data[k];
    else
      drop(r, &s->data[k]);
  }
  s->len = kept;
}

/* --- views ---------------------------------------------------------------- */

static isl_map *
seen_through(pv_relations *r, const po_piece *piece, const gs_type *type,
             isl_map *map) {
  isl_set *box = po_box(r->isl, type->dim, type->rank);
  isl_map *m = isl_map_from_multi_aff(isl_multi_aff_copy(piece->map));
  m = isl_map_intersect_domain(
      m, isl_set_intersect(isl_set_copy(piece->set), box));
  return isl_map_apply_range(m, isl_map_copy(map));
}

static void
put_lowest(pv_relations *r, pv_series *out, const po_piece *piece,
           const gs_type *type) {
  pv_entry e = {.times = PV_ONE, .n = 1};
  if (gs_dtype_table[type->dtype].integer) {
    e.n = 0;
    e.times = pv_number_least(type->dtype);
  }
  isl_set *set =
      PV_PASS_SET(r, isl_set_intersect(isl_set_copy(piece->set),
                                       po_box(r->isl, type->dim, type->rank)));
  e.map = PV_PASS(r, isl_map_from_domain(isl_set_copy(set)));
  pv_series_put(r, type->dtype, out, &e);
}

static pv_series
look(pv_relations *r, gs_term t) {
  pv_series out = {0};
  gs_type type;
  gs_type_at(r->s->plain, t, &type);
  const po_view *view = &r->views.of[t.i];
  for (uint32_t k = 0; k < view->pieces.len && !r->failed; k++) {
    const po_piece *piece = &view->pieces.data[k];
    if (piece->from == PO_FROM_LOWEST)
      put_lowest(r, &out, piece, &type);
    if (piece->from != PO_FROM_TERM)
      continue;
    const pv_series *base = &r->of[piece->term.i];
    for (uint32_t i = 0; i < base->len; i++) {
      pv_entry e = base->data[i];
      e.map = PV_PASS(r, seen_through(r, piece, &type, e.map));
      if (!pv_is_true(r, isl_map_is_empty(e.map)))
        pv_series_put(r, type.dtype, &out, &e);
    }
  }
  return out;
}

/* What stays outlives the passing objects. */
void
pv_series_keep(pv_relations *r, pv_series *s) {
  po_pool_reserve(&r->kept, s->len);
  for (uint32_t k = 0; k < s->len; k++)
    s->data[k].map = po_keep_map(&r->kept, isl_map_copy(s->data[k].map));
}

const pv_series *
pv_series_seen(pv_relations *r, gs_term t) {
  assert(t.i < r->s->plain->nodes.len);
  if (!r->seen[t.i] && !r->failed) {
    pv_series made = look(r, t);
    if (r->failed) {
      pv_series_done(r, &made);
    } else {
      pv_series_keep(r, &made);
      r->of[t.i] = made;
      r->seen[t.i] = 1;
    }
  }
  return &r->of[t.i];
}

pv_series
pv_series_of_view(pv_relations *r, gs_term t) {
  const pv_series *seen = pv_series_seen(r, t);
  pv_series out = {0};
  for (uint32_t k = 0; k < seen->len; k++)
    bs_push(r->heap, &out, seen->data[k]);
  return out;
}

pv_series
pv_series_item(pv_relations *r, const pv_series *s, const gs_type *type,
               uint32_t k) {
  assert(type->access < type->rank && k < (uint64_t)type->dim[type->access]);
  pv_series out = {0};
  unsigned at = type->access;
  for (uint32_t i = 0; i < s->len && !r->failed; i++) {
    pv_entry e = s->data[i];
    e.map =
        PV_PASS(r, isl_map_project_out(isl_map_fix_si(isl_map_copy(e.map),
                                                      isl_dim_in, at, (int)k),
                                       isl_dim_in, at, 1));
    if (!pv_is_true(r, isl_map_is_empty(e.map)))
      pv_series_put(r, type->dtype, &out, &e);
  }
  return out;
}

/* --- products ------------------------------------------------------------- */

/* The map of a product with the atoms sorted, their indices moved along. */
static __isl_give isl_map *
sort_atoms(pv_relations *r, pv_entry *e, __isl_take isl_map *map) {
  uint32_t order[PV_MAX_FACTORS], first[PV_MAX_FACTORS + 1] = {0};
  pv_atom sorted[PV_MAX_FACTORS];
  bool moved = false;
  for (uint32_t k = 0; k < e->n; k++) {
    uint32_t at = k;
    first[k + 1] = first[k] + r->atoms.data[e->atoms[k]].rank;
    while (at > 0 && e->atoms[order[at - 1]] > e->atoms[k]) {
      order[at] = order[at - 1];
      at--;
      moved = true;
    }
    order[at] = k;
  }
  if (!moved)
    return map;
  uint32_t n = first[e->n], to = 0;
  isl_multi_aff *move = isl_multi_aff_zero(po_map_space(r->isl, n, n));
  for (uint32_t k = 0; k < e->n; k++) {
    sorted[k] = e->atoms[order[k]];
    for (uint32_t i = first[order[k]]; i < first[order[k] + 1]; i++)
      move =
          isl_multi_aff_set_aff(move, (int)to++, po_index(r->isl, n, i, 1, 0));
  }
  memcpy(e->atoms, sorted, e->n * sizeof *sorted);
  return isl_map_apply_range(map, isl_map_from_multi_aff(move));
}

uint32_t
pv_entry_rank(const pv_relations *r, const pv_entry *e) {
  uint32_t n = 0;
  for (uint32_t k = 0; k < e->n; k++)
    n += r->atoms.data[e->atoms[k]].rank;
  return n;
}

static bool
multiply_entries(pv_relations *r, gs_dtype d, const pv_entry *a,
                 const pv_entry *b, pv_entry *out) {
  assert(a->n <= PV_MAX_FACTORS && b->n <= PV_MAX_FACTORS);
  if (a->n + b->n > PV_MAX_FACTORS ||
      pv_entry_rank(r, a) + pv_entry_rank(r, b) > PV_MAX_INDEX ||
      !pv_number_mul(d, a->times, b->times, &out->times))
    return false;
  out->n = a->n + b->n;
  memcpy(out->atoms, a->atoms, a->n * sizeof *a->atoms);
  memcpy(out->atoms + a->n, b->atoms, b->n * sizeof *b->atoms);
  out->map =
      PV_PASS(r, sort_atoms(r, out,
                            isl_map_flat_range_product(isl_map_copy(a->map),
                                                       isl_map_copy(b->map))));
  return true;
}

/* Where the series has entries; NULL of none. */
static isl_set *
domain_of(pv_relations *r, const pv_series *s) {
  isl_set *all = NULL;
  po_pool_reserve(&r->passing, 1);
  for (uint32_t k = 0; k < s->len; k++) {
    isl_set *one = isl_map_domain(isl_map_copy(s->data[k].map));
    all = all ? isl_set_union(all, one) : one;
  }
  return all ? PV_PASS_SET(r, all) : NULL;
}

/* Are there entries of b wherever one of a is partial? */
static bool
meets_partial(pv_relations *r, const pv_series *a, const pv_series *b) {
  isl_set *all = NULL;
  for (uint32_t k = 0; k < a->len; k++) {
    if (!pv_entry_is_partial(r, &a->data[k]))
      continue;
    all = all ? all : domain_of(r, b);
    if (!all)
      return false;
    isl_set *some =
        PV_PASS_SET(r, isl_map_domain(isl_map_copy(a->data[k].map)));
    if (!pv_is_true(r, isl_set_is_subset(some, all)))
      return false;
  }
  return true;
}

/* Has some element several items?  Entries of one kind that do not meet are
 * one, so that two of them may. */
static bool
is_sum(pv_relations *r, const pv_series *s) {
  for (uint32_t k = 0; k < s->len; k++) {
    if (!pv_is_true(r, isl_map_is_single_valued(s->data[k].map)))
      return true;
    for (uint32_t i = 0; i < k; i++) {
      isl_set *x = PV_PASS_SET(r, isl_map_domain(isl_map_copy(s->data[k].map)));
      isl_set *y = PV_PASS_SET(r, isl_map_domain(isl_map_copy(s->data[i].map)));
      if (!pv_is_true(r, isl_set_is_disjoint(x, y)))
        return true;
    }
  }
  return false;
}

static bool
distributes_partial(pv_relations *r, const pv_series *a, const pv_series *b) {
  bool partial = false;
  for (uint32_t k = 0; k < a->len; k++)
    partial |= pv_entry_is_partial(r, &a->data[k]);
  return partial && is_sum(r, b);
}

pv_series
pv_series_product(pv_relations *r, gs_dtype d, const pv_series *a,
                  const pv_series *b) {
  assert(d < GS_DTYPE_COUNT);
  pv_series out = {0};
  if (holds_lowest(a) || holds_lowest(b) ||
      (uint64_t)a->len * b->len > PV_MAX_CELLS)
    r->failed = true;
  r->failed = r->failed || !meets_partial(r, a, b) || !meets_partial(r, b, a);
  r->failed =
      r->failed || distributes_partial(r, a, b) || distributes_partial(r, b, a);
  for (uint32_t i = 0; i < a->len; i++)
    for (uint32_t k = 0; k < b->len && !r->failed; k++) {
      pv_entry e = {0};
      if (!multiply_entries(r, d, &a->data[i], &b->data[k], &e))
        r->failed = true;
      else if (!pv_is_true(r, isl_map_is_empty(e.map)))
        pv_series_put(r, d, &out, &e);
    }
  return out;
}

/* --- reductions ----------------------------------------------------------- */

/* (o, c) -> e as (o, e) -> c is a function: e tells which c. */
static bool
tells_index(pv_relations *r, isl_map *map, uint32_t outer, uint32_t n) {
  if (!n)
    return true;
  po_pool_reserve(&r->passing, 1);
  isl_map *m = isl_map_copy(map);
  unsigned index = (unsigned)isl_map_dim(m, isl_dim_out);
  m = isl_map_move_dims(m, isl_dim_out, index, isl_dim_in, outer, n);
  m = isl_map_move_dims(m, isl_dim_in, outer, isl_dim_out, 0, index);
  m = PV_PASS(r, m);
  return pv_is_true(r, isl_map_is_single_valued(m));
}

/* The least and the greatest index `at` of the domain; false when there is
 * none, or isl fails. */
static bool
range_of(pv_relations *r, isl_map *map, uint32_t at, long *lo, long *hi) {
  uint32_t n = (uint32_t)isl_map_dim(map, isl_dim_in);
  isl_set *all = PV_PASS_SET(r, isl_map_domain(isl_map_copy(map)));
  isl_aff *aff = po_index(r->isl, n, at, 1, 0);
  isl_val *least = isl_set_min_val(all, aff);
  isl_val *most = isl_set_max_val(all, aff);
  bool ok = isl_val_is_int(least) == isl_bool_true &&
            isl_val_is_int(most) == isl_bool_true;
  *lo = ok ? isl_val_get_num_si(least) : 0;
  *hi = ok ? isl_val_get_num_si(most) : 0;
  isl_val_free(least);
  isl_val_free(most);
  isl_aff_free(aff);
  return ok;
}

/* Drops dimension `at` where the map is the same for a whole range of it. */
static bool
drop_free(pv_relations *r, gs_dtype d, pv_entry *e, uint32_t at) {
  long lo, hi;
  if (!range_of(r, e->map, at, &lo, &hi))
    return false;
  isl_map *rest =
      PV_PASS(r, isl_map_project_out(isl_map_copy(e->map), isl_dim_in, at, 1));
  po_pool_reserve(&r->passing, 1);
  isl_map *full = isl_map_insert_dims(isl_map_copy(rest), isl_dim_in, at, 1);
  full = isl_map_lower_bound_si(full, isl_dim_in, at, (int)lo);
  full = PV_PASS(r, isl_map_upper_bound_si(full, isl_dim_in, at, (int)hi));
  if (hi > INT32_MAX || !pv_is_true(r, isl_map_is_equal(full, e->map)) ||
      !pv_number_mul(d, e->times, pv_number_of_int(d, hi - lo + 1), &e->times))
    return false;
  e->map = rest;
  return true;
}

static bool
reduce_entry(pv_relations *r, gs_dtype d, pv_entry *e, uint32_t outer,
             uint32_t n) {
  if (!tells_index(r, e->map, outer, n)) {
    uint32_t left = n;
    for (uint32_t k = n; k-- > 0;)
      left -= drop_free(r, d, e, outer + k);
    if (left == n || !tells_index(r, e->map, outer, left))
      return false;
    n = left;
  }
  e->map = PV_PASS(
      r, isl_map_project_out(isl_map_copy(e->map), isl_dim_in, outer, n));
  return true;
}

pv_series
pv_series_reduced(pv_relations *r, gs_dtype d, const pv_series *s,
                  const gs_type *type, uint32_t outer) {
  assert(outer <= type->rank);
  pv_series out = {0};
  for (uint32_t k = 0; k < s->len && !r->failed; k++) {
    pv_entry e = s->data[k];
    if (has_lowest(&e) ||
        !reduce_entry(r, d, &e, outer, (uint32_t)type->rank - outer))
      r->failed = true;
    else
      pv_series_put(r, d, &out, &e);
  }
  return out;
}

/* --- equality ------------------------------------------------------------- */

static void
cancel_equal(pv_relations *r, pv_series *a, pv_series *b) {
  for (uint32_t i = 0; i < a->len; i++)
    for (uint32_t k = 0; k < b->len; k++) {
      if (!same_kind(&a->data[i], &b->data[k]) ||
          !pv_is_true(r, isl_map_is_equal(a->data[i].map, b->data[k].map)))
        continue;
      a->data[i--] = bs_pop(a);
      b->data[k] = bs_pop(b);
      break;
    }
}

/* Adds an entry to a list of entries of its atoms that do not meet. */
static void
add_apart(pv_relations *r, gs_dtype d, pv_series *s, pv_entry e) {
  uint32_t n = s->len;
  for (uint32_t k = 0; k < n && !r->failed; k++) {
    pv_entry *other = &s->data[k], both = *other;
    if (!same_atoms(other, &e))
      continue;
    both.map = PV_PASS(
        r, isl_map_intersect(isl_map_copy(other->map), isl_map_copy(e.map)));
    if (pv_is_true(r, isl_map_is_empty(both.map)))
      continue;
    other->map = PV_PASS(
        r, isl_map_subtract(isl_map_copy(other->map), isl_map_copy(both.map)));
    e.map = PV_PASS(
        r, isl_map_subtract(isl_map_copy(e.map), isl_map_copy(both.map)));
    if (!pv_number_add(d, both.times, e.times, &both.times))
      r->failed = true;
    if (both.times.num)
      bs_push(r->heap, s, both);
    else
      drop(r, &both);
  }
  if (s->len > PV_MAX_CELLS)
    r->failed = true;
  bs_push(r->heap, s, e);
}

/* Compares with the indices of equal atoms exchanged in every way: products
 * commute. */
static void
add_symmetric(pv_relations *r, gs_dtype d, pv_series *s, const pv_entry *e) {
  uint32_t first[PV_MAX_FACTORS + 1] = {0};
  add_apart(r, d, s, *e);
  for (uint32_t k = 0; k < e->n; k++)
    first[k + 1] = first[k] + r->atoms.data[e->atoms[k]].rank;
  for (uint32_t k = 0; k + 1 < e->n && !r->failed; k++) {
    if (e->atoms[k] != e->atoms[k + 1])
      continue;
    if (k + 2 < e->n && e->atoms[k + 2] == e->atoms[k]) {
      r->failed = true; /* more than two: six orders and up */
      return;
    }
    uint32_t n = first[e->n], rank = first[k + 1] - first[k];
    po_pool_reserve(&r->passing, 1);
    isl_multi_aff *swap = isl_multi_aff_identity(po_map_space(r->isl, n, n));
    for (uint32_t i = first[k]; i < first[k + 2]; i++)
      swap = isl_multi_aff_set_aff(
          swap, (int)i,
          po_index(r->isl, n, i < first[k + 1] ? i + rank : i - rank, 1, 0));
    pv_entry other = *e;
    other.map = PV_PASS(r, isl_map_apply_range(isl_map_copy(e->map),
                                               isl_map_from_multi_aff(swap)));
    add_apart(r, d, s, other);
  }
}

static bool
has_two_pairs(const pv_entry *e) {
  uint32_t pairs = 0;
  for (uint32_t k = 0; k + 1 < e->n; k++)
    pairs += e->atoms[k] == e->atoms[k + 1];
  return pairs > 1;
}

static bool
all_empty(pv_relations *r, const pv_series *s) {
  for (uint32_t k = 0; k < s->len; k++)
    if (!pv_is_true(r, isl_map_is_empty(s->data[k].map)))
      return false;
  return !r->failed;
}

bool
pv_series_equal(pv_relations *r, gs_dtype d, const pv_series *x,
                const pv_series *y) {
  pv_series a = {0}, b = {0}, rest = {0};
  for (uint32_t k = 0; k < x->len; k++)
    bs_push(r->heap, &a, x->data[k]);
  for (uint32_t k = 0; k < y->len; k++)
    bs_push(r->heap, &b, y->data[k]);
  cancel_equal(r, &a, &b);
  for (uint32_t k = 0; k < b.len; k++) {
    if (!pv_number_mul(d, b.data[k].times, pv_number_of_int(d, -1),
                       &b.data[k].times))
      r->failed = true;
    bs_push(r->heap, &a, b.data[k]);
  }
  for (uint32_t k = 0; k < a.len && !r->failed; k++) {
    if (has_two_pairs(&a.data[k]) || has_lowest(&a.data[k]))
      r->failed = true;
    else
      add_symmetric(r, d, &rest, &a.data[k]);
  }
  bool equal = all_empty(r, &rest);
  pv_series_done(r, &a);
  pv_series_done(r, &b);
  pv_series_done(r, &rest);
  return equal;
}

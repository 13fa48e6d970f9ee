/* SPDX-License-Identifier: MIT */
/* atom.c - the atoms: what sums are made of.
 *
 * A family is an array of sums (or extrema) that are named by what they are
 * made of: with the least index of each part as the name, a relation leads
 * from names to parts.  Another array of sums of the same kind belongs to the
 * family when the two agree on all names they share; then the family grows.
 * So equal elements get equal names, wherever they were computed; unequal
 * ones never do, since a name leads to its parts. */
#include "prove/relation/relation.h"
#include <assert.h>
#include <string.h>

/* A cast to a float says from which dtype; other operators keep it. */
static gs_dtype
operand_dtype(const pv_atom_row *row) {
  return row->more ? (gs_dtype)(row->more - 1) : row->dtype;
}

/* Of what it is made of; a sum of an element at least, and an extremum, have
 * the sign that all parts have. */
static uint8_t
facts_of(const pv_relations *r, const pv_atom_row *row) {
  uint8_t facts = PV_NONNEGATIVE | PV_POSITIVE, partial = 0;
  for (uint32_t k = 0; k < row->n; k++) {
    facts &= pv_entry_facts(r, &row->parts[k]);
    partial |= pv_entry_facts(r, &row->parts[k]) & PV_PARTIAL;
  }
  if (row->kind == PV_ATOM_TERM)
    return r->s->facts[row->key];
  if (row->kind == PV_ATOM_LOWEST)
    return 0;
  if (row->kind == PV_ATOM_APPLY && gs_dtype_table[row->dtype].integer)
    return partial;
  if (row->kind == PV_ATOM_APPLY)
    facts = pv_operator_facts(
        r->s->ctx.values, (bs_value){row->key}, operand_dtype(row), facts,
        row->n ? pv_entry_facts(r, &row->parts[row->n - 1]) : 0);
  return facts | partial;
}

static pv_atom
add_atom(pv_relations *r, pv_atom_row row) {
  r->failed |= row.rank > PV_MAX_INDEX;
  row.facts = facts_of(r, &row);
  bs_push(r->heap, &r->atoms, row);
  return r->atoms.len - 1;
}

static bool
same_part(const pv_entry *a, const pv_entry *b) {
  return a->n == b->n && pv_number_same(a->times, b->times) &&
         (!a->n || !memcmp(a->atoms, b->atoms, a->n * sizeof *a->atoms));
}

static bool
is_row(const pv_atom_row *row, const pv_atom_row *like, const pv_entry *parts,
       uint32_t n) {
  if (row->kind != like->kind || row->dtype != like->dtype ||
      row->key != like->key || row->more != like->more || row->n != n)
    return false;
  for (uint32_t k = 0; k < n; k++)
    if (!same_part(&row->parts[k], &parts[k]))
      return false;
  return true;
}

static pv_entry *
keep_parts(pv_relations *r, const pv_entry *parts, uint32_t n) {
  pv_entry *kept = BS_NEWS(r->s->ctx.arena, pv_entry, n + (size_t)1);
  if (n)
    memcpy(kept, parts, n * sizeof *kept);
  return kept;
}

pv_atom
pv_atom_of_term(pv_relations *r, gs_term t) {
  assert(t.i < r->s->plain->nodes.len);
  gs_type type;
  for (uint32_t k = 0; k < r->atoms.len; k++)
    if (r->atoms.data[k].kind == PV_ATOM_TERM && r->atoms.data[k].key == t.i)
      return k;
  gs_type_at(r->s->plain, t, &type);
  return add_atom(r, (pv_atom_row){.kind = PV_ATOM_TERM,
                                   .dtype = type.dtype,
                                   .rank = type.rank,
                                   .key = t.i});
}

/* An argument is an entry: of one atom, or of none and a number. */
pv_atom
pv_atom_apply(pv_relations *r, gs_dtype d, bs_value o, uint32_t more,
              const pv_entry *args, uint32_t n) {
  assert(d < GS_DTYPE_COUNT && (args || !n));
  pv_atom_row row = {
      .kind = PV_ATOM_APPLY, .dtype = d, .key = o.i, .more = more, .n = n};
  for (uint32_t k = 0; k < r->atoms.len; k++)
    if (is_row(&r->atoms.data[k], &row, args, n))
      return k;
  for (uint32_t k = 0; k < n; k++)
    row.rank += pv_entry_rank(r, &args[k]);
  row.parts = keep_parts(r, args, n);
  return add_atom(r, row);
}

/* --- families ------------------------------------------------------------- */

static int
compare_parts(const pv_entry *a, const pv_entry *b) {
  if (a->n != b->n)
    return a->n < b->n ? -1 : 1;
  for (uint32_t k = 0; k < a->n; k++)
    if (a->atoms[k] != b->atoms[k])
      return a->atoms[k] < b->atoms[k] ? -1 : 1;
  return pv_number_compare(a->times, b->times);
}

/* Sorted; false when two are of one kind: their indices would be mixed up. */
static bool
sort_parts(pv_entry *parts, uint32_t n) {
  assert(parts || !n);
  for (uint32_t k = 1; k < n; k++)
    for (uint32_t i = k; i > 0; i--) {
      int c = compare_parts(&parts[i - 1], &parts[i]);
      if (!c)
        return false;
      if (c < 0)
        break;
      pv_entry swap = parts[i];
      parts[i] = parts[i - 1];
      parts[i - 1] = swap;
    }
  return true;
}

/* o -> the least index of each part */
static isl_map *
name_of(const pv_entry *parts, uint32_t n) {
  isl_map *name = NULL;
  for (uint32_t k = 0; k < n; k++) {
    if (!parts[k].n)
      continue;
    isl_map *least = isl_map_lexmin(isl_map_copy(parts[k].map));
    name = name ? isl_map_flat_range_product(name, least) : least;
    name = isl_map_coalesce(name);
  }
  return name;
}

/* The parts as relations from names; false when a name would stand for two. */
static bool
name_parts(pv_relations *r, pv_entry *parts, uint32_t n, isl_map *name) {
  isl_map *back = PV_PASS(r, isl_map_reverse(isl_map_copy(name)));
  for (uint32_t k = 0; k < n; k++) {
    isl_map *named = PV_PASS(
        r, isl_map_apply_range(isl_map_copy(back), isl_map_copy(parts[k].map)));
    isl_map *again = PV_PASS(
        r, isl_map_apply_range(isl_map_copy(name), isl_map_copy(named)));
    if (!pv_is_true(r, isl_map_is_equal(again, parts[k].map)))
      return false;
    parts[k].map = named;
  }
  return true;
}

static bool
agree(pv_relations *r, const pv_entry *a, const pv_entry *b, uint32_t n) {
  assert(a != b);
  po_pool_reserve(&r->passing, 1);
  isl_set *x = isl_map_domain(isl_map_copy(a[0].map));
  x = isl_set_intersect(x, isl_map_domain(isl_map_copy(b[0].map)));
  x = PV_PASS_SET(r, x);
  if (pv_is_true(r, isl_set_is_empty(x)))
    return !r->failed;
  for (uint32_t k = 0; k < n; k++) {
    isl_map *p = PV_PASS(
        r, isl_map_intersect_domain(isl_map_copy(a[k].map), isl_set_copy(x)));
    isl_map *q = PV_PASS(
        r, isl_map_intersect_domain(isl_map_copy(b[k].map), isl_set_copy(x)));
    if (!pv_is_true(r, isl_map_is_equal(p, q)))
      return false;
  }
  return true;
}

static void
grow_family(pv_relations *r, pv_entry *parts, const pv_entry *more,
            uint32_t n) {
  for (uint32_t k = 0; k < n; k++) {
    po_pool_reserve(&r->kept, 1);
    parts[k].map = po_keep_map(
        &r->kept, isl_map_coalesce(isl_map_union(isl_map_copy(parts[k].map),
                                                 isl_map_copy(more[k].map))));
  }
}

static pv_atom
new_family(pv_relations *r, pv_atom_kind kind, gs_dtype d,
           const pv_entry *parts, uint32_t n) {
  assert(d < GS_DTYPE_COUNT);
  pv_entry *kept = keep_parts(r, parts, n);
  uint32_t rank = 0;
  for (uint32_t k = 0; k < n; k++) {
    rank += pv_entry_rank(r, &parts[k]);
    po_pool_reserve(&r->kept, 1);
    kept[k].map = po_keep_map(&r->kept, isl_map_copy(parts[k].map));
  }
  return add_atom(
      r, (pv_atom_row){
             .kind = kind, .dtype = d, .rank = rank, .n = n, .parts = kept});
}

static bool
holds_lowest(const pv_entry *parts, uint32_t n) {
  for (uint32_t k = 0; k < n; k++)
    if (parts[k].n && !parts[k].atoms[0])
      return true;
  return false;
}

bool
pv_atom_family(pv_relations *r, pv_atom_kind kind, gs_dtype d,
               const pv_entry *given, uint32_t n, pv_cell *out) {
  assert(kind <= PV_ATOM_MIN && d < GS_DTYPE_COUNT);
  uint32_t rank = 0;
  if (holds_lowest(given, n))
    return false;
  pv_entry *parts = keep_parts(r, given, n);
  for (uint32_t k = 0; k < n; k++)
    rank += pv_entry_rank(r, &parts[k]);
  if (rank > PV_MAX_INDEX || !sort_parts(parts, n))
    return false;
  pv_atom_row like = {.kind = kind, .dtype = d};
  isl_map *name = PV_PASS(r, name_of(parts, n));
  if (!name_parts(r, parts, n, name))
    return false;
  out->number = false;
  out->map = name;
  for (uint32_t k = 0; k < r->atoms.len && !r->failed; k++) {
    pv_atom_row *row = &r->atoms.data[k];
    if (!is_row(row, &like, parts, n) || !agree(r, row->parts, parts, n))
      continue;
    grow_family(r, row->parts, parts, n);
    out->atom = k;
    return !r->failed;
  }
  out->atom = new_family(r, kind, d, parts, n);
  return !r->failed;
}

/* SPDX-License-Identifier: MIT */
/* relation.h - terms as sums over relations (private to this folder).
 *
 * The value of a term is a sum of entries; an entry says, for a result index
 * o, the sum over all e in map(o) of times * the product of its atoms' elements
 * at e, where e is the atoms' indices one after another.  Atoms stand sorted.
 * A lone number has no atoms, and its map leads to the empty index.
 *
 * An atom is an array of elements that nothing more is known of: an input, an
 * operator applied to elements, or a family: arrays of sums, or of extrema,
 * whose elements are named by what they are made of.  So an element of a
 * result is found again in another term wherever it stands there. */
#ifndef PROVE_RELATION_H
#define PROVE_RELATION_H

#include "poly/lower/lower_view.h"
#include "prove/relation/relation_number.h"
#include "prove/session/session.h"

#define PV_MAX_FACTORS 6
#define PV_MAX_INDEX   64 /* coordinates of an entry */
#define PV_MAX_CELLS   64

typedef uint32_t pv_atom; /* index into the atoms; 0: minus infinity */

typedef struct pv_entry {
  pv_number times;
  uint32_t n;
  pv_atom atoms[PV_MAX_FACTORS];
  isl_map *map; /* kept */
} pv_entry;

typedef BS_VEC(pv_entry) pv_series;

typedef enum pv_atom_kind {
  PV_ATOM_LOWEST,
  PV_ATOM_TERM,  /* a term's elements, by its index */
  PV_ATOM_APPLY, /* an operator on atoms, by their indices; or on a number */
  PV_ATOM_SUM,   /* families: by the index of the least element of each part */
  PV_ATOM_MAX,
  PV_ATOM_MIN
} pv_atom_kind;

typedef struct pv_atom_row {
  pv_atom_kind kind;
  gs_dtype dtype;
  uint32_t rank;
  uint32_t key;    /* a term; the value id of an operator */
  uint32_t more;   /* a number that belongs to the operator */
  uint32_t n;      /* parts: arguments, or what the family is made of */
  pv_entry *parts; /* of a family: map leads from the atom's index */
  uint8_t facts;   /* PV_PARTIAL: for some operands it has no value: of these
                      none may cancel */
} pv_atom_row;

typedef struct pv_relations {
  pv_session *s;
  isl_ctx *isl;
  bs_heap *heap;
  po_pool kept, passing; /* passing: until the present term is done */
  po_views views;
  BS_VEC(pv_atom_row) atoms;
  pv_series *of; /* by base term; by view, once it was seen */
  uint8_t *seen; /* by term */
  bool failed;
  bool any_order; /* as in pv_values */
} pv_relations;

/* Room in a pool before the object is made, so that none is ever lost. */
#define PV_PASS(r, m)                                                          \
  (po_pool_reserve(&(r)->passing, 1), po_keep_map(&(r)->passing, (m)))
#define PV_PASS_SET(r, m)                                                      \
  (po_pool_reserve(&(r)->passing, 1), po_keep_set(&(r)->passing, (m)))

/* series.c: sums. */
void pv_series_done(pv_relations *, pv_series *);
bool pv_entry_is_partial(const pv_relations *, const pv_entry *);
/* PV_PARTIAL where one of its atoms is, and a sign where all have it. */
uint8_t pv_entry_facts(const pv_relations *, const pv_entry *);
/* Indices of its atoms, in all. */
uint32_t pv_entry_rank(const pv_relations *, const pv_entry *);
/* Adds an entry, joined with one of its kind where they do not overlap. */
void pv_series_put(pv_relations *, gs_dtype, pv_series *, const pv_entry *);
/* The value of a term: seen once, and kept.  `of_view` is a copy. */
const pv_series *pv_series_seen(pv_relations *, gs_term);
pv_series pv_series_of_view(pv_relations *, gs_term);
void pv_series_keep(pv_relations *, pv_series *);
/* Item k of the first compute dimension, which goes. */
pv_series pv_series_item(pv_relations *, const pv_series *, const gs_type *,
                         uint32_t k);
pv_series pv_series_product(pv_relations *, gs_dtype, const pv_series *,
                            const pv_series *);
/* The sum over the dimensions from `outer` on. */
pv_series pv_series_reduced(pv_relations *, gs_dtype, const pv_series *,
                            const gs_type *, uint32_t outer);
void pv_series_times(pv_relations *, gs_dtype, pv_series *, pv_number);
/* Is the one sum the other, everywhere? */
bool pv_series_equal(pv_relations *, gs_dtype, const pv_series *,
                     const pv_series *);

/* Regions of a box, each with the entries that are there, as bits. */
typedef struct pv_region {
  isl_set *set;
  uint64_t active;
} pv_region;

typedef BS_VEC(pv_region) pv_regions;

/* The box cut by the domains of at most 64 entries. */
pv_regions pv_regions_of(pv_relations *, const gs_type *over,
                         const pv_series *);
/* The entries of a region, their maps within it; returns how many. */
uint32_t pv_region_entries(pv_relations *, const pv_region *, const pv_series *,
                           pv_entry *out);

/* cell.c: a sum cut into cells, in each of which every result is one element
 * of one atom or one number. */
typedef struct pv_cell {
  isl_set *set; /* kept */
  bool number;
  pv_number value;
  pv_atom atom;
  isl_map *map; /* from the cell to the atom; kept */
} pv_cell;

typedef BS_VEC(pv_cell) pv_cells;

pv_cells pv_cells_of(pv_relations *, gs_dtype, const pv_series *,
                     const gs_type *over);
void pv_cells_done(pv_relations *, pv_cells *);
pv_series pv_series_of_cells(pv_relations *, gs_dtype, const pv_cells *);

/* atom.c */
pv_atom pv_atom_of_term(pv_relations *, gs_term);
pv_atom pv_atom_apply(pv_relations *, gs_dtype, bs_value o, uint32_t more,
                      const pv_entry *args, uint32_t n);
/* The family of a cell's sum or extremum, and the index of its elements there;
 * false when they cannot be named so. */
bool pv_atom_family(pv_relations *, pv_atom_kind, gs_dtype,
                    const pv_entry *parts, uint32_t n, pv_cell *out);

/* operate.c: whether a compute reads the items of its pair or cartProd, and
 * not the tuple. */
bool pv_reads_apart(const gs_program *, gs_term compute);
/* The value of a compute term; `solid`: with each element of its
 * operand as one, be it a sum. */
bool pv_relate_compute(pv_relations *, gs_term, bool solid, pv_series *out);
/* extreme.c: the extremum of some sums, over the dimensions from `outer` on. */
pv_series pv_series_extremum(pv_relations *, gs_dtype, bool max,
                             const pv_series *, uint32_t n, const gs_type *over,
                             uint32_t outer);

static inline bool
pv_is_true(pv_relations *r, isl_bool b) {
  r->failed |= b == isl_bool_error;
  return b == isl_bool_true;
}

#endif

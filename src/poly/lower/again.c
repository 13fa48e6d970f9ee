/* SPDX-License-Identifier: MIT */
/* again.c - see again.h.
 *
 * The key of a term names its arrays by their places in a list, so that two
 * operands in one array are told from two in two.  A base that has no array
 * (chain.c) is a part of the key as the term itself is. */
#include "poly/lower/again.h"
#include "poly/loops/loops_sizes.h"
#include <assert.h>
#include <string.h>

/* Terms of a chain, statements that are copied. */
enum { MOST_TERMS = 64, MOST_STMTS = 256 };

/* What was emitted for a term: ranges of the program's lists. */
typedef struct emitted {
  uint32_t stmt, n_stmts, array, n_arrays, node, n_nodes;
  uint32_t *placements, n_placements; /* arrays that are not its own */
} emitted;

/* ---- keys ---- */

typedef struct likeness {
  po_lowering *low;
  bs_key key;
  BS_VEC(gs_term) terms;   /* the compute, then what is chained to it */
  BS_VEC(uint32_t) arrays; /* of placements, each once */
} likeness;

static void
put(likeness *l, int64_t word) {
  bs_key_number(l->low->heap, &l->key, word);
}

static void
put_array(likeness *l, uint32_t array) {
  assert(array < l->low->out->arrays.len);
  const po_array *a = &l->low->out->arrays.data[array];
  uint32_t k = 0;
  while (k < l->arrays.len && l->arrays.data[k] != array)
    k++;
  put(l, k);
  if (k < l->arrays.len)
    return;
  bs_push(l->low->heap, &l->arrays, array);
  put(l, (int64_t)a->role);
  put(l, (int64_t)a->dtype);
  put(l, a->rank);
  for (uint32_t d = 0; d < a->rank; d++)
    put(l, a->dim[d]);
}

/* False where it would make an array. */
static bool
put_placement(likeness *l, gs_term t) {
  po_lowering *low = l->low;
  if (gs_at(low->source, t)->op != GS_TENSOR && !low->placements[t.i].set)
    return false;
  const po_placement *placement = po_placement_of(low, t);
  bs_key_pointer(low->heap, &l->key, placement->map);
  put_array(l, placement->array);
  return true;
}

static bool
put_base(likeness *l, gs_term base) {
  bool chained = l->low->chained && l->low->chained[base.i];
  put(l, chained);
  if (!chained)
    return put_placement(l, base);
  bs_push(l->low->heap, &l->terms, base);
  return l->terms.len <= MOST_TERMS;
}

/* Its operator, and how it looks at its bases. */
static bool
put_term(likeness *l, gs_term t) {
  const po_lowering *low = l->low;
  const po_shapes *shapes = &low->views.shapes;
  const gs_node *node = gs_at(low->source, t);
  po_shape shape = shapes->of[node->kids[0].i];
  put(l, node->attr.i);
  put(l, node->type.i);
  put(l, shape.number);
  bool ok = shape.number != PO_NO_SHAPE;
  for (uint32_t k = 0; k < shape.n && ok; k++)
    ok = put_base(l, shapes->bases.data[shape.first + k]);
  return ok;
}

/* Elements that might be converted to another type are a matter of what was
 * converted before (widen.c). */
static bool
is_plain(const po_lowering *low, gs_term compute) {
  gs_type type;
  gs_type_at(low->source, gs_at(low->source, compute)->kids[0], &type);
  return type.dtype == GS_F32 || type.dtype == GS_F64 || type.dtype == GS_I32;
}

static bool
find_key(likeness *l, gs_term t) {
  if (po_has_sizes(l->low->out) || !is_plain(l->low, t) || !put_placement(l, t))
    return false;
  bs_push(l->low->heap, &l->terms, t);
  for (uint32_t k = 0; k < l->terms.len; k++)
    if (!put_term(l, l->terms.data[k]))
      return false;
  return true;
}

static void
likeness_done(likeness *l) {
  bs_vec_done(l->low->heap, &l->key.words);
  bs_vec_done(l->low->heap, &l->terms);
  bs_vec_done(l->low->heap, &l->arrays);
}

/* ---- what is kept ---- */

static bool
names_known(const po_stmt *s, const po_renaming *r) {
  uint32_t to;
  bool known = !s->instr && po_renamed(r, s->array, &to);
  for (uint32_t j = 0; j < s->n_exprs; j++)
    if (s->exprs[j].kind == PO_READ || s->exprs[j].kind == PO_GATHER)
      known = known && po_renamed(r, s->exprs[j].array, &to);
  return known;
}

/* It names no arrays but those of placements and its own, which hold no term.
 */
static bool
can_be_copied(const po_lowering *low, const emitted *e) {
  const po_program *out = low->out;
  po_renaming r = {e->placements, e->placements, e->n_placements,
                   e->array,      e->n_arrays,   e->array};
  for (uint32_t k = 0; k < e->n_arrays; k++) {
    const po_array *a = &out->arrays.data[e->array + k];
    if (gs_term_ok(a->term) || a->role == PO_CONSTANT)
      return false;
  }
  for (uint32_t k = 0; k < e->n_stmts; k++)
    if (!names_known(&out->stmts.data[e->stmt + k], &r))
      return false;
  return e->n_stmts <= MOST_STMTS;
}

static void
keep(po_lowering *low, uint32_t number, const likeness *l, emitted e) {
  const po_program *out = low->out;
  e.n_stmts = out->stmts.len - e.stmt;
  e.n_arrays = out->arrays.len - e.array;
  e.n_nodes = out->nest.nodes.len - e.node;
  e.placements = l->arrays.data;
  e.n_placements = l->arrays.len;
  if (po_has_failed(low) || !can_be_copied(low, &e))
    return;
  emitted *kept = bs_alloc(low->heap, sizeof *kept);
  low->emitted.values.data[number] = kept;
  *kept = e;
  kept->placements = bs_alloc(low->heap, (e.n_placements + (size_t)1) *
                                             sizeof *kept->placements);
  memcpy(kept->placements, e.placements, e.n_placements * sizeof *e.placements);
}

void
po_emitted_done(po_lowering *low) {
  for (uint32_t k = 0; k < low->emitted.values.len; k++) {
    emitted *e = low->emitted.values.data[k];
    if (e)
      bs_free(low->heap, e->placements);
    bs_free(low->heap, e);
  }
  po_known_done(low->heap, &low->emitted);
}

/* ---- copies ---- */

static void
repeat(po_lowering *low, const emitted *e, const likeness *l, gs_term t) {
  po_program *out = low->out;
  uint32_t first = out->stmts.len;
  po_renaming r = {e->placements, l->arrays.data, e->n_placements,
                   e->array,      e->n_arrays,    out->arrays.len};
  for (uint32_t k = 0; k < e->n_arrays; k++) {
    po_array a = out->arrays.data[e->array + k];
    po_new_temporary(low, a.role, a.dtype, a.dim, a.rank, GS_NO_TERM);
  }
  for (uint32_t k = 0; k < e->n_stmts; k++)
    po_add_stmt_again(low, e->stmt + k, &r, t);
  po_add_nodes_again(low, e->node, e->n_nodes, first - e->stmt);
}

void
po_emit_alike(po_lowering *low, gs_term t) {
  likeness l = {.low = low};
  const po_program *out = low->out;
  if (!find_key(&l, t)) {
    po_emit_compute(low, t);
    likeness_done(&l);
    return;
  }
  uint32_t number = po_known_number(low->heap, &low->emitted, &l.key);
  const emitted *e = low->emitted.values.data[number];
  if (e) {
    repeat(low, e, &l, t);
  } else {
    emitted now = {.stmt = out->stmts.len,
                   .array = out->arrays.len,
                   .node = out->nest.nodes.len};
    po_emit_compute(low, t);
    keep(low, number, &l, now);
  }
  likeness_done(&l);
}

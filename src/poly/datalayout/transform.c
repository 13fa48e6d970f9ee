/* SPDX-License-Identifier: MIT */
/* transform.c - the transforms, as maps of elements.
 *
 * Each takes the dimensions that the layout has now, so that they compose.
 * The map and its inverse are kept side by side; the inverse is affine.  That
 * a layout changes nothing is a question about relations: equal addresses, or
 * the same order of addresses, of all elements. */
#include "poly/loops/affine.h"
#include "poly/datalayout/datalayout.h"
#include <assert.h>
#include <string.h>
#include <isl/val.h>

static const char *const op_names[] = {"REORDER", "INTERLEAVE", "SPLITY"};

po_layout
po_layout_plain(po_layout_model *m, const po_layout_array *a) {
  assert(a->rank <= GS_MAX_RANK);
  po_layout plain = {.rank = a->rank};
  for (uint32_t d = 0; d < a->rank; d++)
    plain.dim[d] = a->dim[d];
  po_pool_reserve(&m->pool, 2);
  plain.map = po_keep_multi_aff(&m->pool, po_identity(m->isl, a->rank));
  plain.back = po_keep_multi_aff(&m->pool, po_identity(m->isl, a->rank));
  return plain;
}

/* What a new dimension is of the old: old index d, over or modulo `by`. */
typedef enum piece { WHOLE, QUOTIENT, REST } piece;
typedef struct source {
  uint32_t d;
  piece part;
} source;

/* Sources of the new dimensions, from dimension 0; their number. */
static uint32_t
sources_of(po_layout_op op, uint32_t rank, source *out) {
  assert(rank >= 2);
  uint32_t n = 0, split = op == PO_INTERLEAVE ? 0 : 1;
  if (op == PO_REORDER) {
    out[n++] = (source){1, WHOLE};
    out[n++] = (source){0, WHOLE};
  } else {
    out[n++] = (source){0, split == 0 ? REST : WHOLE};
    out[n++] = (source){1, split == 1 ? REST : WHOLE};
    out[n++] = (source){split, QUOTIENT};
  }
  for (uint32_t d = 2; d < rank; d++)
    out[n++] = (source){d, WHOLE};
  return n;
}

static isl_aff *
part_of(isl_ctx *isl, uint32_t rank, source s, int64_t q) {
  assert(s.d < rank && q >= 1);
  isl_aff *aff = po_index(isl, rank, rank - 1 - s.d, 1, 0);
  if (s.part == REST)
    return isl_aff_mod_val(aff, isl_val_int_from_si(isl, q));
  if (s.part == QUOTIENT)
    return isl_aff_floor(
        isl_aff_scale_down_val(aff, isl_val_int_from_si(isl, q)));
  return aff;
}

static isl_multi_aff *
forward(isl_ctx *isl, uint32_t rank, const source *s, uint32_t n, int64_t q) {
  isl_multi_aff *map = isl_multi_aff_zero(po_map_space(isl, rank, n));
  for (uint32_t d = 0; d < n; d++)
    map = isl_multi_aff_set_aff(map, (int)(n - 1 - d),
                                part_of(isl, rank, s[d], q));
  return map;
}

static isl_multi_aff *
backward(isl_ctx *isl, uint32_t rank, const source *s, uint32_t n, int64_t q) {
  isl_multi_aff *map = isl_multi_aff_zero(po_map_space(isl, n, rank));
  for (uint32_t d = 0; d < n; d++) {
    int at = (int)(rank - 1 - s[d].d);
    isl_aff *sum = isl_multi_aff_get_aff(map, at);
    int64_t factor = s[d].part == QUOTIENT ? q : 1;
    sum = isl_aff_add(sum, po_index(isl, n, n - 1 - d, factor, 0));
    map = isl_multi_aff_set_aff(map, at, sum);
  }
  return map;
}

bool
po_layout_apply(po_layout_model *m, const po_layout *old, po_layout_step step,
                po_layout *out) {
  source s[GS_MAX_RANK + 1];
  uint32_t more = step.op != PO_REORDER;
  if (old->rank < 2 || old->rank + more > GS_MAX_RANK || step.q < 1 ||
      old->n_steps == PO_LAYOUT_STEPS)
    return false;
  po_layout made = *old;
  uint32_t n = made.rank = sources_of(step.op, old->rank, s);
  assert(n == old->rank + more);
  made.steps[made.n_steps++] = step;
  for (uint32_t d = 0; d < n; d++) {
    int64_t e = old->dim[old->rank - 1 - s[d].d];
    int64_t tiles = e / step.q + (e % step.q != 0);
    made.dim[n - 1 - d] = s[d].part == REST       ? step.q
                          : s[d].part == QUOTIENT ? tiles
                                                  : e;
  }
  po_pool_reserve(&m->pool, 2);
  made.map = po_keep_multi_aff(
      &m->pool,
      isl_multi_aff_pullback_multi_aff(forward(m->isl, old->rank, s, n, step.q),
                                       isl_multi_aff_copy(old->map)));
  made.back = po_keep_multi_aff(&m->pool,
                                isl_multi_aff_pullback_multi_aff(
                                    isl_multi_aff_copy(old->back),
                                    backward(m->isl, old->rank, s, n, step.q)));
  *out = made;
  return made.map && made.back;
}

/* { x -> y : x stands before y } */
static isl_map *
order_of(po_layout_model *m, const po_layout_array *a, const po_layout *l) {
  isl_map *map = isl_map_from_multi_aff(isl_multi_aff_copy(l->map));
  map = isl_map_intersect_domain(map, po_box(m->isl, a->dim, a->rank));
  return isl_map_lex_lt_map(isl_map_copy(map), map);
}

bool
po_layout_same_order(po_layout_model *m, const po_layout_array *a,
                     const po_layout *one, const po_layout *other) {
  isl_map *here = order_of(m, a, one), *there = order_of(m, a, other);
  bool equal = isl_map_is_equal(here, there) == isl_bool_true;
  isl_map_free(here);
  isl_map_free(there);
  return equal;
}

/* ---- as text ---- */

/* Index d, outermost first: i, j, k, ... or i12. */
static const char *
index_name(po_layout_model *m, uint32_t d) {
  return d < 6 ? bs_arena_printf(&m->arena, "%c", "ijklmn"[d])
               : bs_arena_printf(&m->arena, "i%u", d);
}

static const char *
part_text(po_layout_model *m, const char *of, piece part, int64_t q) {
  long long by = (long long)q;
  if (part == WHOLE)
    return of;
  if (strpbrk(of, " ("))
    of = bs_arena_printf(&m->arena, "(%s)", of);
  return part == REST ? bs_arena_printf(&m->arena, "%s mod %lld", of, by)
                      : bs_arena_printf(&m->arena, "floor(%s / %lld)", of, by);
}

/* The new dimensions, outermost first, as texts. */
static void
texts_of(po_layout_model *m, const po_layout_array *a, const po_layout *l,
         const char **text) {
  uint32_t rank = a->rank;
  for (uint32_t d = 0; d < rank; d++)
    text[d] = index_name(m, d);
  for (uint32_t k = 0; k < l->n_steps; k++) {
    source s[GS_MAX_RANK + 1];
    const char *old[GS_MAX_RANK + 1];
    for (uint32_t d = 0; d < rank; d++)
      old[d] = text[d];
    uint32_t n = sources_of(l->steps[k].op, rank, s);
    for (uint32_t d = 0; d < n; d++)
      text[n - 1 - d] =
          part_text(m, old[rank - 1 - s[d].d], s[d].part, l->steps[k].q);
    rank = n;
  }
}

static void
put_indices(po_layout_model *m, const po_layout_array *a, bs_text *out) {
  for (uint32_t d = 0; d < a->rank; d++)
    bs_putf(out, "%s%s", d ? ", " : "[", index_name(m, d));
  bs_put(out, a->rank ? "] -> " : "[] -> ");
}

void
po_layout_put_map(po_layout_model *m, const po_layout_array *a,
                  const po_layout *l, bs_text *out) {
  const char *text[GS_MAX_RANK + 1];
  texts_of(m, a, l, text);
  put_indices(m, a, out);
  for (uint32_t d = 0; d < l->rank; d++)
    bs_putf(out, "%s%s", d ? ", " : "[", text[d]);
  bs_put(out, "]");
}

void
po_layout_put_address(po_layout_model *m, const po_layout_array *a,
                      const po_layout *l, bs_text *out) {
  const char *text[GS_MAX_RANK + 1];
  int64_t stride[GS_MAX_RANK + 1];
  texts_of(m, a, l, text);
  po_strides(l->dim, l->rank, stride);
  put_indices(m, a, out);
  for (uint32_t d = 0; d < l->rank; d++) {
    bs_put(out, d ? " + " : "");
    if (stride[d] != 1)
      bs_putf(out, "%lld * ", (long long)stride[d]);
    bool bare = stride[d] == 1 || !strncmp(text[d], "floor(", 6) ||
                !strchr(text[d], ' ');
    bs_putf(out, bare ? "%s" : "(%s)", text[d]);
  }
}

void
po_layout_put_steps(const po_layout *l, uint32_t from, bs_text *out) {
  assert(from <= l->n_steps);
  for (uint32_t k = from; k < l->n_steps; k++) {
    const po_layout_step *s = &l->steps[k];
    bs_putf(out, "%s%s", k > from ? " " : "", op_names[s->op]);
    if (s->op != PO_REORDER)
      bs_putf(out, "(%lld)", (long long)s->q);
  }
}

/* SPDX-License-Identifier: MIT */
/* crooked.c - operands of products that no kernel could read where they lie.
 *
 * The kernel of sums of products (contraction.h) takes operands whose addresses
 * are linear in the loops.  One that several bases make up, as the parts of a
 * concatenation do, or whose indices are quotients and remainders, as those of
 * a reshape behind a transposition are, would leave the products to plain
 * loops.  Where each element takes part in several products, it is made an
 * array: mostly without a copy, as what computes it writes there. */
#include "glenside/target/tuned.h"
#include "poly/lower/lower.h"
#include "poly/loops/bounds.h"
#include "poly/loops/open.h"
#include <assert.h>

typedef struct product {
  int64_t free[2]; /* results that one element of the other factor goes into */
  int64_t sum;
} product;

/* Down from the operand to the tuple of factors, both on the path. */
static bool
find_tuple(const po_lowering *low, gs_term operand, po_path *path) {
  gs_term t = operand;
  while (!low->views.base[t.i]) {
    const gs_node *node = gs_at(low->source, t);
    bs_push(low->heap, path, t);
    if (po_is_tuple(node->op))
      return node->n_kids == 2;
    if (node->n_kids != 1)
      return false;
    t = node->kids[0];
  }
  return false;
}

static bool
has_quotients(__isl_keep isl_multi_aff *map) {
  isl_size n = isl_multi_aff_dim(map, isl_dim_out);
  bool found = false;
  for (isl_size k = 0; k < n && !found; k++) {
    isl_aff *index = isl_multi_aff_get_aff(map, k);
    found = isl_aff_dim(index, isl_dim_div) != 0;
    isl_aff_free(index);
  }
  return found;
}

/* Several bases, or one whose address is not linear. */
static bool
is_crooked(const po_lowering *low, gs_term t) {
  const po_view *view = &low->views.of[t.i];
  const po_piece *from = NULL;
  for (uint32_t k = 0; k < view->pieces.len; k++) {
    if (view->pieces.data[k].from != PO_FROM_TERM)
      continue;
    if (from)
      return true;
    from = &view->pieces.data[k];
  }
  if (!from)
    return false;
  gs_type base;
  int64_t offset, stride[GS_MAX_RANK];
  gs_type_at(low->source, from->term, &base);
  po_array array = {.rank = base.rank};
  if (gs_type_is_sized(&base))
    return has_quotients(from->map);
  for (uint32_t d = 0; d < base.rank; d++)
    array.dim[d] = base.dim[d];
  return !po_strided(from->map, &array, &offset, stride);
}

/* A row of a concatenation is shown at its own index of d alone. */
static bool
is_everywhere(__isl_keep isl_set *here, uint32_t d, int64_t size) {
  int64_t first, last;
  return po_bounds(here, d, &first, &last) && first == 0 && last == size - 1;
}

/* Whether what the factor shows depends on dimension d of the tuple's view. */
static bool
depends_on(po_lowering *low, const po_view *view, const gs_type *type,
           uint32_t item, uint32_t d) {
  for (uint32_t k = 0; k < view->pieces.len; k++) {
    const po_piece *piece = &view->pieces.data[k];
    if (piece->from != PO_FROM_TERM)
      continue;
    isl_set *here = isl_set_intersect(
        isl_set_intersect(isl_set_copy(piece->set),
                          po_box(low->isl, type->dim, type->rank)),
        po_slab(low->isl, type->rank, type->access, item, item));
    bool shown = isl_set_is_empty(here) == isl_bool_false &&
                 (isl_multi_aff_involves_dims(piece->map, isl_dim_in, d, 1) ==
                      isl_bool_true ||
                  !is_everywhere(here, d, type->dim[d]));
    isl_set_free(here);
    if (shown)
      return true;
  }
  return false;
}

static product
product_of(po_lowering *low, gs_term operand) {
  gs_type type;
  gs_type_at(low->source, operand, &type);
  for (uint32_t d = 0; d < type.rank; d++)
    type.dim[d] = po_most_in(low->isl, type.dim[d]);
  const po_view *view = &low->views.of[operand.i];
  product out = {.free = {1, 1}, .sum = 1};
  for (uint32_t d = 0; d < type.access; d++) {
    bool x = type.dim[d] > 1 && depends_on(low, view, &type, 0, d);
    bool y = type.dim[d] > 1 && depends_on(low, view, &type, 1, d);
    if (x != y)
      out.free[x ? 1 : 0] *= type.dim[d];
  }
  for (uint32_t d = type.access + 1; d < type.rank; d++)
    out.sum *= type.dim[d];
  return out;
}

/* An element of factor k takes part in enough products. */
static bool
is_profitable(const product *p, uint32_t k) {
  return p->free[0] > 1 && p->free[1] > 1 && p->free[k] >= GS_COPY_USES &&
         (double)p->free[0] * (double)p->free[1] * (double)p->sum >=
             GS_KERNEL_PRODUCTS;
}

/* Views that were made before the last term of the path was cut show what is
 * behind it. */
static void
look_again(po_lowering *low, const po_path *path) {
  const gs_node *last = gs_at(low->source, bs_last(path));
  bool stale = false;
  for (uint32_t k = 0; k < last->n_kids; k++)
    stale |= low->cut[last->kids[k].i].made;
  for (uint32_t k = path->len; stale && k-- > 0;)
    po_view_make(&low->views, path->data[k]);
}

/* However straight what is behind it becomes, it stays crooked. */
static bool
bends(const po_lowering *low, gs_term t) {
  gs_op op = gs_at(low->source, t)->op;
  return op == GS_CONCAT || op == GS_REPEAT;
}

/* Below the tuple, the smallest term that is crooked, and has to be an array;
 * of equal ones the innermost. */
static bool
choose(const po_lowering *low, const po_path *path, uint32_t from,
       uint32_t *at) {
  bool found = false;
  for (uint32_t k = from; k < path->len; k++) {
    if (!is_crooked(low, path->data[k]))
      break;
    if (!found || gs_elements_at(low->source, path->data[k]) <=
                      gs_elements_at(low->source, path->data[*at]))
      *at = k;
    found = true;
    if (bends(low, path->data[k]))
      break;
  }
  return found;
}

static void
straighten(po_lowering *low, gs_term operand, uint32_t k) {
  po_path path = {0};
  uint32_t at;
  if (find_tuple(low, operand, &path)) {
    uint32_t from = path.len;
    po_descend(low, gs_at(low->source, bs_last(&path))->kids[k], &path);
    look_again(low, &path);
    if (choose(low, &path, from, &at)) {
      product p = product_of(low, operand);
      if (is_profitable(&p, k))
        po_cut(low, &path, at);
    }
  }
  bs_vec_done(low->heap, &path);
}

void
po_straighten_factors(po_lowering *low, gs_term compute) {
  assert(gs_at(low->source, compute)->op == GS_COMPUTE);
  gs_term operand = gs_at(low->source, compute)->kids[0];
  for (uint32_t k = 0; k < 2 && !po_has_failed(low); k++)
    straighten(low, operand, k);
}

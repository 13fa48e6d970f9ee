/* SPDX-License-Identifier: MIT */
/* take.c - values that the next nest converts on their way out.
 *
 * A unit that sums in one memory may store what it summed scaled, clipped, in
 * another dtype.  In the program that is a computation of its own, whose calls
 * read an array that nothing else reads.  There is no such array then: what
 * moves a tile of the value out is the instruction that converts, in pieces of
 * any size that it takes, and it goes to where the calls of that nest would
 * have written it.  An instruction that leaves its result in a memory does the
 * same if that memory has room for it, and a store follows it.
 *
 * Both nests name elements of the array by their distance from its start; what
 * one of them is for the other is a relation of numbers. */
#include "poly/memory/memory_part.h"
#include "poly/loops/affine.h"
#include "poly/loops/storage.h"
#include <assert.h>
#include <string.h>

typedef struct taking {
  const po_calls *x;
  po_value *v;
  const po_stmt *taker; /* the one call of the other nest */
  uint32_t top;         /* that nest, a child of the root */
} taking;

/* ---- who reads it ---- */

static bool
names(const po_stmt *s, uint32_t array) {
  assert(array != PO_NO_NODE);
  if (s->array == array)
    return true;
  for (uint32_t k = 0; k < s->n_exprs; k++)
    if ((s->exprs[k].kind == PO_READ || s->exprs[k].kind == PO_GATHER) &&
        s->exprs[k].array == array)
      return true;
  for (uint32_t k = 0; s->kind == PO_CALL && k <= s->instr->n_operands; k++)
    if (s->operands[k].array == array)
      return true;
  return false;
}

/* The one leaf below, or PO_NO_NODE. */
static uint32_t
only_leaf(const po_program *p, uint32_t top) {
  uint32_t leaf = po_nest_first_leaf(p, top);
  return leaf != PO_NO_NODE && po_nest_next_leaf(p, leaf, top) == PO_NO_NODE
             ? leaf
             : PO_NO_NODE;
}

bool
po_nest_names(const po_program *p, uint32_t top, uint32_t array) {
  assert(top < p->nest.nodes.len && array < p->arrays.len);
  for (uint32_t leaf = po_nest_first_leaf(p, top); leaf != PO_NO_NODE;
       leaf = po_nest_next_leaf(p, leaf, top))
    if (names(&p->stmts.data[p->nest.nodes.data[leaf].stmt], array))
      return true;
  return false;
}

/* The last nest that names the array: it stands behind those that write it. */
static uint32_t
last_reader(const po_calls *x, uint32_t array) {
  const po_program *p = x->p;
  const po_nest_node *nodes = p->nest.nodes.data;
  uint32_t found = PO_NO_NODE;
  for (uint32_t top = nodes[0].first; top != PO_NO_NODE; top = nodes[top].next)
    if (po_nest_names(p, top, array))
      found = top;
  return found == x->top ? PO_NO_NODE : found;
}

/* From the part on to the nest, which stands behind it, nothing names it. */
static bool
is_free_between(const taking *t, uint32_t array) {
  const po_program *p = t->x->p;
  uint32_t top = t->x->top;
  for (; top != PO_NO_NODE && top != t->top; top = p->nest.nodes.data[top].next)
    if (po_nest_names(p, top, array))
      return false;
  return top == t->top;
}

static bool
find_taker(taking *t) {
  const po_program *p = t->x->p;
  if (p->arrays.data[t->v->to].role != PO_WORKSPACE)
    return false;
  t->top = last_reader(t->x, t->v->to);
  uint32_t leaf = t->top == PO_NO_NODE ? PO_NO_NODE : only_leaf(p, t->top);
  if (leaf == PO_NO_NODE)
    return false;
  t->taker = &p->stmts.data[p->nest.nodes.data[leaf].stmt];
  return t->taker->kind == PO_CALL && t->taker->instr->pointwise &&
         t->taker->instr->operands[0].memory == t->v->memory &&
         t->taker->operands[0].array == t->v->to &&
         t->taker->array != t->v->to && is_free_between(t, t->taker->array);
}

/* ---- where it goes ---- */

static __isl_give isl_aff *
along_tile(isl_ctx *isl, __isl_take isl_aff *at, uint32_t n,
           const int64_t *stride, uint32_t rank) {
  at = isl_aff_add_dims(at, isl_dim_in, rank);
  for (uint32_t d = 0; d < rank; d++)
    at = isl_aff_add(at, po_index(isl, n + rank, n + d, stride[d], 0));
  return at;
}

/* { [instance, element of the tile] -> [address] } */
static __isl_give isl_map *
addresses(const po_program *p, const po_array *a,
          __isl_keep isl_pw_multi_aff *base, uint32_t n, const int64_t *extent,
          const int64_t *dim, const int64_t *stride, uint32_t rank) {
  int64_t all[2 * GS_MAX_RANK];
  isl_multi_aff *at =
      isl_pw_multi_aff_as_multi_aff(isl_pw_multi_aff_copy(base));
  at = isl_multi_aff_reset_tuple_id(at, isl_dim_in);
  at = isl_multi_aff_reset_tuple_id(at, isl_dim_out);
  isl_aff *address = along_tile(p->isl, po_linear(at, a->dim), n, stride, rank);
  isl_multi_aff_free(at);
  memcpy(all, extent, n * sizeof *all);
  memcpy(all + n, dim, rank * sizeof *all);
  return isl_map_intersect_domain(isl_map_from_aff(address),
                                  po_box(p->isl, all, n + rank));
}

/* { [address where it is read] -> [address where the taker writes it] } */
static __isl_give isl_map *
carried(const taking *t) {
  const po_program *p = t->x->p;
  const po_stmt *s = t->taker;
  int64_t extent[PO_MAX_DEPTH];
  uint32_t loops[PO_MAX_DEPTH];
  uint32_t n = po_nest_loops(p, s->leaf, loops);
  const po_operand *from = &s->operands[0], *to = &s->operands[1];
  if (n != s->n_iters || n > GS_MAX_RANK || from->rank != to->rank)
    return NULL;
  for (uint32_t k = 0; k < n; k++)
    extent[k] = po_nest_extent(p, loops[k]);
  isl_pw_multi_aff *at = po_base_of(t->x->p, s, from);
  isl_pw_multi_aff *there = po_base_of(t->x->p, s, to);
  isl_map *read = addresses(p, &p->arrays.data[from->array], at, n, extent,
                            from->dim, from->stride, from->rank);
  isl_map *write = addresses(p, &p->arrays.data[to->array], there, n, extent,
                             to->dim, to->stride, to->rank);
  return isl_map_apply_range(isl_map_reverse(read), write);
}

/* The relation as an affine function of the part's dimensions and the tile's;
 * NULL where it is none. */
static __isl_give isl_aff *
as_function(__isl_take isl_map *map, __isl_keep isl_map *all) {
  isl_set *have = isl_map_domain(isl_map_copy(map));
  isl_set *want = isl_map_domain(isl_map_copy(all));
  bool total = isl_set_is_equal(have, want) == isl_bool_true;
  isl_set_free(have);
  isl_map *hull = isl_map_from_basic_map(isl_map_affine_hull(map));
  hull = isl_map_gist_domain(hull, want); /* where an index is always 0 */
  isl_aff *out = NULL;
  if (total && isl_map_is_single_valued(hull) == isl_bool_true) {
    isl_pw_multi_aff *f = isl_pw_multi_aff_from_map(isl_map_copy(hull));
    if (isl_pw_multi_aff_n_piece(f) == 1) {
      isl_multi_aff *one = isl_pw_multi_aff_as_multi_aff(f);
      out = isl_multi_aff_get_aff(one, 0);
      isl_multi_aff_free(one);
    } else {
      isl_pw_multi_aff_free(f);
    }
  }
  isl_map_free(hull);
  return out;
}

static __isl_give isl_aff *
address_of_all(const taking *t) {
  const po_calls *x = t->x;
  const po_value *v = t->v;
  const po_tile *tile = &v->to_tile;
  isl_map *way = carried(t);
  if (!way)
    return NULL;
  isl_map *own = addresses(x->p, &x->p->arrays.data[v->to], v->to_base, x->n,
                           x->size, tile->dim, tile->stride, tile->rank);
  isl_map *all = isl_map_apply_range(isl_map_copy(own), way);
  isl_aff *out = as_function(all, own);
  isl_map_free(own);
  return out;
}

/* { [dimensions] -> array }, of the address of the first element. */
static isl_pw_multi_aff *
first_element(const taking *t, const po_array *a, int64_t constant,
              const int64_t *coefficient) {
  po_program *p = t->x->p;
  uint32_t n = t->x->n;
  int64_t all = gs_prod(a->dim, a->rank);
  po_pool_reserve(&p->pool, 1);
  isl_aff *at = po_index(p->isl, n, n, 0, constant);
  for (uint32_t k = 0; k < n; k++)
    at = isl_aff_add(at, po_index(p->isl, n, k, coefficient[k], 0));
  isl_multi_aff *map = isl_multi_aff_pullback_multi_aff(
      po_reshape(p->isl, &all, 1, a->dim, a->rank), isl_multi_aff_from_aff(at));
  map = po_simplify_multi(map, t->x->size);
  map = isl_multi_aff_set_tuple_id(map, isl_dim_out,
                                   isl_id_alloc(p->isl, a->name, NULL));
  return po_keep_pw_multi_aff(&p->pool, isl_pw_multi_aff_from_multi_aff(map));
}

static bool
is_flat(const po_array *a) {
  int64_t place[GS_MAX_RANK];
  po_places(a, place);
  return !memcmp(place, a->dim, a->rank * sizeof *place);
}

/* A size of 1 has the stride of a dense array. */
static void
set_strides(po_tile *tile, const int64_t *stride) {
  po_strides(tile->dim, tile->rank, tile->stride);
  for (uint32_t d = 0; d < tile->rank; d++)
    if (tile->dim[d] > 1)
      tile->stride[d] = stride[d];
}

static bool
go_there(taking *t) {
  const po_calls *x = t->x;
  po_program *p = x->p;
  po_value *v = t->v;
  const po_array *to = &p->arrays.data[t->taker->array];
  int64_t constant, coefficient[2 * GS_MAX_RANK];
  if (!is_flat(to) || !is_flat(&p->arrays.data[v->to]))
    return false;
  isl_aff *address = address_of_all(t);
  bool fine = address && po_affine_terms(address, &constant, coefficient);
  isl_aff_free(address);
  po_tile tile = v->to_tile;
  po_route out;
  set_strides(&tile, coefficient + x->n);
  if (!fine || !po_find_conversion(&p->ctx, p->target, &p->arena, &tile,
                                   t->taker->instr, t->taker->slots, &out))
    return false;
  po_value kept = *v;
  v->to_base = first_element(t, to, constant, coefficient);
  v->to_tile = tile;
  v->to = t->taker->array;
  v->out = out;
  v->converted = true;
  v->taker = t->top;
  if (out.n == 1 || po_fits_plainly(x))
    return true;
  *v = kept;
  return false;
}

/* ---- parts of one array ---- */

/* Whether the value that the nest leaves in the array, if it is one of calls,
 * would go the same way. */
static bool
would_go(const taking *like, uint32_t top) {
  po_calls *x = BS_NEW(&like->x->p->arena, po_calls);
  bool any = false;
  if (!po_list_calls(like->x->p, top, x))
    return false;
  for (uint32_t k = 0; k < x->n_values; k++) {
    taking t = {x, &x->value[k], like->taker, like->top};
    if (x->value[k].array == like->v->to && x->value[k].loaded)
      return false;
    if (x->value[k].to != like->v->to)
      continue;
    if (!t.v->stored || !t.v->memory || !go_there(&t))
      return false;
    any = true;
  }
  return any;
}

/* Other nests that name the array write parts of it, which all go this way, or
 * the taker has to stay. */
static bool
others_go(const taking *t, uint32_t array) {
  const po_program *p = t->x->p;
  const po_nest_node *nodes = p->nest.nodes.data;
  for (uint32_t top = nodes[0].first; top != PO_NO_NODE; top = nodes[top].next)
    if (top != t->x->top && top != t->top && po_nest_names(p, top, array) &&
        !would_go(t, top))
      return false;
  return true;
}

void
po_find_takers(po_calls *x) {
  for (uint32_t k = 0; k < x->n_values; k++) {
    taking t = {.x = x, .v = &x->value[k]};
    if (t.v->stored && t.v->memory && find_taker(&t) && others_go(&t, t.v->to))
      go_there(&t);
  }
}

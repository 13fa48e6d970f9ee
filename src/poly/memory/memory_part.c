/* SPDX-License-Identifier: MIT */
/* memory_part.c - which nests have calls that use memories, and the values of
 * their operands. */
#include "poly/memory/memory_part.h"
#include "poly/loops/affine.h"
#include "poly/loops/storage.h"
#include <assert.h>
#include <string.h>

static const gs_operand *
declared(const po_stmt *s, uint32_t k) {
  assert(k <= s->instr->n_operands);
  return k < s->instr->n_operands ? &s->instr->operands[k] : &s->instr->result;
}

static bool
uses_memory(const po_stmt *s) {
  bool any = false;
  for (uint32_t k = 0; s->kind == PO_CALL && k <= s->instr->n_operands; k++)
    any |= declared(s, k)->memory != 0;
  return any;
}

/* ---- the nest ---- */

/* The innermost of perfect loops, or the leaf alone. */
static uint32_t
innermost(const po_program *p, uint32_t top) {
  const po_nest_node *nodes = p->nest.nodes.data;
  uint32_t at = top;
  while (nodes[at].kind == PO_LOOP && nodes[at].first != PO_NO_NODE &&
         nodes[at].first == nodes[at].last &&
         nodes[nodes[at].first].kind == PO_LOOP)
    at = nodes[at].first;
  return at;
}

static uint32_t
first_leaf(const po_program *p, uint32_t inner) {
  assert(inner < p->nest.nodes.len);
  const po_nest_node *n = &p->nest.nodes.data[inner];
  return n->kind == PO_LEAF ? inner : n->first;
}

/* Whether all below are calls whose time is their indices. */
static bool
are_calls(const po_program *p, uint32_t inner, uint32_t depth) {
  const po_nest_node *nodes = p->nest.nodes.data;
  uint32_t at = first_leaf(p, inner);
  for (; at != PO_NO_NODE; at = at == inner ? PO_NO_NODE : nodes[at].next) {
    if (nodes[at].kind != PO_LEAF)
      return false;
    const po_stmt *s = &p->stmts.data[nodes[at].stmt];
    if (s->kind != PO_CALL || s->n_iters != depth)
      return false;
  }
  return true;
}

static bool
below_uses_memory(const po_program *p, uint32_t top) {
  const po_nest_node *nodes = p->nest.nodes.data;
  for (uint32_t k = top; k != PO_NO_NODE; k = po_nest_next(p, k, top))
    if (nodes[k].kind == PO_LEAF && uses_memory(&p->stmts.data[nodes[k].stmt]))
      return true;
  return false;
}

static void
list_stmts(po_calls *x, uint32_t inner) {
  po_program *p = x->p;
  const po_nest_node *nodes = p->nest.nodes.data;
  uint32_t first = first_leaf(p, inner), n = 0;
  for (uint32_t at = first; at != PO_NO_NODE;
       at = at == inner ? PO_NO_NODE : nodes[at].next)
    n++;
  x->stmts = BS_NEWS(&p->arena, uint32_t, n);
  for (uint32_t at = first; x->n_stmts < n; at = nodes[at].next)
    x->stmts[x->n_stmts++] = nodes[at].stmt;
}

static bool
find_sizes(po_calls *x, uint32_t inner) {
  po_program *p = x->p;
  uint32_t loops[PO_MAX_DEPTH];
  x->n = po_nest_loops(p, first_leaf(p, inner), loops);
  if (x->n > GS_MAX_RANK)
    return false;
  for (uint32_t d = 0; d < x->n; d++) {
    x->size[d] = po_nest_extent(p, loops[d]);
    x->sum[d] = d >= p->stmts.data[x->stmts[0]].n_outer;
    if (x->size[d] < 1)
      return false;
  }
  return true;
}

/* ---- values ---- */

/* Where an operand begins, as a function of the dimensions alone. */
isl_pw_multi_aff *
po_base_of(po_program *p, const po_stmt *s, const po_operand *o) {
  const po_array *a = &p->arrays.data[o->array];
  isl_multi_aff *at;
  po_pool_reserve(&p->pool, 1);
  if (o->base) {
    isl_pw_multi_aff *base = isl_pw_multi_aff_copy(o->base);
    return po_keep_pw_multi_aff(
        &p->pool, isl_pw_multi_aff_reset_tuple_id(base, isl_dim_in));
  }
  int64_t place[GS_MAX_RANK], stride[GS_MAX_RANK], left = o->offset;
  po_places(a, place);
  po_strides(place, a->rank, stride);
  at = isl_multi_aff_zero(po_map_space(p->isl, s->n_iters, a->rank));
  for (uint32_t r = 0; r < a->rank; r++) {
    at = isl_multi_aff_set_aff(
        at, (int)r,
        po_index(p->isl, s->n_iters, s->n_iters, 0, left / stride[r]));
    left %= stride[r];
  }
  at = isl_multi_aff_set_tuple_id(at, isl_dim_out,
                                  isl_id_alloc(p->isl, a->name, NULL));
  return po_keep_pw_multi_aff(&p->pool, isl_pw_multi_aff_from_multi_aff(at));
}

bool
po_is_one_place(const po_tile *a, __isl_keep isl_pw_multi_aff *at,
                const po_tile *b, __isl_keep isl_pw_multi_aff *base) {
  return isl_pw_multi_aff_plain_is_equal(at, base) == isl_bool_true &&
         a->rank == b->rank &&
         !memcmp(a->dim, b->dim, a->rank * sizeof *a->dim) &&
         !memcmp(a->stride, b->stride, a->rank * sizeof *a->stride);
}

static bool
same_place(const po_value *v, uint32_t memory,
           __isl_keep isl_pw_multi_aff *base, const po_operand *o) {
  po_tile t = {.rank = o->rank};
  if (v->memory != memory)
    return false;
  memcpy(t.dim, o->dim, sizeof t.dim);
  memcpy(t.stride, o->stride, sizeof t.stride);
  return (v->to == o->array &&
          po_is_one_place(&v->to_tile, v->to_base, &t, base)) ||
         (v->array == o->array && po_is_one_place(&v->tile, v->base, &t, base));
}

static void
note_dimensions(const po_calls *x, po_value *v,
                __isl_keep isl_pw_multi_aff *base) {
  for (uint32_t d = 0; d < x->n; d++)
    v->has[d] |= isl_pw_multi_aff_involves_dims(base, isl_dim_in, d, 1) !=
                 isl_bool_false;
}

static po_tile
tile_of(const po_calls *x, const po_operand *o) {
  po_tile t = {.dtype = x->p->arrays.data[o->array].dtype, .rank = o->rank};
  memcpy(t.dim, o->dim, sizeof t.dim);
  memcpy(t.stride, o->stride, sizeof t.stride);
  return t;
}

static void
write_to(po_calls *x, po_value *v, const po_operand *o,
         isl_pw_multi_aff *base) {
  v->to = o->array;
  v->to_base = base;
  v->to_tile = tile_of(x, o);
  note_dimensions(x, v, base);
}

static uint32_t
new_value(po_calls *x, const po_operand *o, uint32_t memory,
          isl_pw_multi_aff *base) {
  assert(x->n_values < PO_MOST_VALUES);
  po_value *v = &x->value[x->n_values];
  *v = (po_value){.memory = memory,
                  .tile = tile_of(x, o),
                  .array = o->array,
                  .to = UINT32_MAX,
                  .base = base};
  note_dimensions(x, v, base);
  return x->n_values++;
}

/* The value of operand k; UINT32_MAX: there are too many. */
static uint32_t
value_of(po_calls *x, uint32_t stmt, uint32_t k, const uint32_t *of) {
  assert(stmt < x->p->stmts.len);
  const po_stmt *s = &x->p->stmts.data[stmt];
  const po_operand *o = &s->operands[k];
  uint32_t memory = declared(s, k)->memory;
  isl_pw_multi_aff *base = po_base_of(x->p, s, o);
  if (k == s->instr->n_operands && s->instr->onto) {
    write_to(x, &x->value[of[s->instr->onto - 1]], o, base);
    return of[s->instr->onto - 1];
  }
  for (uint32_t v = 0; v < x->n_values; v++)
    if (same_place(&x->value[v], memory, base, o))
      return v;
  return x->n_values < PO_MOST_VALUES ? new_value(x, o, memory, base)
                                      : UINT32_MAX;
}

static void
note_use(po_calls *x, uint32_t stmt, uint32_t k, uint32_t value) {
  assert(stmt < x->p->stmts.len);
  const po_stmt *s = &x->p->stmts.data[stmt];
  const po_operand *o = &s->operands[k];
  po_value *v = &x->value[value];
  x->refs[x->n_refs++] = (po_ref){stmt, k, value};
  if (k < s->instr->n_operands) {
    v->loaded |= !v->written; /* the first use reads what was there before */
    v->read = true;
  } else {
    v->written = true;
    write_to(x, v, o, po_base_of(x->p, s, o));
  }
}

static bool
find_values(po_calls *x) {
  uint32_t of[GS_MAX_INSTR_VARS + 1], n = 0;
  for (uint32_t j = 0; j < x->n_stmts; j++)
    n += x->p->stmts.data[x->stmts[j]].instr->n_operands + 1;
  x->refs = BS_NEWS(&x->p->arena, po_ref, n + 1);
  for (uint32_t j = 0; j < x->n_stmts; j++) {
    const po_stmt *s = &x->p->stmts.data[x->stmts[j]];
    for (uint32_t k = 0; k <= s->instr->n_operands; k++) {
      of[k] = value_of(x, x->stmts[j], k, of);
      if (of[k] == UINT32_MAX)
        return false;
      note_use(x, x->stmts[j], k, of[k]);
    }
  }
  return true;
}

/* A local of lowering, which holds partial sums, is in no array any more. */
static void
find_own(po_calls *x) {
  for (uint32_t v = 0; v < x->n_values; v++) {
    po_value *value = &x->value[v];
    value->own =
        value->memory && x->p->arrays.data[value->array].role == PO_LOCAL;
    value->loaded &= !value->own && value->memory;
    value->stored = value->written && !value->own && value->memory;
    x->ordered |= value->own;
  }
}

/* ---- ways ---- */

static void
cannot_move(const po_calls *x, const po_value *v, bool in) {
  const po_program *p = x->p;
  const po_stmt *s = &p->stmts.data[x->stmts[0]];
  bs_error(p->ctx.diags, s->span, in ? "no-load" : "no-store",
           "no instruction moves a tile of '%s' %s %s as %s needs it",
           p->arrays.data[in ? v->array : v->to].name, in ? "to" : "from",
           gs_memory_name(p->target, v->memory), s->instr->name);
}

uint32_t
po_find_routes(po_calls *x, bool *in) {
  po_program *p = x->p;
  uint32_t k = 0;
  for (; k < x->n_values; k++) {
    po_value *v = &x->value[k];
    *in = v->loaded && !po_find_route(&p->ctx, p->target, &p->arena, &v->tile,
                                      0, v->memory, &v->in);
    if (*in || (v->stored && !v->converted &&
                !po_find_route(&p->ctx, p->target, &p->arena, &v->to_tile,
                               v->memory, 0, &v->out)))
      break;
  }
  return k;
}

static bool
find_routes(po_calls *x) {
  bool in;
  uint32_t k = po_find_routes(x, &in);
  if (k < x->n_values)
    cannot_move(x, &x->value[k], in);
  return k == x->n_values;
}

static void
price_calls(po_calls *x) {
  const po_program *p = x->p;
  for (uint32_t j = 0; j < x->n_stmts; j++) {
    const po_stmt *s = &p->stmts.data[x->stmts[j]];
    x->compute +=
        gs_instr_cost(s->instr, p->ctx.values, s->slots, "cycles", 1) *
        po_estimate_instances(p, x->stmts[j]);
    x->queue = s->instr->queue ? s->instr->queue : "main";
    x->ordered |=
        p->strict_fp && !gs_dtype_table[p->arrays.data[s->array].dtype].integer;
  }
}

/* Without what other nests make of its values. */
static bool
list_calls(po_calls *x) {
  const po_program *p = x->p;
  uint32_t inner = innermost(p, x->top);
  if (!are_calls(p, inner, po_nest_depth(p, first_leaf(p, inner))))
    return false;
  list_stmts(x, inner);
  if (!find_sizes(x, inner) || !find_values(x))
    return false;
  find_own(x);
  return true;
}

bool
po_list_calls(po_program *p, uint32_t top, po_calls *out) {
  assert(top < p->nest.nodes.len);
  *out = (po_calls){.p = p, .top = top};
  return below_uses_memory(p, top) && list_calls(out);
}

bool
po_find_calls(po_program *p, uint32_t top, po_calls *out, bool *failed) {
  assert(top < p->nest.nodes.len);
  *out = (po_calls){.p = p, .top = top};
  if (!below_uses_memory(p, top))
    return false;
  if (list_calls(out)) {
    po_find_takers(out);
    price_calls(out);
    *failed |= !find_routes(out);
    return !*failed;
  }
  *failed = true;
  uint32_t leaf = po_nest_first_leaf(p, top);
  const po_stmt *s = &p->stmts.data[p->nest.nodes.data[leaf].stmt];
  bs_error(p->ctx.diags, s->span, "no-place",
           "no places in memories can be found for a call within loops like "
           "these");
  bs_hint(p->ctx.diags, "an instruction that goes on with a sum, whose result "
                        "is (onto ...) an operand, leaves nothing to the host");
  return false;
}

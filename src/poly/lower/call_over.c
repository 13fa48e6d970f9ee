/* SPDX-License-Identifier: MIT */
/* call_over.c - calls over further dimensions: loops around one call.
 *
 *   for each: { for sum: call }
 *
 * Operands begin where the loops say.  A sum is made in one of two ways.  With
 * an instruction that goes on with it, the first call is the plain one, and
 * each further call reads what the one before it wrote.  No template need take
 * one array for both, so they write to the result and to a tile of its own in
 * turn, and the last one to the result:
 *
 *   for each: { for sum: { first: call ->; others: from tile, to tile } }
 *
 * Where it says that its result is written onto the operand, all calls are in
 * the result's place.  An instruction whose result overwrites an operand in
 * dram finds that in the result's place, where it is copied before the call.
 * One that goes on with its own sums is the first call, too, which reads what a
 * sum begins with.
 *
 * Else each further call writes the tile, which is added to the result:
 *
 *   for each: { for sum: { first: call; others: call -> tile, result += tile }
 * }
 */
#include "poly/lower/call.h"
#include "poly/loops/affine.h"
#include <assert.h>
#include <string.h>
#include <isl/val.h>

typedef struct calls {
  const po_calling *c;
  po_lowering *low;
  uint32_t n_each, n;         /* loops: each, then sum */
  uint32_t loop[GS_MAX_RANK]; /* by dimension of over */
  int64_t dim[GS_MAX_RANK];   /* by loop */
  po_placed *placed;          /* operands, then the result */
  po_placed tile;             /* for the partial sums */
  const gs_type *whole;       /* of the result */
  const gs_instr *more;       /* that goes on with a sum, or NULL */
  gs_accumulation into;
  uint32_t *more_slots;
} calls;

static void
order_loops(calls *x) {
  const gs_over *over = &x->c->over;
  for (uint32_t sum = 0; sum < 2; sum++) {
    for (uint32_t d = 0; d < over->n; d++)
      if (over->sum[d] == (sum != 0)) {
        x->loop[d] = x->n;
        x->dim[x->n++] = over->size[d];
      }
    x->n_each = sum ? x->n_each : x->n;
  }
}

/* ---- where calls begin ---- */

static isl_multi_aff *
keep(calls *x, __isl_take isl_multi_aff *map) {
  po_pool_reserve(&x->low->scratch, 1);
  return po_keep_multi_aff(&x->low->scratch, map);
}

/* Instance -> first element, of a place with a dimension for each of `loops`.
 */
static isl_multi_aff *
start_of(calls *x, const po_placed *p, const uint32_t *loops, uint32_t n) {
  isl_size rank = isl_multi_aff_dim(p->map, isl_dim_in);
  isl_multi_aff *index = isl_multi_aff_zero(
      po_map_space(x->low->isl, x->n, rank < 0 ? 0 : (uint32_t)rank));
  for (uint32_t d = 0; d < n; d++)
    index = isl_multi_aff_set_aff(index, (int)d,
                                  po_index(x->low->isl, x->n, loops[d], 1, 0));
  index = isl_multi_aff_pullback_multi_aff(isl_multi_aff_copy(p->map), index);
  return keep(x, po_simplify_multi(index, x->dim));
}

/* The loops of the leading dimensions of an operand; n_operands: the result. */
static uint32_t
leads_of(const calls *x, uint32_t k, uint32_t *loops) {
  assert(k <= x->c->instr->n_operands);
  const gs_over *over = &x->c->over;
  bool result = k == x->c->instr->n_operands;
  uint32_t n = 0;
  for (uint32_t d = 0; d < over->n; d++)
    if (result ? !over->sum[d] : over->has[d] >> k & 1)
      loops[n++] = x->loop[d];
  return n;
}

/* What one call sees of a place. */
static po_operand
tile_of(const po_operand *whole, uint32_t leads) {
  assert(leads <= whole->rank);
  po_operand o = {.array = whole->array, .rank = whole->rank - leads};
  memcpy(o.dim, whole->dim + leads, o.rank * sizeof *o.dim);
  memcpy(o.stride, whole->stride + leads, o.rank * sizeof *o.stride);
  return o;
}

static void
put_operand(calls *x, const po_placed *p, uint32_t k, po_operand *o,
            isl_multi_aff **start) {
  uint32_t loops[GS_MAX_RANK], n = leads_of(x, k, loops);
  *o = tile_of(&p->at, n);
  *start = start_of(x, p, loops, n);
}

/* ---- statements ---- */

static void
add_call(calls *x, const gs_instr *instr, const uint32_t *slots,
         __isl_keep isl_set *domain, po_operand *operands,
         isl_multi_aff *const *starts) {
  po_add_call(x->low,
              &(po_stmt){.kind = PO_CALL,
                         .array = operands[instr->n_operands].array,
                         .instr = instr,
                         .slots = slots,
                         .operands = operands,
                         .n_iters = x->n,
                         .n_outer = x->n_each,
                         .term = x->c->term},
              domain, starts);
}

static isl_set *
keep_set(calls *x, __isl_take isl_set *set) {
  po_pool_reserve(&x->low->scratch, 1);
  return po_keep_set(&x->low->scratch, set);
}

/* The element of a place at the indices [loops, tile]; operand k says which of
 * the loops the place has a dimension for, n_operands: as the result. */
static po_target
element_of(calls *x, const po_placed *p, uint32_t k) {
  uint32_t loops[GS_MAX_RANK], leads = leads_of(x, k, loops), rank = p->at.rank;
  uint32_t n = x->n + x->whole->rank - x->n_each;
  isl_multi_aff *index = isl_multi_aff_zero(po_map_space(x->low->isl, n, rank));
  for (uint32_t d = 0; d < rank; d++)
    index = isl_multi_aff_set_aff(
        index, (int)d,
        po_index(x->low->isl, n, d < leads ? loops[d] : d - leads + x->n, 1,
                 0));
  index = isl_multi_aff_pullback_multi_aff(isl_multi_aff_copy(p->map), index);
  return (po_target){p->at.array, keep(x, index)};
}

/* The elements of the tile of `from`, which lies as operand k does, go to those
 * of `to`, which lies as the result does, for the calls of the domain. */
static void
add_elements(calls *x, po_stmt_kind kind, __isl_keep isl_set *domain,
             const po_placed *from, uint32_t k, const po_placed *to) {
  const gs_type *type = x->whole;
  uint32_t own = type->rank - x->n_each;
  po_body body = {.low = x->low};
  po_target target = element_of(x, to, x->c->instr->n_operands);
  po_target source = element_of(x, from, k);
  po_read read = {.array = source.array, .map = source.map};
  isl_set *tile = po_box(x->low->isl, type->dim + x->n_each, own);
  tile = isl_set_flatten(isl_set_product(isl_set_copy(domain), tile));
  po_put_read(&body, type->dtype, &read);
  po_add_stmt(&body, kind, kind == PO_UPDATE ? GS_C_ADD : 0, keep_set(x, tile),
              x->n + own, &target, x->c->term);
}

static void
add_plain(calls *x, __isl_keep isl_set *domain, const po_placed *to) {
  const gs_instr *instr = x->c->instr;
  uint32_t n = instr->n_operands, onto = po_overwritten(instr);
  bs_arena *arena = &x->low->out->arena;
  po_operand *operands = BS_NEWS(arena, po_operand, n + 1);
  isl_multi_aff **starts = BS_NEWS(arena, isl_multi_aff *, n + 1);
  if (onto < n) /* it begins as that operand is */
    add_elements(x, PO_ASSIGN, domain, &x->placed[onto], onto, to);
  for (uint32_t k = 0; k < n; k++)
    put_operand(x, k == onto ? to : &x->placed[k], k == onto ? n : k,
                &operands[k], &starts[k]);
  put_operand(x, to, n, &operands[n], &starts[n]);
  add_call(x, instr, x->c->slots, domain, operands, starts);
}

static void
add_more(calls *x, __isl_keep isl_set *domain, const po_placed *from,
         const po_placed *to) {
  const gs_instr *more = x->more;
  uint32_t n = more->n_operands, result = x->c->instr->n_operands;
  bs_arena *arena = &x->low->out->arena;
  po_operand *operands = BS_NEWS(arena, po_operand, n + 1);
  isl_multi_aff **starts = BS_NEWS(arena, isl_multi_aff *, n + 1);
  for (uint32_t k = 0; k < n; k++) {
    bool sum = k == x->into.onto;
    uint32_t of = sum ? result : x->into.operand[k];
    put_operand(x, sum ? from : &x->placed[of], of, &operands[k], &starts[k]);
  }
  put_operand(x, to, result, &operands[n], &starts[n]);
  add_call(x, more, x->more_slots, domain, operands, starts);
}

/* A tile for each index of the outer loops, kept in one place. */
static void
make_tile(calls *x) {
  uint32_t array = po_new_temporary(x->low, PO_LOCAL, x->whole->dtype,
                                    x->whole->dim, x->whole->rank, GS_NO_TERM);
  po_array *a = &x->low->out->arrays.data[array];
  for (uint32_t d = x->n_each; d < a->rank; d++)
    a->fold[d] = 0;
  x->tile.at = (po_operand){.array = array, .rank = x->whole->rank};
  memcpy(x->tile.at.dim, x->whole->dim, sizeof x->tile.at.dim);
  po_strides(x->whole->dim, x->whole->rank, x->tile.at.stride);
  x->tile.map = keep(x, po_identity(x->low->isl, x->whole->rank));
}

/* ---- sums that an instruction goes on with ---- */

static int64_t
calls_in_sum(const calls *x) {
  int64_t total = 1;
  for (uint32_t j = x->n_each; j < x->n; j++)
    total *= x->dim[j];
  return total;
}

/* The number of a call in its sum, over the loops. */
static isl_aff *
number_in_sum(const calls *x) {
  isl_aff *t = po_index(x->low->isl, x->n, x->n, 0, 0);
  int64_t step = 1;
  for (uint32_t j = x->n; j-- > x->n_each;) {
    t = isl_aff_add(t, po_index(x->low->isl, x->n, j, step, 0));
    step *= x->dim[j];
  }
  return t;
}

static isl_set *
box(calls *x) {
  return po_box(x->low->isl, x->dim, x->n);
}

/* The calls behind the first of a sum. */
static isl_set *
later_calls(calls *x) {
  isl_aff *t = isl_aff_neg(number_in_sum(x));
  isl_set *set = isl_set_from_basic_set(isl_aff_neg_basic_set(t));
  return keep_set(x, isl_set_intersect(set, box(x)));
}

/* The calls whose number is odd, or even, as `parity` is. */
static isl_set *
every_other(calls *x, __isl_keep isl_set *of, int64_t parity) {
  isl_aff *t = isl_aff_add_constant_si(number_in_sum(x), (int)(parity & 1));
  t = isl_aff_mod_val(t, isl_val_int_from_si(x->low->isl, 2));
  isl_set *set = isl_set_from_basic_set(isl_aff_zero_basic_set(t));
  return keep_set(x, isl_set_intersect(set, isl_set_copy(of)));
}

static isl_set *
first_calls(calls *x) {
  isl_set *set = box(x);
  for (uint32_t j = x->n_each; j < x->n; j++)
    set = isl_set_intersect(set, po_slab(x->low->isl, x->n, j, 0, 0));
  return keep_set(x, set);
}

/* The last call writes the result, and so does every other one before it. */
static void
emit_accumulated(calls *x) {
  const po_placed *result = &x->placed[x->c->instr->n_operands];
  uint32_t first = x->low->out->stmts.len;
  int64_t last = calls_in_sum(x) - 1;
  if (x->more->onto == x->into.onto + 1) {
    add_plain(x, first_calls(x), result);
    if (last > 0)
      add_more(x, later_calls(x), result, result);
    po_add_shared_nest(x->low, first, x->n);
    return;
  }
  if (last > 0)
    make_tile(x);
  add_plain(x, first_calls(x), last & 1 ? &x->tile : result);
  if (last > 0)
    add_more(x, every_other(x, later_calls(x), last), &x->tile, result);
  if (last > 1)
    add_more(x, every_other(x, later_calls(x), last + 1), result, &x->tile);
  po_add_shared_nest(x->low, first, x->n);
}

/* ---- sums that the host makes ---- */

static void
emit_summed(calls *x) {
  const po_placed *result = &x->placed[x->c->instr->n_operands];
  uint32_t first = x->low->out->stmts.len;
  add_plain(x, first_calls(x), result);
  if (calls_in_sum(x) > 1) {
    make_tile(x);
    add_plain(x, later_calls(x), &x->tile);
    add_elements(x, PO_UPDATE, later_calls(x), &x->tile,
                 x->c->instr->n_operands, result);
  }
  po_add_shared_nest(x->low, first, x->n);
}

/* ---- all ---- */

static bool
find_more(calls *x) {
  const po_calling *c = x->c;
  const gs_program *source = x->low->source;
  gs_fault fault = {0};
  if (!c->over.into)
    return true;
  x->more_slots = BS_NEWS(&x->low->out->arena, uint32_t, GS_MAX_INSTR_VARS);
  if (gs_over_bind_into(source->ctx.values,
                        source->target ? source->target : x->low->out->target,
                        c->instr, c->node->attr, c->kids, &x->into,
                        x->more_slots, &fault)) {
    x->more = x->into.instr;
    return true;
  }
  x->low->failed = true;
  return bs_error(source->ctx.diags, c->node->span, fault.code, "%s",
                  fault.message);
}

/* The operand of the instruction that goes on which is operand k. */
static uint32_t
operand_of_more(const calls *x, uint32_t k) {
  uint32_t j = 0;
  if (x->more == x->c->instr)
    return k;
  while (j == x->into.onto || x->into.operand[j] != k)
    j++;
  return j;
}

static void
place_all(calls *x) {
  uint32_t n = x->c->instr->n_operands;
  x->placed = BS_NEWS(&x->low->out->arena, po_placed, n + 1);
  for (uint32_t k = 0; k < n; k++)
    x->placed[k] =
        po_find_operand(x->c, k, x->more, x->more ? operand_of_more(x, k) : 0);
  x->placed[n] = po_place_result(x->c);
}

void
po_emit_call_over(const po_calling *c) {
  calls x = {.c = c, .low = c->low, .whole = &c->types[c->node->n_kids]};
  order_loops(&x);
  if (!find_more(&x))
    return;
  place_all(&x);
  uint32_t first = x.low->out->stmts.len;
  if (x.n == x.n_each) {
    add_plain(&x, keep_set(&x, box(&x)), &x.placed[c->instr->n_operands]);
    po_add_shared_nest(x.low, first, x.n);
  } else if (x.more) {
    emit_accumulated(&x);
  } else {
    emit_summed(&x);
  }
}

/* SPDX-License-Identifier: MIT */
/* split.c - split, fuse and tile: loops cut up and joined.
 *
 * A split takes t apart into digits of a mixed radix, the first of which is
 * not bounded: ((t - min) / s0, (t - min) / s1 mod f1, ...).  Where the first
 * value depends on other loops, digits are those of t itself, so that tiles
 * lie on a grid.  Order is kept, so that neither needs a look at dependences.
 * Fuse is the inverse; bounds follow from the instances, so that there are
 * no guards for digits that are never reached. */
#include "poly/loops/affine.h"
#include "poly/schedule/loop_axes.h"
#include "poly/schedule/change.h"
#include <assert.h>
#include <string.h>
#include <isl/val.h>

/* ---- split ---- */

typedef struct cut {
  int64_t factor[PO_MAX_RESULTS], stride[PO_MAX_RESULTS];
  uint32_t n;
  int64_t min, count; /* of the loop; count < 0: not constant */
} cut;

static bool
check_factors(const po_program *p, const po_step_call *call,
              const int64_t *factors, uint32_t n, int32_t *free_at) {
  *free_at = -1;
  if (n == 0)
    return po_refuse(p, call, "factors", "the list of factors is empty");
  if (n > PO_MAX_RESULTS)
    return po_refuse(p, call, "factors", "more than %d factors",
                     PO_MAX_RESULTS);
  for (uint32_t k = 0; k < n; k++) {
    if (factors[k] == 0 || factors[k] < -1)
      return po_refuse(p, call, "factors",
                       "factor %lld is neither positive nor -1",
                       (long long)factors[k]);
    if (factors[k] == -1 && *free_at >= 0)
      return po_refuse(p, call, "factors", "only one factor may be -1");
    if (factors[k] == -1)
      *free_at = (int32_t)k;
  }
  return true;
}

static bool
product(const int64_t *factors, uint32_t n, int64_t *out) {
  *out = 1;
  for (uint32_t k = 0; k < n; k++)
    if (factors[k] > 0 && __builtin_mul_overflow(*out, factors[k], out))
      return false;
  return *out <= INT64_C(1) << 40;
}

/* Puts a number for -1, where one is needed: ceil(count / product). */
static bool
complete(const po_program *p, const po_step_call *call, uint32_t loop,
         const int64_t *factors, uint32_t n, cut *c) {
  int32_t free_at;
  int64_t known;
  const char *name = po_node(p, loop)->name;
  if (!check_factors(p, call, factors, n, &free_at))
    return false;
  if (!product(factors, n, &known))
    return po_refuse(p, call, "factors", "the factors' product is too large");
  c->n = n;
  if (!po_constant_range(p, loop, &c->min, &c->count)) {
    c->count = -1;
    c->min = 0;
  }
  if (c->count < 0 && free_at != 0) {
    po_refuse(p, call, "extent",
              "the extent of loop %s is not constant, so the first factor must "
              "be left open, and no other may be",
              name);
    bs_hint(p->ctx.diags, "write -1 for the first factor");
    return false;
  }
  if (free_at < 0 && known < c->count) {
    po_refuse(p, call, "factors",
              "the product of the factors, %lld, is less than the extent of "
              "loop %s, %lld",
              (long long)known, name, (long long)c->count);
    bs_hint(p->ctx.diags, "a factor of -1 follows from the others");
    return false;
  }
  if (free_at >= 0 && c->count >= 0 && known > c->count)
    return po_refuse(p, call, "factors",
                     "the product of the other factors, %lld, is more than "
                     "the extent of loop %s, %lld",
                     (long long)known, name, (long long)c->count);
  for (uint32_t k = 0; k < n; k++)
    c->factor[k] = factors[k] > 0 ? factors[k]
                   : c->count < 0 ? 1
                                  : (c->count + known - 1) / known;
  int64_t stride = 1;
  for (uint32_t k = n; k-- > 0; stride *= c->factor[k])
    c->stride[k] = stride;
  return true;
}

/* { [t] -> [digits] } */
static __isl_give isl_multi_aff *
digits(isl_ctx *isl, const cut *c) {
  isl_multi_aff *made = isl_multi_aff_zero(po_map_space(isl, 1, c->n));
  for (uint32_t k = 0; k < c->n; k++) {
    isl_aff *aff = po_index(isl, 1, 0, 1, -c->min);
    if (c->stride[k] > 1) {
      aff = isl_aff_scale_down_val(aff, isl_val_int_from_si(isl, c->stride[k]));
      aff = isl_aff_floor(aff);
    }
    if (k > 0)
      aff = isl_aff_mod_val(aff, isl_val_int_from_si(isl, c->factor[k]));
    made = isl_multi_aff_set_aff(made, (int)k, aff);
  }
  return made;
}

bool
po_split_loop(po_program *p, po_step_call *call, uint32_t loop,
              const int64_t *factors, uint32_t n, const char *const *names,
              uint32_t *made) {
  assert(po_node(p, loop)->kind == PO_LOOP);
  cut c;
  if (!complete(p, call, loop, factors, n, &c))
    return false;
  po_mark mark = po_node(p, loop)->mark;
  if (mark != PO_PARALLEL && !po_needs_serial(p, call, loop))
    return false;
  if (po_nest_depth(p, loop) + n > PO_MAX_DEPTH / 2)
    return po_refuse(p, call, "too-deep", "more than %d loops around another",
                     PO_MAX_DEPTH / 2);
  po_nest_retime(p, loop, po_nest_depth(p, loop), 1, digits(p->isl, &c));
  po_name_loop(p, loop, names[0]);
  made[0] = loop;
  for (uint32_t k = 1; k < n; k++)
    made[k] = po_insert_loop(p, made[k - 1], names[k]);
  po_axes_split(p, loop, made, c.stride, n);
  return true;
}

static bool
name_digits(po_program *p, po_step_call *call, uint32_t loop, uint32_t n,
            const char **names) {
  const char *name = po_node(p, loop)->name;
  po_give_up_name(p, loop);
  const char *stem = bs_arena_printf(&p->arena, "%s_", name);
  if (!po_result_names(p, call, n, stem, names))
    return false;
  po_node(p, loop)->name = name;
  return true;
}

bool
po_apply_split(po_program *p, po_step_call *call) {
  const char *names[PO_MAX_RESULTS];
  uint32_t made[PO_MAX_RESULTS], loop = call->args[0].node;
  uint32_t n = call->args[1].n;
  if (n <= PO_MAX_RESULTS && !name_digits(p, call, loop, n, names))
    return false;
  if (!po_split_loop(p, call, loop, call->args[1].numbers, n, names, made))
    return false;
  for (uint32_t k = 0; k < n; k++)
    po_made(call, made[k]);
  return true;
}

/* ---- fuse ---- */

/* Each of the loops is the only child of the one before it. */
static bool
check_consecutive(const po_program *p, const po_step_call *call,
                  const po_arg *loops) {
  if (loops->n == 0)
    return po_refuse(p, call, "loops", "the list of loops is empty");
  for (uint32_t k = 0; k + 1 < loops->n; k++) {
    const po_nest_node *outer = po_node(p, loops->nodes[k]);
    const po_nest_node *inner = po_node(p, loops->nodes[k + 1]);
    if (inner->parent != loops->nodes[k]) {
      po_refuse(p, call, "not-consecutive",
                "loop %s is not directly inside loop %s", inner->name,
                outer->name);
      bs_hint(p->ctx.diags, "list loops from the outside in");
      return false;
    }
    if (po_only_child(p, loops->nodes[k]) == PO_NO_NODE) {
      po_refuse(p, call, "not-only-child",
                "loop %s is not all that is inside loop %s", inner->name,
                outer->name);
      bs_hint(p->ctx.diags, "`fission %s %s` gives it a nest of its own",
              outer->name, inner->name);
      return false;
    }
  }
  for (uint32_t k = 0; k < loops->n; k++) {
    po_mark mark = po_node(p, loops->nodes[k])->mark;
    if (mark != PO_PARALLEL && !po_needs_serial(p, call, loops->nodes[k]))
      return false;
  }
  return true;
}

/* { [t0, t1, ...] -> [(t0 * E1 + t1 - min1) * E2 + ...] } */
static bool
linear(po_program *p, const po_step_call *call, const po_arg *loops,
       isl_multi_aff **out) {
  uint32_t n = loops->n;
  int64_t min[PO_MAX_RESULTS], count[PO_MAX_RESULTS], all = 1;
  for (uint32_t k = 0; k < n; k++) {
    bool constant = po_constant_range(p, loops->nodes[k], &min[k], &count[k]);
    if (k && !constant)
      return po_refuse(p, call, "dependent-bounds",
                       "the bounds of loop %s depend on the loops around it",
                       po_node(p, loops->nodes[k])->name);
    if (!constant)
      min[k] = 0;
    else if (__builtin_mul_overflow(all, count[k], &all))
      return po_refuse(p, call, "too-large", "the fused loop is too long");
  }
  isl_aff *aff = po_index(p->isl, n, n, 0, 0);
  for (uint32_t k = 0; k < n; k++) {
    aff = isl_aff_scale_val(aff, isl_val_int_from_si(p->isl, k ? count[k] : 1));
    aff = isl_aff_add(aff, po_index(p->isl, n, k, 1, -min[k]));
  }
  *out = isl_multi_aff_from_aff(aff);
  return true;
}

static bool
check_fusion(po_program *p, const po_step_call *call, const po_arg *loops) {
  if (loops->n > PO_MAX_RESULTS)
    return po_refuse(p, call, "loops", "more than %d loops", PO_MAX_RESULTS);
  if (!check_consecutive(p, call, loops))
    return false;
  const char *moved = po_axes_may_fuse(p, loops->nodes, loops->n);
  if (!moved)
    return true;
  po_refuse(p, call, "R4",
            "loop %s was made by a split and then reordered: it is not a "
            "neighbour that can be fused (rule R4; legal by dependence)",
            moved);
  bs_hint(p->ctx.diags, "fuse before the reorder, or put it back");
  return false;
}

/* The outermost loop gets the name of all of them. */
static bool
name_fused(po_program *p, po_step_call *call, const po_arg *loops) {
  bs_text wish;
  bs_text_init(&wish, p->ctx.heap);
  for (uint32_t k = 0; k < loops->n; k++) {
    bs_putf(&wish, "%s_", po_node(p, loops->nodes[k])->name);
    po_give_up_name(p, loops->nodes[k]);
  }
  bs_put(&wish, "fused");
  const char *name = po_result_name(p, call, 0, bs_text_str(&wish));
  if (name)
    po_name_loop(p, loops->nodes[0], name);
  bs_text_done(&wish);
  return name;
}

bool
po_apply_fuse(po_program *p, po_step_call *call) {
  const po_arg *loops = &call->args[0];
  uint32_t outer = loops->nodes[0], n = loops->n;
  isl_multi_aff *map = NULL;
  if (!check_fusion(p, call, loops) || !linear(p, call, loops, &map))
    return false;
  map = po_keep_multi_aff(&p->pool, map);
  if (!name_fused(p, call, loops))
    return false;
  po_node(p, outer)->axis = po_axes_fuse(p, loops->nodes, n);
  po_nest_retime(p, outer, po_nest_depth(p, outer), n, isl_multi_aff_copy(map));
  if (n > 1) {
    uint32_t inner = po_node(p, outer)->first;
    po_move_children(p, loops->nodes[n - 1], outer, PO_NO_NODE);
    po_nest_remove(p, inner);
  }
  if (po_node(p, outer)->mark == PO_PARALLEL &&
      !po_loop_is_parallel(p, outer, true, NULL))
    po_node(p, outer)->mark = PO_SERIAL;
  po_made(call, outer);
  return true;
}

/* ---- tile ---- */

static bool
check_tiles(const po_program *p, const po_step_call *call) {
  const po_arg *loops = &call->args[0], *sizes = &call->args[1];
  uint32_t n = loops->n;
  if (n == 0 || 2 * n > PO_MAX_RESULTS)
    return po_refuse(p, call, "loops", "1 to %d loops can be tiled",
                     PO_MAX_RESULTS / 2);
  if (sizes->n != n)
    return po_refuse(p, call, "factors", "%u %s for %u %s",
                     BS_COUNTED(sizes->n, "size"), BS_COUNTED(n, "loop"));
  for (uint32_t k = 0; k < n; k++) {
    for (uint32_t j = 0; j < k; j++)
      if (loops->nodes[j] == loops->nodes[k])
        return po_refuse(p, call, "duplicate", "loop %s is listed twice",
                         po_node(p, loops->nodes[k])->name);
    if (sizes->numbers[k] < 1)
      return po_refuse(p, call, "factors", "size %lld is not positive",
                       (long long)sizes->numbers[k]);
  }
  return true;
}

/* Loop k into tiles and what is in one. */
static bool
split_in_tiles(po_program *p, po_step_call *call, uint32_t k, uint32_t *made) {
  const po_arg *loops = &call->args[0], *sizes = &call->args[1];
  uint32_t loop = loops->nodes[k];
  const char *old = po_node(p, loop)->name, *names[2];
  int64_t factors[2] = {-1, sizes->numbers[k]}, min, count;
  if (po_constant_range(p, loop, &min, &count) && count < factors[1])
    factors[1] = count;
  po_give_up_name(p, loop);
  for (uint32_t j = 0; j < 2; j++) {
    const char *wish = bs_arena_printf(&p->arena, "%s_%u", old, j);
    names[j] = po_result_name(p, call, k + j * loops->n, wish);
    if (!names[j])
      return false;
  }
  if (!strcmp(names[0], names[1]))
    return po_refuse(p, call, "name-taken", "%s is named twice", names[0]);
  po_node(p, loop)->name = old;
  return po_split_loop(p, call, loop, factors, 2, names, made);
}

bool
po_apply_tile(po_program *p, po_step_call *call) {
  uint32_t n = call->args[0].n, order[PO_MAX_RESULTS];
  if (!check_tiles(p, call))
    return false;
  for (uint32_t k = 0; k < n; k++) {
    uint32_t made[2];
    if (!split_in_tiles(p, call, k, made))
      return false;
    order[k] = made[0];
    order[n + k] = made[1];
  }
  const char *names[PO_MAX_RESULTS];
  for (uint32_t k = 0; k < 2 * n; k++)
    names[k] = po_node(p, order[k])->name;
  if (!po_reorder_loops(p, call, order, 2 * n))
    return false;
  for (uint32_t k = 0; k < 2 * n; k++)
    po_made(call, po_nest_find(p, names[k]));
  return true;
}

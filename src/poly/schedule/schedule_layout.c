/* SPDX-License-Identifier: MIT */
/* schedule_layout.c - how an array lies in memory: transform_layout,
 * storage_align, double_buffer, pipeline.
 *
 * An index map must keep elements apart; every access is composed with it.
 * Arrays of the caller keep their layout: pack makes a copy that has another.
 * Numbers of a constant are put where they are to lie at once.
 * A fold of 2 and a producer shifted to run an iteration early make a double
 * buffer; the gate sees to order and folds. */
#include "poly/schedule/schedule_layout.h"
#include "poly/loops/affine.h"
#include "poly/loops/quasi.h"
#include "poly/schedule/schedule_edit.h"
#include <assert.h>
#include <isl/ilp.h>
#include <stdlib.h>
#include <string.h>
#include <isl/val.h>

enum { LONGEST_MAP = 400, MOST_BUFFERS = 4096 };

bool
po_layout_is_ours(const po_program *p, const po_step_call *call,
                  uint32_t array) {
  assert(array < p->arrays.len);
  const po_array *a = &p->arrays.data[array];
  if (a->role != PO_WORKSPACE && a->role != PO_LOCAL) {
    po_refuse(p, call, "fixed", "the layout of %s is the caller's", a->name);
    bs_hint(p->ctx.diags, "pack makes a copy with a layout of its own");
    return false;
  }
  return !po_is_rigid(p, array) ||
         po_refuse(p, call, "rigid",
                   "%s is used by a call or a look-up, which need its layout",
                   a->name);
}

/* Only what isl's syntax of one function needs, not nested deeply. */
static bool
is_plain(const char *text, size_t n) {
  uint32_t depth = 0;
  if (n > LONGEST_MAP || !memmem(text, n, "->", 2))
    return false;
  for (size_t k = 0; k < n; k++) {
    if (strchr("{}:;", text[k]))
      return false;
    depth += text[k] == '(' || text[k] == '[';
    depth -= (text[k] == ')' || text[k] == ']') && depth > 0;
    if (depth > 16)
      return false;
  }
  return true;
}

isl_multi_aff *
po_read_map(po_program *p, const char *text, size_t n) {
  if (!is_plain(text, n))
    return NULL;
  char braced[LONGEST_MAP + 8];
  snprintf(braced, sizeof braced, "{ %.*s }", (int)n, text);
  isl_multi_aff *map = isl_multi_aff_read_from_str(p->isl, braced);
  isl_ctx_reset_error(p->isl);
  return map;
}

static uint32_t
leading_folds(const po_array *a) {
  uint32_t n = 0;
  while (n < a->rank && a->fold[n])
    n++;
  return n;
}

/* { [f, x] -> [f, map(x)] } */
static __isl_give isl_multi_aff *
behind_folds(isl_ctx *isl, uint32_t folds, __isl_take isl_multi_aff *map) {
  isl_size n = isl_multi_aff_dim(map, isl_dim_in);
  uint32_t rank = folds + (n < 0 ? 0 : (uint32_t)n);
  map = isl_multi_aff_reset_tuple_id(map, isl_dim_in);
  map = isl_multi_aff_reset_tuple_id(map, isl_dim_out);
  isl_multi_aff *rest = po_part(isl, rank, folds, rank - folds);
  return isl_multi_aff_flat_range_product(
      po_part(isl, rank, 0, folds),
      isl_multi_aff_pullback_multi_aff(map, rest));
}

/* Pairs of elements, in one order, that have one place. */
static __isl_give isl_map *
meeting(__isl_keep isl_map *on) {
  isl_map *meet =
      isl_map_apply_range(isl_map_copy(on), isl_map_reverse(isl_map_copy(on)));
  isl_space *elements = isl_space_domain(isl_map_get_space(on));
  return isl_map_intersect(meet, isl_map_lex_lt(elements));
}

/* Two elements of the array of n dimensions that the relation, to places, gives
 * the same one. */
static bool
refuse_meeting(const po_program *p, const po_step_call *call, const po_array *a,
               __isl_keep isl_map *on) {
  isl_point *point = isl_set_sample_point(isl_map_wrap(meeting(on)));
  bs_text text;
  bs_text_init(&text, p->ctx.heap);
  for (uint32_t k = 0; k < 2 * a->rank; k++) {
    isl_val *at = isl_point_get_coordinate_val(point, isl_dim_set, (int)k);
    if (k % a->rank == 0)
      bs_putf(&text, "%s%s[", k ? " and " : "", a->name);
    bs_putf(&text, "%ld%s", at ? isl_val_get_num_si(at) : 0,
            (k + 1) % a->rank ? "," : "]");
    isl_val_free(at);
  }
  isl_point_free(point);
  po_refuse(p, call, "not-injective", "the map puts %s in one place",
            bs_text_str(&text));
  bs_text_done(&text);
  return false;
}

/* New extents; false where elements meet or lie below 0. */
static bool
measure(po_program *p, const po_step_call *call, uint32_t array,
        __isl_keep isl_multi_aff *map, int64_t *dim, uint32_t rank) {
  assert(array < p->arrays.len);
  const po_array *a = &p->arrays.data[array];
  isl_map *on = isl_map_from_multi_aff(isl_multi_aff_copy(map));
  on = isl_map_intersect_domain(on, po_box(p->isl, a->dim, a->rank));
  if (isl_map_is_injective(on) != isl_bool_true) {
    refuse_meeting(p, call, a, on);
    isl_map_free(on);
    return false;
  }
  isl_set *range = isl_map_range(on);
  int64_t all = 1;
  bool ok = true;
  for (uint32_t d = 0; d < rank; d++) {
    isl_val *lo = isl_set_dim_min_val(isl_set_copy(range), (int)d);
    isl_val *hi = isl_set_dim_max_val(isl_set_copy(range), (int)d);
    ok = ok && lo && hi && isl_val_is_nonneg(lo) == isl_bool_true &&
         isl_val_is_int(hi) == isl_bool_true &&
         isl_val_cmp_si(hi, INT32_MAX) < 0;
    dim[d] = ok ? isl_val_get_num_si(hi) + 1 : 1;
    ok = ok && !__builtin_mul_overflow(all, dim[d], &all) &&
         all <= INT64_C(1) << 40;
    isl_val_free(lo);
    isl_val_free(hi);
  }
  isl_set_free(range);
  return ok || po_refuse(p, call, "bounds",
                         "the map puts elements of %s below 0 or too far up",
                         a->name);
}

static isl_pw_multi_aff *
composed(po_program *p, isl_pw_multi_aff *index,
         __isl_keep isl_multi_aff *map) {
  return po_keep_pw_multi_aff(
      &p->pool, isl_pw_multi_aff_pullback_pw_multi_aff(
                    isl_pw_multi_aff_from_multi_aff(isl_multi_aff_copy(map)),
                    isl_pw_multi_aff_copy(index)));
}

static void
compose_all(po_program *p, uint32_t array, isl_multi_aff *map) {
  for (uint32_t k = 0; k < p->stmts.len; k++) {
    po_stmt *stmt = &p->stmts.data[k];
    po_pool_reserve(&p->pool, stmt->n_exprs + 1);
    if (stmt->array == array)
      stmt->write = composed(p, stmt->write, map);
    if (!po_stmt_reads(stmt, array))
      continue;
    po_expr *exprs =
        bs_arena_copy(&p->arena, stmt->exprs, stmt->n_exprs * sizeof *exprs);
    for (uint32_t j = 0; j < stmt->n_exprs; j++)
      if (exprs[j].kind == PO_READ && exprs[j].array == array)
        exprs[j].index = composed(p, exprs[j].index, map);
    stmt->exprs = exprs;
  }
}

/* The numbers of a constant at their new places, zeros between them; they
 * outlive the program.  NULL where the places do not fit into 62 bits. */
static const void *
rearranged(po_program *p, const po_array *a, __isl_keep isl_multi_aff *map,
           const int64_t *dim, uint32_t rank) {
  size_t bytes = (size_t)gs_dtype_table[a->dtype].bytes;
  int64_t index[GS_MAX_RANK] = {0}, n = gs_prod(a->dim, a->rank);
  po_quasi place;
  isl_aff *address = po_linear(map, dim);
  bool ok = address && po_quasi_make(&p->arena, address, &place);
  isl_aff_free(address);
  if (!ok)
    return NULL;
  char *to = bs_arena_calloc(p->ctx.arena, (size_t)gs_prod(dim, rank), bytes);
  int64_t *room = BS_NEWS(&p->arena, int64_t, place.m + 1);
  for (int64_t k = 0; k < n; k++) {
    int64_t at = po_quasi_at(&place, index, room);
    memcpy(to + (size_t)at * bytes, (const char *)a->data + (size_t)k * bytes,
           bytes);
    for (uint32_t d = a->rank; d-- > 0 && ++index[d] == a->dim[d];)
      index[d] = 0;
  }
  return to;
}

/* The map of a layout, all of whose dimensions stand behind the folds; NULL: it
 * is none of the array's indices. */
static isl_multi_aff *
read_layout(po_program *p, const po_step_call *call, const po_array *a,
            const char *text) {
  uint32_t folds = leading_folds(a);
  isl_multi_aff *map = po_read_map(p, text, strlen(text));
  isl_size in = map ? isl_multi_aff_dim(map, isl_dim_in) : -1;
  isl_size out = map ? isl_multi_aff_dim(map, isl_dim_out) : -1;
  if (in != (isl_size)(a->rank - folds) || out < 1 ||
      out + folds > GS_MAX_RANK || isl_multi_aff_dim(map, isl_dim_param) != 0) {
    isl_multi_aff_free(map);
    po_refuse(p, call, "map", "\"%s\" is not a map of the %u %s of %s", text,
              BS_COUNTED_AS(a->rank - folds, "index", "indices"), a->name);
    bs_hint(p->ctx.diags, "like \"[i, j] -> [floor(j / 16), i, j mod 16]\"");
    return NULL;
  }
  if (folds)
    map = behind_folds(p->isl, folds, map);
  map = isl_multi_aff_reset_tuple_id(map, isl_dim_in);
  map = isl_multi_aff_reset_tuple_id(map, isl_dim_out);
  po_pool_reserve(&p->pool, 2);
  return po_keep_multi_aff(&p->pool, map);
}

/* Both sides have the array's name, as its accesses do. */
static isl_multi_aff *
named_after(po_program *p, const po_array *a, __isl_keep isl_multi_aff *map) {
  isl_multi_aff *named = isl_multi_aff_copy(map);
  for (int side = 0; side < 2; side++)
    named = isl_multi_aff_set_tuple_id(named, side ? isl_dim_out : isl_dim_in,
                                       isl_id_alloc(p->isl, a->name, NULL));
  return po_keep_multi_aff(&p->pool, named);
}

bool
po_change_layout(po_program *p, const po_step_call *call, uint32_t array,
                 const char *text) {
  assert(array < p->arrays.len && text);
  po_array *a = &p->arrays.data[array];
  uint32_t folds = leading_folds(a);
  int64_t dim[GS_MAX_RANK];
  bool constant = a->role == PO_CONSTANT && !po_is_rigid(p, array);
  if (!constant && !po_layout_is_ours(p, call, array))
    return false;
  isl_multi_aff *map = read_layout(p, call, a, text);
  uint32_t rank = map ? (uint32_t)isl_multi_aff_dim(map, isl_dim_out) : 0;
  if (!map || !measure(p, call, array, map, dim, rank))
    return false;
  if (constant && !(a->data = rearranged(p, a, map, dim, rank)))
    return po_refuse(p, call, "too-complex", "the places of %s are too large",
                     a->name);
  compose_all(p, array, named_after(p, a, map));
  a->rank = rank;
  for (uint32_t d = 0; d < rank; d++) {
    a->dim[d] = dim[d];
    a->fold[d] = d < folds ? a->fold[d] : 0;
    a->pad[d] = 0;
  }
  po_forget_dependences(p);
  return true;
}

bool
po_apply_transform_layout(po_program *p, po_step_call *call) {
  return po_change_layout(p, call, call->args[0].array, call->args[1].word);
}

/* ---- storage_align ---- */

bool
po_apply_storage_align(po_program *p, po_step_call *call) {
  uint32_t array = call->args[0].array;
  po_array *a = &p->arrays.data[array];
  int64_t axis = call->args[1].number, factor = call->args[2].number;
  int64_t offset = call->args[3].kind == PO_ARG_END ? 0 : call->args[3].number;
  if (a->role != PO_WORKSPACE && a->role != PO_LOCAL)
    return po_refuse(p, call, "fixed", "the layout of %s is the caller's",
                     a->name);
  if (po_is_rigid(p, array))
    return po_refuse(p, call, "rigid",
                     "%s is used by a call or a look-up, which need its layout",
                     a->name);
  if (axis < 0)
    axis += a->rank;
  if (axis < 0 || axis >= a->rank)
    return po_refuse(p, call, "axis", "%s has %u %s, no dimension %lld",
                     a->name, BS_COUNTED(a->rank, "dimension"),
                     (long long)call->args[1].number);
  if (factor <= 0 || factor > 1 << 20)
    return po_refuse(p, call, "factors", "factor %lld is not in 1..2^20",
                     (long long)factor);
  if (offset < 0 || offset >= factor)
    return po_refuse(p, call, "factors", "offset %lld is not in 0..%lld",
                     (long long)offset, (long long)factor - 1);
  if (axis == a->rank - 1)
    return factor == 1 || po_refuse(p, call, "axis",
                                    "elements of the last dimension of %s "
                                    "stand next to each other",
                                    a->name);
  int64_t inner = 1;
  for (uint32_t d = a->rank; d-- > (uint32_t)axis + 2;)
    inner *= (a->fold[d] ? a->fold[d] : a->dim[d]) + a->pad[d];
  uint32_t next = (uint32_t)axis + 1;
  int64_t places = a->fold[next] ? a->fold[next] : a->dim[next];
  for (int64_t pad = 0; pad < factor; pad++) {
    if ((places + pad) % factor * (inner % factor) % factor != offset)
      continue;
    a->pad[next] = pad;
    return true;
  }
  return po_refuse(p, call, "factors",
                   "no padding makes the stride %lld modulo %lld",
                   (long long)offset, (long long)factor);
}

/* ---- double_buffer, pipeline ---- */

isl_set *
po_index_from_loop(const po_stmt *stmt, isl_map *index, uint32_t rank,
                   uint32_t d, uint32_t depth) {
  assert(d < rank && depth < PO_MAX_DEPTH);
  index = isl_map_project_out(index, isl_dim_out, d + 1, rank - d - 1);
  index = isl_map_project_out(index, isl_dim_out, 0, d);
  index = isl_map_reset_tuple_id(index, isl_dim_out);
  isl_map *when = po_prefix(stmt, depth + 1);
  when = isl_map_project_out(when, isl_dim_out, 0, depth);
  return isl_map_range(isl_map_sum(index, isl_map_neg(when)));
}

static __isl_give isl_map *
accesses_in(__isl_keep isl_union_map *all, const po_stmt *stmt) {
  return isl_map_from_union_map(isl_union_map_intersect_domain(
      isl_union_map_copy(all),
      isl_union_set_from_set(isl_set_copy(stmt->domain))));
}

/* Whether index d of every access is the value of the loop, up to a
 * constant. */
static bool
follows(const po_program *p, uint32_t array, uint32_t d, uint32_t loop) {
  uint32_t depth = po_nest_depth(p, loop);
  po_accesses acc = po_accesses_of(p, array);
  isl_union_map *all = isl_union_map_union(
      acc.reads, isl_union_map_union(acc.writes, acc.updates));
  bool ok = true;
  isl_set *apart = NULL;
  for (uint32_t k = 0; ok && k < p->stmts.len; k++) {
    const po_stmt *stmt = &p->stmts.data[k];
    if (!po_stmt_accesses(stmt, array))
      continue;
    ok = po_nest_is_below(p, stmt->leaf, loop);
    if (!ok)
      break;
    uint32_t rank = p->arrays.data[array].rank;
    isl_set *delta =
        po_index_from_loop(stmt, accesses_in(all, stmt), rank, d, depth);
    apart = apart ? isl_set_union(apart, delta) : delta;
  }
  ok = ok && apart && isl_set_is_singleton(apart) == isl_bool_true;
  isl_set_free(apart);
  isl_union_map_free(all);
  return ok;
}

/* The dimension folded to 1 that follows a loop. */
static bool
find_fold(po_program *p, const po_step_call *call, uint32_t array,
          uint32_t loop, uint32_t *d) {
  assert(array < p->arrays.len);
  const po_array *a = &p->arrays.data[array];
  for (*d = 0; *d < a->rank; ++*d)
    if (a->fold[*d] && follows(p, array, *d, loop))
      return true;
  po_refuse(p, call, "not-local",
            "%s is not made anew in each iteration of "
            "loop %s",
            a->name, po_node(p, loop)->name);
  bs_hint(p->ctx.diags, "cache_read or compute_at a loop makes such an array");
  return false;
}

bool
po_apply_double_buffer(po_program *p, po_step_call *call) {
  uint32_t array = call->args[0].array, d;
  int64_t n = call->args[2].kind == PO_ARG_END ? 2 : call->args[2].number;
  if (n < 1 || n > MOST_BUFFERS)
    return po_refuse(p, call, "factors", "%lld buffers are not within 1..%d",
                     (long long)n, MOST_BUFFERS);
  if (!find_fold(p, call, array, call->args[1].node, &d))
    return false;
  po_array *a = &p->arrays.data[array];
  a->fold[d] = po_places_for(a, d, n);
  return true;
}

bool
po_apply_pipeline(po_program *p, po_step_call *call) {
  uint32_t loop = call->args[1].node, d;
  int64_t early = call->args[2].kind == PO_ARG_END ? 1 : call->args[2].number;
  uint32_t array = p->stmts.data[call->args[0].stmt].array;
  if (early < 1 || early > 62)
    return po_refuse(p, call, "distance",
                     "%lld iterations are not within "
                     "1..62",
                     (long long)early);
  if (!find_fold(p, call, array, loop, &d))
    return false;
  po_array *a = &p->arrays.data[array];
  if (a->fold[d] <= early)
    a->fold[d] = po_places_for(a, d, early + 1);
  po_step_call shift = *call;
  shift.args[2].kind = PO_ARG_INT;
  shift.args[2].number = -early;
  return po_apply_shift(p, &shift);
}

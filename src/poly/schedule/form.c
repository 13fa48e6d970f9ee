/* SPDX-License-Identifier: MIT */
/* form.c - see form.h. */
#include "poly/schedule/form.h"
#include "poly/loops/affine.h"
#include "poly/loops/bounds.h"
#include <assert.h>
#include <stdarg.h>

bool
po_because(po_reason *why, uint32_t weight, const char *format, ...) {
  assert(format);
  va_list args;
  bs_text text;
  if (why->text && why->weight >= weight)
    return false;
  bs_text_init(&text, why->arena->heap);
  va_start(args, format);
  bs_putv(&text, format, args);
  va_end(args);
  why->text = bs_arena_strdup(why->arena, bs_text_str(&text));
  why->weight = weight;
  bs_text_done(&text);
  return false;
}

/* ---- boxes ---- */

/* { [o] -> [i] }: the instances of each iteration of the loops around. */
static __isl_give isl_map *
instances(const po_stmt *stmt, uint32_t n_outer) {
  isl_map *map = isl_map_reverse(po_prefix(stmt, n_outer));
  return isl_map_reset_tuple_id(map, isl_dim_out);
}

/* The first value of index k as a function of o, and how many there are. */
static __isl_give isl_aff *
first_of(const po_form *f, const po_stmt *stmt, uint32_t k,
         __isl_keep isl_map *all, int64_t *extent, po_reason *why) {
  isl_map *one = isl_map_copy(all);
  one = isl_map_project_out(one, isl_dim_out, k + 1, stmt->n_iters - k - 1);
  one = isl_map_project_out(one, isl_dim_out, 0, k);
  isl_pw_aff *lo = isl_map_dim_min(isl_map_copy(one), 0);
  isl_pw_aff *hi = isl_map_dim_max(one, 0);
  isl_pw_aff *more = isl_pw_aff_sub(hi, isl_pw_aff_copy(lo));
  int64_t least, most;
  bool ok = po_bounds_of_values(more, &least, &most);
  int64_t a = ok ? least + 1 : 0, b = ok ? most + 1 : 0;
  isl_aff *first = po_single(lo);
  *extent = b;
  if (ok && a == b && first)
    return first;
  isl_aff_free(first);
  if (ok && a != b)
    po_because(why, 1,
               "an iteration of the loops around has %lld to %lld values of "
               "index %s of %s",
               (long long)a, (long long)b, stmt->iters[k], stmt->name);
  else
    po_because(why, 1,
               "the first value of index %s of %s is not a function of "
               "the loops around",
               stmt->iters[k], stmt->name);
  (void)f;
  return NULL;
}

/* { [o, r] -> S[first(o) + r] } */
static __isl_give isl_multi_aff *
instance_at(const po_form *f, const po_stmt *stmt,
            __isl_keep isl_multi_aff *first) {
  isl_ctx *isl = f->p->isl;
  uint32_t all = f->n_outer + stmt->n_iters;
  isl_multi_aff *at = isl_multi_aff_zero(po_map_space(isl, all, stmt->n_iters));
  for (uint32_t k = 0; k < stmt->n_iters; k++) {
    isl_aff *aff = isl_multi_aff_get_aff(first, (int)k);
    aff = isl_aff_add_dims(aff, isl_dim_in, stmt->n_iters);
    aff = isl_aff_add(aff, po_index(isl, all, f->n_outer + k, 1, 0));
    at = isl_multi_aff_set_aff(at, (int)k, aff);
  }
  return isl_multi_aff_set_tuple_id(at, isl_dim_out,
                                    isl_set_get_tuple_id(stmt->domain));
}

/* { [o] -> [i] : first(o) <= i < first(o) + extent } is all there is. */
static bool
fills_box(const po_form *f, const po_form_stmt *s, const po_stmt *stmt,
          __isl_keep isl_multi_aff *at, __isl_keep isl_map *all) {
  isl_set *box = po_box(f->p->isl, s->extent, s->n);
  isl_set *both = isl_set_flatten(isl_set_product(isl_set_copy(f->outer), box));
  isl_multi_aff *flat =
      isl_multi_aff_reset_tuple_id(isl_multi_aff_copy(at), isl_dim_out);
  isl_map *map = isl_map_from_multi_aff(flat);
  map = isl_map_intersect_domain(map, both);
  isl_multi_aff *outer = po_part(f->p->isl, f->n_outer + s->n, 0, f->n_outer);
  isl_map *filled = isl_map_apply_domain(map, isl_map_from_multi_aff(outer));
  bool same = isl_map_is_equal(filled, all) == isl_bool_true;
  isl_map_free(filled);
  (void)stmt;
  return same;
}

static isl_pw_multi_aff *
access_at(po_form *f, isl_pw_multi_aff *index, __isl_keep isl_multi_aff *at) {
  return po_keep_pw_multi_aff(
      &f->p->pool, isl_pw_multi_aff_pullback_multi_aff(
                       isl_pw_multi_aff_copy(index), isl_multi_aff_copy(at)));
}

static void
find_accesses(po_form *f, po_form_stmt *s, isl_multi_aff *at) {
  po_program *p = f->p;
  const po_stmt *stmt = &p->stmts.data[s->stmt];
  s->access = BS_NEWS(&p->arena, po_form_access, stmt->n_exprs + 1);
  po_pool_reserve(&p->pool, stmt->n_exprs + 1);
  for (uint32_t k = 0; k < stmt->n_exprs; k++) {
    const po_expr *e = &stmt->exprs[k];
    s->access[k].array = e->index ? e->array : PO_NO_NODE;
    if (e->index)
      s->access[k].index = access_at(f, e->index, at);
  }
  s->access[stmt->n_exprs].array = stmt->array;
  s->access[stmt->n_exprs].index = access_at(f, stmt->write, at);
}

static bool
add_stmt(po_form *f, uint32_t k, po_reason *why) {
  po_program *p = f->p;
  const po_stmt *stmt = &p->stmts.data[k];
  if (stmt->kind == PO_CALL)
    return po_because(why, 0, "%s is a call already", stmt->name);
  if (stmt->n_iters > PO_MAX_DEPTH)
    return po_because(why, 0, "%s has too many indices", stmt->name);
  if (f->n == PO_FORM_STMTS)
    return po_because(why, 0, "it has more than %d statements", PO_FORM_STMTS);
  po_form_stmt *s = &f->stmts[f->n++];
  *s = (po_form_stmt){.stmt = k, .n = stmt->n_iters};
  po_pool_reserve(&p->pool, stmt->n_iters + 6);
  isl_map *all = po_keep_map(&p->pool, instances(stmt, f->n_outer));
  isl_set *outer = po_keep_set(&p->pool, isl_map_domain(isl_map_copy(all)));
  if (!f->outer)
    f->outer = outer;
  if (isl_set_is_equal(f->outer, outer) != isl_bool_true)
    return po_because(why, 0,
                      "%s does not run in every iteration of the loops "
                      "around",
                      stmt->name);
  isl_multi_aff *first =
      isl_multi_aff_zero(po_map_space(p->isl, f->n_outer, s->n));
  for (uint32_t d = 0; d < s->n; d++) {
    isl_aff *aff = first_of(f, stmt, d, all, &s->extent[d], why);
    if (!aff) {
      isl_multi_aff_free(first);
      return false;
    }
    first = isl_multi_aff_set_aff(first, (int)d, aff);
  }
  isl_multi_aff *at = po_keep_multi_aff(&p->pool, instance_at(f, stmt, first));
  isl_multi_aff_free(first);
  if (!at || !fills_box(f, s, stmt, at, all))
    return po_because(why, 1,
                      "the instances of %s in an iteration of the loops "
                      "around do not form a box",
                      stmt->name);
  find_accesses(f, s, at);
  return !p->pool.failed;
}

bool
po_find_form(po_program *p, uint32_t top, po_form *out, po_reason *why) {
  assert(top < p->nest.nodes.len);
  *out = (po_form){.p = p, .top = top, .n_outer = po_nest_depth(p, top)};
  for (uint32_t k = top; k != PO_NO_NODE; k = po_nest_next(p, k, top)) {
    if (po_node(p, k)->kind == PO_SYNC)
      return po_because(why, 0, "there is a barrier in it");
    if (po_node(p, k)->kind == PO_LOOP && po_node(p, k)->mark == PO_BIND)
      return po_because(why, 0, "loop %s in it is bound", po_node(p, k)->name);
    if (po_node(p, k)->kind == PO_LEAF &&
        !add_stmt(out, po_node(p, k)->stmt, why))
      return false;
  }
  return out->n || po_because(why, 0, "it is empty");
}

/* ---- order ---- */

/* { S[i] -> A[x] } of a statement, whatever it does there. */
static __isl_give isl_union_map *
touches(const po_program *p, uint32_t k, uint32_t array) {
  assert(k < p->stmts.len);
  const po_stmt *stmt = &p->stmts.data[k];
  isl_union_map *all = po_reads_of(p, k, array);
  if (stmt->array != array)
    return all;
  isl_map *map = isl_map_from_pw_multi_aff(isl_pw_multi_aff_copy(stmt->write));
  map = isl_map_intersect_domain(map, isl_set_copy(stmt->domain));
  return isl_union_map_union(all, isl_union_map_from_map(map));
}

bool
po_runs_before(const po_program *p, uint32_t first, uint32_t second,
               uint32_t array, uint32_t n_outer) {
  assert(first < p->stmts.len && second < p->stmts.len &&
         array < p->arrays.len);
  const po_stmt *a = &p->stmts.data[first], *b = &p->stmts.data[second];
  isl_union_map *both = isl_union_map_apply_range(
      touches(p, first, array),
      isl_union_map_reverse(touches(p, second, array)));
  isl_map *wrong = po_not_before(p, a, b);
  isl_map *same = isl_map_apply_range(po_prefix(a, n_outer),
                                      isl_map_reverse(po_prefix(b, n_outer)));
  wrong = isl_map_intersect(wrong, same);
  both = isl_union_map_intersect(both, isl_union_map_from_map(wrong));
  bool ok = isl_union_map_is_empty(both) == isl_bool_true;
  isl_union_map_free(both);
  return ok;
}

/* ---- copies ---- */

bool
po_is_private(const po_program *p, uint32_t array, uint32_t top) {
  assert(array < p->arrays.len && top < p->nest.nodes.len);
  po_role role = p->arrays.data[array].role;
  if (role != PO_LOCAL && role != PO_WORKSPACE)
    return false;
  for (uint32_t k = 0; k < p->stmts.len; k++)
    if (po_stmt_accesses(&p->stmts.data[k], array) &&
        !po_nest_is_below(p, p->stmts.data[k].leaf, top))
      return false;
  return true;
}

/* The statement does nothing but copy a private array that nobody else reads.
 */
static bool
is_copy(const po_program *p, uint32_t k, uint32_t top) {
  assert(k < p->stmts.len);
  const po_stmt *f = &p->stmts.data[k];
  if (f->kind != PO_ASSIGN || f->n_exprs != 1 || f->exprs[0].kind != PO_READ ||
      f->exprs[0].array == f->array || !po_nest_is_below(p, f->leaf, top))
    return false;
  uint32_t local = f->exprs[0].array;
  if (p->arrays.data[local].dtype != p->arrays.data[f->array].dtype ||
      !po_is_private(p, local, top))
    return false;
  for (uint32_t j = 0; j < p->stmts.len; j++)
    if (j != k && (po_stmt_reads(&p->stmts.data[j], local) ||
                   (p->stmts.data[j].array == local &&
                    (p->stmts.data[j].kind == PO_CALL ||
                     !po_runs_before(p, j, k, local, po_nest_depth(p, top))))))
      return false;
  return true;
}

/* { L[x] -> C[y] } of a copy; NULL where it is not one to one. */
static __isl_give isl_map *
destination(const po_stmt *f) {
  isl_map *from =
      isl_map_from_pw_multi_aff(isl_pw_multi_aff_copy(f->exprs[0].index));
  from = isl_map_intersect_domain(from, isl_set_copy(f->domain));
  isl_map *to = isl_map_from_pw_multi_aff(isl_pw_multi_aff_copy(f->write));
  isl_map *map = isl_map_apply_range(isl_map_reverse(from), to);
  if (isl_map_is_bijective(map) == isl_bool_true)
    return map;
  return isl_map_free(map);
}

/* Where a writer of the local writes instead; NULL. */
static isl_pw_multi_aff *
forwarded(po_program *p, const po_stmt *w, __isl_keep isl_map *to) {
  isl_map *map = isl_map_from_pw_multi_aff(isl_pw_multi_aff_copy(w->write));
  map = isl_map_intersect_domain(map, isl_set_copy(w->domain));
  isl_multi_aff *write =
      po_one_piece(isl_map_apply_range(map, isl_map_copy(to)), w->domain);
  return write ? po_keep_pw_multi_aff(&p->pool,
                                      isl_pw_multi_aff_from_multi_aff(write))
               : NULL;
}

static bool
forward(po_program *p, uint32_t k) {
  const po_stmt f = p->stmts.data[k];
  uint32_t local = f.exprs[0].array;
  isl_pw_multi_aff **to =
      BS_NEWS(&p->arena, isl_pw_multi_aff *, p->stmts.len + 1);
  po_pool_reserve(&p->pool, p->stmts.len + 1);
  isl_map *map = destination(&f);
  if (!map)
    return false;
  map = po_keep_map(&p->pool, map);
  for (uint32_t j = 0; j < p->stmts.len; j++)
    if (p->stmts.data[j].array == local &&
        !(to[j] = forwarded(p, &p->stmts.data[j], map)))
      return false;
  for (uint32_t j = 0; j < p->stmts.len; j++)
    if (p->stmts.data[j].array == local) {
      p->stmts.data[j].write = to[j];
      p->stmts.data[j].array = f.array;
    }
  po_remove_stmt(p, k);
  return true;
}

void
po_forward_copies(po_program *p, uint32_t top) {
  assert(top < p->nest.nodes.len);
  for (uint32_t k = 0; k < p->stmts.len; k++)
    if (is_copy(p, k, top) && forward(p, k))
      k = UINT32_MAX; /* from the start: what stood behind it moved down */
}

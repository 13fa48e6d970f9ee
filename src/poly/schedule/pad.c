/* pad.c - pad_einsum: the extents of a reduction rounded up.
 *
 * The update, what starts it, and where it goes to a local what takes it from
 * there, run for the rounded extents.  What they read comes from arrays that
 * hold, beside the elements that were read before, a value for which the
 * update changes nothing; what they write of an output goes through an array
 * with room for the rest, of which the right part is copied out.
 *
 * Instances that were added are neutral: those that update an element which
 * was computed before read nothing but the neutral value (of integers, one
 * factor is enough), the others make elements that nothing else reads. */
#include "poly/affine.h"
#include "poly/schedule/edit.h"
#include <isl/ilp.h>
#include <math.h>
#include <string.h>

enum { MOST_PARTS = 16, MOST_PADDED = 8, MOST_VALUES = 512 };

/* An array that is read through a padded copy, or written. */
typedef struct padded {
  uint32_t array, copy;
  isl_set *used;           /* { A[x] } before; kept */
  int64_t lo[GS_MAX_RANK]; /* element x lies at x - lo */
  bool written;
} padded;

typedef struct padding {
  po_program *p;
  po_step_call *call;
  uint32_t update;
  uint32_t parts[MOST_PARTS], n; /* statements that grow, the update first */
  isl_set *was[MOST_PARTS], *now[MOST_PARTS]; /* their instances; kept */
  padded arrays[MOST_PADDED];
  uint32_t n_arrays;
  double neutral;
  const char *copies[MOST_PADDED], *fills[MOST_PADDED];
  uint32_t n_copies, n_fills;
} padding;

static po_stmt *
part(const padding *x, uint32_t k) {
  return &x->p->stmts.data[x->parts[k]];
}

/* ---- the update ---- */

static bool
find_update(padding *x) {
  po_program *p = x->p;
  const po_arg *arg = &x->call->args[0];
  uint32_t found = 0;
  for (uint32_t k = 0; k < p->stmts.len; k++)
    if ((arg->array == PO_NO_NODE ? k == arg->stmt
                                  : p->stmts.data[k].array == arg->array) &&
        p->stmts.data[k].kind == PO_UPDATE) {
      x->update = k;
      found++;
    }
  return found == 1 || po_refuse(p, x->call, "no-reduction",
                                 "%u updates are meant, not one", found);
}

/* The box that the update's instances are, with extents rounded up. */
static bool
find_extents(padding *x) {
  po_program *p = x->p;
  const po_stmt *u = &p->stmts.data[x->update];
  const po_arg *by = &x->call->args[1];
  if (by->n != u->n_iters)
    return po_refuse(p, x->call, "factors", "%s has %u indices, not %u",
                     u->name, u->n_iters, by->n);
  isl_set *box = isl_set_universe(isl_set_get_space(u->domain));
  isl_set *more = isl_set_copy(box);
  bool ok = true;
  for (uint32_t d = 0; ok && d < u->n_iters; d++) {
    isl_val *a = isl_set_dim_min_val(isl_set_copy(u->domain), (int)d);
    isl_val *b = isl_set_dim_max_val(isl_set_copy(u->domain), (int)d);
    int64_t lo = a ? isl_val_get_num_si(a) : 0;
    int64_t hi = b ? isl_val_get_num_si(b) : 0, f = by->numbers[d], end;
    isl_val_free(a);
    isl_val_free(b);
    ok = f >= 1 && f < INT64_C(1) << 30;
    if (!ok)
      break;
    end = lo + (hi - lo + f) / f * f - 1;
    box = isl_set_lower_bound_si(box, isl_dim_set, d, (int)lo);
    box = isl_set_upper_bound_val(box, isl_dim_set, d,
                                  isl_val_int_from_si(p->isl, hi));
    more = isl_set_lower_bound_si(more, isl_dim_set, d, (int)lo);
    more = isl_set_upper_bound_val(more, isl_dim_set, d,
                                   isl_val_int_from_si(p->isl, end));
  }
  po_pool_reserve(&p->pool, 2);
  x->was[0] = u->domain;
  x->now[0] = po_keep_set(&p->pool, more);
  bool whole = isl_set_is_equal(box, u->domain) == isl_bool_true;
  isl_set_free(box);
  if (!ok)
    return po_refuse(p, x->call, "factors",
                     "a factor is not positive, or too "
                     "large");
  return whole ||
         po_refuse(p, x->call, "extent",
                   "the bounds of %s's indices depend on each other", u->name);
}

/* ---- the neutral value ---- */

/* The least and greatest value of integers stand for infinities. */
static double
limited(gs_dtype dtype, double v) {
  if (!gs_dtype_table[dtype].integer || !isinf(v))
    return v;
  double bits = 8.0 * gs_dtype_table[dtype].bytes;
  if (dtype == GS_U8)
    return v < 0 ? 0 : 255;
  return v < 0 ? -exp2(bits - 1) : exp2(bits - 1) - 1;
}

static bool
fits_dtype(gs_dtype dtype, double v) {
  return !gs_dtype_table[dtype].integer ||
         (v >= limited(dtype, -INFINITY) && v <= limited(dtype, INFINITY));
}

static double
apply_fold(gs_compute op, double a, double b) {
  switch (op) {
  case GS_C_ADD:
    return a + b;
  case GS_C_SUB:
    return a - b;
  case GS_C_MUL:
    return a * b;
  case GS_C_MAX:
    return a > b ? a : b;
  case GS_C_MIN:
    return a < b ? a : b;
  default:
    return NAN;
  }
}

/* What the body is where everything it reads is v; NaN: not known. */
static double
body_of(const po_program *p, const po_stmt *u, double v) {
  double value[MOST_VALUES];
  if (u->n_exprs > MOST_VALUES)
    return NAN;
  for (uint32_t k = 0; k < u->n_exprs; k++) {
    const po_expr *e = &u->exprs[k];
    if (e->kind == PO_LITERAL)
      value[k] = limited(e->dtype, e->literal);
    else if (e->kind == PO_READ)
      value[k] = limited(p->arrays.data[e->array].dtype, v);
    else if (e->kind == PO_BINARY)
      value[k] = apply_fold(e->op, value[e->kids[0]], value[e->kids[1]]);
    else
      return NAN;
    if (!fits_dtype(e->dtype, value[k]))
      return NAN;
  }
  return value[u->n_exprs - 1];
}

static bool
find_neutral(padding *x) {
  static const double tries[] = {0, 1, -INFINITY, INFINITY};
  const po_stmt *u = &x->p->stmts.data[x->update];
  gs_dtype dtype = u->exprs[u->n_exprs - 1].dtype;
  double wanted = limited(dtype, po_fold_start(u->op));
  for (uint32_t k = 0; k < sizeof tries / sizeof *tries; k++)
    if (body_of(x->p, u, tries[k]) == wanted) {
      x->neutral = tries[k];
      return true;
    }
  return po_refuse(x->p, x->call, "no-neutral",
                   "there is no value for which %s's body leaves %s as it is",
                   u->name, x->p->arrays.data[u->array].name);
}

/* ---- what grows ---- */

static __isl_give isl_map *
accessing(const po_stmt *stmt, isl_pw_multi_aff *index) {
  (void)stmt;
  return isl_map_from_pw_multi_aff(isl_pw_multi_aff_copy(index));
}

/* The update's elements with all extents rounded up. */
static __isl_give isl_set *
elements_now(const padding *x) {
  return isl_set_apply(isl_set_copy(x->now[0]),
                       accessing(part(x, 0), part(x, 0)->write));
}

/* A statement that meets the update in its array, by this access, runs for
 * the elements that are new, too. */
static bool
grow(padding *x, uint32_t stmt, isl_pw_multi_aff *index) {
  po_program *p = x->p;
  const po_stmt *s = &p->stmts.data[stmt];
  if (x->n == MOST_PARTS)
    return po_refuse(p, x->call, "too-large", "too many statements use %s",
                     p->arrays.data[part(x, 0)->array].name);
  isl_map *back = isl_map_reverse(accessing(s, index));
  isl_set *now = isl_set_apply(elements_now(x), back);
  bool ok = isl_set_is_bounded(now) == isl_bool_true;
  now = isl_set_coalesce(isl_set_union(now, isl_set_copy(s->domain)));
  x->parts[x->n] = stmt;
  po_pool_reserve(&p->pool, 1);
  x->was[x->n] = s->domain;
  x->now[x->n] = po_keep_set(&p->pool, now);
  x->n++;
  return ok || po_refuse(p, x->call, "no-inverse",
                         "which instances of %s would belong to new elements "
                         "of %s is not bounded",
                         s->name, p->arrays.data[part(x, 0)->array].name);
}

/* A whole division might be one by zero there. */
static bool
is_harmless(const padding *x, const po_stmt *s) {
  for (uint32_t k = 0; k < s->n_exprs; k++) {
    const po_expr *e = &s->exprs[k];
    if (e->kind == PO_GATHER || (e->kind == PO_BINARY && e->op == GS_C_DIV &&
                                 gs_dtype_table[e->dtype].integer))
      return po_refuse(x->p, x->call, "no-neutral",
                       "%s divides integers or looks up a table", s->name);
  }
  return true;
}

/* Statements that start the update, and of a local those that take it. */
static bool
find_parts(padding *x) {
  po_program *p = x->p;
  const po_stmt *u = &p->stmts.data[x->update];
  bool local = p->arrays.data[u->array].role == PO_LOCAL;
  x->parts[x->n++] = x->update;
  if (po_stmt_reads(u, u->array))
    return po_refuse(p, x->call, "no-reduction", "%s reads what it updates",
                     u->name);
  for (uint32_t k = 0; k < p->stmts.len; k++) {
    const po_stmt *s = &p->stmts.data[k];
    if (k == x->update || (s->array != u->array && !po_stmt_reads(s, u->array)))
      continue;
    if (s->kind == PO_CALL)
      return po_refuse(p, x->call, "rigid", "%s is a call", s->name);
    bool starts = s->array == u->array && s->kind == PO_ASSIGN &&
                  !po_stmt_reads(s, u->array);
    bool takes = local && s->array != u->array && s->kind == PO_ASSIGN;
    if (!starts && !takes)
      continue;
    isl_pw_multi_aff *index = s->write;
    for (uint32_t j = 0; takes && j < s->n_exprs; j++)
      if (s->exprs[j].kind == PO_READ && s->exprs[j].array == u->array)
        index = s->exprs[j].index;
    if (!is_harmless(x, s) || !grow(x, k, index))
      return false;
  }
  return true;
}

/* ---- arrays ---- */

static padded *
padded_of(padding *x, uint32_t array) {
  for (uint32_t k = 0; k < x->n_arrays; k++)
    if (x->arrays[k].array == array)
      return &x->arrays[k];
  return NULL;
}

/* The elements that a part uses, of instances as they were or are now. */
static __isl_give isl_set *
used_by(const padding *x, uint32_t array, bool now, isl_set *all) {
  for (uint32_t k = 0; k < x->n; k++) {
    const po_stmt *s = part(x, k);
    isl_set *runs = now ? x->now[k] : x->was[k];
    if (s->array == array)
      all = isl_set_union(
          all, isl_set_apply(isl_set_copy(runs), accessing(s, s->write)));
    for (uint32_t j = 0; j < s->n_exprs; j++)
      if (s->exprs[j].kind == PO_READ && s->exprs[j].array == array)
        all =
            isl_set_union(all, isl_set_apply(isl_set_copy(runs),
                                             accessing(s, s->exprs[j].index)));
  }
  return isl_set_coalesce(all);
}

static __isl_give isl_set *
no_elements(const padding *x, uint32_t array) {
  const po_array *a = &x->p->arrays.data[array];
  isl_space *space = isl_space_set_alloc(x->p->isl, 0, a->rank);
  space = isl_space_set_tuple_id(space, isl_dim_set,
                                 isl_id_alloc(x->p->isl, a->name, NULL));
  return isl_set_empty(space);
}

/* The box around all elements, old and new; false where it is too large. */
static bool
find_box(const padding *x, uint32_t array, int64_t *lo, int64_t *dim) {
  const po_array *a = &x->p->arrays.data[array];
  isl_set *all = used_by(x, array, true, no_elements(x, array));
  int64_t elements = 1;
  bool ok = true;
  for (uint32_t d = 0; d < a->rank && ok; d++) {
    isl_val *first = isl_set_dim_min_val(isl_set_copy(all), (int)d);
    isl_val *last = isl_set_dim_max_val(isl_set_copy(all), (int)d);
    ok = first && last && isl_val_is_int(first) == isl_bool_true &&
         isl_val_is_int(last) == isl_bool_true;
    lo[d] = ok ? isl_val_get_num_si(first) : 0;
    lo[d] = lo[d] < 0 ? lo[d] : 0;
    dim[d] = ok ? isl_val_get_num_si(last) + 1 : 0;
    dim[d] = (dim[d] < a->dim[d] ? a->dim[d] : dim[d]) - lo[d];
    ok = ok && !__builtin_mul_overflow(elements, dim[d], &elements) &&
         elements <= INT64_C(1) << 40;
    isl_val_free(first);
    isl_val_free(last);
  }
  isl_set_free(all);
  return ok || po_refuse(x->p, x->call, "too-large", "%s would be too large",
                         a->name);
}

/* Whether elements are used now that there are not. */
static bool
goes_beyond(const padding *x, uint32_t array) {
  const po_array *a = &x->p->arrays.data[array];
  isl_set *was = used_by(x, array, false, no_elements(x, array));
  isl_set *now = used_by(x, array, true, no_elements(x, array));
  bool same = isl_set_is_equal(was, now) == isl_bool_true;
  isl_set_free(was);
  isl_set_free(now);
  (void)a;
  return !same;
}

/* An array of the program's own grows where it is; others get a larger one
 * beside them. */
static bool
widen(padding *x, uint32_t array, bool written) {
  po_program *p = x->p;
  int64_t lo[GS_MAX_RANK], dim[GS_MAX_RANK];
  if (padded_of(x, array) || !goes_beyond(x, array))
    return true;
  if (po_is_rigid(p, array))
    return po_refuse(p, x->call, "rigid",
                     "%s is used by a call or a look-up, which need it whole",
                     p->arrays.data[array].name);
  if (x->n_arrays == MOST_PADDED)
    return po_refuse(p, x->call, "too-large", "more than %d arrays would grow",
                     MOST_PADDED);
  if (!find_box(x, array, lo, dim))
    return false;
  padded *made = &x->arrays[x->n_arrays++];
  *made = (padded){.array = array, .copy = array, .written = written};
  memcpy(made->lo, lo, sizeof lo);
  po_pool_reserve(&p->pool, 1);
  made->used =
      po_keep_set(&p->pool, used_by(x, array, false, no_elements(x, array)));
  po_array a = p->arrays.data[array];
  memcpy(a.dim, dim, sizeof a.dim);
  if (written && a.role != PO_OUTPUT) {
    for (uint32_t d = 0; d < a.rank; d++)
      if (lo[d])
        return po_refuse(p, x->call, "extent", "%s would grow downwards",
                         a.name);
    p->arrays.data[array] = a;
    return true;
  }
  a.name = po_fresh_array_name(p, bs_arena_printf(&p->arena, "%s_pad", a.name));
  a.role = PO_WORKSPACE;
  a.term = GS_NO_TERM;
  a.data = NULL;
  a.number = 0;
  a.offset = 0;
  memset(a.fold, 0, sizeof a.fold);
  memset(a.pad, 0, sizeof a.pad);
  bs_push(p->ctx.heap, &p->arrays, a);
  made->copy = p->arrays.len - 1;
  return true;
}

static bool
widen_all(padding *x) {
  uint32_t own = part(x, 0)->array;
  for (uint32_t k = 0; k < x->n; k++)
    if (!widen(x, part(x, k)->array, true))
      return false;
  for (uint32_t k = 0; k < x->n; k++)
    for (uint32_t j = 0; j < part(x, k)->n_exprs; j++)
      if (part(x, k)->exprs[j].kind == PO_READ &&
          part(x, k)->exprs[j].array != own &&
          !widen(x, part(x, k)->exprs[j].array, false))
        return false;
  return true;
}

/* ---- neutrality ---- */

/* All elements of an array that statements use as they are. */
static __isl_give isl_set *
elements_of(const po_program *p, uint32_t array) {
  po_accesses a = po_accesses_of(p, array);
  isl_union_map *all =
      isl_union_map_union(a.reads, isl_union_map_union(a.updates, a.writes));
  return isl_set_from_union_set(isl_union_map_range(all));
}

/* Instances that are new and update an element which is not. */
static __isl_give isl_set *
joining(const padding *x) {
  isl_set *added =
      isl_set_subtract(isl_set_copy(x->now[0]), isl_set_copy(x->was[0]));
  isl_map *write = accessing(part(x, 0), part(x, 0)->write);
  isl_set *before = elements_of(x->p, part(x, 0)->array);
  return isl_set_intersect(added,
                           isl_set_apply(before, isl_map_reverse(write)));
}

/* Whether they read nothing but the neutral value in this place. */
static bool
reads_neutral(const padding *x, const po_expr *e, __isl_keep isl_set *joins) {
  const padded *a = padded_of((padding *)x, e->array);
  if (!a)
    return false;
  isl_set *there =
      isl_set_apply(isl_set_copy(joins), accessing(part(x, 0), e->index));
  bool apart = isl_set_is_disjoint(there, a->used) == isl_bool_true;
  isl_set_free(there);
  return apart;
}

static bool
is_product(const po_stmt *u) {
  for (uint32_t k = 0; k < u->n_exprs; k++)
    if (u->exprs[k].kind == PO_BINARY && u->exprs[k].op != GS_C_MUL)
      return false;
  return true;
}

static bool
check_neutral(const padding *x) {
  po_program *p = x->p;
  const po_stmt *u = part(x, 0);
  isl_set *joins = joining(x);
  uint32_t n = 0, neutral = 0;
  const char *real = NULL;
  bool none = isl_set_is_empty(joins) == isl_bool_true;
  for (uint32_t k = 0; !none && k < u->n_exprs; k++) {
    if (u->exprs[k].kind != PO_READ)
      continue;
    n++;
    if (reads_neutral(x, &u->exprs[k], joins))
      neutral++;
    else
      real = p->arrays.data[u->exprs[k].array].name;
  }
  isl_set_free(joins);
  bool zero = gs_dtype_table[u->exprs[u->n_exprs - 1].dtype].integer &&
              x->neutral == 0 && is_product(u) && neutral;
  return none || neutral == n || zero ||
         po_refuse(p, x->call, "not-neutral",
                   "instances that are added to %s would read elements of %s "
                   "that others read",
                   u->name, real);
}

/* ---- copies ---- */

static uint32_t
root_of(const po_program *p, uint32_t stmt) {
  uint32_t node = p->stmts.data[stmt].leaf;
  while (po_node(p, node)->parent != 0)
    node = po_node(p, node)->parent;
  return node;
}

/* The first or the last child of the root with a part. */
static uint32_t
end_of_parts(const padding *x, bool last) {
  const po_program *p = x->p;
  uint32_t found = PO_NO_NODE;
  for (uint32_t n = po_node(p, 0)->first; n != PO_NO_NODE;
       n = po_node(p, n)->next)
    for (uint32_t k = 0; k < x->n; k++)
      if (root_of(p, x->parts[k]) == n && (last || found == PO_NO_NODE))
        found = n;
  return found;
}

/* { K[x] -> A[x - lo] } */
static isl_pw_multi_aff *
at_place(padding *x, const char *stmt, uint32_t array, const int64_t *lo) {
  po_program *p = x->p;
  const po_array *a = &p->arrays.data[array];
  isl_multi_aff *map = po_identity(p->isl, a->rank);
  for (uint32_t d = 0; lo && d < a->rank; d++)
    map = isl_multi_aff_set_aff(map, (int)d,
                                po_index(p->isl, a->rank, d, 1, -lo[d]));
  map = isl_multi_aff_set_tuple_id(map, isl_dim_in,
                                   isl_id_alloc(p->isl, stmt, NULL));
  map = isl_multi_aff_set_tuple_id(map, isl_dim_out,
                                   isl_id_alloc(p->isl, a->name, NULL));
  po_pool_reserve(&p->pool, 1);
  return po_keep_pw_multi_aff(&p->pool, isl_pw_multi_aff_from_multi_aff(map));
}

enum { COPY_IN, COPY_OUT, FILL };

/* A statement over elements of an array, in a nest of its own. */
static void
add_stmt(padding *x, const padded *a, int what, __isl_take isl_set *elements,
         uint32_t before) {
  static const char *const ends[] = {"in", "out", "fill"};
  po_program *p = x->p;
  const po_array *copy = &p->arrays.data[a->copy];
  po_stmt s = {.kind = PO_ASSIGN, .term = p->arrays.data[a->array].term};
  s.name = po_fresh_stmt_name(
      p, bs_arena_printf(&p->arena, "%s_%s", copy->name, ends[what]));
  s.n_iters = s.n_outer = copy->rank;
  const char **names = BS_NEWS(&p->arena, const char *, s.n_iters + 1);
  for (uint32_t d = 0; d < s.n_iters; d++)
    names[d] = bs_arena_printf(&p->arena, "ax%u", d);
  s.iters = names;
  s.leaf = PO_NO_NODE;
  s.span = x->call->span;
  s.span.file = 0;
  isl_id *id = isl_id_alloc(p->isl, s.name, NULL);
  po_pool_reserve(&p->pool, 2);
  s.domain =
      po_keep_set(&p->pool, isl_set_set_tuple_id(elements, isl_id_copy(id)));
  s.time = po_keep_multi_aff(
      &p->pool, isl_multi_aff_set_tuple_id(po_identity(p->isl, s.n_iters),
                                           isl_dim_in, id));
  po_expr *e = BS_NEW(&p->arena, po_expr);
  *e = (po_expr){.kind = what == FILL ? PO_LITERAL : PO_READ,
                 .dtype = copy->dtype,
                 .literal = x->neutral,
                 .array = what == COPY_OUT ? a->copy : a->array};
  if (what != FILL)
    e->index = at_place(x, s.name, e->array, what == COPY_OUT ? a->lo : NULL);
  s.exprs = e;
  s.n_exprs = 1;
  s.array = what == COPY_OUT ? a->array : a->copy;
  s.write = at_place(x, s.name, s.array, what == COPY_OUT ? NULL : a->lo);
  bs_push(p->ctx.heap, &p->stmts, s);
  po_nest_alone(p, p->stmts.len - 1, 0, before, 0);
  if (what == FILL)
    x->fills[x->n_fills++] = s.name;
  else
    x->copies[x->n_copies++] = s.name;
}

/* The places of the copy that hold no element that was read. */
static __isl_give isl_set *
rest_of(const padding *x, const padded *a) {
  const po_array *copy = &x->p->arrays.data[a->copy];
  isl_set *box = po_box(x->p->isl, copy->dim, copy->rank);
  isl_multi_aff *shift = po_identity(x->p->isl, copy->rank);
  for (uint32_t d = 0; d < copy->rank; d++)
    shift = isl_multi_aff_set_aff(
        shift, (int)d, po_index(x->p->isl, copy->rank, d, 1, a->lo[d]));
  box = isl_set_apply(box, isl_map_from_multi_aff(shift));
  return isl_set_coalesce(
      isl_set_subtract(box, isl_set_reset_tuple_id(isl_set_copy(a->used))));
}

static void
add_copies(padding *x) {
  uint32_t first = end_of_parts(x, false);
  uint32_t next = po_node(x->p, end_of_parts(x, true))->next;
  for (uint32_t k = 0; k < x->n_arrays; k++) {
    padded *a = &x->arrays[k];
    if (a->copy == a->array)
      continue;
    isl_set *used = isl_set_reset_tuple_id(isl_set_copy(a->used));
    if (a->written) {
      add_stmt(x, a, COPY_OUT, used, next);
      continue;
    }
    add_stmt(x, a, COPY_IN, used, first);
    add_stmt(x, a, FILL, rest_of(x, a), first);
  }
}

/* ---- the parts as they are now ---- */

/* { S[i] -> copy[x - lo] } of { S[i] -> A[x] }, kept. */
static isl_pw_multi_aff *
moved(padding *x, const padded *a, isl_pw_multi_aff *index) {
  po_program *p = x->p;
  isl_pw_multi_aff *to = isl_pw_multi_aff_copy(
      at_place(x, p->arrays.data[a->array].name, a->copy, a->lo));
  po_pool_reserve(&p->pool, 1);
  return po_keep_pw_multi_aff(&p->pool, isl_pw_multi_aff_pullback_pw_multi_aff(
                                            to, isl_pw_multi_aff_copy(index)));
}

static void
redirect(padding *x, uint32_t k) {
  po_program *p = x->p;
  po_stmt *s = part(x, k);
  po_expr *exprs =
      bs_arena_copy(&p->arena, s->exprs, s->n_exprs * sizeof *exprs);
  for (uint32_t j = 0; j < s->n_exprs; j++) {
    const padded *a =
        exprs[j].kind == PO_READ ? padded_of(x, exprs[j].array) : NULL;
    if (!a || a->copy == a->array)
      continue;
    exprs[j].index = moved(x, a, exprs[j].index);
    exprs[j].array = a->copy;
  }
  s->exprs = exprs;
  const padded *a = padded_of(x, s->array);
  if (a && a->copy != a->array) {
    s->write = moved(x, a, s->write);
    s->array = a->copy;
  }
  s->domain = x->now[k];
}

/* All that was added and changes nothing. */
static __isl_give isl_union_set *
neutral_instances(const padding *x) {
  isl_union_set *all =
      isl_union_set_empty(isl_space_params_alloc(x->p->isl, 0));
  for (uint32_t k = 0; k < x->n; k++)
    all = isl_union_set_union(
        all, isl_union_set_from_set(isl_set_subtract(isl_set_copy(x->now[k]),
                                                     isl_set_copy(x->was[k]))));
  for (uint32_t k = 0; k < x->n_fills; k++) {
    uint32_t s = po_stmt_named(x->p, x->fills[k]);
    all = isl_union_set_union(
        all, isl_union_set_from_set(isl_set_copy(x->p->stmts.data[s].domain)));
  }
  return all;
}

bool
po_apply_pad_einsum(po_program *p, po_step_call *call) {
  padding *x = BS_NEW(&p->arena, padding);
  *x = (padding){.p = p, .call = call};
  if (!find_update(x) || !find_extents(x))
    return false;
  if (isl_set_is_equal(x->was[0], x->now[0]) == isl_bool_true)
    return true;
  if (!find_neutral(x) || !find_parts(x))
    return false;
  po_program *before = po_copy(p);
  bool ok = widen_all(x) && check_neutral(x);
  if (ok) {
    for (uint32_t k = 0; k < x->n; k++)
      redirect(x, k);
    add_copies(x);
    po_forget_dependences(p);
    po_change change = {
        .origin = isl_union_map_empty(isl_space_params_alloc(p->isl, 0)),
        .n_copies = x->n_copies,
        .neutral = neutral_instances(x)};
    memcpy(change.copies, x->copies, sizeof x->copies);
    ok = po_values_kept(before, p, call, &change);
  }
  po_free(before);
  return ok;
}

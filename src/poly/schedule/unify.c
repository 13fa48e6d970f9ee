/* SPDX-License-Identifier: MIT */
/* unify.c - see unify.h. */
#include "poly/schedule/unify.h"
#include "poly/loops/affine.h"
#include "poly/schedule/pair.h"
#include "poly/loops/storage.h"
#include <assert.h>
#include <string.h>
#include <isl/val.h>

enum { MOST_TRIES = 4000 };

/* ---- the search ---- */

/* A statement of the pattern as one of the nest. */
typedef struct matched {
  uint32_t nest;                /* statement of its form */
  uint32_t to[PO_MAX_DEPTH];    /* index of the pattern -> of the nest */
  po_pair pairs[PO_MOST_PAIRS]; /* of accesses */
  uint32_t n;
} matched;

typedef struct search {
  const po_form *nest;
  const po_pattern *pattern;
  po_reason *why;
  int64_t *sample; /* o */
  matched of[PO_FORM_STMTS];
  bool (*takes)(void *, const po_unified *);
  void *user;
  po_unified *level; /* what is known before statement k */
  uint32_t tries;
  isl_pw_aff **address[PO_FORM_STMTS]; /* of the nest's accesses, kept */
} search;

static const po_stmt *
nest_stmt(const search *x, uint32_t k) {
  return &x->nest->p->stmts.data[x->nest->stmts[k].stmt];
}

static const po_stmt *
pattern_stmt(const search *x, uint32_t k) {
  return &x->pattern->form.p->stmts.data[x->pattern->form.stmts[k].stmt];
}

static const char *
array_name(const search *x, uint32_t array) {
  assert(array < x->nest->p->arrays.len);
  return x->nest->p->arrays.data[array].name;
}

static const char *
place_name(const search *x, uint32_t place) {
  const gs_instr *i = x->pattern->instr;
  return place < i->n_operands    ? i->operands[place].name
         : place == i->n_operands ? "the result"
                                  : "an intermediate value";
}

/* Where an access goes: an address in memory, or of a private array that has
 * no other one: the number of the element. */
static isl_pw_aff *
address_of(const search *x, uint32_t stmt, uint32_t access, bool private) {
  isl_pw_aff **at = &x->address[stmt][2 * access + private];
  const po_form_access *a = &x->nest->stmts[stmt].access[access];
  const po_array *array = &x->nest->p->arrays.data[a->array];
  if (!*at) {
    po_pool_reserve(&x->nest->p->pool, 1);
    *at = po_keep_pw_aff(&x->nest->p->pool,
                         private ? po_linear_pw(a->index, array->dim)
                                 : po_address(array, a->index));
  }
  return *at;
}

/* The point r of the nest for one of the pattern. */
static void
moved_point(const search *x, const matched *m, uint32_t pattern,
            const int64_t *from, int64_t *to) {
  memset(to, 0, x->nest->stmts[m->nest].n * sizeof *to);
  for (uint32_t k = 0; k < x->pattern->form.stmts[pattern].n; k++)
    to[m->to[k]] = from[k];
}

static bool
value_at(const search *x, __isl_keep isl_pw_aff *f, const int64_t *r,
         uint32_t n, int64_t *out) {
  isl_space *space = isl_pw_aff_get_domain_space(f);
  isl_point *point = isl_point_zero(space);
  for (uint32_t k = 0; k < x->nest->n_outer + n; k++)
    point = isl_point_set_coordinate_val(
        point, isl_dim_set, (int)k,
        isl_val_int_from_si(x->nest->p->isl,
                            (long)(k < x->nest->n_outer
                                       ? x->sample[k]
                                       : r[k - x->nest->n_outer])));
  isl_val *val = isl_pw_aff_eval(isl_pw_aff_copy(f), point);
  bool ok = val && isl_val_is_int(val) == isl_bool_true;
  *out = ok ? isl_val_get_num_si(val) : 0;
  isl_val_free(val);
  return ok;
}

/* An access of the nest that stands for one of the pattern. */
typedef struct access_pair {
  uint32_t k; /* of the pattern's statements */
  const matched *m;
  uint32_t array; /* of the nest */
  const po_pattern_access *a;
  isl_pw_aff *address;
} access_pair;

/* The place has one array, and a private one is the nest's own. */
static bool
fits_place(search *x, const access_pair *p, const po_place *place,
           bool private) {
  if (place->found && place->array != p->array)
    return po_because(x->why, 20 + p->k, "%s would have to be both %s and %s",
                      place_name(x, p->a->place), array_name(x, place->array),
                      array_name(x, p->array));
  if (private && !po_is_private(x->nest->p, p->array, x->nest->top))
    return po_because(x->why, 20 + p->k, "%s is used outside of the nest, too",
                      array_name(x, p->array));
  return true;
}

/* The place begins with the first access, or with one at its start. */
static void
note_access(search *x, const access_pair *p, uint32_t access, const int64_t *at,
            po_place *place) {
  bool starts = true;
  for (uint32_t d = 0; d < x->pattern->rank[p->a->place]; d++)
    starts &= !p->a->from[d];
  if (!place->found || (starts && !place->starts)) {
    uint32_t n = x->nest->stmts[p->m->nest].n;
    place->stmt = p->m->nest;
    place->access = access;
    place->point = bs_arena_copy(&x->nest->p->arena, at, n * sizeof *at);
    place->from = p->a->from;
    place->starts = starts;
  }
  place->found = true;
  place->array = p->array;
}

/* From what is at `base` to its neighbour along a dimension. */
static bool
learn_stride(search *x, const access_pair *p, uint32_t d, int64_t base,
             po_place *place) {
  int64_t to[PO_MAX_DEPTH + 1], value, step = p->a->step[d];
  uint32_t n = x->nest->stmts[p->m->nest].n;
  moved_point(x, p->m, p->k, p->a->point[d], to);
  if (!value_at(x, p->address, to, n, &value) || (value - base) % step)
    return po_because(x->why, 20 + p->k,
                      "%s has no stride for dimension %u of %s",
                      array_name(x, p->array), d, place_name(x, p->a->place));
  int64_t stride = (value - base) / step;
  if (place->known[d] && place->stride[d] != stride)
    return po_because(
        x->why, 30 + p->k,
        "neighbours along dimension %u of %s lie %lld elements apart in one "
        "access of %s, %lld in another",
        d, place_name(x, p->a->place), (long long)place->stride[d],
        array_name(x, p->array), (long long)stride);
  place->known[d] = true;
  place->stride[d] = stride;
  return true;
}

/* Learns the strides of a place from one access. */
static bool
learn(search *x, uint32_t k, const matched *m, po_pair pair, po_unified *u) {
  const po_pattern_access *a = &x->pattern->access[k][pair.pattern];
  bool private = a->place > x->pattern->instr->n_operands;
  access_pair p = {k, m, x->nest->stmts[m->nest].access[pair.nest].array, a,
                   address_of(x, m->nest, pair.nest, private)};
  po_place *place = &u->place[a->place];
  int64_t at[PO_MAX_DEPTH + 1], base;
  if (!fits_place(x, &p, place, private))
    return false;
  moved_point(x, m, k, a->at, at);
  if (!value_at(x, p.address, at, x->nest->stmts[m->nest].n, &base))
    return po_because(x->why, 10,
                      "an access of %s is not a quasi-affine function",
                      array_name(x, p.array));
  note_access(x, &p, pair.nest, at, place);
  for (uint32_t d = 0; d < x->pattern->rank[a->place]; d++)
    if (a->step[d] && !learn_stride(x, &p, d, base, place))
      return false;
  return true;
}

/* ---- statements ---- */

/* The next assignment of indices; false past the last.  used: by index of the
 * nest. */
static bool
assign_indices(const po_form_stmt *a, const po_form_stmt *b, matched *m,
               bool *started) {
  uint32_t k = 0;
  bool used[PO_MAX_DEPTH] = {false};
  if (*started) {
    k = a->n;
    if (!k)
      return false;
    for (uint32_t j = 0; j < k; j++)
      used[m->to[j]] = true;
    k--;
    used[m->to[k]] = false;
    m->to[k]++;
  } else if (a->n) {
    m->to[0] = 0;
  }
  *started = true;
  while (k < a->n) {
    while (m->to[k] < b->n &&
           (used[m->to[k]] || b->extent[m->to[k]] != a->extent[k]))
      m->to[k]++;
    if (m->to[k] < b->n) {
      used[m->to[k]] = true;
      if (++k < a->n)
        m->to[k] = 0;
    } else {
      if (k-- == 0)
        return false;
      used[m->to[k]] = false;
      m->to[k]++;
    }
  }
  return true;
}

/* As many instances, of loops equally long. */
static bool
same_extents(search *x, uint32_t k, uint32_t nest) {
  const po_form_stmt *a = &x->pattern->form.stmts[k],
                     *b = &x->nest->stmts[nest];
  const po_stmt *stmt = nest_stmt(x, nest);
  bool used[PO_MAX_DEPTH] = {false};
  uint32_t met = 0, lacks = a->n, rest = b->n;
  for (uint32_t j = 0; j < a->n; j++) {
    uint32_t i = 0;
    while (i < b->n && (used[i] || b->extent[i] != a->extent[j]))
      i++;
    if (i < b->n)
      used[i] = ++met;
    else
      lacks = j;
  }
  for (uint32_t i = 0; i < b->n; i++)
    if (!used[i] && b->extent[i] != 1)
      rest = i;
  if (lacks == a->n && rest == b->n)
    return true;
  if (rest == b->n)
    return po_because(x->why, 4 + met,
                      "%s has no index for one of %lld values "
                      "that the semantics have",
                      stmt->name, (long long)a->extent[lacks]);
  if (lacks == a->n)
    return po_because(x->why, 4 + met,
                      "index %s of %s takes %lld values, of "
                      "which the semantics know nothing",
                      stmt->iters[rest], stmt->name,
                      (long long)b->extent[rest]);
  return po_because(x->why, 4 + met,
                    "index %s of %s takes %lld values, the semantics have %lld "
                    "there",
                    stmt->iters[rest], stmt->name, (long long)b->extent[rest],
                    (long long)a->extent[lacks]);
}

static bool
same_kind(search *x, const po_stmt *a, const po_stmt *b) {
  if (a->kind == b->kind && (a->kind != PO_UPDATE || a->op == b->op))
    return true;
  return po_because(x->why, 3, "%s is %s, the semantics have %s there", b->name,
                    b->kind == PO_UPDATE ? "an update" : "an assignment",
                    a->kind != PO_UPDATE   ? "an assignment"
                    : b->kind == PO_UPDATE ? "another update"
                                           : "an update");
}

static bool
learn_all(search *x, uint32_t k, po_unified *u) {
  const matched *m = &x->of[k];
  for (uint32_t j = 0; j < m->n; j++)
    if (!learn(x, k, m, m->pairs[j], u))
      return false;
  return true;
}

static bool is_complete(search *, po_unified *);

/* Statements k.. of the pattern; no deeper than PO_FORM_STMTS. */
static bool
match_from(search *x, uint32_t k, po_unified *u) {
  const po_form *pattern = &x->pattern->form;
  if (k == pattern->n)
    return is_complete(x, u);
  matched *m = &x->of[k];
  for (uint32_t j = 0; j < x->nest->n; j++) {
    const po_stmt *a = pattern_stmt(x, k), *b = nest_stmt(x, j);
    bool taken = false, started = false;
    uint32_t n_flips = 0;
    for (uint32_t i = 0; i < k; i++)
      taken |= u->stmt[i] == j;
    if (taken || !same_kind(x, a, b) || !same_extents(x, k, j))
      continue;
    if (!po_pair_bodies(a, b, 0, m->pairs, &m->n, &n_flips)) {
      po_because(x->why, 9, "%s computes something else than the semantics",
                 b->name);
      n_flips = PO_MOST_FLIPS;
    }
    m->nest = u->stmt[k] = j;
    while (assign_indices(&pattern->stmts[k], &x->nest->stmts[j], m, &started))
      for (uint32_t flips = 0; flips >> n_flips == 0; flips++) {
        uint32_t again;
        x->level[k + 1] = *u;
        if (x->tries++ > MOST_TRIES)
          return po_because(x->why, 100,
                            "there are too many ways to compare "
                            "them");
        if (po_pair_bodies(a, b, flips, m->pairs, &m->n, &again) &&
            learn_all(x, k, u + 1) && match_from(x, k + 1, u + 1))
          return true;
      }
  }
  return false;
}

/* ---- accesses as functions ---- */

/* { [o, r of the pattern] -> [o, r of the nest] } */
static __isl_give isl_multi_aff *
renamed(const search *x, uint32_t k, const matched *m) {
  isl_ctx *isl = x->nest->p->isl;
  uint32_t n = x->pattern->form.stmts[k].n, to = x->nest->stmts[m->nest].n;
  uint32_t outer = x->nest->n_outer, all = outer + n;
  isl_multi_aff *map = isl_multi_aff_zero(po_map_space(isl, all, outer + to));
  for (uint32_t d = 0; d < outer; d++)
    map = isl_multi_aff_set_aff(map, (int)d, po_index(isl, all, d, 1, 0));
  for (uint32_t d = 0; d < n; d++)
    map = isl_multi_aff_set_aff(map, (int)(outer + m->to[d]),
                                po_index(isl, all, outer + d, 1, 0));
  return map;
}

/* { [o] -> [o, r] } of a point r of the nest */
static __isl_give isl_multi_aff *
at_point(const po_form *nest, uint32_t stmt, const int64_t *r) {
  uint32_t outer = nest->n_outer, n = nest->stmts[stmt].n;
  isl_multi_aff *map =
      isl_multi_aff_zero(po_map_space(nest->p->isl, outer, outer + n));
  for (uint32_t d = 0; d < outer + n; d++)
    map = isl_multi_aff_set_aff(
        map, (int)d,
        d < outer ? po_index(nest->p->isl, outer, d, 1, 0)
                  : po_index(nest->p->isl, outer, outer, 0, r[d - outer]));
  return map;
}

/* What the strides make of y: { [y] -> sum of stride * y }. */
static __isl_give isl_aff *
along(isl_ctx *isl, const po_place *place, uint32_t rank) {
  isl_aff *sum = po_index(isl, rank, rank, 0, 0);
  for (uint32_t d = 0; d < rank; d++)
    sum = isl_aff_add(
        sum, po_index(isl, rank, d, place->known[d] ? place->stride[d] : 0, 0));
  return sum;
}

static bool
agrees(search *x, uint32_t k, const matched *m, po_pair p,
       const po_unified *u) {
  const po_pattern_access *a = &x->pattern->access[k][p.pattern];
  const po_place *place = &u->place[a->place];
  isl_ctx *isl = x->nest->p->isl;
  uint32_t outer = x->nest->n_outer, rank = x->pattern->rank[a->place];
  const po_form_stmt *s = &x->pattern->form.stmts[k];
  uint32_t all = outer + s->n;
  bool private = a->place > x->pattern->instr->n_operands;
  isl_pw_aff *there = isl_pw_aff_copy(address_of(x, m->nest, p.nest, private));
  there = isl_pw_aff_pullback_multi_aff(there, renamed(x, k, m));
  isl_pw_aff *start =
      isl_pw_aff_copy(address_of(x, place->stmt, place->access, private));
  start = isl_pw_aff_pullback_multi_aff(
      start, at_point(x->nest, place->stmt, place->point));
  int64_t before = 0;
  for (uint32_t d = 0; d < rank; d++)
    before += place->known[d] ? place->stride[d] * place->from[d] : 0;
  start = isl_pw_aff_add_constant_val(start, isl_val_int_from_si(isl, -before));
  start = isl_pw_aff_pullback_multi_aff(start, po_part(isl, all, 0, outer));
  isl_pw_aff *way = isl_pw_aff_from_aff(along(isl, place, rank));
  isl_pw_multi_aff *y = isl_pw_multi_aff_pullback_multi_aff(
      isl_pw_multi_aff_copy(a->y), po_part(isl, all, outer, s->n));
  way = isl_pw_aff_pullback_pw_multi_aff(way, y);
  isl_set *apart = isl_pw_aff_ne_set(there, isl_pw_aff_add(start, way));
  isl_set *where = isl_set_flatten(isl_set_product(
      isl_set_copy(x->nest->outer), po_box(isl, s->extent, s->n)));
  bool same = isl_set_is_disjoint(apart, where) == isl_bool_true;
  isl_set_free(apart);
  isl_set_free(where);
  return same ||
         po_because(x->why, 60,
                    "%s goes through %s in another order than the "
                    "semantics through %s",
                    nest_stmt(x, m->nest)->name, array_name(x, place->array),
                    place_name(x, a->place));
}

/* Two statements that meet in an array stand in the pattern's order. */
static bool
is_in_order(search *x, const po_unified *u) {
  const po_form *f = x->nest;
  for (uint32_t a = 0; a < x->pattern->form.n; a++)
    for (uint32_t b = a + 1; b < x->pattern->form.n; b++) {
      uint32_t s = f->stmts[u->stmt[a]].stmt, t = f->stmts[u->stmt[b]].stmt;
      for (uint32_t k = 0; k < f->p->arrays.len; k++) {
        const po_stmt *i = &f->p->stmts.data[s], *j = &f->p->stmts.data[t];
        bool meet = (i->array == k && (j->array == k || po_stmt_reads(j, k))) ||
                    (j->array == k && po_stmt_reads(i, k));
        if (meet && !po_runs_before(f->p, s, t, k, f->n_outer))
          return po_because(x->why, 70,
                            "%s must be done before %s begins on "
                            "an element of %s",
                            i->name, j->name, array_name(x, k));
      }
    }
  return true;
}

static bool
has_free_order(search *x) {
  for (uint32_t k = 0; k < x->nest->n; k++)
    if (nest_stmt(x, k)->kind == PO_UPDATE &&
        !po_reorder_class(x->nest->p, nest_stmt(x, k)))
      return po_because(x->why, 70,
                        "the order of %s's updates may not be "
                        "changed",
                        nest_stmt(x, k)->name);
  return true;
}

/* Locals are as many arrays, and none is an operand. */
static bool
has_own_locals(search *x, const po_unified *u) {
  uint32_t n = x->pattern->instr->n_operands;
  for (uint32_t k = n + 1; k < x->pattern->n_places; k++)
    for (uint32_t j = 0; j < k; j++)
      if (u->place[j].array == u->place[k].array)
        return po_because(x->why, 50, "%s would have to be both %s and %s",
                          array_name(x, u->place[k].array), place_name(x, j),
                          place_name(x, k));
  return true;
}

/* All statements are matched. */
static bool
is_complete(search *x, po_unified *u) {
  if (!has_own_locals(x, u))
    return false;
  for (uint32_t k = 0; k <= x->pattern->instr->n_operands; k++)
    for (uint32_t d = 0; d < x->pattern->rank[k]; d++)
      if (!u->place[k].found ||
          (!u->place[k].known[d] && x->pattern->dim[k][d] > 1))
        return po_because(x->why, 50, "the semantics do not tell how %s lies",
                          place_name(x, k));
  for (uint32_t k = 0; k < x->pattern->form.n; k++)
    for (uint32_t j = 0; j < x->of[k].n; j++)
      if (!agrees(x, k, &x->of[k], x->of[k].pairs[j], u))
        return false;
  return has_free_order(x) && is_in_order(x, u) && x->takes(x->user, u);
}

bool
po_unify(const po_form *nest, const po_pattern *pattern,
         bool (*takes)(void *, const po_unified *), void *user,
         po_reason *why) {
  bs_arena *arena = &nest->p->arena;
  search *x = BS_NEW(arena, search);
  *x = (search){.nest = nest, .pattern = pattern, .why = why};
  x->takes = takes;
  x->user = user;
  if (nest->n != pattern->form.n)
    return po_because(why, 2, "it has %u %s, the semantics %u",
                      BS_COUNTED(nest->n, "statement"), pattern->form.n);
  po_pool_reserve(&nest->p->pool, 1);
  x->sample = po_least_point(arena, isl_set_copy(nest->outer), nest->n_outer);
  if (!x->sample)
    return po_because(why, 0, "it never runs");
  for (uint32_t k = 0; k < nest->n; k++)
    x->address[k] = bs_arena_calloc(arena, 2 * (nest_stmt(x, k)->n_exprs + 1),
                                    sizeof(isl_pw_aff *));
  x->level = BS_NEWS(arena, po_unified, pattern->form.n + 1);
  return match_from(x, 0, x->level);
}

isl_pw_multi_aff *
po_first_element(const po_form *nest, const po_place *place) {
  const po_form_access *a = &nest->stmts[place->stmt].access[place->access];
  return isl_pw_multi_aff_pullback_multi_aff(
      isl_pw_multi_aff_copy(a->index),
      at_point(nest, place->stmt, place->point));
}

/* SPDX-License-Identifier: MIT */
/* device_check.c - threads against dependences.
 *
 * Two instances of a kernel conflict where both touch an element and one
 * writes it.  The program's text orders them; on the device blocks are not
 * ordered at all, and threads of a block by barriers only.  An instance is
 * given as
 *
 *   [block x y z, thread x y z, time, time without bound loops]
 *
 * where the first time is its place in the program's order and the second one
 * its place in the code that all threads run.  Conflicts between threads need
 * a barrier whose place in that code is between theirs, in the same block.
 * Locals that are not shared are each thread's own: what one thread writes, no
 * other may read. */
#include "codegen/device/device.h"
#include "poly/loops/access.h"
#include "poly/depend/depend.h"
#include "poly/loops/storage.h"
#include <assert.h>
#include <isl/ilp.h>
#include <isl/local_space.h>
#include <isl/space.h>
#include <isl/val.h>

/* One way how an array comes to be touched by a pair of statements. */
typedef struct conflict {
  uint32_t from, to, array;
  isl_map *pairs;      /* { S[i] -> T[j] }, in different threads of a block */
  isl_map **separated; /* by barrier: those that it is between */
} conflict;

typedef struct check {
  cg_launch *c;
  cg_emitter *e;
  po_pool *pool;
  uint32_t depth, length; /* of the group's nest; of a time */
  BS_VEC(uint32_t) syncs;
  BS_VEC(conflict) conflicts;
  isl_multi_aff **at; /* by statement of the group: S[i] -> [...] */
  /* What statements read and write of an array; NULL: nothing. */
  isl_map **reads, **writes;
} check;

static const po_nest_node *
at(const check *x, uint32_t node) {
  assert(node < x->e->p->nest.nodes.len);
  return &x->e->p->nest.nodes.data[node];
}

static uint32_t
sibling_number(const check *x, uint32_t node) {
  uint32_t n = 0;
  for (uint32_t k = at(x, node)->prev; k != PO_NO_NODE; k = at(x, k)->prev)
    n++;
  return n;
}

static bool
is_bound(const check *x, uint32_t loop) {
  return at(x, loop)->mark == PO_BIND;
}

/* ---- places ---- */

static __isl_give isl_aff *
constant(__isl_keep isl_space *domain, int64_t n) {
  isl_local_space *space = isl_local_space_from_space(isl_space_copy(domain));
  return isl_aff_val_on_domain(
      space, isl_val_int_from_si(isl_space_get_ctx(domain), n));
}

/* The coordinates of what a node does, over `times`: those of its loops. */
static __isl_give isl_multi_aff *
coordinates(const check *x, uint32_t node, __isl_keep isl_multi_aff *times) {
  uint32_t loops[PO_MAX_DEPTH], n = po_nest_loops(x->e->p, node, loops);
  isl_space *domain = isl_multi_aff_get_domain_space(times);
  uint32_t size = CG_AXES + 2 * x->length;
  isl_aff_list *list = isl_aff_list_alloc(x->e->p->isl, (int)size);
  for (uint32_t a = 0; a < CG_AXES; a++) {
    isl_aff *index = constant(domain, 0);
    for (uint32_t k = 0; k < n; k++)
      if (is_bound(x, loops[k]) && at(x, loops[k])->bind == a) {
        int64_t min = 0, count;
        cg_loop_range(x->e, loops[k], &min, &count);
        isl_aff_free(index);
        index = isl_multi_aff_get_aff(times, (int)k);
        index = isl_aff_add_constant_val(
            index, isl_val_int_from_si(x->e->p->isl, -min));
      }
    list = isl_aff_list_add(list, index);
  }
  for (uint32_t uniform = 0; uniform < 2; uniform++)
    for (uint32_t k = 0; k <= x->depth; k++) {
      uint32_t place = k < n ? loops[k] : node;
      list = isl_aff_list_add(
          list, constant(domain, k <= n ? sibling_number(x, place) : 0));
      if (k == x->depth)
        continue;
      bool moves = k < n && !(uniform && is_bound(x, loops[k]));
      list = isl_aff_list_add(list, moves ? isl_multi_aff_get_aff(times, (int)k)
                                          : constant(domain, 0));
    }
  isl_space *space = isl_space_from_domain(domain);
  space = isl_space_add_dims(space, isl_dim_out, size);
  return isl_multi_aff_from_aff_list(space, list);
}

/* Instances of a barrier: the values of the loops around it. */
static __isl_give isl_set *
runs_of_sync(const check *x, uint32_t node) {
  const po_program *p = x->e->p;
  uint32_t loops[PO_MAX_DEPTH], n = po_nest_loops(p, node, loops);
  return n ? isl_set_flatten(isl_map_wrap(po_nest_range_in(p, loops[n - 1])))
           : isl_set_universe(isl_space_set_alloc(p->isl, 0, 0));
}

/* ---- conflicts ---- */

static const po_stmt *
stmt(const check *x, uint32_t k) {
  return cg_stmt(x->e, x->c->group, k);
}

/* { S[i] -> element }; the whole array where a look-up decides. */
static __isl_give isl_map *
access_map(const check *x, const po_stmt *s, uint32_t array,
           __isl_keep isl_pw_multi_aff *index, bool anywhere) {
  assert(array < x->e->p->arrays.len);
  isl_pw_aff *address = po_address(&x->e->p->arrays.data[array], index);
  isl_map *map = isl_map_from_pw_aff(address);
  bool plain = true;
  for (uint32_t d = 0; d < x->e->p->arrays.data[array].rank; d++)
    plain &= !x->e->p->arrays.data[array].fold[d];
  if (anywhere || plain) {
    isl_map_free(map);
    map = isl_map_from_pw_multi_aff(isl_pw_multi_aff_copy(index));
    map = isl_map_reset_tuple_id(map, isl_dim_out);
  }
  if (anywhere)
    map = isl_map_eliminate(map, isl_dim_out, 0,
                            (unsigned)isl_map_dim(map, isl_dim_out));
  return isl_map_intersect_domain(map, isl_set_copy(s->domain));
}

/* What statement k reads or writes of the array; NULL: nothing. */
static isl_map *
accesses(check *x, uint32_t k, uint32_t array, bool writes) {
  const po_stmt *s = stmt(x, k);
  isl_map *all = NULL;
  if ((writes || s->kind == PO_UPDATE) && s->array == array)
    all = access_map(x, s, array, s->write, false);
  for (uint32_t j = 0; !writes && j < s->n_exprs; j++) {
    const po_expr *r = &s->exprs[j];
    if ((r->kind != PO_READ && r->kind != PO_GATHER) || r->array != array)
      continue;
    isl_map *one = access_map(x, s, array, r->index, r->kind == PO_GATHER);
    all = all ? isl_map_union(all, one) : one;
  }
  if (!all)
    return NULL;
  po_pool_reserve(x->pool, 1);
  return po_keep_map(x->pool, all);
}

/* What of two is so placed that their coordinates from..from+n-1 are related
 * so. */
static __isl_give isl_map *
related_places(const check *x, __isl_keep isl_multi_aff *s,
               __isl_keep isl_multi_aff *t, uint32_t from, uint32_t n,
               __isl_take isl_map *values) {
  uint32_t size = CG_AXES + 2 * x->length;
  for (uint32_t side = 0; side < 2; side++) {
    isl_multi_aff *some = isl_multi_aff_copy(side ? t : s);
    some =
        isl_multi_aff_drop_dims(some, isl_dim_out, from + n, size - from - n);
    some = isl_multi_aff_drop_dims(some, isl_dim_out, 0, from);
    values = side ? isl_map_preimage_range_multi_aff(values, some)
                  : isl_map_preimage_domain_multi_aff(values, some);
  }
  return values;
}

/* { S[i] -> T[j] } of statements. */
static __isl_give isl_map *
related(const check *x, uint32_t s, uint32_t t, uint32_t from, uint32_t n,
        __isl_take isl_map *values) {
  return related_places(x, x->at[s], x->at[t], from, n, values);
}

static __isl_give isl_map *
alike(const check *x, uint32_t s, uint32_t t, uint32_t from, uint32_t n) {
  isl_space *space = isl_space_set_alloc(x->e->p->isl, 0, n);
  return related(x, s, t, from, n,
                 isl_map_identity(isl_space_map_from_set(space)));
}

/* Of the pairs those that differ in one of the coordinates, which are asked
 * one by one: most of them are in none. */
static __isl_give isl_map *
that_differ(const check *x, uint32_t s, uint32_t t, uint32_t from, uint32_t n,
            __isl_keep isl_map *pairs) {
  isl_map *all = isl_map_empty(isl_map_get_space(pairs));
  for (uint32_t k = from; k < from + n; k++)
    for (uint32_t less = 0; less < 2 && x->c->size[k] > 1; less++) {
      isl_space *space = isl_space_set_alloc(x->e->p->isl, 0, 1);
      isl_map *one = isl_map_universe(isl_space_map_from_set(space));
      one = less ? isl_map_order_lt(one, isl_dim_in, 0, isl_dim_out, 0)
                 : isl_map_order_gt(one, isl_dim_in, 0, isl_dim_out, 0);
      one = isl_map_intersect(related(x, s, t, k, 1, one), isl_map_copy(pairs));
      if (isl_map_is_empty(one) == isl_bool_true)
        isl_map_free(one);
      else
        all = isl_map_union(all, one);
    }
  return all;
}

/* Of the pairs those that run in this order. */
static __isl_give isl_map *
in_order(const check *x, uint32_t s, uint32_t t, __isl_take isl_map *pairs) {
  if (isl_map_plain_is_empty(pairs) == isl_bool_true)
    return pairs;
  return isl_map_intersect(pairs, po_in_order(x->e->p, stmt(x, s), stmt(x, t)));
}

static __isl_give isl_map *
through(__isl_keep isl_map *a, __isl_keep isl_map *b) {
  return isl_map_apply_range(isl_map_copy(a), isl_map_reverse(isl_map_copy(b)));
}

static bool
complain(check *x, const char *code, const conflict *f, const char *what,
         __isl_take isl_map *pairs) {
  const po_program *p = x->e->p;
  po_pool_reserve(x->pool, 2);
  isl_map *one =
      po_keep_map(x->pool, isl_map_from_basic_map(isl_map_sample(pairs)));
  const char *text = po_keep_str(x->pool, isl_map_to_str(one));
  bs_error(p->ctx.diags, stmt(x, f->to)->span, code,
           "%s: %s and %s both use %s %s", x->c->name, stmt(x, f->from)->name,
           stmt(x, f->to)->name, p->arrays.data[f->array].name, what);
  bs_hint(p->ctx.diags, "for one: %s", text ? text : "");
  return false;
}

/* Of the pairs those in one life of a local. */
static __isl_give isl_map *
in_one_life(const check *x, uint32_t s, uint32_t t, uint32_t array,
            __isl_take isl_map *pairs) {
  uint32_t node = x->e->local_node[array];
  if (node == PO_NO_NODE || node == 0)
    return pairs;
  uint32_t n = 2 * (po_nest_depth(x->e->p, node) + 1);
  return isl_map_intersect(pairs, alike(x, s, t, CG_AXES, n));
}

static bool
check_pair(check *x, uint32_t from, uint32_t to, uint32_t array,
           __isl_keep isl_map *pairs, bool flow) {
  assert(array < x->e->p->arrays.len);
  const po_array *a = &x->e->p->arrays.data[array];
  bool local = a->role == PO_LOCAL && a->scope != PO_SHARED;
  conflict f = {from, to, array, NULL, NULL};
  po_pool_reserve(x->pool, 2);
  if (flow || a->role != PO_LOCAL) {
    isl_map *apart = that_differ(x, from, to, 0, local ? CG_AXES : 3, pairs);
    apart = in_order(x, from, to, apart);
    if (a->role == PO_LOCAL)
      apart = in_one_life(x, from, to, array, apart);
    apart = po_keep_map(x->pool, apart);
    if (isl_map_is_empty(apart) == isl_bool_false)
      return complain(x, local ? "private" : "blocks", &f,
                      local ? "in different threads, which have one each"
                            : "in different blocks, which are not ordered",
                      isl_map_copy(apart));
  }
  if (local)
    return true;
  isl_map *threads = that_differ(x, from, to, 3, 3, pairs);
  if (isl_map_plain_is_empty(threads) != isl_bool_true)
    threads = isl_map_intersect(threads, alike(x, from, to, 0, 3));
  f.pairs = po_keep_map(x->pool, in_order(x, from, to, threads));
  if (isl_map_is_empty(f.pairs) == isl_bool_false)
    bs_push(x->e->heap, &x->conflicts, f);
  return true;
}

/* False where nothing writes it. */
static bool
find_accesses(check *x, uint32_t array) {
  bool written = false;
  for (uint32_t k = 0; k < x->c->group->n; k++) {
    x->writes[k] = accesses(x, k, array, true);
    written |= x->writes[k] != NULL;
  }
  for (uint32_t k = 0; written && k < x->c->group->n; k++)
    x->reads[k] = accesses(x, k, array, false);
  return written;
}

/* A local lives in an iteration of a loop below which none is bound. */
static bool
is_in_one_thread(const check *x, uint32_t array) {
  const po_program *p = x->e->p;
  uint32_t node = x->e->local_node[array];
  if (p->arrays.data[array].role != PO_LOCAL ||
      p->arrays.data[array].scope == PO_SHARED || node == PO_NO_NODE || !node)
    return false;
  for (uint32_t k = po_nest_next(p, node, node); k != PO_NO_NODE;
       k = po_nest_next(p, k, node))
    if (at(x, k)->kind == PO_LOOP && is_bound(x, k))
      return false;
  return true;
}

static bool
check_array(check *x, uint32_t array) {
  uint32_t n = x->c->group->n;
  if (is_in_one_thread(x, array) || !find_accesses(x, array))
    return true;
  for (uint32_t s = 0; s < n; s++)
    for (uint32_t t = 0; t < n; t++)
      for (uint32_t kind = 0; kind < 3; kind++) {
        isl_map *a = kind == 1 ? x->reads[s] : x->writes[s];
        isl_map *b = kind == 0 ? x->reads[t] : x->writes[t];
        if (!a || !b)
          continue;
        po_pool_reserve(x->pool, 1);
        isl_map *pairs = po_keep_map(x->pool, through(a, b));
        if (!check_pair(x, s, t, array, pairs, !kind))
          return false;
      }
  return true;
}

/* ---- barriers ---- */

/* Whether coordinate c is the same number for all of one and for all of the
 * other; *order: below, equal or above 0 as the first is less. */
static bool
is_constant(__isl_keep isl_multi_aff *s, __isl_keep isl_multi_aff *t,
            uint32_t c, int *order) {
  isl_aff *a = isl_multi_aff_get_aff(s, (int)c);
  isl_aff *b = isl_multi_aff_get_aff(t, (int)c);
  bool is =
      isl_aff_is_cst(a) == isl_bool_true && isl_aff_is_cst(b) == isl_bool_true;
  isl_val *x = isl_aff_get_constant_val(a), *y = isl_aff_get_constant_val(b);
  *order = isl_val_lt(x, y) == isl_bool_true   ? -1
           : isl_val_gt(x, y) == isl_bool_true ? 1
                                               : 0;
  isl_val_free(x);
  isl_val_free(y);
  isl_aff_free(a);
  isl_aff_free(b);
  return is;
}

/* Which of these come before which of those in the code that all threads of a
 * block run.  Most coordinates say for all of them at once which it is. */
static __isl_give isl_map *
before(const check *x, __isl_keep isl_multi_aff *s,
       __isl_keep isl_multi_aff *t) {
  isl_ctx *isl = x->e->p->isl;
  isl_space *one = isl_space_map_from_set(isl_space_set_alloc(isl, 0, 1));
  isl_space *block = isl_space_map_from_set(isl_space_set_alloc(isl, 0, 3));
  isl_map *equal = related_places(x, s, t, 0, 3, isl_map_identity(block));
  isl_map *all = isl_map_empty(isl_map_get_space(equal));
  int order = 0;
  for (uint32_t c = CG_AXES + x->length; c < CG_AXES + 2 * x->length; c++) {
    if (is_constant(s, t, c, &order)) {
      if (order)
        break;
      continue;
    }
    isl_map *less = isl_map_order_lt(isl_map_universe(isl_space_copy(one)),
                                     isl_dim_in, 0, isl_dim_out, 0);
    isl_map *same = isl_map_identity(isl_space_copy(one));
    less = related_places(x, s, t, c, 1, less);
    all = isl_map_union(all, isl_map_intersect(less, isl_map_copy(equal)));
    equal = isl_map_intersect(equal, related_places(x, s, t, c, 1, same));
    order = 0;
  }
  isl_space_free(one);
  return order < 0 ? isl_map_union(all, equal) : (isl_map_free(equal), all);
}

/* Of the pairs of a conflict those with barrier k between. */
static __isl_give isl_map *
separated(const check *x, const conflict *f, uint32_t k) {
  assert(k < x->syncs.len);
  uint32_t node = x->syncs.data[k];
  isl_set *runs = runs_of_sync(x, node);
  isl_multi_aff *times =
      isl_multi_aff_identity(isl_space_map_from_set(isl_set_get_space(runs)));
  isl_multi_aff *sync = coordinates(x, node, times);
  isl_map *to = isl_map_intersect_range(before(x, x->at[f->from], sync), runs);
  isl_map *pairs = isl_map_apply_range(to, before(x, sync, x->at[f->to]));
  isl_multi_aff_free(times);
  isl_multi_aff_free(sync);
  return isl_map_intersect(pairs, isl_map_copy(f->pairs));
}

/* The pairs of a conflict that no barrier, `but` one of them, is between. */
static isl_map *
left_of(check *x, const conflict *f, uint32_t but) {
  isl_map *left = isl_map_copy(f->pairs);
  for (uint32_t k = 0;
       k < x->syncs.len && isl_map_is_empty(left) == isl_bool_false; k++)
    if (k != but)
      left = isl_map_subtract(left, isl_map_copy(f->separated[k]));
  po_pool_reserve(x->pool, 1);
  return po_keep_map(x->pool, left);
}

static void
find_separated(check *x, conflict *f) {
  f->separated = BS_NEWS(&x->e->arena, isl_map *, x->syncs.len + 1);
  for (uint32_t k = 0; k < x->syncs.len; k++) {
    po_pool_reserve(x->pool, 1);
    f->separated[k] =
        po_keep_map(x->pool, isl_map_coalesce(separated(x, f, k)));
  }
}

/* Some conflict has pairs with no other barrier between. */
static bool
is_needed(check *x, uint32_t k) {
  for (uint32_t j = 0; j < x->conflicts.len; j++) {
    const conflict *f = &x->conflicts.data[j];
    if (isl_map_is_empty(f->separated[k]) == isl_bool_false &&
        isl_map_is_empty(left_of(x, f, k)) == isl_bool_false)
      return true;
  }
  return false;
}

static bool
check_barriers(check *x) {
  for (uint32_t j = 0; j < x->conflicts.len; j++) {
    conflict *f = &x->conflicts.data[j];
    find_separated(x, f);
    isl_map *pairs = left_of(x, f, UINT32_MAX);
    if (isl_map_is_empty(pairs) == isl_bool_false)
      return complain(x, "race", f,
                      "in different threads, with no barrier between",
                      isl_map_copy(pairs));
  }
  for (uint32_t k = 0; k < x->syncs.len; k++)
    if (!is_needed(x, k) && !x->pool->failed) {
      uint32_t loop = at(x, x->syncs.data[k])->parent;
      bs_warning(x->e->p->ctx.diags, BS_NOWHERE, "barrier",
                 "%s: barrier %u%s%s could be left out", x->c->name, k + 1,
                 loop ? ", in loop " : "", loop ? at(x, loop)->name : "");
    }
  return true;
}

/* ---- all ---- */

static void
find_syncs(check *x) {
  const cg_launch *c = x->c;
  for (uint32_t top = c->group->node;; top = at(x, top)->next) {
    for (uint32_t k = top; k != PO_NO_NODE; k = po_nest_next(x->e->p, k, top)) {
      uint32_t depth = po_nest_depth(x->e->p, k);
      x->depth = depth > x->depth ? depth : x->depth;
      if (at(x, k)->kind == PO_SYNC)
        bs_push(x->e->heap, &x->syncs, k);
    }
    if (top == c->group->last)
      break;
  }
  x->length = 2 * x->depth + 1;
}

static void
find_places(check *x) {
  bs_arena *arena = &x->e->arena;
  x->at = BS_NEWS(arena, isl_multi_aff *, x->c->group->n);
  x->reads = BS_NEWS(arena, isl_map *, x->c->group->n);
  x->writes = BS_NEWS(arena, isl_map *, x->c->group->n);
  for (uint32_t k = 0; k < x->c->group->n; k++) {
    const po_stmt *s = stmt(x, k);
    po_pool_reserve(x->pool, 1);
    x->at[k] = po_keep_multi_aff(x->pool, coordinates(x, s->leaf, s->time));
  }
}

static bool
has_axes(const cg_launch *c) {
  for (uint32_t a = 0; a < CG_AXES; a++)
    if (c->size[a] > 1)
      return true;
  return false;
}

bool
cg_check_threads(cg_launch *c) {
  check x = {.c = c, .e = c->e, .pool = &c->e->pool};
  bool ok = true;
  if (!has_axes(c))
    return true;
  uint32_t mark = po_pool_mark(x.pool);
  po_limit limit = po_limit_operations(c->e->p, PO_QUESTION);
  find_syncs(&x);
  find_places(&x);
  for (uint32_t k = 0; ok && k < c->e->p->arrays.len; k++)
    ok = !cg_is_in_kernel(c, k) || check_array(&x, k);
  ok = ok && check_barriers(&x);
  bool answered = po_unlimit(&limit);
  cg_limit(c->e, CG_OPERATIONS);
  bs_vec_done(c->e->heap, &x.syncs);
  bs_vec_done(c->e->heap, &x.conflicts);
  po_pool_release(x.pool, mark);
  if (ok && (!answered || x.pool->failed)) {
    x.pool->failed = false;
    isl_ctx_reset_error(c->e->p->isl);
    return bs_error(c->e->p->ctx.diags, BS_NOWHERE, "too-complex",
                    "%s: whether its threads race is too complex to tell",
                    c->name);
  }
  return ok;
}

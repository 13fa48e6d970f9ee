/* SPDX-License-Identifier: MIT */
/* depend.c - the dependences of a program; see depend.h.
 *
 * Array by array.  Flow is that of access.c (isl is asked only where a write
 * may hide another), split by whether both ends are updates whose order is
 * free.  Anti and output dependences are all pairs of
 * earlier and later accesses of an element: with a free order among updates,
 * an order of neighbours alone would not imply that of the others. */
#include "poly/depend/depend.h"
#include "poly/loops/access.h"
#include "poly/loops/loops_sizes.h"
#include <assert.h>
#include <isl/space.h>
#include <isl/flow.h>
#include <isl/point.h>
#include <isl/val.h>

const char *const po_dep_names[PO_DEP_KINDS] = {
    [PO_FLOW] = "flow",
    [PO_ANTI] = "anti",
    [PO_OUTPUT_DEP] = "output",
    [PO_REDUCTION] = "reduction",
};

void
po_forget_dependences(po_program *p) {
  bs_clear(&p->deps);
  p->order_of = NULL;
}

/* What splitting asks of each map of a union. */
typedef struct splitting {
  const po_program *p;
  isl_union_map **free_order, **fixed;
} splitting;

static uint32_t
class_of(const po_program *p, __isl_keep isl_map *map, enum isl_dim_type side) {
  const char *name = isl_map_get_tuple_name(map, side);
  uint32_t k = name ? po_stmt_named(p, name) : p->stmts.len;
  return k < p->stmts.len ? po_reorder_class(p, &p->stmts.data[k]) : 0;
}

static isl_stat
split_map(__isl_take isl_map *map, void *user) {
  splitting *s = user;
  uint32_t source = class_of(s->p, map, isl_dim_in);
  uint32_t sink = class_of(s->p, map, isl_dim_out);
  isl_union_map **to = source && source == sink ? s->free_order : s->fixed;
  *to = isl_union_map_union(*to, isl_union_map_from_map(map));
  return isl_stat_ok;
}

static void
split(const po_program *p, __isl_take isl_union_map *pairs,
      isl_union_map **free_order, isl_union_map **fixed) {
  splitting s = {p, free_order, fixed};
  if (!pairs || isl_union_map_foreach_map(pairs, split_map, &s) < 0)
    *fixed = isl_union_map_free(*fixed);
  isl_union_map_free(pairs);
}

/* { source -> sink } by isl, which looks for the last write. */
static __isl_give isl_union_map *
last_sources(const po_program *p, uint32_t array, const po_accesses *a,
             __isl_keep isl_union_map *sinks) {
  isl_union_access_info *info =
      isl_union_access_info_from_sink(isl_union_map_copy(sinks));
  info = isl_union_access_info_set_must_source(info,
                                               isl_union_map_copy(a->writes));
  info = isl_union_access_info_set_may_source(info,
                                              isl_union_map_copy(a->updates));
  info = isl_union_access_info_set_schedule_map(info, po_time_around(p, array));
  isl_union_flow *flow = isl_union_access_info_compute_flow(info);
  isl_union_map *from = isl_union_flow_get_may_dependence(flow);
  isl_union_flow_free(flow);
  return from;
}

static void
add_array(const po_program *p, uint32_t array, isl_union_map **of) {
  assert(array < p->arrays.len);
  po_accesses a = po_accesses_of(p, array);
  isl_union_map *all = isl_union_map_union(isl_union_map_copy(a.writes),
                                           isl_union_map_copy(a.updates));
  if (isl_union_map_is_empty(all) == isl_bool_true) {
    isl_union_map_free(all);
    po_accesses_free(&a);
    return;
  }
  bool once = po_is_written_once(p, array, &a);
  isl_union_map *updates = once ? po_earlier(p, all, a.updates) : NULL;
  of[PO_FLOW] = isl_union_map_union(of[PO_FLOW],
                                    once ? po_earlier(p, all, a.reads)
                                         : last_sources(p, array, &a, a.reads));
  split(p,
        once ? isl_union_map_copy(updates)
             : last_sources(p, array, &a, a.updates),
        &of[PO_REDUCTION], &of[PO_FLOW]);
  of[PO_ANTI] = isl_union_map_union(of[PO_ANTI], po_earlier(p, a.reads, all));
  /* Where an element is written once, and before all updates of it, nothing
   * comes before a write. */
  isl_union_map *reduced = isl_union_map_copy(of[PO_REDUCTION]);
  split(p, once ? updates : po_earlier(p, all, all), &reduced,
        &of[PO_OUTPUT_DEP]);
  isl_union_map_free(reduced);
  isl_union_map_free(all);
  po_accesses_free(&a);
}

static bool
give_up(const po_program *p, const char *what) {
  return bs_error(p->ctx.diags, BS_NOWHERE, "too-complex",
                  "%s: the integer set library gave up", what);
}

static bool
make_dependences(po_program *p, uint32_t array, po_deps *deps) {
  assert(array < p->arrays.len);
  po_pool_reserve(&p->pool, PO_DEP_KINDS);
  bool failed = p->pool.failed, ok = true;
  isl_union_map *of[PO_DEP_KINDS];
  po_limit limit = po_limit_operations(p, PO_QUESTION);
  for (uint32_t k = 0; k < PO_DEP_KINDS; k++)
    of[k] = isl_union_map_empty(isl_space_params_alloc(p->isl, 0));
  add_array(p, array, of);
  for (uint32_t k = 0; k < PO_DEP_KINDS; k++) {
    deps->of[k] = po_keep_union_map(&p->pool, isl_union_map_coalesce(of[k]));
    ok = ok && deps->of[k];
  }
  ok = po_unlimit(&limit) && ok;
  p->pool.failed = failed;
  return ok || give_up(p, "dependences");
}

static void
put_dependences(po_program *p, uint32_t array, const po_deps *deps) {
  assert(array < p->arrays.len);
  while (p->deps.len <= array)
    bs_push(p->ctx.heap, &p->deps, NULL);
  p->deps.data[array] = deps;
}

void
po_take_dependences(po_program *to, const po_program *from, uint32_t array) {
  assert(to != from && array < to->arrays.len);
  const po_deps *made = array < from->deps.len ? from->deps.data[array] : NULL;
  if (!made)
    return;
  po_deps *deps = BS_NEW(&to->arena, po_deps);
  po_pool_reserve(&to->pool, PO_DEP_KINDS);
  for (uint32_t k = 0; k < PO_DEP_KINDS; k++)
    deps->of[k] = po_keep_union_map(&to->pool, isl_union_map_copy(made->of[k]));
  put_dependences(to, array, deps);
}

const po_deps *
po_dependences_through(po_program *p, uint32_t array) {
  assert(array < p->arrays.len);
  if (array < p->deps.len && p->deps.data[array])
    return p->deps.data[array];
  if (p->order_of) {
    if (!po_dependences_through(p->order_of, array))
      return NULL;
    po_take_dependences(p, p->order_of, array);
    return p->deps.data[array];
  }
  po_deps *deps = BS_NEW(&p->arena, po_deps);
  if (!make_dependences(p, array, deps))
    return NULL;
  put_dependences(p, array, deps);
  return deps;
}

const po_deps *
po_dependences(po_program *p) {
  po_deps *all = BS_NEW(&p->arena, po_deps);
  for (uint32_t a = 0; a < p->arrays.len; a++)
    if (!po_dependences_through(p, a))
      return NULL;
  po_pool_reserve(&p->pool, PO_DEP_KINDS);
  for (uint32_t k = 0; k < PO_DEP_KINDS; k++) {
    isl_union_map *of = isl_union_map_empty(isl_space_params_alloc(p->isl, 0));
    for (uint32_t a = 0; a < p->arrays.len; a++)
      of = isl_union_map_union(of, isl_union_map_copy(p->deps.data[a]->of[k]));
    all->of[k] = po_keep_union_map(&p->pool, isl_union_map_coalesce(of));
    if (!all->of[k]) {
      give_up(p, "dependences");
      return NULL;
    }
  }
  return all;
}

/* ---- one pair, for people ---- */

typedef struct coordinates {
  int64_t at[2 * PO_MAX_DEPTH];
  uint32_t n;
} coordinates;

/* A point of a set; n = 0 where isl gives none. */
static coordinates
sample(__isl_keep isl_set *set) {
  coordinates c = {.n = 0};
  isl_size n = isl_set_dim(set, isl_dim_set);
  isl_point *point = isl_set_sample_point(isl_set_copy(set));
  for (isl_size k = 0; point && k < n && k < 2 * PO_MAX_DEPTH; k++) {
    isl_val *val = isl_point_get_coordinate_val(point, isl_dim_set, k);
    c.at[c.n++] = val ? isl_val_get_num_si(val) : 0;
    isl_val_free(val);
  }
  isl_point_free(point);
  return c;
}

static __isl_give isl_set *
only(__isl_keep isl_set *set, const coordinates *c) {
  isl_set *one = isl_set_universe(isl_set_get_space(set));
  isl_ctx *isl = isl_set_get_ctx(set);
  for (uint32_t k = 0; k < c->n; k++)
    one = isl_set_fix_val(one, isl_dim_set, k,
                          isl_val_int_from_si(isl, c->at[k]));
  return one;
}

static const char *
instance_text(po_program *p, const char *name, const int64_t *at, uint32_t n) {
  bs_text text;
  bs_text_init(&text, p->ctx.heap);
  bs_put(&text, name ? name : "?");
  bs_putc(&text, '[');
  for (uint32_t k = 0; k < n; k++)
    bs_putf(&text, "%s%lld", k ? "," : "", (long long)at[k]);
  bs_putc(&text, ']');
  const char *out = bs_arena_strdup(&p->arena, bs_text_str(&text));
  bs_text_done(&text);
  return out;
}

/* Some element that is accessed by both, as the kind asks. */
static bool
share(const po_program *p, uint32_t array, po_dep_kind kind,
      __isl_keep isl_union_map *pair) {
  po_accesses a = po_accesses_of(p, array);
  isl_union_map *writes = isl_union_map_union(isl_union_map_copy(a.writes),
                                              isl_union_map_copy(a.updates));
  isl_union_map *reads = isl_union_map_union(isl_union_map_copy(a.reads),
                                             isl_union_map_copy(a.updates));
  isl_union_map *source = kind == PO_ANTI ? reads : writes;
  isl_union_map *sink = kind == PO_FLOW ? reads : writes;
  isl_union_map *both = isl_union_map_apply_range(
      isl_union_map_copy(source),
      isl_union_map_reverse(isl_union_map_copy(sink)));
  both = isl_union_map_intersect(both, isl_union_map_copy(pair));
  bool found = isl_union_map_is_empty(both) == isl_bool_false;
  isl_union_map_free(both);
  isl_union_map_free(reads);
  isl_union_map_free(writes);
  po_accesses_free(&a);
  return found;
}

/* Takes the pair. */
static const char *
array_of(const po_program *p, po_dep_kind kind,
         __isl_take isl_union_map *pair) {
  const char *name = "?";
  for (uint32_t k = p->arrays.len; k-- > 0;)
    if (share(p, k, kind, pair))
      name = p->arrays.data[k].name;
  isl_union_map_free(pair);
  return name;
}

/* Pairs that are walked over to be counted: less than a second's work. */
#define PAIRS 500000

static isl_stat
count_map(__isl_take isl_map *map, void *user) {
  int64_t *sum = user, n = po_count_points_within(isl_map_wrap(map), PAIRS);
  if (n < 0 || *sum < 0 || __builtin_add_overflow(*sum, n, sum))
    *sum = -1;
  return isl_stat_ok;
}

static int64_t
count_pairs(__isl_keep isl_union_map *pairs) {
  int64_t sum = 0;
  return isl_union_map_foreach_map(pairs, count_map, &sum) < 0 ? -1 : sum;
}

/* Pairs at the least sizes at which some of those in `first` are; these are
 * told. */
typedef struct at_sizes {
  const po_program *p;
  int64_t at[PO_MAX_SIZES];
  isl_union_map *fixed;
} at_sizes;

static isl_stat
fix_map(__isl_take isl_map *map, void *user) {
  at_sizes *x = user;
  isl_set *pairs = po_fix_sizes(x->p, isl_map_wrap(map), x->at);
  x->fixed = isl_union_map_add_map(x->fixed, isl_set_unwrap(pairs));
  return isl_stat_ok;
}

static isl_union_map *
fix_all(po_program *p, at_sizes *x, __isl_keep isl_union_map *pairs) {
  x->fixed = isl_union_map_empty(isl_space_params_alloc(p->isl, 0));
  if (!pairs || isl_union_map_foreach_map(pairs, fix_map, x) < 0)
    x->fixed = isl_union_map_free(x->fixed);
  po_pool_reserve(&p->pool, 1);
  return po_keep_union_map(&p->pool, x->fixed);
}

static const char *
fix_sizes(po_program *p, isl_map **first, isl_union_map **wrong,
          isl_union_map **all) {
  at_sizes x = {.p = p};
  po_pool_reserve(&p->pool, 2);
  isl_set *pairs = po_keep_set(&p->pool, isl_map_wrap(isl_map_copy(*first)));
  if (!po_least_sizes(p, pairs, x.at))
    return NULL;
  pairs = po_fix_sizes(p, isl_set_copy(pairs), x.at);
  *first = po_keep_map(&p->pool, isl_set_unwrap(pairs));
  *wrong = fix_all(p, &x, *wrong);
  *all = fix_all(p, &x, *all);
  bs_text text;
  bs_text_init(&text, p->ctx.heap);
  po_put_sizes(p, x.at, &text);
  const char *told = bs_arena_strdup(&p->arena, bs_text_str(&text));
  bs_text_done(&text);
  return told;
}

static isl_stat
take_first(__isl_take isl_map *map, void *user) {
  isl_map **first = user;
  if (*first || isl_map_is_empty(map) != isl_bool_false)
    isl_map_free(map);
  else
    *first = map;
  return isl_stat_ok;
}

#define COUNTING 3000000ul

void
po_describe(po_program *p, po_dep_kind kind, isl_union_map *wrong,
            isl_union_map *all, po_violation *out) {
  assert(kind < PO_DEP_KINDS && wrong && all);
  *out = (po_violation){.kind = kind, .pairs = -1, .violated = -1};
  uint32_t mark = po_pool_mark(&p->pool);
  if (p->ctx.diags->unread) {
    out->array = out->source = out->sink = "?";
    isl_union_map_free(wrong);
    isl_union_map_free(all);
    return;
  }
  po_pool_reserve(&p->pool, 4);
  wrong = po_keep_union_map(&p->pool, wrong);
  all = po_keep_union_map(&p->pool, all);
  isl_map *first = NULL;
  if (wrong)
    isl_union_map_foreach_map(wrong, take_first, &first);
  first = po_keep_map(&p->pool, first);
  if (first && all && po_has_sizes(p))
    out->sizes = fix_sizes(p, &first, &wrong, &all);
  if (first && all) {
    isl_size n = isl_map_dim(first, isl_dim_in);
    isl_set *pairs = po_keep_set(&p->pool, isl_map_wrap(isl_map_copy(first)));
    coordinates c = sample(pairs);
    uint32_t split_at = n < 0 || (uint32_t)n > c.n ? c.n : (uint32_t)n;
    out->array = array_of(
        p, kind, isl_union_map_from_map(isl_set_unwrap(only(pairs, &c))));
    out->source = instance_text(p, isl_map_get_tuple_name(first, isl_dim_in),
                                c.at, split_at);
    out->sink = instance_text(p, isl_map_get_tuple_name(first, isl_dim_out),
                              c.at + split_at, c.n - split_at);
    po_limit limit = po_limit_operations(p, COUNTING);
    out->violated = count_pairs(wrong);
    out->pairs = count_pairs(all);
    po_unlimit(&limit);
  }
  po_pool_release(&p->pool, mark);
}

/* SPDX-License-Identifier: MIT */
/* values.c - do all values come from where they came from before?
 *
 * A change of statements is right when every instance of the new program does
 * what some instance of the old one did (its origin), on the same values: each
 * read gets its value from instances whose origins are the sources of the
 * origin's read.  Copies that were added, and statements that became part of
 * their readers, are looked through.  Among updates of one element whose order
 * is free only the set of them counts, which their readers see. */
#include "poly/loops/affine.h"
#include "poly/schedule/schedule_edit.h"
#include <assert.h>
#include <string.h>

typedef struct flow {
  isl_union_map *from;      /* { write -> read } over all arrays */
  isl_union_set *unwritten; /* reads of nothing, from arrays of our own */
} flow;

/* ---- flow of a whole program ---- */

static bool
has_writer(const po_program *p, uint32_t array) {
  for (uint32_t k = 0; k < p->stmts.len; k++)
    if (p->stmts.data[k].array == array)
      return true;
  return false;
}

/* Over the arrays that differ from those of `other`. */
static flow
flow_of(po_program *p, const po_program *other) {
  const po_untouched *kept = po_find_untouched(other, p);
  isl_space *space = isl_space_params_alloc(p->isl, 0);
  flow out = {isl_union_map_empty(isl_space_copy(space)),
              isl_union_set_empty(space)};
  for (uint32_t k = 0; k < p->arrays.len; k++) {
    if (!has_writer(p, k) || po_array_is_untouched(kept, k))
      continue;
    po_flow one = po_flow_of_values(p, k);
    out.from = isl_union_map_union(out.from, one.from);
    one.from = NULL;
    if (p->arrays.data[k].role != PO_INPUT &&
        p->arrays.data[k].role != PO_CONSTANT)
      out.unwritten = isl_union_set_union(
          out.unwritten,
          isl_union_map_domain(isl_union_map_copy(one.unwritten)));
    po_flow_free(&one);
  }
  return out;
}

/* ---- looking through ---- */

static __isl_give isl_union_set *
instances(const po_program *p, const char *const *names, uint32_t n) {
  isl_union_set *all = isl_union_set_empty(isl_space_params_alloc(p->isl, 0));
  for (uint32_t k = 0; k < n; k++) {
    uint32_t s = po_stmt_named(p, names[k]);
    if (s < p->stmts.len)
      all = isl_union_set_union(
          all, isl_union_set_from_set(isl_set_copy(p->stmts.data[s].domain)));
  }
  return all;
}

/* Replaces ways a -> x -> b over instances x by a -> b; `times`: of them may
 * follow each other. */
static __isl_give isl_union_map *
contract(__isl_take isl_union_map *from, __isl_keep isl_union_set *over,
         uint32_t times) {
  bool more = times > 0;
  for (uint32_t k = 0; more && k < times; k++) {
    isl_union_map *into = isl_union_map_intersect_range(
        isl_union_map_copy(from), isl_union_set_copy(over));
    isl_union_map *out = isl_union_map_intersect_domain(
        isl_union_map_copy(from), isl_union_set_copy(over));
    from = isl_union_map_subtract_domain(from, isl_union_set_copy(over));
    isl_union_map *through = isl_union_map_apply_range(into, out);
    more = isl_union_map_is_empty(through) != isl_bool_true;
    from = isl_union_map_union(from, through);
  }
  from = isl_union_map_subtract_domain(from, isl_union_set_copy(over));
  return isl_union_map_subtract_range(from, isl_union_set_copy(over));
}

/* ---- the comparison ---- */

typedef struct sinks {
  const po_program *p;
  isl_union_set *caller;
} sinks;

static isl_stat
add_caller(__isl_take isl_set *set, void *user) {
  sinks *s = user;
  const char *name = isl_set_get_tuple_name(set);
  if (name && po_stmt_named(s->p, name) < s->p->stmts.len)
    isl_set_free(set);
  else
    s->caller = isl_union_set_add_set(s->caller, set);
  return isl_stat_ok;
}

static isl_stat
add_caller_of(__isl_take isl_map *map, void *user) {
  sinks *s = user;
  const char *name = isl_map_get_tuple_name(map, isl_dim_out);
  if (name && po_stmt_named(s->p, name) < s->p->stmts.len) {
    isl_map_free(map);
    return isl_stat_ok;
  }
  return add_caller(isl_map_range(map), user);
}

/* Whatever reads in a flow and is no statement: the caller, of outputs. */
static __isl_give isl_union_set *
reads_of_caller(const po_program *p, const flow *f) {
  sinks s = {p, isl_union_set_empty(isl_space_params_alloc(p->isl, 0))};
  if (isl_union_map_foreach_map(f->from, add_caller_of, &s) < 0 ||
      isl_union_set_foreach_set(f->unwritten, add_caller, &s) < 0)
    s.caller = isl_union_set_free(s.caller);
  return s.caller;
}

static __isl_give isl_union_set *
all_instances(const po_program *p, __isl_take isl_union_set *all) {
  for (uint32_t k = 0; k < p->stmts.len; k++)
    all = isl_union_set_add_set(all, isl_set_copy(p->stmts.data[k].domain));
  return all;
}

/* Instances of `all` that have no origin are their own. */
static __isl_give isl_union_map *
complete_origin(__isl_take isl_union_map *origin,
                __isl_take isl_union_set *all) {
  isl_union_set *known = isl_union_map_domain(isl_union_map_copy(origin));
  isl_union_map *same = isl_union_set_identity(all);
  same = isl_union_map_subtract_domain(same, known);
  return isl_union_map_union(origin, same);
}

static bool
refuse(po_program *before, const po_step_call *call, isl_union_map *wrong,
       isl_union_map *all, const char *how) {
  po_violation v;
  po_describe(before, PO_FLOW, wrong, all, &v);
  if (!v.source)
    return po_refuse(before, call, "illegal", "values would change");
  po_refuse(before, call, "illegal",
            "values would change: %s %s a value%s%s from %s", v.sink, how,
            strcmp(v.array, "?") ? " of " : "",
            strcmp(v.array, "?") ? v.array : "", v.source);
  po_tell_violation(before, call, &v);
  return false;
}

/* The flow of values before and now, as relations that ought to be equal;
 * what is read though nothing wrote it, now only. */
typedef struct comparison {
  isl_union_map *was, *is;
  isl_union_set *nothing;
} comparison;

/* Statements whose instances are themselves, before and now: most of them. */
typedef struct same {
  const po_program *before, *after;
  isl_union_set *moved; /* in the origin that a change gave */
  enum isl_dim_type side;
  isl_union_map *same, *other;
} same;

static bool
is_itself(const same *x, __isl_keep isl_space *space, const char *name) {
  uint32_t k = name ? po_stmt_named(x->after, name) : x->after->stmts.len;
  uint32_t was = name ? po_stmt_named(x->before, name) : x->before->stmts.len;
  if (k == x->after->stmts.len && was == x->before->stmts.len)
    return true; /* the caller */
  if (k == x->after->stmts.len || was == x->before->stmts.len ||
      x->after->stmts.data[k].domain != x->before->stmts.data[was].domain)
    return false;
  isl_set *moved = isl_union_set_extract_set(x->moved, isl_space_copy(space));
  bool is = isl_set_plain_is_empty(moved) == isl_bool_true;
  isl_set_free(moved);
  return is;
}

static isl_stat
sort_map(__isl_take isl_map *map, void *user) {
  same *x = user;
  isl_space *space = isl_map_get_space(map);
  space =
      x->side == isl_dim_in ? isl_space_domain(space) : isl_space_range(space);
  bool is = is_itself(x, space, isl_map_get_tuple_name(map, x->side));
  isl_union_map **to = is ? &x->same : &x->other;
  isl_space_free(space);
  *to = isl_union_map_add_map(*to, map);
  return isl_stat_ok;
}

/* The flow with its sources, or its sinks, renamed by `rename`, unless they are
 * what they were. */
static __isl_give isl_union_map *
rename_some(same *x, enum isl_dim_type side, __isl_take isl_union_map *from,
            __isl_keep isl_union_map *rename) {
  x->side = side;
  x->same = isl_union_map_empty(isl_space_params_alloc(x->after->isl, 0));
  x->other = isl_union_map_copy(x->same);
  if (isl_union_map_foreach_map(from, sort_map, x) < 0)
    x->same = isl_union_map_free(x->same);
  isl_union_map_free(from);
  x->other =
      side == isl_dim_in
          ? isl_union_map_apply_domain(x->other, isl_union_map_copy(rename))
          : isl_union_map_apply_range(x->other, isl_union_map_copy(rename));
  return isl_union_map_union(x->same, x->other);
}

/* The instances of now that are to be renamed. */
static __isl_give isl_union_set *
renamed(const same *x) {
  const po_program *p = x->after;
  isl_union_set *all = isl_union_set_empty(isl_space_params_alloc(p->isl, 0));
  for (uint32_t k = 0; k < p->stmts.len; k++) {
    isl_set *domain = isl_set_copy(p->stmts.data[k].domain);
    isl_space *space = isl_set_get_space(domain);
    if (is_itself(x, space, p->stmts.data[k].name))
      isl_set_free(domain);
    else
      all = isl_union_set_add_set(all, domain);
    isl_space_free(space);
  }
  return all;
}

/* By the sources of before and the readers of now. */
static comparison
compare_by_origin(const po_program *before, const po_program *after,
                  __isl_take isl_union_map *origin, flow old, flow now) {
  same x = {.before = before, .after = after};
  x.moved =
      isl_union_set_union(isl_union_map_domain(isl_union_map_copy(origin)),
                          isl_union_map_range(isl_union_map_copy(origin)));
  origin = complete_origin(origin, renamed(&x));
  isl_union_map *back = isl_union_map_reverse(isl_union_map_copy(origin));
  comparison c;
  c.is = rename_some(&x, isl_dim_in, now.from, origin);
  c.was = rename_some(&x, isl_dim_out, old.from, back);
  c.nothing = isl_union_map_domain(rename_some(
      &x, isl_dim_in, isl_union_map_from_domain(now.unwritten), origin));
  c.nothing = isl_union_set_subtract(c.nothing, old.unwritten);
  isl_union_map_free(back);
  isl_union_map_free(origin);
  isl_union_set_free(x.moved);
  return c;
}

/* By instances of now, of which some are several of before. */
static comparison
compare_merged(const po_program *before, __isl_take isl_union_map *merged,
               flow old, flow now) {
  isl_union_set *one = isl_union_map_range(isl_union_map_copy(merged));
  isl_union_map *self = isl_union_set_identity(one);
  merged = complete_origin(
      merged, all_instances(before, reads_of_caller(before, &old)));
  comparison c;
  c.was = isl_union_map_apply_domain(old.from, isl_union_map_copy(merged));
  c.was = isl_union_map_apply_range(c.was, isl_union_map_copy(merged));
  c.was = isl_union_map_subtract(c.was, isl_union_map_copy(self));
  c.is = isl_union_map_subtract(now.from, self);
  c.nothing = isl_union_set_subtract(
      now.unwritten, isl_union_set_apply(old.unwritten, merged));
  return c;
}

static void
leave_out(flow *f, __isl_keep isl_union_set *neutral) {
  if (!neutral)
    return;
  f->from = isl_union_map_subtract_domain(f->from, isl_union_set_copy(neutral));
  f->from = isl_union_map_subtract_range(f->from, isl_union_set_copy(neutral));
  f->unwritten =
      isl_union_set_subtract(f->unwritten, isl_union_set_copy(neutral));
}

bool
po_values_are_preserved(po_program *before, po_program *after,
                        const po_step_call *call, po_change *change) {
  assert(before != after && change);
  po_pool_reserve(&before->pool, 8);
  po_limit limit = po_limit_operations(before, PO_COMMAND);
  flow old = flow_of(before, after), now = flow_of(after, before);
  isl_union_set *gone = instances(before, change->gone, change->n_gone);
  isl_union_set *copies = instances(after, change->copies, change->n_copies);
  old.from = contract(old.from, gone, change->n_gone);
  now.from = contract(now.from, copies, change->n_copies);
  leave_out(&now, change->neutral);
  isl_union_set_free(change->neutral);
  comparison c =
      change->merged
          ? compare_merged(before, change->merged, old, now)
          : compare_by_origin(before, after, change->origin, old, now);
  isl_union_map *was = c.was, *is = c.is;
  isl_union_set *nothing = c.nothing;
  isl_bool no_lost = isl_union_map_is_subset(was, is);
  isl_bool no_found = isl_union_map_is_subset(is, was);
  isl_bool all_written = isl_union_set_is_empty(nothing);
  isl_union_set_free(gone);
  isl_union_set_free(copies);
  isl_union_set_free(nothing);
  bool ok = po_unlimit(&limit) && no_lost != isl_bool_error &&
            no_found != isl_bool_error && all_written != isl_bool_error;
  bool as_before = ok && no_lost && no_found && all_written;
  if (ok && !no_lost)
    return refuse(before, call,
                  isl_union_map_subtract(isl_union_map_copy(was), is), was,
                  "would no longer get");
  if (ok && !no_found)
    return refuse(before, call,
                  isl_union_map_subtract(isl_union_map_copy(is), was), is,
                  "would get");
  isl_union_map_free(is);
  isl_union_map_free(was);
  if (!ok)
    return po_refuse(before, call, "too-complex",
                     "whether values stay the same could not be decided");
  return as_before || po_refuse(before, call, "illegal",
                                "something would be read that nothing wrote");
}

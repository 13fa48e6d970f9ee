/* values.c - do all values come from where they came from before?
 *
 * A change of statements is right when every instance of the new program does
 * what some instance of the old one did (its origin), on the same values: each
 * read gets its value from instances whose origins are the sources of the
 * origin's read.  Copies that were added, and statements that became part of
 * their readers, are looked through.  Among updates of one element whose order
 * is free only the set of them counts, which their readers see. */
#include "poly/affine.h"
#include "poly/schedule/edit.h"
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

/* ---- what a change left alone ---- */

static bool
is_same_stmt(const po_stmt *a, const po_stmt *b) {
  /* Copies of isl objects are the objects themselves. */
  if (a->domain != b->domain || a->time != b->time || a->write != b->write ||
      a->array != b->array || a->kind != b->kind || a->op != b->op ||
      a->n_exprs != b->n_exprs || a->instr != b->instr)
    return false;
  for (uint32_t k = 0; k < a->n_exprs; k++)
    if (a->exprs[k].kind != b->exprs[k].kind ||
        a->exprs[k].array != b->exprs[k].array ||
        a->exprs[k].index != b->exprs[k].index)
      return false;
  for (uint32_t k = 0; a->instr && k <= a->instr->n_operands; k++)
    if (a->operands[k].array != b->operands[k].array ||
        a->operands[k].base != b->operands[k].base)
      return false;
  return true;
}

static bool
is_same_array(const po_array *a, const po_array *b) {
  bool same = a->role == b->role && a->scope == b->scope && a->rank == b->rank;
  for (uint32_t d = 0; same && d < a->rank; d++)
    same = a->dim[d] == b->dim[d] && a->fold[d] == b->fold[d];
  return same;
}

bool
po_is_untouched(const po_program *before, const po_program *after,
                uint32_t stmt) {
  const po_stmt *s = &after->stmts.data[stmt];
  uint32_t was = po_stmt_named(before, s->name);
  return was < before->stmts.len && is_same_stmt(&before->stmts.data[was], s);
}

bool
po_stmt_accesses(const po_stmt *s, uint32_t array) {
  bool found = s->array == array || po_stmt_reads(s, array);
  for (uint32_t j = 0; s->instr && j < s->instr->n_operands; j++)
    found |= s->operands[j].array == array;
  return found;
}

static uint32_t
count_accesses(const po_program *p, uint32_t array) {
  uint32_t n = 0;
  for (uint32_t k = 0; k < p->stmts.len; k++)
    n += po_stmt_accesses(&p->stmts.data[k], array);
  return n;
}

bool
po_array_is_untouched(const po_program *before, const po_program *after,
                      uint32_t array) {
  if (array >= before->arrays.len || array >= after->arrays.len ||
      strcmp(before->arrays.data[array].name, after->arrays.data[array].name) ||
      !is_same_array(&before->arrays.data[array], &after->arrays.data[array]) ||
      count_accesses(before, array) != count_accesses(after, array))
    return false;
  for (uint32_t k = 0; k < after->stmts.len; k++)
    if (po_stmt_accesses(&after->stmts.data[k], array) &&
        !po_is_untouched(before, after, k))
      return false;
  return true;
}

/* Over the arrays that differ from those of `other`. */
static flow
flow_of(const po_program *p, const po_program *other) {
  isl_space *space = isl_space_params_alloc(p->isl, 0);
  flow out = {isl_union_map_empty(isl_space_copy(space)),
              isl_union_set_empty(space)};
  for (uint32_t k = 0; k < p->arrays.len; k++) {
    if (!has_writer(p, k) || po_array_is_untouched(other, p, k))
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

/* Whatever reads in a flow and is no statement: the caller, of outputs. */
static __isl_give isl_union_set *
reads_of_caller(const po_program *p, const flow *f) {
  isl_union_set *all =
      isl_union_set_union(isl_union_map_range(isl_union_map_copy(f->from)),
                          isl_union_set_copy(f->unwritten));
  for (uint32_t k = 0; k < p->stmts.len; k++) {
    isl_space *space = isl_set_get_space(p->stmts.data[k].domain);
    all = isl_union_set_subtract(
        all, isl_union_set_from_set(isl_set_universe(space)));
  }
  return all;
}

/* Every instance of a program that has no origin of its own is its own, and
 * so are the caller's reads. */
static __isl_give isl_union_map *
complete_origin(const po_program *p, __isl_take isl_union_map *origin,
                __isl_take isl_union_set *caller) {
  isl_union_set *all = caller;
  for (uint32_t k = 0; k < p->stmts.len; k++)
    all = isl_union_set_union(
        all, isl_union_set_from_set(isl_set_copy(p->stmts.data[k].domain)));
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
  return false;
}

/* The flow of values before and now, as relations that ought to be equal;
 * what is read though nothing wrote it, now only. */
typedef struct comparison {
  isl_union_map *was, *is;
  isl_union_set *nothing;
} comparison;

/* By the sources of before and the readers of now. */
static comparison
compare_by_origin(const po_program *before, const po_program *after,
                  __isl_take isl_union_map *origin, flow old, flow now) {
  origin = complete_origin(after, origin,
                           isl_union_set_union(reads_of_caller(before, &old),
                                               reads_of_caller(after, &now)));
  comparison c;
  c.is = isl_union_map_apply_domain(now.from, isl_union_map_copy(origin));
  c.was = isl_union_map_apply_range(
      old.from, isl_union_map_reverse(isl_union_map_copy(origin)));
  c.nothing = isl_union_set_apply(now.unwritten, origin);
  c.nothing = isl_union_set_subtract(c.nothing, old.unwritten);
  return c;
}

/* By instances of now, of which some are several of before. */
static comparison
compare_merged(const po_program *before, __isl_take isl_union_map *merged,
               flow old, flow now) {
  isl_union_set *one = isl_union_map_range(isl_union_map_copy(merged));
  isl_union_map *self = isl_union_set_identity(one);
  merged = complete_origin(before, merged, reads_of_caller(before, &old));
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
po_values_kept(po_program *before, po_program *after, const po_step_call *call,
               po_change *change) {
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
  isl_union_map *lost =
      isl_union_map_subtract(isl_union_map_copy(was), isl_union_map_copy(is));
  isl_union_map *found =
      isl_union_map_subtract(isl_union_map_copy(is), isl_union_map_copy(was));
  isl_bool no_lost = isl_union_map_is_empty(lost);
  isl_bool no_found = isl_union_map_is_empty(found);
  isl_bool all_written = isl_union_set_is_empty(nothing);
  isl_union_set_free(gone);
  isl_union_set_free(copies);
  isl_union_set_free(nothing);
  bool ok = po_unlimit(&limit) && no_lost != isl_bool_error &&
            no_found != isl_bool_error && all_written != isl_bool_error;
  bool same = ok && no_lost && no_found && all_written;
  if (ok && !no_lost) {
    isl_union_map_free(found);
    isl_union_map_free(is);
    return refuse(before, call, lost, was, "would no longer get");
  }
  if (ok && !no_found) {
    isl_union_map_free(lost);
    isl_union_map_free(was);
    return refuse(before, call, found, is, "would get");
  }
  isl_union_map_free(lost);
  isl_union_map_free(found);
  isl_union_map_free(is);
  isl_union_map_free(was);
  if (!ok)
    return po_refuse(before, call, "too-complex",
                     "whether values stay the same could not be decided");
  return same || po_refuse(before, call, "illegal",
                           "something would be read that nothing wrote");
}

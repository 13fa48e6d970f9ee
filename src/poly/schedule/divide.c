/* SPDX-License-Identifier: MIT */
/* divide.c - an array by its readers: divide, and trim.
 *
 *   for x { B[x] = .. }  for i { C = B[i] }        for k { D = B[k + 900] }
 *   for x { B[x] = .. }  for x { B_1[x] = .. }  for i { C = B[i] }  ...
 *
 * Nests that read parts of an array which do not meet each get an array of
 * their own, made by instances of their own: each may then go where its reader
 * is, and nothing is computed twice.  Readers whose parts meet share one.
 * Instances that make what nobody reads are left out, those of the locals that
 * they use included; trim does that alone.
 *
 * Zhao and Di's third algorithm (MICRO 2020) treats what several live-out
 * computations share so. */
#include "poly/loops/affine.h"
#include "poly/schedule/schedule_edit.h"
#include "poly/schedule/schedule_layout.h"
#include "poly/schedule/moving.h"
#include <assert.h>
#include <string.h>

enum { MOST_READERS = 32 };

/* What the nests that read an array read of it, and which share a part. */
typedef struct readers {
  uint32_t root[MOST_READERS], n; /* children of the root */
  isl_set *reads[MOST_READERS];   /* { A[x] }; in the pool */
  uint32_t part[MOST_READERS], n_parts;
} readers;

/* ---- parts ---- */

static uint32_t
reader_at(const readers *r, uint32_t root) {
  uint32_t k = 0;
  while (k < r->n && r->root[k] != root)
    k++;
  return k;
}

/* Takes the set. */
static void
add_reads(po_program *p, readers *r, uint32_t k, isl_set *reads) {
  po_pool_reserve(&p->pool, 1);
  if (k < r->n)
    reads = isl_set_coalesce(isl_set_union(reads, isl_set_copy(r->reads[k])));
  r->reads[k] = po_keep_set(&p->pool, reads);
}

static __isl_give isl_set *
elements_read(const po_program *p, uint32_t stmt, uint32_t array) {
  return isl_map_range(isl_map_from_union_map(po_reads_of(p, stmt, array)));
}

static bool
find_readers(po_program *p, const po_moving *m, uint32_t array, readers *r) {
  for (uint32_t s = 0; s < p->stmts.len; s++) {
    if (po_in_block(&m->all, s) || !po_stmt_reads(&p->stmts.data[s], array))
      continue;
    uint32_t root = po_nest_root(p, p->stmts.data[s].leaf);
    uint32_t k = reader_at(r, root);
    if (k == MOST_READERS)
      return false;
    po_pool_reserve(&p->pool, 1);
    add_reads(p, r, k, elements_read(p, s, array));
    if (k == r->n)
      r->root[r->n++] = root;
  }
  for (uint32_t k = 0; k < r->n; k++) {
    po_pool_reserve(&p->pool, 1);
    isl_map *reads = isl_map_from_range(isl_set_copy(r->reads[k]));
    r->reads[k] = po_keep_set(&p->pool, isl_map_range(po_fill_up(reads)));
  }
  return !p->pool.failed;
}

/* Readers whose parts meet, directly or by way of others, share one; parts are
 * numbered in the order of their first readers. */
static bool
find_parts(readers *r) {
  uint32_t number[MOST_READERS];
  for (uint32_t k = 0; k < r->n; k++) {
    r->part[k] = k;
    for (uint32_t j = 0; j < k; j++) {
      isl_bool apart = isl_set_is_disjoint(r->reads[j], r->reads[k]);
      if (apart == isl_bool_error)
        return false;
      uint32_t a = r->part[j], b = r->part[k];
      for (uint32_t i = 0; !apart && i <= k; i++)
        if (r->part[i] == a || r->part[i] == b)
          r->part[i] = a < b ? a : b;
    }
  }
  for (uint32_t k = 0; k < r->n; k++) {
    if (r->part[k] == k)
      number[k] = r->n_parts++;
    r->part[k] = number[r->part[k]];
  }
  return true;
}

/* ---- instances of a part ---- */

/* What statements that move read of a local, those of a part; write: of one who
 * makes it. */
static __isl_give isl_set *
reads_within(const po_program *p, const po_moving *m, isl_set *const *part,
             uint32_t array, __isl_keep isl_pw_multi_aff *write) {
  isl_union_set *all = isl_union_set_empty(isl_space_params_alloc(p->isl, 0));
  for (uint32_t k = 0; k < m->all.n; k++) {
    uint32_t s = m->all.stmts[k];
    if (!part[s] || !po_stmt_reads(&p->stmts.data[s], array))
      continue;
    isl_union_map *reads = po_reads_of(p, s, array);
    reads = isl_union_map_intersect_domain(
        reads, isl_union_set_from_set(isl_set_copy(part[s])));
    all = isl_union_set_union(all, isl_union_map_range(reads));
  }
  isl_space *space = isl_space_range(isl_pw_multi_aff_get_space(write));
  isl_set *set = isl_union_set_extract_set(all, space);
  isl_union_set_free(all);
  return set;
}

/* The instances of a statement that write these elements. */
static __isl_give isl_set *
writing(const po_stmt *s, __isl_keep isl_set *elements) {
  isl_map *write = isl_map_from_pw_multi_aff(isl_pw_multi_aff_copy(s->write));
  write = isl_map_intersect_range(write, isl_set_copy(elements));
  return isl_set_coalesce(
      isl_set_intersect(isl_map_domain(write), isl_set_copy(s->domain)));
}

/* By statement: what of those that move makes the elements; in the pool. */
static bool
find_part(po_program *p, const po_moving *m, isl_set *elements,
          isl_set **part) {
  for (uint32_t k = 0; k < m->n; k++) {
    const po_block *w = &m->writers[k];
    po_pool_reserve(&p->pool, w->n + 1);
    isl_set *need = elements;
    if (k)
      need =
          po_keep_set(&p->pool, reads_within(p, m, part, m->arrays[k],
                                             p->stmts.data[w->stmts[0]].write));
    for (uint32_t j = 0; need && j < w->n; j++)
      part[w->stmts[j]] =
          po_keep_set(&p->pool, writing(&p->stmts.data[w->stmts[j]], need));
  }
  return !p->pool.failed;
}

/* ---- copies ---- */

typedef struct copies {
  uint32_t *stmt; /* by statement; PO_NO_NODE: none */
  uint32_t array[8], n;
} copies;

static void
copy_array(po_program *p, uint32_t array) {
  assert(array < p->arrays.len);
  po_array a = p->arrays.data[array];
  a.name = po_fresh_array_name(p, a.name);
  bs_push(p->ctx.heap, &p->arrays, a);
}

static isl_pw_multi_aff *
into(po_program *p, isl_pw_multi_aff *index, uint32_t array) {
  assert(array < p->arrays.len);
  po_pool_reserve(&p->pool, 1);
  return po_keep_pw_multi_aff(
      &p->pool, isl_pw_multi_aff_set_tuple_id(
                    isl_pw_multi_aff_copy(index), isl_dim_out,
                    isl_id_alloc(p->isl, p->arrays.data[array].name, NULL)));
}

static void
read_other(po_program *p, uint32_t stmt, uint32_t from, uint32_t to) {
  assert(stmt < p->stmts.len);
  po_stmt *s = &p->stmts.data[stmt];
  po_expr *exprs =
      bs_arena_copy(&p->arena, s->exprs, s->n_exprs * sizeof *exprs);
  for (uint32_t k = 0; k < s->n_exprs; k++)
    if (exprs[k].kind == PO_READ && exprs[k].array == from) {
      exprs[k].array = to;
      exprs[k].index = into(p, exprs[k].index, to);
    }
  s->exprs = exprs;
}

/* Whatever is an array that moves is its copy in these statements. */
static void
use_copies(po_program *p, const po_moving *m, const copies *c) {
  for (uint32_t k = 0; k < m->all.n; k++) {
    uint32_t s = c->stmt[m->all.stmts[k]];
    for (uint32_t j = 0; s != PO_NO_NODE && j < c->n; j++) {
      po_stmt *stmt = &p->stmts.data[s];
      if (stmt->array == m->arrays[j]) {
        stmt->array = c->array[j];
        stmt->write = into(p, stmt->write, c->array[j]);
      }
      if (po_stmt_reads(stmt, m->arrays[j]))
        read_other(p, s, m->arrays[j], c->array[j]);
    }
  }
}

/* A child of the root again, with the leaves that have a part. */
static void
copy_tree(po_program *p, uint32_t top, uint32_t before, isl_set *const *part,
          const copies *c) {
  uint32_t n = p->nest.nodes.len;
  uint32_t *made = bs_arena_calloc(&p->arena, n, sizeof *made);
  for (uint32_t k = top; k != PO_NO_NODE; k = po_nest_next(p, k, top)) {
    po_nest_node was = *po_node(p, k);
    uint32_t at = k == top ? was.parent : made[was.parent];
    uint32_t place = k == top ? before : PO_NO_NODE;
    if (was.kind == PO_LEAF && part[was.stmt] &&
        isl_set_is_empty(part[was.stmt]) == isl_bool_false) {
      c->stmt[was.stmt] =
          po_copy_stmt(p, was.stmt, isl_set_copy(part[was.stmt]));
      po_nest_add_leaf(p, at, place, c->stmt[was.stmt]);
    } else if (was.kind == PO_LOOP) {
      made[k] = po_nest_add_loop(p, at, place, po_nest_fresh(p, was.name));
      po_run_as(po_node(p, made[k]), &was);
    }
  }
  for (uint32_t k = n; k < p->nest.nodes.len; k++)
    po_nest_prune(p, k);
}

/* { copy[i] -> S[i] } */
static __isl_give isl_union_map *
origins(const po_program *p, const po_moving *m, const copies *c) {
  isl_union_map *all = isl_union_map_empty(isl_space_params_alloc(p->isl, 0));
  for (uint32_t k = 0; k < m->all.n; k++) {
    uint32_t s = c->stmt[m->all.stmts[k]];
    if (s == PO_NO_NODE)
      continue;
    isl_map *same = isl_set_identity(isl_set_copy(p->stmts.data[s].domain));
    same = isl_map_set_tuple_id(
        same, isl_dim_out,
        isl_set_get_tuple_id(p->stmts.data[m->all.stmts[k]].domain));
    all = isl_union_map_add_map(all, same);
  }
  return all;
}

static bool
holds_some(const po_program *p, const po_block *of, uint32_t top) {
  for (uint32_t k = po_nest_first_leaf(p, top); k != PO_NO_NODE;
       k = po_nest_next_leaf(p, k, top))
    if (po_in_block(of, po_node(p, k)->stmt))
      return true;
  return false;
}

/* The nests that make a part again, behind those that make it now, and their
 * origins, kept. */
static isl_union_map *
copy_part(po_program *p, const po_moving *m, isl_set *const *part, copies *c) {
  c->n = m->n;
  for (uint32_t k = 0; k < m->n; k++) {
    copy_array(p, m->arrays[k]);
    c->array[k] = p->arrays.len - 1;
  }
  uint32_t n = p->stmts.len, next;
  c->stmt = BS_NEWS(&p->arena, uint32_t, n + 1);
  for (uint32_t k = 0; k < n; k++)
    c->stmt[k] = PO_NO_NODE;
  for (uint32_t top = po_node(p, 0)->first; top != PO_NO_NODE; top = next) {
    next = po_node(p, top)->next;
    if (holds_some(p, &m->all, top))
      copy_tree(p, top, next, part, c);
  }
  use_copies(p, m, c);
  po_pool_reserve(&p->pool, 1);
  return po_keep_union_map(&p->pool, origins(p, m, c));
}

/* What moves is left with the instances of a part. */
static void
keep_part(po_program *p, const po_moving *m, isl_set *const *part, uint32_t n) {
  for (uint32_t k = n; k-- > 0;) {
    if (!po_in_block(&m->all, k))
      continue;
    p->stmts.data[k].domain = part[k];
    if (isl_set_is_empty(part[k]) == isl_bool_true)
      po_remove_stmt(p, k);
  }
}

/* ---- divide, trim ---- */

static bool
is_recursive(const po_program *p, const po_moving *m) {
  for (uint32_t k = 0; k < m->n; k++)
    for (uint32_t j = 0; j < m->writers[k].n; j++)
      if (po_stmt_reads(&p->stmts.data[m->writers[k].stmts[j]], m->arrays[k]))
        return true;
  return false;
}

/* Who makes and who reads an array; false with a diagnostic. */
static bool
look(po_program *p, const po_step_call *call, po_moving *m, readers *r) {
  uint32_t array = call->args[0].array;
  const char *name = p->arrays.data[array].name;
  po_arg what = {.kind = PO_ARG_STMT, .array = array};
  po_block block;
  if (!po_layout_is_ours(p, call, array) ||
      !po_block_of(p, call, &what, &block))
    return false;
  if (!po_find_moving(p, array, &block, m))
    return po_refuse(p, call, "too-large", "%s is made by too many statements",
                     name);
  if (is_recursive(p, m))
    return po_refuse(p, call, "recursive",
                     "what makes %s, or a local that goes with it, reads it",
                     name);
  if (!find_readers(p, m, array, r))
    return po_refuse(p, call, "too-large", "%s is read by more than %d nests",
                     name, MOST_READERS);
  return r->n || po_refuse(p, call, "no-consumer", "nothing reads %s", name);
}

/* An element that two of the readers read. */
static void
common_element(const readers *r, uint32_t rank, int64_t *at) {
  isl_set *both = isl_set_empty(isl_set_get_space(r->reads[0]));
  for (uint32_t k = 0; k < r->n; k++)
    for (uint32_t j = 0; j < k; j++)
      both = isl_set_union(both, isl_set_intersect(isl_set_copy(r->reads[j]),
                                                   isl_set_copy(r->reads[k])));
  isl_point *point = isl_set_sample_point(both);
  for (uint32_t d = 0; d < rank; d++)
    at[d] =
        po_int_or(isl_point_get_coordinate_val(point, isl_dim_set, (int)d), 0);
  isl_point_free(point);
}

/* Of the first two readers: an element that both read. */
static bool
refuse_meeting(const po_program *p, const po_step_call *call,
               const readers *r) {
  const po_array *a = &p->arrays.data[call->args[0].array];
  if (r->n < 2)
    return po_refuse(p, call, "one-reader", "only one nest reads %s", a->name);
  int64_t at[GS_MAX_RANK];
  common_element(r, a->rank, at);
  bs_text text;
  bs_text_init(&text, p->ctx.heap);
  for (uint32_t d = 0; d < a->rank; d++)
    bs_putf(&text, "%s%lld", d ? "," : "", (long long)at[d]);
  po_refuse(p, call, "parts-meet",
            "the parts of %s that %u nests read meet: %s[%s] is in two of them",
            a->name, r->n, a->name, bs_text_str(&text));
  bs_text_done(&text);
  bs_hint(p->ctx.diags, "trim removes what nothing reads");
  return false;
}

/* Elements of a part, kept. */
static isl_set *
elements_of(po_program *p, const readers *r, uint32_t part) {
  isl_set *all = NULL;
  po_pool_reserve(&p->pool, 1);
  for (uint32_t k = 0; k < r->n; k++)
    if (r->part[k] == part)
      all = all ? isl_set_union(all, isl_set_copy(r->reads[k]))
                : isl_set_copy(r->reads[k]);
  return po_keep_set(&p->pool, isl_set_coalesce(all));
}

/* Readers of a part read its copy. */
static void
redirect(po_program *p, const readers *r, uint32_t part, uint32_t n,
         uint32_t array, uint32_t copy) {
  for (uint32_t s = 0; s < n; s++) {
    uint32_t k = reader_at(r, po_nest_root(p, p->stmts.data[s].leaf));
    if (k < r->n && r->part[k] == part &&
        po_stmt_reads(&p->stmts.data[s], array))
      read_other(p, s, array, copy);
  }
}

/* What makes each part, by statement; NULL with a diagnostic. */
static isl_set ***
makers_of(po_program *p, const po_step_call *call, const po_moving *m,
          const readers *r) {
  isl_set ***part = BS_NEWS(&p->arena, isl_set **, r->n_parts);
  bool ok = true;
  for (uint32_t g = 0; ok && g < r->n_parts; g++) {
    part[g] = BS_NEWS(&p->arena, isl_set *, p->stmts.len + 1);
    ok = find_part(p, m, elements_of(p, r, g), part[g]);
  }
  if (!ok)
    po_refuse(p, call, "too-complex", "what is read of %s could not be found",
              p->arrays.data[m->arrays[0]].name);
  return ok ? part : NULL;
}

/* Both, kept. */
static isl_union_map *
with_more(po_program *p, __isl_keep isl_union_map *origin,
          __isl_keep isl_union_map *more) {
  po_pool_reserve(&p->pool, 1);
  return po_keep_union_map(&p->pool,
                           isl_union_map_union(isl_union_map_copy(origin),
                                               isl_union_map_copy(more)));
}

/* The first part stays where it is made, the others get copies. */
static bool
divide(po_program *p, po_step_call *call, const po_moving *m, const readers *r,
       isl_set ***part) {
  uint32_t n = p->stmts.len;
  po_program *before = po_copy(p);
  po_pool_reserve(&p->pool, 1);
  isl_union_map *origin = po_keep_union_map(
      &p->pool, isl_union_map_empty(isl_space_params_alloc(p->isl, 0)));
  for (uint32_t g = 1; g < r->n_parts; g++) {
    copies c;
    isl_union_map *more = copy_part(p, m, part[g], &c);
    redirect(p, r, g, n, m->arrays[0], c.array[0]);
    origin = with_more(p, origin, more);
  }
  keep_part(p, m, part[0], n);
  po_forget_dependences(p);
  po_change change = {.origin = isl_union_map_copy(origin)};
  bool ok =
      !p->pool.failed && po_values_are_preserved(before, p, call, &change);
  po_free(before);
  return ok;
}

bool
po_apply_divide(po_program *p, po_step_call *call) {
  assert(call->args[0].kind == PO_ARG_ARRAY);
  po_moving *m = BS_NEW(&p->arena, po_moving);
  readers r = {.n = 0};
  if (!look(p, call, m, &r))
    return false;
  if (!find_parts(&r))
    return po_refuse(p, call, "too-complex",
                     "the parts of %s could not be compared",
                     p->arrays.data[call->args[0].array].name);
  if (r.n_parts < 2)
    return refuse_meeting(p, call, &r);
  isl_set ***part = makers_of(p, call, m, &r);
  return part && divide(p, call, m, &r, part);
}

/* ---- trim ---- */

/* Some instance of what moves is in no part. */
static bool
is_less(const po_program *p, const po_moving *m, isl_set *const *part) {
  for (uint32_t k = 0; k < m->all.n; k++) {
    uint32_t s = m->all.stmts[k];
    if (isl_set_is_subset(p->stmts.data[s].domain, part[s]) == isl_bool_false)
      return true;
  }
  return false;
}

bool
po_apply_trim(po_program *p, po_step_call *call) {
  assert(call->args[0].kind == PO_ARG_ARRAY);
  po_moving *m = BS_NEW(&p->arena, po_moving);
  readers r = {.n = 0};
  if (!look(p, call, m, &r))
    return false;
  r.n_parts = 1; /* of all readers: their numbers are 0 */
  isl_set ***part = makers_of(p, call, m, &r);
  if (!part)
    return false;
  if (!is_less(p, m, part[0]))
    return po_refuse(p, call, "nothing-to-do", "all of %s is read",
                     p->arrays.data[call->args[0].array].name);
  return divide(p, call, m, &r, part);
}

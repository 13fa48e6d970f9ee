/* SPDX-License-Identifier: MIT */
/* cache.c - cache_read, cache_write, pack: a copy of part of an array that
 * statements read or write instead of it; set_buffer: where arrays are kept.
 *
 * The part is the exact set of elements that one iteration of the loops down
 * to the chosen place touches; it lies in memory as the box around it.  A
 * cache under a loop is a local with the indices of the loops around folded
 * away, so that their iterations do not meet in it. */
#include "poly/loops/affine.h"
#include "poly/schedule/schedule_edit.h"
#include "poly/schedule/schedule_layout.h"
#include <assert.h>
#include <string.h>

/* ---- scopes ---- */

static const struct {
  const char *name;
  po_role role;
  po_scope scope;
} scopes[] = {
    {"global", PO_WORKSPACE, PO_STACK},  {"local", PO_LOCAL, PO_STACK},
    {"stack", PO_LOCAL, PO_STACK},       {"shared", PO_LOCAL, PO_SHARED},
    {"register", PO_LOCAL, PO_REGISTER},
};

static bool
find_scope(const po_program *p, const po_step_call *call, const char *word,
           uint32_t *out) {
  for (*out = 0; *out < sizeof scopes / sizeof *scopes; ++*out)
    if (!strcmp(scopes[*out].name, word))
      return true;
  po_refuse(p, call, "scope", "there is no memory %s", word);
  bs_hint(p->ctx.diags, "global, local, stack, shared or register");
  return false;
}

/* ---- the copy ---- */

typedef struct cache {
  po_program *p;
  po_step_call *call;
  uint32_t array, copy; /* of the array; its cache */
  uint32_t n;           /* loops around the place */
  uint32_t loops[PO_MAX_DEPTH];
  isl_map *elements; /* { [o] -> A[x] } */
  po_footprint f;
  const char *stmt; /* the one that copies */
} cache;

static void
add_array(cache *c, uint32_t scope) {
  po_program *p = c->p;
  po_array a = p->arrays.data[c->array];
  const char *wish =
      bs_arena_printf(&p->arena, "%s_%s", a.name, scopes[scope].name);
  a.name = po_fresh_array_name(p, wish);
  a.role = c->n ? PO_LOCAL : scopes[scope].role;
  a.scope = scopes[scope].scope;
  a.term = GS_NO_TERM;
  a.data = NULL;
  a.number = 0;
  a.offset = 0;
  bs_push(p->ctx.heap, &p->arrays, a);
  c->copy = p->arrays.len - 1;
}

/* { K[o, x] -> A[x] }, or with o alone. */
static __isl_give isl_multi_aff *
of_copy(const cache *c, uint32_t from, uint32_t n) {
  uint32_t all = c->n + c->f.rank;
  isl_multi_aff *map = po_part(c->p->isl, all, from, n);
  return isl_multi_aff_set_tuple_id(map, isl_dim_in,
                                    isl_id_alloc(c->p->isl, c->stmt, NULL));
}

static const char *const *
copy_iters(cache *c) {
  po_program *p = c->p;
  const char **names = BS_NEWS(&p->arena, const char *, c->n + c->f.rank + 1);
  for (uint32_t k = 0; k < c->n; k++)
    names[k] = bs_arena_strdup(&p->arena, po_node(p, c->loops[k])->name);
  for (uint32_t k = 0; k < c->f.rank; k++)
    names[c->n + k] = bs_arena_printf(&p->arena, "ax%u", k);
  return names;
}

/* K[o, x]: to[..] = from[..], with loops of its own under `parent`. */
static void
add_copy(cache *c, bool out, uint32_t parent, uint32_t before) {
  po_program *p = c->p;
  isl_ctx *isl = p->isl;
  const po_array *a = &p->arrays.data[c->array];
  po_stmt s = {.kind = PO_ASSIGN, .term = a->term};
  s.name = c->stmt = po_fresh_stmt_name(
      p, bs_arena_printf(&p->arena, "%s_%s", p->arrays.data[c->copy].name,
                         out ? "out" : "in"));
  s.span = c->call->span;
  s.span.file = 0;
  s.n_iters = s.n_outer = c->n + c->f.rank;
  s.iters = copy_iters(c);
  s.leaf = PO_NO_NODE;
  po_pool_reserve(&p->pool, 8);
  isl_set *domain = isl_set_flatten(isl_map_wrap(isl_map_copy(c->elements)));
  s.domain = po_keep_set(
      &p->pool, isl_set_set_tuple_id(domain, isl_id_alloc(isl, s.name, NULL)));
  s.time = po_keep_multi_aff(&p->pool, of_copy(c, 0, s.n_iters));
  isl_multi_aff *whole =
      isl_multi_aff_set_tuple_id(of_copy(c, c->n, c->f.rank), isl_dim_out,
                                 isl_id_alloc(isl, a->name, NULL));
  isl_pw_multi_aff *there =
      po_keep_pw_multi_aff(&p->pool, isl_pw_multi_aff_from_multi_aff(whole));
  po_expr *e = BS_NEW(&p->arena, po_expr);
  e->kind = PO_READ;
  e->dtype = a->dtype;
  s.exprs = e;
  s.n_exprs = 1;
  bs_push(p->ctx.heap, &p->stmts, s);
  uint32_t k = p->stmts.len - 1;
  isl_pw_multi_aff *here = po_lay_in_footprint(p, k, there, c->copy, &c->f);
  p->stmts.data[k].array = out ? c->array : c->copy;
  p->stmts.data[k].write = out ? there : here;
  e->array = out ? c->copy : c->array;
  e->index = out ? here : there;
  po_nest_alone(p, k, parent, before, c->n);
}

/* A statement uses the cache instead of the array. */
static void
redirect(cache *c, uint32_t k, bool writes) {
  po_program *p = c->p;
  po_stmt *stmt = &p->stmts.data[k];
  if (writes && stmt->array == c->array) {
    stmt->write = po_lay_in_footprint(p, k, stmt->write, c->copy, &c->f);
    stmt->array = c->copy;
  }
  po_expr *exprs =
      bs_arena_copy(&p->arena, stmt->exprs, stmt->n_exprs * sizeof *exprs);
  for (uint32_t j = 0; j < stmt->n_exprs; j++) {
    if (exprs[j].kind != PO_READ || exprs[j].array != c->array)
      continue;
    exprs[j].index = po_lay_in_footprint(p, k, exprs[j].index, c->copy, &c->f);
    exprs[j].array = c->copy;
  }
  stmt->exprs = exprs;
}

/* The place: a loop all of the block is under, or the root. */
static bool
find_place(cache *c, const po_block *b, const po_arg *at) {
  po_program *p = c->p;
  c->n = 0;
  if (at->kind == PO_ARG_END)
    return true;
  for (uint32_t k = 0; k < b->n; k++)
    if (!po_nest_is_below(p, p->stmts.data[b->stmts[k]].leaf, at->node))
      return po_refuse(p, c->call, "not-nested", "%s is not inside loop %s",
                       p->stmts.data[b->stmts[k]].name,
                       po_node(p, at->node)->name);
  c->n = po_nest_loops(p, at->node, c->loops) + 1;
  c->loops[c->n - 1] = at->node;
  return true;
}

static bool
measure(cache *c, __isl_take isl_map *elements) {
  po_program *p = c->p;
  c->elements = po_keep_map(&p->pool, isl_map_coalesce(elements));
  return (c->elements && po_find_footprint(p, c->elements, c->n, &c->f)) ||
         po_refuse(p, c->call, "footprint",
                   "the elements of %s that are used have no bounds",
                   p->arrays.data[c->array].name);
}

static isl_union_map *
no_origin(const po_program *p) {
  return isl_union_map_empty(isl_space_params_alloc(p->isl, 0));
}

/* ---- cache_read ---- */

static bool
find_readers(cache *c, const po_arg *what, po_block *readers) {
  po_block named;
  po_program *p = c->p;
  if (!po_block_of(p, c->call, what, &named))
    return false;
  readers->n = 0;
  for (uint32_t k = 0; k < named.n; k++)
    if (po_stmt_reads(&p->stmts.data[named.stmts[k]], c->array))
      readers->stmts[readers->n++] = named.stmts[k];
  if (readers->n)
    return true;
  return po_refuse(p, c->call, "no-consumer", "%s does not read %s",
                   p->stmts.data[what->stmt].name,
                   p->arrays.data[c->array].name);
}

static bool
check_flexible(const cache *c, const po_block *b) {
  for (uint32_t k = 0; k < b->n; k++) {
    const po_stmt *stmt = &c->p->stmts.data[b->stmts[k]];
    bool rigid = stmt->kind == PO_CALL;
    for (uint32_t j = 0; j < stmt->n_exprs; j++)
      rigid |=
          stmt->exprs[j].kind == PO_GATHER && stmt->exprs[j].array == c->array;
    if (rigid)
      return po_refuse(c->p, c->call, "rigid",
                       "%s uses %s in a call or look-up, which need it whole",
                       stmt->name, c->p->arrays.data[c->array].name);
  }
  return true;
}

/* The first child of the root that has a reader. */
static uint32_t
first_nest_of(const po_program *p, const po_block *readers) {
  uint32_t top = po_node(p, 0)->first;
  for (; top != PO_NO_NODE; top = po_node(p, top)->next)
    for (uint32_t k = 0; k < readers->n; k++)
      if (po_nest_root(p, p->stmts.data[readers->stmts[k]].leaf) == top)
        return top;
  return top;
}

/* Everything but the check of values. */
static bool
read_through(cache *c, const po_block *readers, uint32_t scope) {
  po_program *p = c->p;
  isl_map *all = NULL;
  for (uint32_t k = 0; k < readers->n; k++) {
    isl_map *one = po_reads_in(p, readers->stmts[k], c->array, c->n);
    all = all ? isl_map_union(all, one) : one;
  }
  if (!measure(c, all))
    return false;
  add_array(c, scope);
  if (!po_shape_by_footprint(p, c->call, c->copy, &c->f))
    return false;
  for (uint32_t k = 0; k < readers->n; k++)
    redirect(c, readers->stmts[k], false);
  uint32_t parent = c->n ? c->loops[c->n - 1] : 0;
  uint32_t before =
      c->n ? po_node(p, parent)->first : first_nest_of(p, readers);
  add_copy(c, false, parent, before);
  po_forget_dependences(p);
  return true;
}

static bool
cache_reads(po_program *p, po_step_call *call, const char *word,
            const po_arg *at, cache *c) {
  po_block readers;
  uint32_t scope;
  *c = (cache){.p = p, .call = call, .array = call->args[1].array};
  if (!find_scope(p, call, word, &scope) ||
      !find_readers(c, &call->args[0], &readers) ||
      !check_flexible(c, &readers) || !find_place(c, &readers, at))
    return false;
  po_program *before = po_copy(p);
  po_pool_reserve(&p->pool, 2);
  bool ok = read_through(c, &readers, scope);
  if (ok) {
    po_change change = {
        .origin = no_origin(p), .copies = {c->stmt}, .n_copies = 1};
    ok = po_values_are_preserved(before, p, call, &change);
  }
  po_free(before);
  return ok;
}

bool
po_apply_cache_read(po_program *p, po_step_call *call) {
  cache c;
  return cache_reads(p, call, call->args[2].word, &call->args[3], &c);
}

bool
po_apply_pack(po_program *p, po_step_call *call) {
  cache c;
  return cache_reads(p, call, call->args[3].word, &call->args[4], &c) &&
         po_change_layout(p, call, c.copy, call->args[2].word);
}

/* ---- cache_write ---- */

static isl_map *
all_written(const cache *c, const po_block *b) {
  po_program *p = c->p;
  isl_map *all = NULL;
  for (uint32_t k = 0; k < b->n; k++) {
    const po_stmt *stmt = &p->stmts.data[b->stmts[k]];
    isl_map *one = po_accessed_in(
        stmt, c->n,
        isl_map_from_pw_multi_aff(isl_pw_multi_aff_copy(stmt->write)));
    if (po_stmt_reads(stmt, c->array))
      one = isl_map_union(one, po_reads_in(p, b->stmts[k], c->array, c->n));
    all = all ? isl_map_union(all, one) : one;
  }
  return all;
}

/* The last child of the root that has a writer. */
static uint32_t
last_nest_of(const po_program *p, const po_block *b) {
  uint32_t last = b->n ? po_nest_root(p, p->stmts.data[b->stmts[0]].leaf) : 0;
  for (uint32_t k = 1; k < b->n; k++) {
    uint32_t one = po_nest_root(p, p->stmts.data[b->stmts[k]].leaf);
    for (uint32_t n = last; n != PO_NO_NODE; n = po_node(p, n)->next)
      if (n == one)
        last = one;
  }
  return last;
}

static bool
write_through(cache *c, const po_block *b, uint32_t scope) {
  po_program *p = c->p;
  if (!measure(c, all_written(c, b)))
    return false;
  add_array(c, scope);
  if (!po_shape_by_footprint(p, c->call, c->copy, &c->f))
    return false;
  uint32_t last = c->n ? 0 : last_nest_of(p, b);
  for (uint32_t k = 0; k < b->n; k++)
    redirect(c, b->stmts[k], true);
  /* only what is written is copied out */
  if (c->n)
    add_copy(c, true, c->loops[c->n - 1], PO_NO_NODE);
  else
    add_copy(c, true, 0, po_node(p, last)->next);
  po_forget_dependences(p);
  return true;
}

bool
po_apply_cache_write(po_program *p, po_step_call *call) {
  po_block block;
  uint32_t scope;
  po_arg what = call->args[0];
  cache c = {.p = p, .call = call};
  what.array = c.array = p->stmts.data[what.stmt].array;
  if (!find_scope(p, call, call->args[1].word, &scope) ||
      !po_block_of(p, call, &what, &block) || !check_flexible(&c, &block) ||
      !find_place(&c, &block, &call->args[2]))
    return false;
  po_program *before = po_copy(p);
  po_pool_reserve(&p->pool, 2);
  bool ok = write_through(&c, &block, scope);
  if (ok) {
    po_change change = {
        .origin = no_origin(p), .copies = {c.stmt}, .n_copies = 1};
    ok = po_values_are_preserved(before, p, call, &change);
  }
  po_free(before);
  return ok;
}

/* ---- set_buffer ---- */

/* Nothing is related but to itself. */
static bool
is_identity(__isl_keep isl_union_map *map) {
  isl_union_set *all = isl_union_map_domain(isl_union_map_copy(map));
  isl_union_map *same = isl_union_set_identity(all);
  bool yes = isl_union_map_is_subset(map, same) == isl_bool_true;
  isl_union_map_free(same);
  return yes;
}

/* { instance -> value of loop k }, of what uses the array below it; whether
 * something does, and whether something does elsewhere. */
static __isl_give isl_union_map *
used_below(const po_program *p, uint32_t array, uint32_t k, bool *inside,
           bool *outside) {
  uint32_t depth = po_nest_depth(p, k);
  isl_union_map *at = isl_union_map_empty(isl_space_params_alloc(p->isl, 0));
  *inside = *outside = false;
  for (uint32_t s = 0; s < p->stmts.len; s++) {
    const po_stmt *stmt = &p->stmts.data[s];
    if (!po_stmt_accesses(stmt, array))
      continue;
    bool below = po_nest_is_below(p, stmt->leaf, k);
    *inside |= below;
    *outside |= !below;
    if (below) {
      isl_map *one = po_prefix(stmt, depth + 1);
      one = isl_map_project_out(one, isl_dim_out, 0, depth);
      at = isl_union_map_union(at, isl_union_map_from_map(one));
    }
  }
  return at;
}

/* Of all accesses: whether elements are used in other iterations, too. */
static bool
are_apart(__isl_keep isl_union_map *all, __isl_take isl_union_map *at) {
  isl_union_map *users =
      isl_union_map_apply_domain(isl_union_map_copy(all), at);
  users = isl_union_map_reverse(users);
  isl_union_map *apart = isl_union_map_apply_range(
      isl_union_map_reverse(isl_union_map_copy(users)), users);
  bool found = !is_identity(apart);
  isl_union_map_free(apart);
  return found;
}

/* Whether an element is used in different iterations of a bound loop, or both
 * inside and outside of one. */
static bool
crosses(po_program *p, uint32_t array, bool blocks_only, const char **loop) {
  po_accesses a = po_accesses_of(p, array);
  isl_union_map *all =
      isl_union_map_union(isl_union_map_copy(a.reads),
                          isl_union_map_union(isl_union_map_copy(a.writes),
                                              isl_union_map_copy(a.updates)));
  bool found = false;
  for (uint32_t k = 1; !found && k < p->nest.nodes.len; k++) {
    const po_nest_node *n = po_node(p, k);
    if (n->kind != PO_LOOP || n->mark != PO_BIND ||
        (blocks_only && n->bind >= PO_THREAD_X))
      continue;
    bool inside, outside;
    isl_union_map *at = used_below(p, array, k, &inside, &outside);
    found = are_apart(all, at) || (inside && outside);
    *loop = n->name;
  }
  isl_union_map_free(all);
  po_accesses_free(&a);
  return found;
}

bool
po_apply_set_buffer(po_program *p, po_step_call *call) {
  uint32_t array = call->args[0].array, scope;
  po_array *a = &p->arrays.data[array];
  const char *loop = NULL;
  if (!find_scope(p, call, call->args[1].word, &scope))
    return false;
  if (a->role != PO_WORKSPACE && a->role != PO_LOCAL)
    return po_refuse(p, call, "fixed", "%s is %s", a->name,
                     a->role == PO_OUTPUT  ? "an output"
                     : a->role == PO_INPUT ? "an input"
                                           : "a constant");
  if (scopes[scope].role == PO_LOCAL &&
      crosses(p, array, scopes[scope].scope == PO_SHARED, &loop))
    return po_refuse(p, call, "crosses",
                     "an element of %s is used by different iterations of "
                     "loop %s, which do not share %s memory",
                     a->name, loop, scopes[scope].name);
  a->role = scopes[scope].role;
  a->scope = scopes[scope].scope;
  return true;
}

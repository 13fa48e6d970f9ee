/* SPDX-License-Identifier: MIT */
/* device_nest.c - a kernel's body from its part of the nest.
 *
 * The nest is walked as it stands, so that barriers and bound loops are where
 * the schedule has them.  A loop runs from the least to the greatest of its
 * values; what else is known of an instance is the guard of its statement,
 * simplified by what the loops around say.  A loop over threads is the
 * thread's index, guarded at once, but where a barrier is below: all threads
 * of a block have to come there, so that there the guards go down to the
 * statements, and bounds of serial loops are taken over all threads.  Code
 * under no loop of an axis that the kernel has is for index 0 of it.
 *
 * Loops are parameters of the sets here, named as the iterators are. */
#include "codegen/build/build.h"
#include "codegen/device/device.h"
#include <assert.h>
#include <isl/space.h>
#include <isl/val.h>

const char *const cg_axis_names[CG_AXES] = {"blockIdx.x",  "blockIdx.y",
                                            "blockIdx.z",  "threadIdx.x",
                                            "threadIdx.y", "threadIdx.z"};

typedef struct walk {
  cg_launch *c;
  cg_emitter *e;
  cg_scope scope;
  uint32_t loops[PO_MAX_DEPTH]; /* around */
} walk;

static const po_nest_node *
at(const walk *w, uint32_t node) {
  assert(node < w->e->p->nest.nodes.len);
  return &w->e->p->nest.nodes.data[node];
}

static void
name_of(uint32_t depth, char name[16]) {
  snprintf(name, 16, depth ? "i%u" : "i", depth);
}

/* ---- sets whose parameters are the loops around ---- */

/* Nothing is known of `depth` loops. */
static __isl_give isl_set *
anything(const walk *w, uint32_t depth) {
  isl_space *space = isl_space_params_alloc(w->e->p->isl, depth);
  for (uint32_t k = 0; k < depth; k++) {
    char name[16];
    name_of(k, name);
    space = isl_space_set_dim_name(space, isl_dim_param, k, name);
  }
  return isl_set_universe(space);
}

/* { [t..., x...] } -> [t...] -> { [x...] }, the first n dimensions. */
static __isl_give isl_set *
to_parameters(__isl_take isl_set *set, uint32_t n) {
  set = isl_set_move_dims(set, isl_dim_param, 0, isl_dim_set, 0, n);
  for (uint32_t k = 0; k < n; k++) {
    char name[16];
    name_of(k, name);
    set = isl_set_set_dim_name(set, isl_dim_param, k, name);
  }
  return set;
}

/* The iterator at this depth as a function of the parameters of `like`. */
static __isl_give isl_pw_aff *
iterator(__isl_keep isl_set *like, uint32_t depth) {
  isl_local_space *space =
      isl_local_space_from_space(isl_space_params(isl_set_get_space(like)));
  return isl_pw_aff_from_aff(
      isl_aff_var_on_domain(space, isl_dim_param, depth));
}

static __isl_give isl_set *
between(__isl_take isl_set *known, uint32_t depth, __isl_take isl_pw_aff *lo,
        __isl_take isl_pw_aff *hi) {
  isl_set *ge = isl_pw_aff_ge_set(iterator(known, depth), lo);
  isl_set *le = isl_pw_aff_le_set(iterator(known, depth), hi);
  return isl_set_intersect(
      known, isl_set_intersect(isl_set_params(ge), isl_set_params(le)));
}

static __isl_give isl_pw_aff *
number(__isl_keep isl_set *like, int64_t n) {
  isl_local_space *space =
      isl_local_space_from_space(isl_space_params(isl_set_get_space(like)));
  return isl_pw_aff_from_aff(isl_aff_val_on_domain(
      space, isl_val_int_from_si(isl_set_get_ctx(like), n)));
}

/* With one parameter more. */
static __isl_give isl_set *
extend(const walk *w, __isl_keep isl_set *known, uint32_t depth) {
  return isl_set_align_params(
      isl_set_copy(known),
      isl_set_get_space(po_keep_set(&w->e->pool, anything(w, depth + 1))));
}

/* An expression of isl; NULL: it could not be made. */
static const cg_expr *
made(walk *w, __isl_take isl_ast_expr *expr) {
  uint32_t mark = po_pool_mark(&w->e->pool);
  expr = po_keep_ast_expr(&w->e->pool, expr);
  const cg_expr *out = expr ? cg_make_index(w->e, expr) : NULL;
  po_pool_release(&w->e->pool, mark);
  w->e->failed |= !out;
  return out ? out : cg_number(&w->e->arena, 0);
}

static isl_ast_build *
build_in(walk *w, __isl_keep isl_set *known) {
  po_pool_reserve(&w->e->pool, 1);
  return po_keep_ast_build(&w->e->pool,
                           isl_ast_build_from_context(isl_set_copy(known)));
}

/* The value where only what is known is asked. */
static const cg_expr *
make_value(walk *w, __isl_keep isl_set *known, __isl_keep isl_pw_aff *value) {
  isl_ast_build *build = build_in(w, known);
  return made(w, isl_ast_build_expr_from_pw_aff(build, isl_pw_aff_copy(value)));
}

/* if (we are in the set) the body, which is one statement. */
static cg_node *
make_guard(walk *w, __isl_keep isl_set *known, __isl_keep isl_set *set,
           cg_node *body) {
  isl_ast_build *build = build_in(w, known);
  const cg_expr *in =
      made(w, isl_ast_build_expr_from_set(build, isl_set_copy(set)));
  cg_node *n = cg_make_if(&w->e->arena, in, body);
  n->bare = true;
  return n;
}

/* ---- statements ---- */

/* What must hold besides `known` for the statement to run; NULL: nothing. */
static isl_set *
guard_of(walk *w, const po_stmt *stmt, uint32_t depth,
         __isl_keep isl_set *known) {
  isl_map *time = isl_map_from_multi_aff(isl_multi_aff_copy(stmt->time));
  isl_set *runs = isl_set_apply(isl_set_copy(stmt->domain), time);
  runs = isl_set_coalesce(isl_set_detect_equalities(runs));
  runs = isl_set_params(to_parameters(runs, depth));
  runs = isl_set_gist(runs, isl_set_copy(known));
  runs = po_keep_set(&w->e->pool, isl_set_coalesce(runs));
  return isl_set_plain_is_universe(runs) == isl_bool_true ? NULL : runs;
}

/* [loops] -> { instance } as a function. */
static __isl_give isl_pw_multi_aff *
instance_of(const po_stmt *stmt, uint32_t depth) {
  isl_map *time = isl_map_from_multi_aff(isl_multi_aff_copy(stmt->time));
  time = isl_map_intersect_domain(time, isl_set_copy(stmt->domain));
  isl_map *from = isl_map_reverse(time);
  from = isl_map_move_dims(from, isl_dim_param, 0, isl_dim_in, 0, depth);
  for (uint32_t k = 0; k < depth; k++) {
    char name[16];
    name_of(k, name);
    from = isl_map_set_dim_name(from, isl_dim_param, k, name);
  }
  return isl_pw_multi_aff_from_set(isl_map_range(from));
}

static void
add_index(walk *w, cg_origin *note, uint32_t k, uint32_t array,
          __isl_keep isl_pw_multi_aff *index,
          __isl_keep isl_pw_multi_aff *instance,
          __isl_keep isl_ast_build *build) {
  if (!index || !cg_is_indexed(w->e, array))
    return;
  isl_pw_aff *address = po_address(&w->e->p->arrays.data[array], index);
  address = isl_pw_aff_pullback_pw_multi_aff(address,
                                             isl_pw_multi_aff_copy(instance));
  note->index[k] = made(w, isl_ast_build_expr_from_pw_aff(build, address));
}

static cg_node *
make_stmt(walk *w, uint32_t stmt, uint32_t depth, __isl_keep isl_set *known) {
  const po_stmt *s = &w->e->p->stmts.data[stmt];
  uint32_t n = s->n_exprs + 1;
  po_pool_reserve(&w->e->pool, 3);
  isl_set *context = isl_set_copy(known);
  isl_map *time = isl_map_from_multi_aff(isl_multi_aff_copy(s->time));
  isl_set *runs = isl_set_apply(isl_set_copy(s->domain), time);
  runs = isl_set_params(to_parameters(runs, depth));
  context = isl_set_intersect(context, runs);
  isl_ast_build *build =
      po_keep_ast_build(&w->e->pool, isl_ast_build_from_context(context));
  isl_pw_multi_aff *instance =
      po_keep_pw_multi_aff(&w->e->pool, instance_of(s, depth));
  cg_origin *note =
      bs_arena_calloc(&w->e->arena, 1, sizeof *note + n * sizeof *note->index);
  note->stmt = stmt;
  note->n = n;
  for (uint32_t k = 0; k < s->n_exprs; k++)
    add_index(w, note, k, s->exprs[k].array, s->exprs[k].index, instance,
              build);
  add_index(w, note, n - 1, s->array, s->write, instance, build);
  return cg_make_store(w->e, &w->scope, note);
}

static cg_node *
make_leaf(walk *w, uint32_t node, uint32_t depth, __isl_keep isl_set *known) {
  const po_stmt *stmt = &w->e->p->stmts.data[at(w, node)->stmt];
  uint32_t mark = po_pool_mark(&w->e->pool);
  po_pool_reserve(&w->e->pool, 1);
  isl_set *guard = guard_of(w, stmt, depth, known);
  cg_node *out = make_stmt(w, at(w, node)->stmt, depth, known);
  if (guard)
    out = make_guard(w, known, guard, out);
  po_pool_release(&w->e->pool, mark);
  return out;
}

/* ---- loops ---- */

static cg_node *make_children(walk *, uint32_t node, uint32_t depth,
                              __isl_keep isl_set *known);

bool
cg_is_in_kernel(const cg_launch *c, uint32_t array) {
  assert(array < c->e->p->arrays.len);
  for (uint32_t k = 0; k < c->group->n; k++) {
    const po_stmt *s = cg_stmt(c->e, c->group, k);
    bool is = s->array == array;
    for (uint32_t j = 0; j < s->n_exprs; j++)
      is |= (s->exprs[j].kind == PO_READ || s->exprs[j].kind == PO_GATHER) &&
            s->exprs[j].array == array;
    if (is)
      return true;
  }
  return false;
}

static cg_node *
declare(const cg_emitter *e, bs_arena *arena, uint32_t array) {
  assert(array < e->p->arrays.len);
  const po_array *a = &e->p->arrays.data[array];
  bool indexed = cg_is_indexed(e, array);
  cg_node *let = cg_make_let(arena, gs_dtype_table[a->dtype].c_type, a->name,
                             indexed ? NULL : cg_number(arena, 0));
  let->let.elements = indexed ? po_elements(a) : 0;
  return let;
}

static void
add_locals(walk *w, uint32_t loop, cg_list *to) {
  const po_program *p = w->e->p;
  for (uint32_t k = 0; k < p->arrays.len; k++) {
    const po_array *a = &p->arrays.data[k];
    if (a->role == PO_LOCAL && w->e->local_node[k] == loop &&
        a->scope != PO_SHARED && !po_is_large(a) && cg_is_in_kernel(w->c, k))
      cg_append(to, declare(w->e, &w->e->arena, k));
  }
}

static const char *
iterator_name(walk *w, uint32_t depth) {
  char name[16];
  name_of(depth, name);
  return bs_arena_strdup(&w->e->arena, name);
}

static const cg_expr *
on_axis(const walk *w, uint32_t axis) {
  return cg_literal(&w->e->arena, w->c->device->axes[axis]);
}

/* threadIdx.x, of the type of indices, and from where on. */
static const cg_expr *
index_on_axis(walk *w, const po_nest_node *n, int64_t min) {
  bs_arena *arena = &w->e->arena;
  const cg_expr *index = cg_cast(arena, w->e->index, on_axis(w, n->bind));
  return !min ? index
              : cg_infix(arena, min < 0 ? CG_OP_SUBTRACT : CG_OP_ADD, index,
                         cg_number(arena, min < 0 ? -min : min));
}

/* The loop is the thread's or the block's index. */
static cg_node *
make_bound(walk *w, uint32_t loop, uint32_t depth, __isl_keep isl_set *around) {
  bs_arena *arena = &w->e->arena;
  const po_nest_node *n = at(w, loop);
  int64_t min = 0, count = 0, size = w->c->size[n->bind];
  po_pool_reserve(&w->e->pool, 2);
  isl_set *known = extend(w, around, depth);
  cg_loop_range(w->e, loop, &min, &count);
  bool guard =
      count < size && (n->bind < PO_THREAD_X || !cg_has_sync(w->e, loop));
  int64_t last = guard ? min + count - 1 : min + size - 1;
  isl_pw_aff *lo = number(known, min), *hi = number(known, last);
  known = po_keep_set(&w->e->pool, between(known, depth, lo, hi));
  const char *name = iterator_name(w, depth);
  cg_list list, after;
  cg_list_init(&list);
  cg_list_init(&after);
  cg_append(&list,
            cg_make_let(arena, bs_arena_printf(arena, "const %s", w->e->index),
                        name, index_on_axis(w, n, min)));
  add_locals(w, loop, &after);
  cg_append(&after, make_children(w, loop, depth + 1, known));
  cg_append(&list, after.first);
  if (!cg_reads(after.first, name))
    cg_append(&list, cg_make_void(arena, name));
  if (!guard)
    return cg_make_block(arena, list.first);
  return cg_make_if(
      arena,
      cg_infix(arena, CG_OP_LESS, on_axis(w, n->bind), cg_number(arena, count)),
      list.first);
}

/* A loop that a barrier is in runs equally often in all threads. */
static __isl_give isl_set *
without_threads(const walk *w, __isl_take isl_set *range, uint32_t depth) {
  for (uint32_t k = 0; k < depth; k++) {
    const po_nest_node *n = at(w, w->loops[k]);
    if (n->mark != PO_BIND || n->bind < PO_THREAD_X)
      continue;
    range = isl_set_eliminate(range, isl_dim_set, k, 1);
  }
  return range;
}

/* The values of a loop in what is known around it. */
static isl_set *
range_of(walk *w, uint32_t loop, uint32_t depth, __isl_keep isl_set *around) {
  isl_set *range =
      isl_set_flatten(isl_map_wrap(po_nest_range_in(w->e->p, loop)));
  if (cg_has_sync(w->e, loop))
    range = without_threads(w, range, depth);
  range = isl_set_coalesce(to_parameters(range, depth));
  isl_set *context = isl_set_params(isl_set_copy(range));
  range = isl_set_gist_params(range, isl_set_copy(around));
  return po_keep_set(&w->e->pool, isl_set_intersect_params(range, context));
}

static cg_node *
make_serial(walk *w, uint32_t loop, uint32_t depth,
            __isl_keep isl_set *around) {
  bs_arena *arena = &w->e->arena;
  po_pool_reserve(&w->e->pool, 6);
  isl_set *range = range_of(w, loop, depth, around);
  isl_pw_aff *lo =
      po_keep_pw_aff(&w->e->pool, isl_set_dim_min(isl_set_copy(range), 0));
  isl_pw_aff *hi =
      po_keep_pw_aff(&w->e->pool, isl_set_dim_max(isl_set_copy(range), 0));
  isl_set *runs = po_keep_set(
      &w->e->pool, isl_set_intersect(isl_set_params(isl_set_copy(range)),
                                     isl_set_copy(around)));
  bool sometimes = isl_set_is_equal(runs, around) == isl_bool_false;
  isl_set *known = extend(w, runs, depth);
  known = po_keep_set(&w->e->pool, between(known, depth, isl_pw_aff_copy(lo),
                                           isl_pw_aff_copy(hi)));
  const char *name = iterator_name(w, depth);
  const cg_expr *first = make_value(w, runs, lo);
  const cg_expr *condition = cg_infix(
      arena, CG_OP_AT_MOST, cg_name(arena, name), make_value(w, runs, hi));
  cg_list body;
  cg_list_init(&body);
  add_locals(w, loop, &body);
  cg_append(&body, make_children(w, loop, depth + 1, known));
  cg_node *out =
      cg_make_for(arena, w->e->index, name, first, condition, 1, body.first);
  out->loop = out->iteration = loop;
  out->head.unrolls = at(w, loop)->mark == PO_UNROLL;
  return sometimes ? make_guard(w, around, runs, out) : out;
}

/* Axes that the kernel has, no loop around is bound to, and none below. */
static uint32_t
axes_to_guard(const walk *w, uint32_t node, uint32_t depth) {
  uint32_t axes = 0;
  for (uint32_t a = 0; a < CG_AXES; a++) {
    bool around = false;
    for (uint32_t k = 0; k < depth; k++) {
      const po_nest_node *n = at(w, w->loops[k]);
      around |= n->mark == PO_BIND && n->bind == a;
    }
    if (w->c->size[a] > 1 && !around && !(w->c->guarded >> a & 1) &&
        !cg_has_axis(w->e, node, a) &&
        (a < PO_THREAD_X || !cg_has_sync(w->e, node)))
      axes |= 1u << a;
  }
  return axes;
}

/* if (threadIdx.x == 0 && ...) */
static cg_node *
guard_axes(walk *w, uint32_t axes, cg_node *body) {
  bs_arena *arena = &w->e->arena;
  const cg_expr *all[CG_AXES];
  uint32_t n = 0;
  for (uint32_t a = 0; a < CG_AXES; a++)
    if (axes >> a & 1)
      all[n++] =
          cg_infix(arena, CG_OP_EQUAL, on_axis(w, a), cg_number(arena, 0));
  return cg_make_if(
      arena, n > 1 ? cg_infix_of(arena, CG_OP_AND, n, all) : all[0], body);
}

/* NULL: nothing is left to do there. */
static cg_node *
make_node(walk *w, uint32_t node, uint32_t depth, __isl_keep isl_set *known) {
  if (po_nest_is_idle(w->e->p, node))
    return NULL;
  if (at(w, node)->kind == PO_SYNC)
    return cg_node_new(&w->e->arena, CG_BARRIER);
  uint32_t mark = po_pool_mark(&w->e->pool);
  uint32_t axes = axes_to_guard(w, node, depth);
  cg_node *out = NULL;
  w->c->guarded |= axes;
  if (at(w, node)->kind == PO_LEAF) {
    out = make_leaf(w, node, depth, known);
  } else if (depth < PO_MAX_DEPTH) {
    w->loops[depth] = node;
    out = (at(w, node)->mark == PO_BIND ? make_bound
                                        : make_serial)(w, node, depth, known);
  }
  w->c->guarded &= ~axes;
  po_pool_release(&w->e->pool, mark);
  return axes ? guard_axes(w, axes, out) : out;
}

static cg_node *
make_children(walk *w, uint32_t node, uint32_t depth,
              __isl_keep isl_set *known) {
  cg_list list;
  cg_list_init(&list);
  for (uint32_t k = at(w, node)->first; k != PO_NO_NODE && !w->e->failed;
       k = at(w, k)->next)
    cg_append(&list, make_node(w, k, depth, known));
  return list.first;
}

/* ---- the body ---- */

static void
add_shared(cg_launch *c, cg_list *to) {
  const po_program *p = c->e->p;
  c->shared_bytes = 0;
  for (uint32_t k = 0; k < p->arrays.len; k++) {
    const po_array *a = &p->arrays.data[k];
    if (a->role != PO_LOCAL || a->scope != PO_SHARED || !cg_is_in_kernel(c, k))
      continue;
    c->shared_bytes += po_bytes(a);
    cg_node *let = declare(c->e, &c->e->arena, k);
    let->let.qualifier = c->device->shared;
    let->let.value = NULL;
    cg_append(to, let);
  }
}

/* Arrays in a workspace that is passed as a whole. */
static void
add_places(const cg_launch *c, cg_list *to) {
  bs_arena *arena = &c->e->arena;
  for (uint32_t k = 0; k < c->use->n_slots; k++) {
    if (!cg_is_passed_whole(c, k))
      continue;
    const po_array *a = &c->e->p->arrays.data[c->use->slots[k].array];
    const char *type = cg_type_of_slot(c, k);
    const cg_expr *at = cg_infix(arena, CG_OP_ADD, cg_name(arena, "workspace"),
                                 cg_number(arena, a->offset));
    cg_append(
        to,
        cg_make_let(arena,
                    bs_arena_printf(arena, "%s%s", type, c->device->restricted),
                    a->name, cg_cast(arena, type, cg_paren(arena, at))));
  }
}

cg_node *
cg_make_device_body(cg_launch *c) {
  const char **names = BS_NEWS(&c->e->arena, const char *, c->use->n_slots + 1);
  for (uint32_t k = 0; k < c->use->n_slots; k++)
    names[k] = c->e->p->arrays.data[c->use->slots[k].array].name;
  walk w = {.c = c,
            .e = c->e,
            .scope = {.group = c->group, .use = c->use, .slot_names = names}};
  uint32_t mark = po_pool_mark(&c->e->pool);
  po_pool_reserve(&c->e->pool, 1);
  isl_set *known = po_keep_set(&c->e->pool, anything(&w, 0));
  cg_list list;
  cg_list_init(&list);
  add_places(c, &list);
  add_shared(c, &list);
  add_locals(&w, 0, &list);
  for (uint32_t k = c->group->node; k != PO_NO_NODE && !c->e->failed;
       k = at(&w, k)->next) {
    cg_append(&list, make_node(&w, k, 0, known));
    if (k == c->group->last)
      break;
  }
  po_pool_release(&c->e->pool, mark);
  if (!c->e->failed)
    CG_VERIFY(c->e, &w.scope, list.first, "it was made", true);
  return list.first;
}

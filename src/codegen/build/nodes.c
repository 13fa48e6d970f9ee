/* SPDX-License-Identifier: MIT */
/* nodes.c - the isl AST of a group as a code tree.
 *
 * Nodes nest no deeper than the nest may, so the walk is recursive; what isl
 * hands out is kept in the pool while it is walked. */
#include "codegen/build/build.h"
#include <assert.h>

typedef struct builder {
  cg_emitter *e;
  const cg_scope *scope;
  cg_list *to;
} builder;

static cg_node *make_chain(const builder *, __isl_take isl_ast_node *);
static void add(const builder *, __isl_keep isl_ast_node *);

static const cg_expr *
make_expr(cg_emitter *e, __isl_take isl_ast_expr *expr) {
  uint32_t mark = po_pool_mark(&e->pool);
  expr = po_keep_ast_expr(&e->pool, expr);
  const cg_expr *out = cg_make_index(e, expr);
  po_pool_release(&e->pool, mark);
  return out;
}

/* ---- loops ---- */

/* How often a loop with constant bounds runs; 0: not known. */
static int64_t
trip_count(const cg_for *loop) {
  int64_t from, to;
  if (!loop->last || loop->step < 1 || !cg_is_number(loop->first, &from) ||
      !cg_is_number(loop->last, &to))
    return 0;
  to -= loop->last_excluded;
  return to < from ? 0 : (to - from) / loop->step + 1;
}

/* Its bounds, but for a loop of one value. */
static void
find_bounds(cg_emitter *e, __isl_keep isl_ast_node *node, cg_for *loop) {
  loop->condition = make_expr(e, isl_ast_node_for_get_cond(node));
  const cg_expr *c = loop->condition;
  loop->last_excluded = c->op == CG_OP_LESS;
  if (loop->last_excluded || c->op == CG_OP_AT_MOST)
    loop->last = c->args[1];
  e->failed |=
      !cg_is_number(make_expr(e, isl_ast_node_for_get_inc(node)), &loop->step);
  loop->trips = trip_count(loop);
}

/* The body is one statement that needs no braces. */
static bool
is_single(cg_node *body) {
  const cg_node *inner = cg_below_marks(body);
  return cg_is_one(inner) &&
         ((inner->kind == CG_FOR && !inner->head.once) ||
          inner->kind == CG_STORE || inner->kind == CG_TEMPLATE);
}

static cg_node *
make_for(const builder *b, __isl_keep isl_ast_node *node) {
  cg_emitter *e = b->e;
  cg_node *n = cg_node_new(&e->arena, CG_FOR);
  n->loop = n->iteration = cg_loop_of_for(node);
  n->head.iterator = make_expr(e, isl_ast_node_for_get_iterator(node))->text;
  n->head.type = e->index;
  n->head.first = make_expr(e, isl_ast_node_for_get_init(node));
  n->head.once = isl_ast_node_for_is_degenerate(node) != isl_bool_false;
  if (!n->head.once)
    find_bounds(e, node, &n->head);
  n->first = make_chain(b, isl_ast_node_for_get_body(node));
  n->bare = !n->head.once && is_single(n->first);
  return n;
}

/* ---- statements ---- */

static const cg_origin *
make_origin(cg_emitter *e, const cg_user_note *note) {
  cg_origin *o =
      bs_arena_calloc(&e->arena, 1, sizeof *o + note->n * sizeof *o->index);
  o->stmt = note->stmt;
  o->n = note->n;
  for (uint32_t k = 0; k < note->n; k++)
    o->index[k] = note->index[k] ? cg_make_index(e, note->index[k]) : NULL;
  return o;
}

static cg_node *
make_stmt(const builder *b, __isl_keep isl_ast_node *node) {
  cg_emitter *e = b->e;
  const cg_user_note *note = cg_note_of_user(node);
  if (!note) {
    e->failed = true;
    return cg_node_new(&e->arena, CG_NOTHING);
  }
  const cg_origin *origin = make_origin(e, note);
  const po_stmt *stmt = &e->p->stmts.data[note->stmt];
  if (cg_is_void(e, origin)) {
    cg_node *n = cg_node_new(&e->arena, CG_NOTHING);
    n->origin = origin;
    return n;
  }
  return stmt->kind == PO_CALL ? cg_make_template(e, b->scope, origin, stmt)
                               : cg_make_store(e, b->scope, origin);
}

/* ---- the others ---- */

static cg_node *
make_if(const builder *b, __isl_keep isl_ast_node *node) {
  cg_emitter *e = b->e;
  const cg_expr *condition = make_expr(e, isl_ast_node_if_get_cond(node));
  cg_node *then = make_chain(b, isl_ast_node_if_get_then_node(node));
  cg_node *n = cg_make_if(&e->arena, condition, then);
  if (isl_ast_node_if_has_else_node(node) == isl_bool_true)
    n->test.otherwise = make_chain(b, isl_ast_node_if_get_else_node(node));
  return n;
}

static cg_node *
make_mark(const builder *b, __isl_keep isl_ast_node *node) {
  cg_node *n = cg_node_new(&b->e->arena, CG_MARK);
  isl_id *id = isl_ast_node_mark_get_id(node);
  n->mark = cg_loop_of(id);
  isl_id_free(id);
  n->first = make_chain(b, isl_ast_node_mark_get_node(node));
  return n;
}

static void
add_block(const builder *b, __isl_keep isl_ast_node *block) {
  cg_emitter *e = b->e;
  isl_size n = 1;
  for (int k = 0; k < n; k++) {
    uint32_t mark = po_pool_mark(&e->pool);
    po_pool_reserve(&e->pool, 2);
    isl_ast_node_list *list = isl_ast_node_block_get_children(block);
    n = isl_ast_node_list_n_ast_node(list);
    isl_ast_node *child = isl_ast_node_list_get_ast_node(list, k);
    isl_ast_node_list_free(list);
    add(b, po_keep_ast_node(&e->pool, child));
    po_pool_release(&e->pool, mark);
  }
}

static void
add(const builder *b, isl_ast_node *node) {
  switch ((int)isl_ast_node_get_type(node)) {
  case isl_ast_node_for:
    cg_append(b->to, make_for(b, node));
    break;
  case isl_ast_node_if:
    cg_append(b->to, make_if(b, node));
    break;
  case isl_ast_node_block:
    add_block(b, node);
    break;
  case isl_ast_node_mark:
    cg_append(b->to, make_mark(b, node));
    break;
  case isl_ast_node_user:
    cg_append(b->to, make_stmt(b, node));
    break;
  default:
    b->e->failed = true;
  }
}

static cg_node *
make_chain(const builder *b, isl_ast_node *node) {
  cg_list list;
  cg_list_init(&list);
  builder below = {b->e, b->scope, &list};
  uint32_t mark = po_pool_mark(&b->e->pool);
  add(&below, po_keep_ast_node(&b->e->pool, node));
  po_pool_release(&b->e->pool, mark);
  return list.first;
}

bool
cg_build_tree(cg_emitter *e, const cg_scope *scope, uint32_t group,
              cg_node **out) {
  assert(group < e->groups.list.len && out);
  isl_ast_node *node = cg_build_ast(e, group);
  builder b = {e, scope, NULL};
  if (!node)
    return false;
  *out = make_chain(&b, isl_ast_node_copy(node));
  return true;
}

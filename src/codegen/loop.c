/* SPDX-License-Identifier: MIT */
/* loop.c - a `for` of the AST: its bounds, and the threads that run it.
 *
 * The outermost loop that is marked parallel gets a team of threads, together
 * with the parallel loops right below it while it is too short alone. */
#include "codegen/loop.h"

/* Iterations that leave no thread idle. */
#define ENOUGH_ITERATIONS 64

isl_ast_node *
cg_body_of(cg_emitter *e, __isl_keep isl_ast_node *loop) {
  po_pool_reserve(&e->pool, 1);
  return po_keep_ast_node(&e->pool, isl_ast_node_for_get_body(loop));
}

bool
cg_is_loop(__isl_keep isl_ast_node *node) {
  return isl_ast_node_get_type(node) == isl_ast_node_for &&
         isl_ast_node_for_is_degenerate(node) == isl_bool_false;
}

uint32_t
cg_loop_of_for(__isl_keep isl_ast_node *node) {
  const cg_for_note *note = cg_note_of_for(node);
  return note ? note->loop : PO_NO_NODE;
}

bool
cg_declares_locals(const cg_emitter *e, const cg_scope *scope, uint32_t loop) {
  return loop != PO_NO_NODE && cg_has_locals(e, scope->group, loop);
}

/* ---- bounds ---- */

static isl_ast_expr *
keep(cg_emitter *e, __isl_take isl_ast_expr *expr) {
  return po_keep_ast_expr(&e->pool, expr);
}

/* How often a loop with constant bounds runs; 0: not known. */
static int64_t
trip_count(const cg_loop *loop) {
  int64_t from, to;
  if (!loop->last || loop->step < 1 || !cg_constant_index(loop->first, &from) ||
      !cg_constant_index(loop->last, &to))
    return 0;
  to -= loop->last_excluded;
  return to < from ? 0 : (to - from) / loop->step + 1;
}

/* What is below the marks at a node. */
isl_ast_node *
cg_below_marks(cg_emitter *e, __isl_keep isl_ast_node *node) {
  while (isl_ast_node_get_type(node) == isl_ast_node_mark) {
    po_pool_reserve(&e->pool, 1);
    node = po_keep_ast_node(&e->pool, isl_ast_node_mark_get_node(node));
  }
  return node;
}

cg_loop
cg_describe_loop(cg_emitter *e, __isl_keep isl_ast_node *node) {
  cg_loop loop = {.node = cg_loop_of_for(node)};
  po_pool_reserve(&e->pool, 6);
  isl_ast_expr *iterator = keep(e, isl_ast_node_for_get_iterator(node));
  isl_id *id = isl_ast_expr_get_id(iterator);
  loop.iterator = isl_id_get_name(id);
  isl_id_free(id); /* the node still holds it */
  loop.first = keep(e, isl_ast_node_for_get_init(node));
  loop.condition = keep(e, isl_ast_node_for_get_cond(node));
  enum isl_ast_expr_op_type op = isl_ast_expr_op_get_type(loop.condition);
  loop.last_excluded = op == isl_ast_expr_op_lt;
  if (op == isl_ast_expr_op_le || op == isl_ast_expr_op_lt)
    loop.last = keep(e, isl_ast_expr_op_get_arg(loop.condition, 1));
  e->failed |=
      !cg_constant_index(keep(e, isl_ast_node_for_get_inc(node)), &loop.step);
  loop.trips = trip_count(&loop);
  loop.body = cg_body_of(e, node);
  loop.inner = cg_below_marks(e, loop.body);
  return loop;
}

/* ---- threads ---- */

static bool
is_parallel(const cg_emitter *e, const cg_loop *loop) {
  return loop->node != PO_NO_NODE &&
         e->p->nest.nodes.data[loop->node].mark == PO_PARALLEL;
}

/* How many nested loops a team shares. */
static uint32_t
shared_loops(cg_emitter *e, const cg_scope *scope, const cg_loop *outer) {
  uint32_t n = 0, mark = po_pool_mark(&e->pool);
  int64_t total = 1;
  for (cg_loop at = *outer;; at = cg_describe_loop(e, at.inner)) {
    if (!is_parallel(e, &at) || (n && !at.trips))
      break;
    n++;
    total *= at.trips ? at.trips : ENOUGH_ITERATIONS;
    if (!at.trips || total >= ENOUGH_ITERATIONS ||
        cg_declares_locals(e, scope, at.node) || !cg_is_loop(at.inner))
      break;
  }
  po_pool_release(&e->pool, mark);
  return n;
}

/* A local in the workspace has room for a team of bounded size. */
static bool
has_parts_of_team(const cg_emitter *e, const cg_scope *scope) {
  for (uint32_t k = 0; k < scope->use->n_slots; k++) {
    uint32_t array = scope->use->slots[k].array;
    if (e->p->arrays.data[array].role == PO_LOCAL && cg_has_own_name(e, array))
      return true;
  }
  return false;
}

void
cg_put_pragma(cg_emitter *e, cg_scope *scope, cg_loop *loop, uint32_t indent) {
  loop->is_team = scope->team > 0;
  if (!e->options->openmp || scope->in_parallel || !is_parallel(e, loop))
    return;
  uint32_t n = shared_loops(e, scope, loop);
  scope->in_parallel = loop->is_team = true;
  scope->team = n;
  bs_put(&e->body, "#ifdef _OPENMP\n");
  cg_indent(&e->body, indent);
  bs_put(&e->body, "#pragma omp parallel for");
  if (n > 1)
    bs_putf(&e->body, " collapse(%u)", n);
  if (has_parts_of_team(e, scope))
    bs_put(&e->body, " num_threads(GLEN_TEAM)");
  bs_put(&e->body, "\n#endif\n");
}

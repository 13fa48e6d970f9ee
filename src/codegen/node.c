/* node.c - AST nodes as C loops.
 *
 * The outermost loop that is marked parallel gets a team of threads, together
 * with the parallel loops right below it while it is too short alone.  Locals
 * are declared where an iteration of their loop begins; where isl has put the
 * iteration in the place of the loop, in a block around it.  Nodes nest no
 * deeper than the nest may, so the walk is recursive; what isl hands out is
 * kept in the pool while text is written. */
#include "codegen/emit.h"
#include <string.h>

/* Iterations that leave no thread idle. */
#define ENOUGH_ITERATIONS 64

void
cg_indent(bs_text *out, uint32_t indent) {
  for (uint32_t k = 0; k < indent; k++)
    bs_put(out, "  ");
}

static bool
has_name_of_its_own(const cg_emitter *e, uint32_t array) {
  const po_array *a = &e->p->arrays.data[array];
  return a->role == PO_LOCAL &&
         (!po_is_large(a) || po_is_in_parallel(e->p, e->local_node[array]));
}

const char *
cg_array_name(const cg_emitter *e, const cg_scope *scope, uint32_t array) {
  if (!has_name_of_its_own(e, array))
    for (uint32_t k = 0; k < scope->use->n_slots; k++)
      if (scope->use->slots[k].array == array)
        return scope->slot_names[k];
  return e->p->arrays.data[array].name;
}

static isl_ast_node *
body_of(cg_emitter *e, __isl_keep isl_ast_node *loop) {
  po_pool_reserve(&e->pool, 1);
  return po_keep_ast_node(&e->pool, isl_ast_node_for_get_body(loop));
}

static bool
is_loop(__isl_keep isl_ast_node *node) {
  return isl_ast_node_get_type(node) == isl_ast_node_for &&
         isl_ast_node_for_is_degenerate(node) == isl_bool_false;
}

/* ---- threads ---- */

static bool
constant(__isl_take isl_ast_expr *expr, int64_t *out) {
  bool is_int = isl_ast_expr_get_type(expr) == isl_ast_expr_int;
  if (is_int) {
    isl_val *val = isl_ast_expr_get_val(expr);
    *out = isl_val_get_num_si(val);
    isl_val_free(val);
  }
  isl_ast_expr_free(expr);
  return is_int;
}

/* How often a loop with constant bounds runs; 0: not known. */
static int64_t
trip_count(__isl_keep isl_ast_node *loop) {
  isl_ast_expr *cond = isl_ast_node_for_get_cond(loop);
  enum isl_ast_expr_op_type op = isl_ast_expr_op_get_type(cond);
  int64_t from, step, to;
  bool known = op == isl_ast_expr_op_le || op == isl_ast_expr_op_lt;
  known = constant(isl_ast_node_for_get_init(loop), &from) && known;
  known = constant(isl_ast_node_for_get_inc(loop), &step) && known;
  known = constant(isl_ast_expr_get_op_arg(cond, 1), &to) && known;
  isl_ast_expr_free(cond);
  if (!known || step < 1 || to < from)
    return 0;
  return (to - from + (op == isl_ast_expr_op_le)) / step + 1;
}

static bool
is_parallel(const cg_emitter *e, __isl_keep isl_ast_node *loop) {
  const cg_for_note *note = cg_note_of_for(loop);
  return note && note->loop != PO_NO_NODE &&
         e->p->nest.nodes.data[note->loop].mark == PO_PARALLEL;
}

static bool
declares_locals(const cg_emitter *e, const cg_scope *scope,
                __isl_keep isl_ast_node *loop) {
  const cg_for_note *note = cg_note_of_for(loop);
  return note && note->loop != PO_NO_NODE &&
         cg_has_locals(e, scope->group, note->loop);
}

/* What is below the marks at a node. */
static isl_ast_node *
below_marks(cg_emitter *e, __isl_keep isl_ast_node *node) {
  while (isl_ast_node_get_type(node) == isl_ast_node_mark) {
    po_pool_reserve(&e->pool, 1);
    node = po_keep_ast_node(&e->pool, isl_ast_node_mark_get_node(node));
  }
  return node;
}

/* How many nested loops a team shares. */
static uint32_t
shared_loops(cg_emitter *e, const cg_scope *scope,
             __isl_keep isl_ast_node *loop) {
  uint32_t n = 0, mark = po_pool_mark(&e->pool);
  int64_t total = 1;
  for (isl_ast_node *at = loop; is_loop(at);
       at = below_marks(e, body_of(e, at))) {
    int64_t trips = trip_count(at);
    if (!is_parallel(e, at) || (n && !trips))
      break;
    n++;
    total *= trips ? trips : ENOUGH_ITERATIONS;
    if (!trips || total >= ENOUGH_ITERATIONS || declares_locals(e, scope, at))
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
    if (e->p->arrays.data[array].role == PO_LOCAL &&
        has_name_of_its_own(e, array))
      return true;
  }
  return false;
}

static void
put_pragma(cg_emitter *e, cg_scope *scope, __isl_keep isl_ast_node *loop,
           uint32_t indent) {
  if (!e->options->openmp || scope->in_parallel || !is_parallel(e, loop))
    return;
  uint32_t n = shared_loops(e, scope, loop);
  scope->in_parallel = true;
  bs_put(&e->body, "#ifdef _OPENMP\n");
  cg_indent(&e->body, indent);
  bs_put(&e->body, "#pragma omp parallel for");
  if (n > 1)
    bs_putf(&e->body, " collapse(%u)", n);
  if (has_parts_of_team(e, scope))
    bs_put(&e->body, " num_threads(GLEN_TEAM)");
  bs_put(&e->body, "\n#endif\n");
}

/* ---- loops ---- */

static void
put_expr(cg_emitter *e, __isl_take isl_ast_expr *expr) {
  uint32_t mark = po_pool_mark(&e->pool);
  expr = po_keep_ast_expr(&e->pool, expr);
  cg_put_index(e, expr);
  po_pool_release(&e->pool, mark);
}

static void
put_increment(cg_emitter *e, __isl_keep isl_ast_node *loop) {
  int64_t step = 0;
  put_expr(e, isl_ast_node_for_get_iterator(loop));
  if (constant(isl_ast_node_for_get_inc(loop), &step) && step == 1) {
    bs_put(&e->body, "++");
    return;
  }
  bs_put(&e->body, " += ");
  put_expr(e, isl_ast_node_for_get_inc(loop));
}

static void put_body(cg_emitter *, cg_scope *, uint32_t loop,
                     __isl_keep isl_ast_node *, uint32_t indent);

static uint32_t
loop_of(__isl_keep isl_ast_node *node) {
  const cg_for_note *note = cg_note_of_for(node);
  return note ? note->loop : PO_NO_NODE;
}

static void
put_for(cg_emitter *e, cg_scope *scope, __isl_keep isl_ast_node *loop,
        uint32_t indent) {
  bool was_parallel = scope->in_parallel;
  put_pragma(e, scope, loop, indent);
  cg_indent(&e->body, indent);
  bs_putf(&e->body, "for (%s ", e->index);
  put_expr(e, isl_ast_node_for_get_iterator(loop));
  bs_put(&e->body, " = ");
  put_expr(e, isl_ast_node_for_get_init(loop));
  bs_put(&e->body, "; ");
  put_expr(e, isl_ast_node_for_get_cond(loop));
  bs_put(&e->body, "; ");
  put_increment(e, loop);
  isl_ast_node *body = body_of(e, loop), *inner = below_marks(e, body);
  bool single =
      isl_ast_node_get_type(inner) == isl_ast_node_user || is_loop(inner);
  single = single && !declares_locals(e, scope, loop);
  bs_put(&e->body, single ? ")\n" : ") {\n");
  put_body(e, scope, loop_of(loop), body, indent + 1);
  if (!single) {
    cg_indent(&e->body, indent);
    bs_put(&e->body, "}\n");
  }
  scope->in_parallel = was_parallel;
}

/* One value of the iterator, which a condition may still name. */
static void
put_degenerate(cg_emitter *e, cg_scope *scope, __isl_keep isl_ast_node *loop,
               uint32_t indent) {
  cg_indent(&e->body, indent);
  bs_putf(&e->body, "{\n");
  cg_indent(&e->body, indent + 1);
  bs_putf(&e->body, "const %s ", e->index);
  put_expr(e, isl_ast_node_for_get_iterator(loop));
  bs_put(&e->body, " = ");
  put_expr(e, isl_ast_node_for_get_init(loop));
  bs_put(&e->body, ";\n");
  cg_indent(&e->body, indent + 1);
  bs_put(&e->body, "(void)");
  put_expr(e, isl_ast_node_for_get_iterator(loop));
  bs_put(&e->body, ";\n");
  put_body(e, scope, loop_of(loop), body_of(e, loop), indent + 1);
  cg_indent(&e->body, indent);
  bs_put(&e->body, "}\n");
}

static void
put_if(cg_emitter *e, cg_scope *scope, __isl_keep isl_ast_node *node,
       uint32_t indent) {
  cg_indent(&e->body, indent);
  bs_put(&e->body, "if (");
  put_expr(e, isl_ast_node_if_get_cond(node));
  bs_put(&e->body, ") {\n");
  isl_ast_node *then =
      po_keep_ast_node(&e->pool, isl_ast_node_if_get_then_node(node));
  cg_put_node(e, scope, then, indent + 1);
  cg_indent(&e->body, indent);
  if (isl_ast_node_if_has_else_node(node) == isl_bool_true) {
    bs_put(&e->body, "} else {\n");
    isl_ast_node *otherwise =
        po_keep_ast_node(&e->pool, isl_ast_node_if_get_else_node(node));
    cg_put_node(e, scope, otherwise, indent + 1);
    cg_indent(&e->body, indent);
  }
  bs_put(&e->body, "}\n");
}

/* ---- blocks and locals ---- */

static isl_ast_node *
child_of(cg_emitter *e, __isl_keep isl_ast_node *block, int k) {
  po_pool_reserve(&e->pool, 2);
  isl_ast_node_list *list = isl_ast_node_block_get_children(block);
  isl_ast_node *child = isl_ast_node_list_get_ast_node(list, k);
  isl_ast_node_list_free(list);
  return po_keep_ast_node(&e->pool, child);
}

static int
count_children(__isl_keep isl_ast_node *block) {
  isl_ast_node_list *list = isl_ast_node_block_get_children(block);
  int n = isl_ast_node_list_n_ast_node(list);
  isl_ast_node_list_free(list);
  return n;
}

static void
put_block(cg_emitter *e, cg_scope *scope, __isl_keep isl_ast_node *block,
          uint32_t indent) {
  int n = count_children(block);
  for (int k = 0; k < n; k++) {
    uint32_t mark = po_pool_mark(&e->pool);
    cg_put_node(e, scope, child_of(e, block, k), indent);
    po_pool_release(&e->pool, mark);
  }
}

/* All of a node's iterations of the loop are in a `for` of it. */
static bool
is_all_in_loop(cg_emitter *e, __isl_keep isl_ast_node *node, uint32_t loop) {
  switch (isl_ast_node_get_type(node)) {
  case isl_ast_node_for:
    return loop_of(node) == loop;
  case isl_ast_node_if: {
    po_pool_reserve(&e->pool, 2);
    bool all = is_all_in_loop(
        e, po_keep_ast_node(&e->pool, isl_ast_node_if_get_then_node(node)),
        loop);
    if (isl_ast_node_if_has_else_node(node) == isl_bool_true)
      all = is_all_in_loop(
                e,
                po_keep_ast_node(&e->pool, isl_ast_node_if_get_else_node(node)),
                loop) &&
            all;
    return all;
  }
  case isl_ast_node_block:
    for (int k = 0; k < count_children(node); k++)
      if (!is_all_in_loop(e, child_of(e, node, k), loop))
        return false;
    return true;
  default:
    return false;
  }
}

/* The local that a node does nothing but set to a literal; else UINT32_MAX. */
static uint32_t
starts_local(const cg_emitter *e, __isl_keep isl_ast_node *node) {
  if (isl_ast_node_get_type(node) != isl_ast_node_user)
    return UINT32_MAX;
  const cg_user_note *note = cg_note_of_user(node);
  const po_stmt *stmt = note ? &e->p->stmts.data[note->stmt] : NULL;
  bool literal = stmt && stmt->kind == PO_ASSIGN && stmt->n_exprs == 1 &&
                 stmt->exprs[0].kind == PO_LITERAL &&
                 e->p->arrays.data[stmt->array].role == PO_LOCAL &&
                 !cg_is_indexed(e, stmt->array);
  return literal ? stmt->array : UINT32_MAX;
}

/* A block that starts by setting a local of the loop declares it so. */
static bool
put_started(cg_emitter *e, cg_scope *scope, uint32_t loop,
            __isl_keep isl_ast_node *block, uint32_t indent) {
  if (isl_ast_node_get_type(block) != isl_ast_node_block)
    return false;
  isl_ast_node *start = child_of(e, block, 0);
  uint32_t local = starts_local(e, start);
  if (local == UINT32_MAX || e->local_node[local] != loop)
    return false;
  cg_declare_locals(e, scope, loop, local, indent);
  cg_indent(&e->body, indent);
  bs_putf(&e->body, "%s ",
          gs_dtype_table[e->p->arrays.data[local].dtype].c_type);
  cg_put_stmt(e, scope, cg_note_of_user(start));
  int n = count_children(block);
  for (int k = 1; k < n; k++) {
    uint32_t mark = po_pool_mark(&e->pool);
    cg_put_node(e, scope, child_of(e, block, k), indent);
    po_pool_release(&e->pool, mark);
  }
  return true;
}

/* An iteration of a loop: its locals live in it. */
static void
put_body(cg_emitter *e, cg_scope *scope, uint32_t loop,
         __isl_keep isl_ast_node *body, uint32_t indent) {
  uint32_t pending = scope->pending;
  scope->pending = PO_NO_NODE;
  if (loop == PO_NO_NODE || !cg_has_locals(e, scope->group, loop)) {
    cg_put_node(e, scope, body, indent);
  } else if (!put_started(e, scope, loop, body, indent)) {
    cg_declare_locals(e, scope, loop, UINT32_MAX, indent);
    cg_put_node(e, scope, body, indent);
  }
  scope->pending = pending;
}

void
cg_put_root(cg_emitter *e, cg_scope *scope, isl_ast_node *node) {
  scope->pending = PO_NO_NODE;
  put_body(e, scope, 0, node, 1);
}

/* Where a loop is replaced by its iterations. */
static void
put_pending(cg_emitter *e, cg_scope *scope, __isl_keep isl_ast_node *node,
            uint32_t indent) {
  cg_indent(&e->body, indent);
  bs_put(&e->body, "{\n");
  put_body(e, scope, scope->pending, node, indent + 1);
  cg_indent(&e->body, indent);
  bs_put(&e->body, "}\n");
}

static void
put_mark(cg_emitter *e, cg_scope *scope, __isl_keep isl_ast_node *mark,
         uint32_t indent) {
  uint32_t pending = scope->pending;
  isl_id *id = isl_ast_node_mark_get_id(mark);
  uint32_t loop = cg_loop_of(id);
  isl_id_free(id);
  po_pool_reserve(&e->pool, 1);
  isl_ast_node *inner =
      po_keep_ast_node(&e->pool, isl_ast_node_mark_get_node(mark));
  if (cg_has_locals(e, scope->group, loop))
    scope->pending = loop;
  cg_put_node(e, scope, inner, indent);
  scope->pending = pending;
}

static void
put_user(cg_emitter *e, cg_scope *scope, __isl_keep isl_ast_node *node,
         uint32_t indent) {
  const cg_user_note *note = cg_note_of_user(node);
  if (!note) {
    e->failed = true;
    return;
  }
  const po_stmt *stmt = &e->p->stmts.data[note->stmt];
  if (stmt->kind == PO_CALL) {
    cg_put_call(e, scope, stmt, indent);
    return;
  }
  cg_indent(&e->body, indent);
  cg_put_stmt(e, scope, note);
}

void
cg_put_node(cg_emitter *e, cg_scope *scope, isl_ast_node *node,
            uint32_t indent) {
  uint32_t mark = po_pool_mark(&e->pool);
  bool is_if = isl_ast_node_get_type(node) == isl_ast_node_if;
  if (scope->pending != PO_NO_NODE && !is_if &&
      !is_all_in_loop(e, node, scope->pending)) {
    put_pending(e, scope, node, indent);
    po_pool_release(&e->pool, mark);
    return;
  }
  switch (isl_ast_node_get_type(node)) {
  case isl_ast_node_for:
    if (is_loop(node))
      put_for(e, scope, node, indent);
    else
      put_degenerate(e, scope, node, indent);
    break;
  case isl_ast_node_if:
    put_if(e, scope, node, indent);
    break;
  case isl_ast_node_block:
    put_block(e, scope, node, indent);
    break;
  case isl_ast_node_mark:
    put_mark(e, scope, node, indent);
    break;
  case isl_ast_node_user:
    put_user(e, scope, node, indent);
    break;
  default:
    e->failed = true;
  }
  po_pool_release(&e->pool, mark);
}

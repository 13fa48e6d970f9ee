/* SPDX-License-Identifier: MIT */
/* node.c - AST nodes as C loops.
 *
 * Locals are declared where an iteration of their loop begins; where isl has
 * put the iteration in the place of the loop, in a block around it.  Nodes nest
 * no deeper than the nest may, so the walk is recursive; what isl hands out is
 * kept in the pool while text is written. */
#include "codegen/loop.h"
#include "codegen/simd.h"
#include "codegen/stream.h"
#include <string.h>

void
cg_indent(bs_text *out, uint32_t indent) {
  for (uint32_t k = 0; k < indent; k++)
    bs_put(out, "  ");
}

bool
cg_has_own_name(const cg_emitter *e, uint32_t array) {
  const po_array *a = &e->p->arrays.data[array];
  return a->role == PO_LOCAL &&
         (!po_is_large(a) || po_is_in_parallel(e->p, e->local_node[array]));
}

const char *
cg_array_name(const cg_emitter *e, const cg_scope *scope, uint32_t array) {
  cg_mention(e, array);
  if (!cg_has_own_name(e, array))
    for (uint32_t k = 0; k < scope->use->n_slots; k++)
      if (scope->use->slots[k].array == array)
        return scope->slot_names[k];
  return e->p->arrays.data[array].name;
}

/* ---- loops ---- */

static void
put_expr(cg_emitter *e, __isl_take isl_ast_expr *expr) {
  uint32_t mark = po_pool_mark(&e->pool);
  expr = po_keep_ast_expr(&e->pool, expr);
  cg_put_index(e, expr);
  po_pool_release(&e->pool, mark);
}

/* for (int i = first; i <= last; i++), or over a row of the stream. */
static void
put_header(cg_emitter *e, const cg_loop *loop, bool in_row) {
  const char *i = loop->iterator;
  bs_putf(&e->body, "for (%s %s = ", e->index, i);
  if (in_row) {
    bs_putf(&e->body, "glen_from; %s <= glen_to; %s++)", i, i);
    return;
  }
  cg_put_index(e, loop->first);
  bs_put(&e->body, "; ");
  cg_put_index(e, loop->condition);
  if (loop->step == 1)
    bs_putf(&e->body, "; %s++)", i);
  else
    bs_putf(&e->body, "; %s += %lld)", i, (long long)loop->step);
}

static void
put_loop(cg_emitter *e, cg_scope *scope, const cg_loop *loop, bool in_row,
         bool fenced, uint32_t indent) {
  bool is_user = isl_ast_node_get_type(loop->inner) == isl_ast_node_user;
  bool single = cg_is_loop(loop->inner) ||
                (is_user && !cg_is_void(e, cg_note_of_user(loop->inner)));
  single = single && !fenced && !cg_declares_locals(e, scope, loop->node);
  if (in_row || !loop->is_team)
    cg_put_simd(e, loop, indent);
  cg_indent(&e->body, indent);
  put_header(e, loop, in_row);
  bs_put(&e->body, single ? "\n" : " {\n");
  cg_put_body(e, scope, loop->node, loop->body, indent + 1);
  if (fenced && scope->streams)
    cg_put_fence(e, indent + 1);
  if (!single) {
    cg_indent(&e->body, indent);
    bs_put(&e->body, "}\n");
  }
}

/* ---- kinds of loops ---- */

/* A loop that asks for a line at a time: whole lines, then what is left. */
static void
put_lines(cg_emitter *e, cg_scope *scope, const cg_loop *loop,
          const cg_stream *stream, uint32_t indent) {
  cg_scope own = *scope;
  cg_open_lines(e, scope, loop, stream, indent);
  put_loop(e, &own, loop, true, false, indent + 2);
  if (!loop->trips || loop->trips % stream->row) {
    cg_open_rest(e, scope, loop, stream, indent);
    put_loop(e, scope, loop, true, false, indent + 2);
  }
  cg_close_lines(e, indent);
}

static void
put_for(cg_emitter *e, cg_scope *scope, __isl_keep isl_ast_node *node,
        uint32_t indent) {
  cg_scope outer = *scope;
  cg_stream stream;
  cg_ahead ahead;
  cg_loop loop = cg_describe_loop(e, node);
  if (cg_put_vector_loop(e, scope, &loop, indent))
    return;
  cg_put_pragma(e, scope, &loop, indent);
  bool fenced = scope->team == 1 && cg_may_stream(e, scope->use);
  scope->team -= scope->team > 0;
  bool streams = cg_find_stream(e, scope, &loop, node, &stream);
  if (!scope->ahead || scope->ahead->parts != node)
    scope->ahead = cg_find_ahead(e, &loop, &ahead) ? &ahead : NULL;
  scope->asked = scope->ahead ? scope->ahead : scope->asked;
  if (streams && stream.by_lines) {
    scope->stream = &stream;
    put_lines(e, scope, &loop, &stream, indent);
  } else if (streams) {
    scope->streams |= stream.n > 0;
    scope->stream = &stream;
    cg_open_stream(e, scope, &loop, &stream, indent);
    put_loop(e, scope, &loop, true, false, indent + 1);
    cg_close_stream(e, scope, &loop, &stream, fenced, indent);
  } else {
    put_loop(e, scope, &loop, false, fenced, indent);
  }
  outer.streams = scope->streams;
  *scope = outer;
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
  cg_put_body(e, scope, cg_loop_of_for(loop), cg_body_of(e, loop), indent + 1);
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
  switch ((int)isl_ast_node_get_type(node)) {
  case isl_ast_node_for:
    return cg_loop_of_for(node) == loop;
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
            __isl_keep isl_ast_node *block, uint32_t indent,
            cg_declared *declared) {
  if (isl_ast_node_get_type(block) != isl_ast_node_block)
    return false;
  isl_ast_node *start = child_of(e, block, 0);
  uint32_t local = starts_local(e, start);
  if (local == UINT32_MAX || e->local_node[local] != loop)
    return false;
  *declared = cg_declare_locals(e, scope, loop, local, indent);
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

void
cg_put_body(cg_emitter *e, cg_scope *scope, uint32_t loop, isl_ast_node *body,
            uint32_t indent) {
  uint32_t pending = scope->pending;
  scope->pending = PO_NO_NODE;
  if (loop == PO_NO_NODE || !cg_has_locals(e, scope->group, loop)) {
    cg_put_node(e, scope, body, indent);
  } else {
    cg_declared declared;
    if (!put_started(e, scope, loop, body, indent, &declared)) {
      declared = cg_declare_locals(e, scope, loop, UINT32_MAX, indent);
      cg_put_node(e, scope, body, indent);
    }
    cg_put_unused_locals(e, scope, loop, declared, indent);
  }
  scope->pending = pending;
}

void
cg_put_root(cg_emitter *e, cg_scope *scope, isl_ast_node *node) {
  scope->pending = PO_NO_NODE;
  cg_put_body(e, scope, 0, node, 1);
}

/* Where a loop is replaced by its iterations. */
static void
put_pending(cg_emitter *e, cg_scope *scope, __isl_keep isl_ast_node *node,
            uint32_t indent) {
  cg_indent(&e->body, indent);
  bs_put(&e->body, "{\n");
  cg_put_body(e, scope, scope->pending, node, indent + 1);
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
  if (cg_is_void(e, note))
    return;
  if (stmt->kind == PO_CALL) {
    cg_put_call(e, scope, note, stmt, indent);
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
  switch ((int)isl_ast_node_get_type(node)) {
  case isl_ast_node_for:
    if (cg_is_loop(node))
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

/* SPDX-License-Identifier: MIT */
/* skeleton_use.c - terms with holes as patterns and templates, and their text.
 *
 * A skeleton's nodes stand in post-order, so building is a loop over them.
 * Printing recurses; a skeleton is at most GS_MAX_NESTING deep. */
#include "glenside/program/skeleton.h"
#include <assert.h>
#include <string.h>

/* Literals, variables, and lists of these; not deeper than an expression. */
static bool
is_attr_pattern(const gs_expr *e) {
  if (e->kind != GS_X_CALL)
    return true;
  if (!gs_expr_is_call(e, "list"))
    return false;
  for (uint32_t k = 0; k < e->n_args; k++)
    if (!is_attr_pattern(e->args[k]))
      return false;
  return true;
}

bool
gs_skeleton_is_pattern(const gs_context *ctx, const gs_skeleton *s) {
  bool ok = true;
  for (uint32_t k = 0; k < s->n; k++)
    for (uint32_t a = 0; a < s->nodes[k].n_attrs; a++) {
      const gs_expr *e = s->nodes[k].attrs[a];
      if (!e || is_attr_pattern(e))
        continue;
      ok = bs_error(ctx->diags, e->span, "not-a-pattern",
                    "an attribute of a pattern is a literal, a variable or a "
                    "list of these");
      bs_hint(ctx->diags, "bind a variable here and test it in :where");
    }
  return ok;
}

bs_value
gs_default_dilation(bs_values *values, bs_value kernel) {
  int64_t ones[GS_MAX_RANK];
  if (bs_kind_of(values, kernel) != BS_KIND_LIST ||
      bs_len(values, kernel) > GS_MAX_RANK)
    return BS_NIL;
  for (uint32_t k = 0; k < GS_MAX_RANK; k++)
    ones[k] = 1;
  return bs_ints(values, ones, bs_len(values, kernel));
}

bool
gs_skeleton_attr(const gs_sk_node *n, const gs_env *env, bs_value *out) {
  assert(!n->hole);
  bs_value items[GS_MAX_NESTING + 1];
  if (n->n_attrs > GS_MAX_NESTING)
    return false;
  for (uint32_t k = 0; k < n->n_attrs; k++) {
    if (!n->attrs[k])
      items[k] = gs_default_dilation(env->values, items[0]);
    if (n->attrs[k] ? !gs_expr_eval(n->attrs[k], env, &items[k]) : !items[k].i)
      return false;
  }
  *out = bs_list(env->values, items, n->n_attrs);
  return true;
}

gs_term
gs_skeleton_build(const gs_skeleton *s, gs_program *p, const gs_env *env,
                  const gs_term *holes, gs_fault *fault) {
  assert(s->n);
  gs_term *built = bs_alloc(p->ctx.heap, s->n * sizeof *built);
  gs_term root = GS_NO_TERM;
  for (uint32_t k = 0; k < s->n; k++) {
    const gs_sk_node *n = &s->nodes[k];
    gs_term kids[GS_MAX_NESTING];
    bs_value attr;
    if (n->hole) {
      root = built[k] = holes[n->slot];
      continue;
    }
    for (uint32_t j = 0; j < n->n_kids; j++)
      kids[j] = built[n->kids[j]];
    root = GS_NO_TERM;
    if (gs_skeleton_attr(n, env, &attr))
      root = gs_add(p, n->op, attr, kids, n->n_kids, n->span, fault);
    else
      gs_fail(fault, "undefined", -1, -1, "an attribute of '%s' is undefined",
              gs_op_table[n->op].name);
    if (!gs_term_ok(root))
      break;
    built[k] = root;
  }
  bs_free(p->ctx.heap, built);
  return root;
}

/* --- printing ------------------------------------------------------------- */

typedef struct printer {
  bs_text *out;
  const bs_values *values;
  const gs_scope *scope;
  const gs_skeleton *skeleton;
} printer;

static void put_node(const printer *, uint32_t index);

/* A list under the head that it has in a program: (shape 3 3). */
static bool
put_list(const printer *p, const gs_expr *e, const char *head) {
  if (e->kind == GS_X_VAR || !head ||
      (e->kind == GS_X_CALL && !gs_expr_is_call(e, "list")))
    return false;
  bs_putf(p->out, "(%s", head);
  for (uint32_t k = 0; k < e->n_args; k++) {
    bs_putc(p->out, ' ');
    gs_put_expr(p->out, p->values, p->scope, e->args[k]);
  }
  for (uint32_t k = 0; e->literal.i && k < bs_len(p->values, e->literal); k++) {
    bs_putc(p->out, ' ');
    bs_put_value(p->out, p->values, bs_item(p->values, e->literal, k));
  }
  bs_putc(p->out, ')');
  return true;
}

/* Where a name is wanted, most read back bare. */
static void
put_name(const printer *p, const char *name) {
  bool bare = bs_is_symbol(name, strlen(name)) && name[0] != '?' &&
              name[0] != '$' && gs_scope_find(p->scope, name) < 0;
  if (bare)
    bs_put(p->out, name);
  else
    gs_put_quoted(p->out, name);
}

/* (over (each ?n a) ...), as it is read: words stand bare. */
static void
put_over(const printer *p, const gs_expr *e, bool outer) {
  bs_put(p->out, outer ? "(over" : "(");
  for (uint32_t k = 0; k < e->n_args; k++) {
    const gs_expr *arg = e->args[k];
    if (outer || k)
      bs_putc(p->out, ' ');
    if (arg->kind == GS_X_LITERAL && arg->sort == GS_SORT_SYM)
      bs_put(p->out, bs_as_sym(p->values, arg->literal));
    else if (arg->kind == GS_X_CALL && outer)
      put_over(p, arg, false);
    else
      gs_put_expr(p->out, p->values, p->scope, arg);
  }
  bs_putc(p->out, ')');
}

static bool
is_over(const gs_sk_node *n, uint32_t k) {
  const gs_expr *e = n->attrs[k];
  return n->op == GS_CALL && k && e->kind == GS_X_CALL &&
         e->sort == GS_SORT_LIST;
}

static void
put_attrs(const printer *p, const gs_sk_node *n) {
  for (uint32_t k = 0; k < n->n_attrs; k++) {
    const gs_expr *e = n->attrs[k];
    if (!e)
      continue;
    bs_putc(p->out, ' ');
    if (e->kind == GS_X_LITERAL && e->sort == GS_SORT_SYM)
      put_name(p, bs_as_sym(p->values, e->literal));
    else if (is_over(n, k))
      put_over(p, e, true);
    else if (!put_list(p, e, gs_list_head(n->op, k)))
      gs_put_expr(p->out, p->values, p->scope, e);
  }
}

static void
put_operands(const printer *p, const gs_sk_node *n) {
  for (uint32_t k = 0; k < n->n_kids; k++) {
    bs_putc(p->out, ' ');
    put_node(p, n->kids[k]);
  }
}

static void
put_node(const printer *p, uint32_t index) {
  const gs_sk_node *n = &p->skeleton->nodes[index];
  if (n->hole) {
    bs_putf(p->out, "%s%s", p->scope->question_marks ? "?" : "",
            p->scope->vars.data[n->slot].name);
    return;
  }
  bool attrs_first = gs_op_table[n->op].attrs_first;
  bs_putf(p->out, "(%s", gs_op_table[n->op].name);
  if (attrs_first)
    put_attrs(p, n);
  put_operands(p, n);
  if (!attrs_first)
    put_attrs(p, n);
  bs_putc(p->out, ')');
}

void
gs_put_skeleton(bs_text *out, const bs_values *values, const gs_scope *scope,
                const gs_skeleton *s) {
  assert(s->n);
  put_node(&(printer){out, values, scope, s}, s->n - 1);
}

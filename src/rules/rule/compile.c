/* SPDX-License-Identifier: MIT */
/* compile.c - terms with holes to patterns and templates of the engine.
 *
 * On the left an attribute is a literal, a variable or a list of these and
 * becomes an attribute pattern.  On the right an attribute that is made of
 * plain literals and variables becomes a template; any other gets a slot of its
 * own that a step of the condition fills. */
#include "rules/rule/rule_internal.h"
#include <assert.h>
#include <string.h>

typedef eg_attr_pattern attr;

/* --- attributes ----------------------------------------------------------- */

static attr
attr_value(bs_value v) {
  return (attr){.kind = EG_ATTR_VALUE, .value = v};
}

static attr
attr_slot(uint32_t slot) {
  return (attr){.kind = EG_ATTR_SLOT, .slot = slot};
}

/* Whole lists of literals become one literal: compared as one number. */
static attr
attr_list(const gs_context *ctx, const attr *items, uint32_t n) {
  bs_value *values = BS_NEWS(ctx->arena, bs_value, n + 1);
  uint32_t literal = 0;
  for (; literal < n && items[literal].kind == EG_ATTR_VALUE; literal++)
    values[literal] = items[literal].value;
  if (literal == n)
    return attr_value(bs_list(ctx->values, values, n));
  return (attr){.kind = EG_ATTR_LIST, .n = n, .items = items};
}

/* Of an expression that gs_skeleton_is_pattern accepts; it nests no deeper
 * than an expression may. */
static attr
attr_of_expr(const gs_context *ctx, const gs_expr *e) {
  if (e->kind == GS_X_LITERAL)
    return attr_value(e->literal);
  if (e->kind == GS_X_VAR)
    return attr_slot(e->slot);
  attr *items = BS_NEWS(ctx->arena, attr, e->n_args + 1u);
  for (uint32_t k = 0; k < e->n_args; k++)
    items[k] = attr_of_expr(ctx, e->args[k]);
  return attr_list(ctx, items, e->n_args);
}

/* No author can write the name of such a slot. */
static uint32_t
new_slot(rl_compiler *c, const char *what, bs_span span) {
  return (uint32_t)gs_scope_add(c->ctx, c->scope, what, GS_SORT_ANY, span);
}

/* A windows without its dilation: any ones. */
static attr
attr_of_ones(rl_compiler *c, bs_span span) {
  uint32_t slot = new_slot(c, "(dilation)", span);
  bs_push(c->ctx->heap, &c->steps, (rl_step){.kind = RL_ONES, .slot = slot});
  return attr_slot(slot);
}

static attr
canonical(const rl_compiler *c, gs_op op, attr a) {
  if (a.kind == EG_ATTR_VALUE)
    a.value = gs_canonical_attr(c->ctx->values, op, a.value);
  return a;
}

static attr
left_attr(rl_compiler *c, const gs_sk_node *n) {
  attr *items = BS_NEWS(c->ctx->arena, attr, n->n_attrs + 1u);
  for (uint32_t k = 0; k < n->n_attrs; k++)
    items[k] = n->attrs[k] ? attr_of_expr(c->ctx, n->attrs[k])
                           : attr_of_ones(c, n->span);
  return canonical(c, n->op, attr_list(c->ctx, items, n->n_attrs));
}

static bool
is_plain(const gs_sk_node *n) {
  for (uint32_t k = 0; k < n->n_attrs; k++)
    if (!n->attrs[k] || n->attrs[k]->kind == GS_X_CALL)
      return false;
  return true;
}

static attr
right_attr(rl_compiler *c, const gs_sk_node *n) {
  if (!is_plain(n)) {
    uint32_t slot = new_slot(c, "(attribute)", n->span);
    bs_push(c->ctx->heap, &c->steps,
            (rl_step){.kind = RL_ATTR, .slot = slot, .node = n});
    return attr_slot(slot);
  }
  attr *items = BS_NEWS(c->ctx->arena, attr, n->n_attrs + 1u);
  for (uint32_t k = 0; k < n->n_attrs; k++)
    items[k] = attr_of_expr(c->ctx, n->attrs[k]);
  return canonical(c, n->op, attr_list(c->ctx, items, n->n_attrs));
}

/* --- terms ---------------------------------------------------------------- */

static eg_term
compile(rl_compiler *c, const gs_skeleton *s,
        attr (*attr_of)(rl_compiler *, const gs_sk_node *)) {
  eg_term_node *nodes = BS_NEWS(c->ctx->arena, eg_term_node, s->n);
  for (uint32_t k = 0; k < s->n; k++) {
    const gs_sk_node *n = &s->nodes[k];
    nodes[k] = (eg_term_node){.is_slot = n->hole,
                              .slot = n->slot,
                              .op = n->op,
                              .n_kids = n->n_kids,
                              .kids = n->kids};
    if (!n->hole)
      nodes[k].attr = attr_of(c, n);
  }
  return (eg_term){nodes, s->n};
}

eg_term
rl_compile_left(rl_compiler *c, const gs_skeleton *s) {
  return compile(c, s, left_attr);
}

eg_term
rl_compile_right(rl_compiler *c, const gs_skeleton *s) {
  return compile(c, s, right_attr);
}

/* Operators whose result can be larger, or have more dimensions, than their
 * children. */
bool
rl_may_grow(const gs_skeleton *s) {
  for (uint32_t k = 0; k < s->n; k++)
    if (!s->nodes[k].hole && gs_op_is(s->nodes[k].op, GS_GROWS))
      return true;
  return false;
}

/* --- conditions ----------------------------------------------------------- */

static bool
is_changing_fact(uint16_t function) {
  static const char *const names[] = {"zeros", "is-zero", "is-const",
                                      "constant"};
  for (size_t k = 0; k < sizeof names / sizeof names[0]; k++)
    if (!strcmp(gs_function_name(function), names[k]))
      return true;
  return false;
}

static bool
is_steady_expr(const gs_expr *e) {
  if (e->kind == GS_X_CALL && is_changing_fact(e->function))
    return false;
  for (uint32_t k = 0; k < e->n_args; k++)
    if (!is_steady_expr(e->args[k]))
      return false;
  return true;
}

static bool
is_steady_step(const rl_step *s) {
  if (s->expr)
    return is_steady_expr(s->expr);
  for (uint32_t k = 0; s->node && k < s->node->n_attrs; k++)
    if (s->node->attrs[k] && !is_steady_expr(s->node->attrs[k]))
      return false;
  return true;
}

rl_condition *
rl_condition_new(const gs_context *ctx, const rl_step *ones, uint32_t n_ones,
                 const rl_step *steps, uint32_t n, uint32_t n_slots) {
  assert((ones || !n_ones) && (steps || !n));
  rl_condition *c = BS_NEW(ctx->arena, rl_condition);
  rl_step *all = BS_NEWS(ctx->arena, rl_step, n_ones + (size_t)n + 1);
  if (n_ones)
    memcpy(all, ones, n_ones * sizeof *ones);
  if (n)
    memcpy(all + n_ones, steps, n * sizeof *steps);
  *c = (rl_condition){
      .steps = all, .n = n_ones + n, .n_slots = n_slots, .steady = true};
  for (uint32_t k = 0; k < c->n; k++) {
    c->n_for += all[k].kind == RL_FOR;
    c->steady &= is_steady_step(&all[k]);
  }
  return c;
}

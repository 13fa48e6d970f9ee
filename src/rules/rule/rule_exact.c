/* SPDX-License-Identifier: MIT */
/* rule_exact.c - rules that leave every float as it is, to the last bit.
 *
 * Such a rule moves elements, and computes no others: it has no operators, or
 * the same ones on both sides, none of which is applied to the result of
 * another one there.  Then an element is still computed by the same operator
 * from the same elements, and only where it lies changes.  Operators that add
 * up are left out, since views may change the order in which they do, and so
 * are pads beside operators, since 0 * NaN is no 0.  What is not seen to be
 * exact counts as inexact. */
#include "glenside/expr/expr_functions.h"
#include "rules/rule/rule_internal.h"
#include <assert.h>
#include <string.h>

/* Operators of one side; in a rule there are few. */
enum { MOST_OPERATORS = 8 };

typedef struct side {
  const gs_expr *op[MOST_OPERATORS]; /* different ones */
  uint32_t n;
  bool pads, steps; /* an operator is applied to the result of another one */
} side;

static bool
has_operator(const side *s, const gs_expr *op) {
  for (uint32_t k = 0; k < s->n; k++)
    if (gs_expr_same(s->op[k], op))
      return true;
  return false;
}

/* False: there are too many to compare. */
static bool
add_operator(side *s, const gs_expr *op) {
  if (has_operator(s, op))
    return true;
  if (s->n == MOST_OPERATORS)
    return false;
  s->op[s->n++] = op;
  return true;
}

/* Children stand before their parents. */
static bool
add_terms(const gs_context *ctx, const gs_skeleton *sk, side *s) {
  bool ok = true;
  bool *computed = bs_alloc(ctx->heap, (sk->n + (size_t)1) * sizeof *computed);
  for (uint32_t k = 0; k < sk->n; k++) {
    const gs_sk_node *n = &sk->nodes[k];
    computed[k] = false;
    for (uint32_t j = 0; !n->hole && j < n->n_kids; j++)
      computed[k] |= computed[n->kids[j]];
    if (n->hole)
      continue;
    s->pads |= n->op == GS_PAD;
    ok &= n->op < GS_CALL;
    if (n->op == GS_COMPUTE) {
      s->steps |= computed[k];
      computed[k] = true;
      ok &= add_operator(s, n->attrs[0]);
    }
  }
  bs_free(ctx->heap, computed);
  return ok;
}

/* ---- what adds up ---- */

static bool
is_of_many(gs_compute_kind kind) {
  return kind == GS_REDUCE || kind == GS_DOT || kind == GS_FOLD ||
         kind == GS_SOFTMAX;
}

/* A symbol that is an operator which adds up, or a kind of such. */
static bool
names_sum(const bs_values *values, bs_value v) {
  gs_compute op;
  if (bs_kind_of(values, v) != BS_KIND_SYM)
    return false;
  const char *name = bs_as_sym(values, v);
  for (uint32_t k = 0; k < GS_COMPUTE_KINDS; k++)
    if (is_of_many((gs_compute_kind)k) && !strcmp(name, gs_kind_words[k]))
      return true;
  return gs_compute_find(name, &op) && is_of_many(gs_compute_table[op].kind);
}

static bool
speaks_of_sums(const bs_values *values, const gs_expr *e) {
  if (e->kind == GS_X_LITERAL &&
      bs_kind_of(values, e->literal) == BS_KIND_LIST) {
    for (uint32_t k = 0; k < bs_len(values, e->literal); k++)
      if (names_sum(values, bs_item(values, e->literal, k)))
        return true;
    return false;
  }
  if (e->kind == GS_X_LITERAL)
    return names_sum(values, e->literal);
  for (uint32_t k = 0; e->kind == GS_X_CALL && k < e->n_args; k++)
    if (speaks_of_sums(values, e->args[k]))
      return true;
  return false;
}

/* Whether a property of one of the side's operators is asked, other than its
 * kind: that may be one of sums alone, without naming one. */
static bool
asks_property(const side *s, const gs_expr *e) {
  if (e->kind != GS_X_CALL)
    return false;
  bool compares = e->function == GS_F_OP_KIND || e->function == GS_F_EQ ||
                  e->function == GS_F_NE;
  for (uint32_t k = 0; k < e->n_args; k++)
    if ((!compares && has_operator(s, e->args[k])) ||
        asks_property(s, e->args[k]))
      return true;
  return false;
}

/* A variable may be such an operator only if it may be any at all. */
static bool
adds_up(const gs_context *ctx, const rl_compiled *r, const side *s) {
  for (uint32_t k = 0; k < s->n; k++)
    if (speaks_of_sums(ctx->values, s->op[k]))
      return true;
  const rl_condition *c = r->condition;
  for (uint32_t k = 0; c && k < c->n; k++)
    if (c->steps[k].expr && (speaks_of_sums(ctx->values, c->steps[k].expr) ||
                             asks_property(s, c->steps[k].expr)))
      return true;
  return false;
}

/* What is known of values holds up to the sign of a zero. */
static bool
asks_values(const rl_compiled *r) {
  return r->condition && !r->condition->steady;
}

static bool
moves_only(const gs_context *ctx, const rl_compiled *r) {
  side left = {0}, right = {0};
  if (!r->rule.left || r->n_parts != 1 || asks_values(r) ||
      !add_terms(ctx, r->rule.left, &left))
    return false;
  for (uint32_t k = 0; k < r->rule.n_right; k++)
    if (!add_terms(ctx, r->rule.right[k], &right))
      return false;
  bool same = left.n == right.n;
  for (uint32_t k = 0; same && k < left.n; k++)
    same = has_operator(&right, left.op[k]);
  return same && (!left.n || (!left.steps && !right.steps && !left.pads &&
                              !right.pads && !adds_up(ctx, r, &left)));
}

/* ---- instructions ---- */

/* Whether it may add up floats, in an order of its own. */
static bool
sums_floats(const gs_context *ctx, const gs_instr *i) {
  bool floats = !gs_dtype_table[i->result.dtype].integer;
  for (uint32_t k = 0; k < i->n_operands; k++)
    floats |= !gs_dtype_table[i->operands[k].dtype].integer;
  for (uint32_t k = 0; floats && k < i->semantics->n; k++) {
    const gs_sk_node *n = &i->semantics->nodes[k];
    if (!n->hole && n->op == GS_COMPUTE &&
        speaks_of_sums(ctx->values, n->attrs[0]))
      return true;
  }
  return false;
}

bool
rl_is_exact(const rl_rules *rules, uint32_t rule) {
  assert(rule < rules->compiled.len);
  const rl_compiled *r = rules->compiled.data[rule];
  const gs_context *ctx = &rules->ctx;
  if (r->instr)
    return !sums_floats(ctx, r->instr) &&
           (!r->into || !sums_floats(ctx, r->into));
  return moves_only(ctx, r);
}

uint32_t
rl_count_inexact(const rl_rules *rules) {
  uint32_t n = 0;
  for (uint32_t k = 0; k < rules->compiled.len; k++)
    n += !rl_is_exact(rules, k);
  return n;
}

bool
rl_has_floats(const gs_program *program) {
  gs_type type;
  for (uint32_t t = 0; t < program->nodes.len; t++) {
    gs_type_at(program, (gs_term){t}, &type);
    if (!gs_dtype_table[type.dtype].integer)
      return true;
  }
  return false;
}

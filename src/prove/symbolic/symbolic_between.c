/* SPDX-License-Identifier: MIT */
/* symbolic_between.c - how many axes fewer, or more, a term between may have.
 *
 * A rule is looked at for ranks of its variables.  What it says is of the terms
 * between, too: below two squeezes a transposition has a rank that is two less
 * than that of the variable, and where such a term must have so many axes
 * for a fault to be seen, the variable has two more. */
#include "glenside/expr/expr_functions.h"
#include "prove/symbolic/symbolic_forms.h"
#include <string.h>

/* ---- operators that leave the rank as it is ---- */

static bool
keeps_rank(gs_compute_kind kind) {
  return kind == GS_ELEMENTWISE || kind == GS_CAST || kind == GS_SOFTMAX;
}

/* A kind, or an operator, by its name. */
static bool
word_keeps_rank(const bs_values *values, bs_value v, bool kind) {
  gs_compute op;
  if (bs_kind_of(values, v) != BS_KIND_SYM)
    return false;
  const char *word = bs_as_sym(values, v);
  for (uint32_t k = 0; kind && k < GS_COMPUTE_KINDS; k++)
    if (!strcmp(word, gs_kind_words[k]))
      return keeps_rank((gs_compute_kind)k);
  return !kind && gs_compute_find(word, &op) &&
         keeps_rank(gs_compute_table[op].kind);
}

/* A word, or a list of words. */
static bool
words_keep_rank(const bs_values *values, const gs_expr *e, bool kind) {
  if (e->kind != GS_X_LITERAL)
    return false;
  if (bs_kind_of(values, e->literal) != BS_KIND_LIST)
    return word_keeps_rank(values, e->literal, kind);
  for (uint32_t k = 0; k < bs_len(values, e->literal); k++)
    if (!word_keeps_rank(values, bs_item(values, e->literal, k), kind))
      return false;
  return true;
}

/* Whether the clause says that the operator is one that keeps the rank. */
static bool
says_so(const gs_context *ctx, const rl_asked *c, uint32_t slot) {
  const gs_expr *e = c->expr;
  if (c->kind != RL_ASKS_TEST || !e || e->kind != GS_X_CALL ||
      (e->function != GS_F_MEMBER && e->function != GS_F_EQ) || e->n_args != 2)
    return false;
  const gs_expr *of = e->args[1];
  return of->kind == GS_X_CALL &&
         (of->function == GS_F_OP_KIND || of->function == GS_F_OP_NAME) &&
         of->args[0]->kind == GS_X_VAR && of->args[0]->slot == slot &&
         words_keep_rank(ctx->values, e->args[0], of->function == GS_F_OP_KIND);
}

const gs_expr *
pv_operator_of(const gs_sk_node *compute) {
  const gs_expr *e = compute->attrs[0];
  return e->kind == GS_X_CALL && e->n_args ? e->args[0] : e;
}

static bool
operator_keeps_rank(const gs_context *ctx, const rl_rule *rule,
                    const gs_expr *head) {
  gs_compute op;
  if (head->kind == GS_X_LITERAL)
    return gs_compute_of(ctx->values, head->literal, &op) &&
           keeps_rank(gs_compute_table[op].kind);
  for (uint32_t k = 0; k < rl_asked_count(rule); k++) {
    rl_asked c = rl_asked_at(rule, k);
    if (head->kind == GS_X_VAR && says_so(ctx, &c, head->slot))
      return true;
  }
  return false;
}

/* ---- terms ---- */

/* Of the way from a variable to a node. */
typedef struct way {
  int32_t fewer; /* axes than the variable has; a pair has one more */
  uint32_t most; /* of `fewer`, on the way */
  uint32_t more; /* axes that were put in */
} way;

static void
take_deeper(way *to, const way *other) {
  to->fewer = other->fewer > to->fewer ? other->fewer : to->fewer;
  to->most = other->most > to->most ? other->most : to->most;
  to->more = other->more > to->more ? other->more : to->more;
}

static way
way_of(const gs_context *ctx, const rl_rule *rule, const gs_sk_node *n,
       const way *ways) {
  way out = {0};
  for (uint32_t k = 0; !n->hole && k < n->n_kids; k++) {
    if (!k)
      out = ways[n->kids[0]];
    take_deeper(&out, &ways[n->kids[k]]);
  }
  if (n->hole)
    return out;
  out.fewer -= n->op == GS_PAIR || n->op == GS_INSERT_AXIS;
  out.more += n->op == GS_INSERT_AXIS;
  out.fewer += n->op == GS_SQUEEZE ||
               (n->op == GS_COMPUTE &&
                !operator_keeps_rank(ctx, rule, pv_operator_of(n)));
  if (out.fewer > (int32_t)out.most)
    out.most = (uint32_t)out.fewer;
  return out;
}

static uint32_t
axes_of_side(const gs_context *ctx, const rl_rule *rule,
             const gs_skeleton *side) {
  way *ways = BS_NEWS(ctx->arena, way, side->n + 1);
  uint32_t most = 0;
  for (uint32_t k = 0; k < side->n; k++) {
    ways[k] = way_of(ctx, rule, &side->nodes[k], ways);
    uint32_t n = ways[k].most + ways[k].more;
    most = n > most ? n : most;
  }
  return most;
}

uint32_t
pv_axes_between(const gs_context *ctx, const rl_rule *rule) {
  uint32_t most = axes_of_side(ctx, rule, rule->left);
  for (uint32_t r = 0; r < rule->n_right; r++) {
    uint32_t n = axes_of_side(ctx, rule, rule->right[r]);
    most = n > most ? n : most;
  }
  return most;
}

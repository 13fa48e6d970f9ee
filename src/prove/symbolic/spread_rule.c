/* SPDX-License-Identifier: MIT */
/* spread_rule.c - what a rule compares: the types of its left side, and its
 * clauses. */
#include "prove/symbolic/spread.h"
#include <assert.h>
#include <string.h>

/* --- types of the left side ----------------------------------------------- */

static void
define(sp_walk *x, uint32_t slot, const sp_places *is) {
  if (slot >= SP_SLOTS)
    return;
  if (x->defined >> slot & 1)
    sp_compare(x, x->of[slot], is, 0);
  x->of[slot] = is;
  x->defined |= (uint64_t)1 << slot;
}

/* A list of as many. */
static void
bind_length(sp_walk *x, const gs_expr *e, const sp_places *is) {
  if (!e)
    return;
  if (e->kind == GS_X_VAR) {
    define(x, e->slot, is);
    return;
  }
  const sp_places *length = sp_read(x, e);
  sp_compare(x, length, is, 0);
}

/* Both ways of saying that the types are alike are enough. */
static void
tie(sp_walk *x, const sp_ranks *a, const sp_ranks *b) {
  sp_compare(x, a->access, b->access, 0);
  if (!x->counts)
    return;
  const sp_places *all = sp_plus(x, a->all, -1, b->all);
  const sp_places *rest = sp_plus(x, a->compute, -1, b->compute);
  const sp_places *wide = sp_written_out(x, all);
  sp_note(x, sp_width(wide, 0) > 1 ? rest : all, 0, 0);
}

static void
rank_compute(sp_walk *x, const gs_sk_node *sk, sp_ranks *t) {
  const gs_expr *head = pv_operator_of(sk);
  gs_compute op;
  if (head->kind != GS_X_LITERAL ||
      !gs_compute_of(x->values, head->literal, &op))
    return;
  gs_compute_kind kind = gs_compute_table[op].kind;
  if (kind == GS_REDUCE || kind == GS_DOT) {
    t->all = t->access;
    t->compute = &sp_none;
  } else if (kind == GS_FOLD || kind == GS_GATHER || kind == GS_SELECT) {
    t->all = sp_shifted(x, t->all, -1);
    t->compute = sp_shifted(x, t->compute, -1);
  }
}

static void
rank_access(sp_walk *x, const gs_sk_node *sk, sp_ranks *t) {
  t->access = sp_read(x, sk->attrs[0]);
  t->compute = sp_plus(x, t->all, -1, t->access);
}

static void
rank_written(sp_walk *x, const gs_sk_node *sk, sp_ranks *t) {
  bind_length(x, sk->attrs[0], t->all);
}

static void
rank_product(sp_walk *x, const gs_sk_node *sk, sp_ranks *t) {
  const sp_ranks *b = &x->node[sk->kids[sk->n_kids - 1]];
  sp_compare(x, t->compute, b->compute, 0);
  t->access = sp_plus(x, t->access, 1, b->access);
  t->all = sp_plus(x, sp_shifted(x, t->all, 1), 1, b->access);
  t->compute = sp_shifted(x, t->compute, 1);
}

static void
rank_concat(sp_walk *x, const gs_sk_node *sk, sp_ranks *t) {
  tie(x, t, &x->node[sk->kids[sk->n_kids - 1]]);
}

static void
rank_pair(sp_walk *x, const gs_sk_node *sk, sp_ranks *t) {
  rank_concat(x, sk, t);
  t->all = sp_shifted(x, t->all, 1);
  t->compute = sp_shifted(x, t->compute, 1);
}

static void
rank_windows(sp_walk *x, const gs_sk_node *sk, sp_ranks *t) {
  for (uint32_t k = 0; k < sk->n_attrs; k++)
    bind_length(x, sk->attrs[k], t->compute);
  t->access = t->all;
  t->all = sp_plus(x, t->all, 1, t->compute);
}

static void
rank_squeeze(sp_walk *x, const gs_sk_node *sk, sp_ranks *t) {
  (void)sk;
  t->all = sp_shifted(x, t->all, -1); /* in S or in C */
}

static void
rank_insert(sp_walk *x, const gs_sk_node *sk, sp_ranks *t) {
  (void)sk;
  t->all = sp_shifted(x, t->all, 1);
  t->access = sp_shifted(x, t->access, 1);
  t->compute = sp_shifted(x, t->compute, 1);
}

static void
rank_flatten(sp_walk *x, const gs_sk_node *sk, sp_ranks *t) {
  (void)sk;
  t->access = t->compute = sp_number(x, 1);
  t->all = sp_number(x, 2);
}

static void
rank_reshape(sp_walk *x, const gs_sk_node *sk, sp_ranks *t) {
  t->access = sp_read(x, sk->attrs[0]);
  t->compute = sp_read(x, sk->attrs[1]);
  t->all = sp_plus(x, t->access, 1, t->compute);
}

/* Of its first child; operators that are not listed change no ranks, or
 * nothing is known of theirs. */
static void
rank_node(sp_walk *x, const gs_sk_node *sk, sp_ranks *t) {
  static void (*const rank[GS_OP_COUNT])(sp_walk *, const gs_sk_node *,
                                         sp_ranks *) = {
      [GS_ACCESS] = rank_access,      [GS_TRANSPOSE] = rank_written,
      [GS_BROADCAST] = rank_written,  [GS_CARTPROD] = rank_product,
      [GS_PAIR] = rank_pair,          [GS_CONCAT] = rank_concat,
      [GS_WINDOWS] = rank_windows,    [GS_SQUEEZE] = rank_squeeze,
      [GS_INSERT_AXIS] = rank_insert, [GS_FLATTEN] = rank_flatten,
      [GS_RESHAPE] = rank_reshape,    [GS_COMPUTE] = rank_compute,
  };
  assert(!gs_op_table[sk->op].view || gs_op_is(sk->op, GS_SAME_AXES) ||
         rank[sk->op]);
  *t = x->node[sk->kids[0]];
  if (rank[sk->op])
    rank[sk->op](x, sk, t);
}

static void
read_left(sp_walk *x) {
  const gs_skeleton *s = x->rule->left;
  for (uint32_t k = 0; k < s->n; k++) {
    const gs_sk_node *sk = &s->nodes[k];
    if (sk->hole && sk->slot < SP_SLOTS)
      x->node[k] = (sp_ranks){.access = sp_lone(x, 3 * sk->slot + SP_ACCESS),
                              .compute = sp_lone(x, 3 * sk->slot + SP_COMPUTE),
                              .all = sp_lone(x, 3 * sk->slot + SP_RANK)};
    else if (sk->n_kids)
      rank_node(x, sk, &x->node[k]);
  }
}

/* --- a rule --------------------------------------------------------------- */

/* Does a clause ask for what this one defines? */
static bool
is_asked(const sp_walk *x, uint32_t slot) {
  for (uint32_t k = 0; k < rl_asked_count(x->rule); k++) {
    rl_asked c = rl_asked_at(x->rule, k);
    if (c.expr && ls_reads(c.expr, slot))
      return true;
  }
  return false;
}

/* A clause that bounds one place by a number. */
static void
take_bound(sp_walk *x, const gs_expr *e) {
  gs_function_id f = (gs_function_id)e->function;
  for (uint32_t k = 0; k < e->n_args && f == GS_F_AND; k++)
    if (e->args[k]->kind == GS_X_CALL)
      take_bound(x, e->args[k]);
  if ((f != GS_F_EQ && f != GS_F_LE && f != GS_F_LT) || e->n_args != 2 ||
      sp_is_class(e->args[0]))
    return;
  const sp_places *a = sp_read(x, e->args[0]), *b = sp_read(x, e->args[1]);
  if (!a->size && !b->size && a->n == 1 && !b->n && a->term[0].times == 1 &&
      a->term[0].what < SP_OPAQUE)
    x->bounded[a->term[0].what] = true;
}

static void
read_clause(sp_walk *x, const rl_asked *c) {
  bool gives = c->kind == RL_ASKS_DEFINE || c->kind == RL_ASKS_FOR;
  if (!c->expr)
    return;
  x->lists = !gives || c->kind == RL_ASKS_FOR || is_asked(x, c->slot);
  const sp_places *is = sp_read(x, c->expr);
  x->lists = false;
  if (c->kind == RL_ASKS_TEST && c->expr->kind == GS_X_CALL)
    take_bound(x, c->expr);
  if (c->kind == RL_ASKS_DEFINE)
    define(x, c->slot, is);
}

static void
read_right(sp_walk *x) {
  for (uint32_t r = 0; r < x->rule->n_right; r++)
    for (uint32_t k = 0; k < x->rule->right[r]->n; k++) {
      const gs_sk_node *sk = &x->rule->right[r]->nodes[k];
      for (uint32_t i = 0; !sk->hole && i < sk->n_attrs; i++)
        if (sk->attrs[i])
          sp_read(x, sk->attrs[i]);
    }
}

static void
read_rule(sp_walk *x) {
  x->defined = 0;
  x->opaque = 0;
  read_left(x);
  for (uint32_t k = 0; k < rl_asked_count(x->rule); k++) {
    rl_asked c = rl_asked_at(x->rule, k);
    read_clause(x, &c);
  }
  read_right(x);
}

/* Are both ranks of a term compared, with each other by whatever is between
 * them?  They add up to the one by which forms are listed. */
static bool
has_two_ranks(const sp_walk *x) {
  for (uint32_t k = 0; k < SP_SLOTS; k++)
    if ((x->asked[k] & 3) == 3 &&
        sp_group_of(x, 3 * k + SP_ACCESS) == sp_group_of(x, 3 * k + SP_COMPUTE))
      return true;
  return false;
}

uint64_t
pv_rank_multiple(const gs_context *ctx, const rl_rule *rule,
                 const uint8_t *is_size) {
  if (rule->left->n > SP_NODES || rule->scope.vars.len > SP_SLOTS)
    return SP_LARGE;
  sp_walk *x = bs_arena_alloc(ctx->arena, sizeof *x);
  memset(x, 0, sizeof *x);
  x->arena = ctx->arena;
  x->values = ctx->values;
  x->rule = rule;
  x->is_size = is_size;
  x->factor = 1;
  for (uint32_t k = 0; k < SP_WHATS; k++)
    x->group[k] = (uint16_t)k;
  read_rule(x);
  x->counts = true;
  read_rule(x);
  uint64_t factor = x->factor * (has_two_ranks(x) ? 2 : 1);
  return factor * (x->numbers + 1 + (factor > 1 ? x->items : 0));
}

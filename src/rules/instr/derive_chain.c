/* SPDX-License-Identifier: MIT */
/* derive_chain.c - the views over an operand, climbed and undone. */
#include "rules/instr/derive.h"
#include <assert.h>
#include <string.h>

/* The items of a list that is written out. */
static bool
written_list(const deriver *d, const gs_expr *e, size *out, uint32_t *n) {
  *n = 0;
  if (e->kind == GS_X_CALL && !strcmp(gs_function_name(e->function), "list")) {
    if (e->n_args > GS_MAX_RANK)
      return false;
    for (; *n < e->n_args; (*n)++)
      out[*n] = rl_size_of(d, e->args[*n]);
    return true;
  }
  if (e->kind != GS_X_LITERAL)
    return false;
  int64_t items[GS_MAX_RANK];
  if (!bs_to_ints(d->ctx->values, e->literal, items, GS_MAX_RANK, n))
    return false;
  for (uint32_t k = 0; k < *n; k++)
    out[k] = rl_size_literal(d, items[k]);
  return true;
}

static bool
up_transpose(const deriver *d, const gs_sk_node *n, const stage *a, stage *b) {
  int64_t p[GS_MAX_RANK];
  uint32_t len;
  if (n->attrs[0]->kind != GS_X_LITERAL ||
      !bs_to_ints(d->ctx->values, n->attrs[0]->literal, p, GS_MAX_RANK, &len) ||
      len != a->rank)
    return false;
  for (uint32_t k = 0; k < len; k++)
    if (p[k] < 0 || p[k] >= len)
      return false;
  for (uint32_t k = 0; k < len; k++)
    b->dim[k] = a->dim[p[k]];
  return true;
}

static bool
up_squeeze(const deriver *d, const gs_sk_node *n, const stage *a, stage *b) {
  int64_t at;
  if (!gs_expr_is_int(d->ctx->values, n->attrs[0], &at) || at < 0 ||
      at >= a->rank)
    return false;
  for (uint32_t k = (uint32_t)at; k + 1 < a->rank; k++)
    b->dim[k] = a->dim[k + 1];
  b->rank--;
  b->access -= at < a->access;
  return true;
}

static bool
up_insert_axis(const deriver *d, const gs_sk_node *n, const stage *a,
               stage *b) {
  int64_t at;
  if (!gs_expr_is_int(d->ctx->values, n->attrs[0], &at) || at < 0 ||
      at > a->rank || a->rank >= GS_MAX_RANK)
    return false;
  for (uint32_t k = a->rank; k > at; k--)
    b->dim[k] = a->dim[k - 1];
  b->dim[at] = rl_size_literal(d, 1);
  b->rank++;
  b->access += at <= a->access;
  return true;
}

static bool
up_access(const deriver *d, const gs_sk_node *n, const stage *a, stage *b) {
  int64_t at;
  if (!gs_expr_is_int(d->ctx->values, n->attrs[0], &at) || at < 0 ||
      at > a->rank)
    return false;
  b->access = (uint32_t)at;
  return true;
}

static bool
up_reshape(const deriver *d, const gs_sk_node *n, const stage *a, stage *b) {
  size c[GS_MAX_RANK];
  uint32_t s, m;
  (void)a;
  if (!written_list(d, n->attrs[0], b->dim, &s) ||
      !written_list(d, n->attrs[1], c, &m) || s + m > GS_MAX_RANK)
    return false;
  memcpy(b->dim + s, c, m * sizeof *c);
  b->access = s;
  b->rank = s + m;
  return true;
}

static bool
up_flatten(const deriver *d, const gs_sk_node *n, const stage *a, stage *b) {
  uint32_t items = a->rank - a->access;
  (void)n;
  b->access = a->access > 0;
  b->rank = b->access + (items > 0);
  if (a->access)
    b->dim[0] = rl_size_product(d, a->dim, a->access);
  if (items)
    b->dim[b->access] = rl_size_product(d, a->dim + a->access, items);
  return true;
}

static bool
up_same(const deriver *d, const gs_sk_node *n, const stage *a, stage *b) {
  (void)d;
  (void)n;
  (void)a;
  (void)b;
  return true;
}

/* The shape above a view whose inverse can be written; b starts as a copy of
 * a.  Operators without a function end a chain. */
static bool (*const up_table[GS_OP_COUNT])(const deriver *, const gs_sk_node *,
                                           const stage *a, stage *b) = {
    [GS_ACCESS] = up_access,    [GS_TRANSPOSE] = up_transpose,
    [GS_SQUEEZE] = up_squeeze,  [GS_INSERT_AXIS] = up_insert_axis,
    [GS_RESHAPE] = up_reshape,  [GS_FLATTEN] = up_flatten,
    [GS_MATERIALIZE] = up_same,
};

uint32_t
rl_parent_of(const gs_skeleton *s, uint32_t node) {
  assert(node < s->n);
  for (uint32_t k = node + 1; k < s->n; k++)
    for (uint32_t j = 0; !s->nodes[k].hole && j < s->nodes[k].n_kids; j++)
      if (s->nodes[k].kids[j] == node)
        return k;
  return s->n;
}

void
rl_climb(const deriver *d, const gs_skeleton *s, uint32_t hole, uint32_t top,
         const gs_operand *o, chain *c) {
  assert(hole < s->n && s->nodes[hole].hole && o->rank <= GS_MAX_RANK);
  c->n = 0;
  c->stages[0] = (stage){.access = o->access, .rank = o->rank};
  for (uint32_t k = 0; k < o->rank; k++)
    c->stages[0].dim[k] = rl_size_of(d, o->dims[k]);
  for (uint32_t at = rl_parent_of(s, hole); at < top && c->n < MAX_CHAIN;
       at = rl_parent_of(s, at)) {
    const gs_sk_node *n = &s->nodes[at];
    const stage *below = &c->stages[c->n];
    stage *above = &c->stages[c->n + 1];
    *above = *below;
    if (!up_table[n->op] || !up_table[n->op](d, n, below, above))
      break;
    c->node[c->n++] = at;
  }
}

/* --- going back down ------------------------------------------------------ */

typedef struct view_step {
  const gs_sk_node *node;
  const stage *below, *above;
  const char *term;
} view_step;

static const char *
list_text(const deriver *d, const size *s, uint32_t n) {
  assert(s || !n);
  bs_text t;
  bs_text_init(&t, d->ctx->heap);
  bs_put(&t, "(list");
  for (uint32_t k = 0; k < n; k++)
    bs_putf(&t, " %s", s[k].text);
  bs_putc(&t, ')');
  return rl_keep_text(d, &t);
}

static const char *
inverse_permutation(const deriver *d, const gs_sk_node *n) {
  int64_t p[GS_MAX_RANK], inverse[GS_MAX_RANK];
  uint32_t len;
  bs_text t;
  bs_to_ints(d->ctx->values, n->attrs[0]->literal, p, GS_MAX_RANK, &len);
  for (uint32_t k = 0; k < len; k++)
    inverse[p[k]] = k;
  bs_text_init(&t, d->ctx->heap);
  bs_put(&t, "(list");
  for (uint32_t k = 0; k < len; k++)
    bs_putf(&t, " %lld", (long long)inverse[k]);
  bs_putc(&t, ')');
  return rl_keep_text(d, &t);
}

static const char *
with_access(const deriver *d, const char *term, uint32_t *have, uint32_t want) {
  if (*have == want)
    return term;
  *have = want;
  return bs_arena_printf(d->ctx->arena, "(access %s %u)", term, want);
}

static const char *
down_same(const deriver *d, const view_step *v, uint32_t *cut) {
  (void)d;
  (void)cut;
  return v->term;
}

static const char *
down_transpose(const deriver *d, const view_step *v, uint32_t *cut) {
  (void)cut;
  return bs_arena_printf(d->ctx->arena, "(transpose %s %s)", v->term,
                         inverse_permutation(d, v->node));
}

static const char *
down_squeeze(const deriver *d, const view_step *v, uint32_t *cut) {
  int64_t at = 0;
  gs_expr_is_int(d->ctx->values, v->node->attrs[0], &at);
  *cut += at <= *cut;
  return bs_arena_printf(d->ctx->arena, "(insertAxis %s %lld)", v->term,
                         (long long)at);
}

static const char *
down_insert_axis(const deriver *d, const view_step *v, uint32_t *cut) {
  int64_t at = 0;
  gs_expr_is_int(d->ctx->values, v->node->attrs[0], &at);
  *cut -= at < *cut;
  return bs_arena_printf(d->ctx->arena, "(squeeze %s %lld)", v->term,
                         (long long)at);
}

static const char *
down_reshape(const deriver *d, const view_step *v, uint32_t *cut) {
  const stage *below = v->below;
  const char *term = with_access(d, v->term, cut, v->above->access);
  *cut = below->access;
  return bs_arena_printf(
      d->ctx->arena, "(reshape %s %s %s)", term,
      list_text(d, below->dim, below->access),
      list_text(d, below->dim + below->access, below->rank - below->access));
}

/* Undoes one view: the term has the shape above, its split is at *cut. */
static const char *(*const down_table[GS_OP_COUNT])(const deriver *,
                                                    const view_step *,
                                                    uint32_t *cut) = {
    [GS_ACCESS] = down_same,      [GS_TRANSPOSE] = down_transpose,
    [GS_SQUEEZE] = down_squeeze,  [GS_INSERT_AXIS] = down_insert_axis,
    [GS_RESHAPE] = down_reshape,  [GS_FLATTEN] = down_reshape,
    [GS_MATERIALIZE] = down_same,
};

const char *
rl_invert(const deriver *d, const gs_skeleton *s, const chain *c,
          const char *term) {
  assert(c->n <= MAX_CHAIN && term);
  uint32_t cut = c->stages[c->n].access;
  for (uint32_t k = c->n; k-- > 0;) {
    view_step v = {.node = &s->nodes[c->node[k]],
                   .below = &c->stages[k],
                   .above = &c->stages[k + 1],
                   .term = term};
    term = down_table[v.node->op](d, &v, &cut);
  }
  return with_access(d, term, &cut, c->stages[0].access);
}

/* --- of all operands ------------------------------------------------------ */

const gs_operand *
rl_operand_of(const deriver *d, uint32_t slot) {
  for (uint32_t k = 0; k < d->instr->n_operands; k++)
    if (d->instr->operands[k].slot == slot)
      return &d->instr->operands[k];
  return NULL;
}

/* An operand that stands there twice is matched under its views when they are
 * the same both times, else as itself. */
static bool
same_views(const deriver *d, const chain *a, const chain *b) {
  const gs_skeleton *s = d->instr->semantics;
  if (a->n != b->n)
    return false;
  for (uint32_t k = 0; k < a->n; k++) {
    const gs_sk_node *x = &s->nodes[a->node[k]], *y = &s->nodes[b->node[k]];
    if (x->op != y->op || x->n_attrs != y->n_attrs)
      return false;
    for (uint32_t j = 0; j < x->n_attrs; j++)
      if (strcmp(rl_expr_text(d, x->attrs[j]), rl_expr_text(d, y->attrs[j])))
        return false;
  }
  return true;
}

void
rl_find_chains(deriver *d) {
  const gs_skeleton *s = d->instr->semantics;
  uint32_t n = d->instr->n_operands;
  uint8_t *seen = BS_NEWS(d->ctx->arena, uint8_t, n + 1u);
  chain *again = BS_NEW(d->ctx->arena, chain);
  d->chains = BS_NEWS(d->ctx->arena, chain, n + 1u);
  for (uint32_t k = 0; k < s->n; k++) {
    const gs_operand *o =
        s->nodes[k].hole ? rl_operand_of(d, s->nodes[k].slot) : NULL;
    if (!o)
      continue;
    uint32_t index = (uint32_t)(o - d->instr->operands);
    chain *c = &d->chains[index];
    rl_climb(d, s, k, s->n - 1, o, seen[index] ? again : c);
    if (seen[index] && !same_views(d, c, again))
      c->n = 0;
    seen[index] = 1;
  }
}

void
rl_cut_chains(deriver *d) {
  const gs_skeleton *s = d->instr->semantics;
  for (uint32_t k = 0; k < d->instr->n_operands; k++) {
    chain *c = &d->chains[k];
    bool bound = true;
    for (uint32_t j = 0; j < c->stages[0].rank; j++)
      bound &= rl_are_bound(d, c->stages[0].dim[j].uses);
    for (uint32_t j = 0; !bound && j < c->n; j++)
      if (s->nodes[c->node[j]].op == GS_RESHAPE ||
          s->nodes[c->node[j]].op == GS_FLATTEN)
        c->n = j;
  }
}

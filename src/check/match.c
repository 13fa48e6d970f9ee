/* SPDX-License-Identifier: MIT */
/* match.c - a pattern laid on a term, and a side of a rule made a term.
 *
 * Both walk the nodes of the skeleton, which stand children first and are no
 * more than a file writes. */
#include "check/check.h"
#include "glenside/expr_functions.h"
#include <string.h>

/* ---- matching ---- */

static bool
bind(const ck_env *e, uint32_t *slots, uint32_t slot, uint32_t value,
     bool is_term) {
  if (slots[slot] == UINT32_MAX)
    slots[slot] = value;
  return slots[slot] == value ||
         (!is_term &&
          ck_same(e->ctx->values, (bs_value){slots[slot]}, (bs_value){value}));
}

/* Lists of a pattern are nested no deeper than GS_MAX_NESTING. */
static bool
match_attr(const ck_env *e, uint32_t *slots, const gs_expr *x, bs_value have) {
  const bs_values *values = e->ctx->values;
  if (x->kind == GS_X_LITERAL)
    return ck_same(values, x->literal, have);
  if (x->kind == GS_X_VAR)
    return bind(e, slots, x->slot, have.i, false);
  if (x->function != GS_F_LIST || bs_len(values, have) != x->n_args)
    return false;
  for (uint32_t k = 0; k < x->n_args; k++)
    if (!match_attr(e, slots, x->args[k], bs_item(values, have, k)))
      return false;
  return true;
}

/* A dilation that is not written is one of ones, as long as the kernel. */
static bs_value
ones_like(bs_values *values, bs_value list) {
  int64_t ones[GS_MAX_RANK];
  uint32_t n = bs_len(values, list);
  for (uint32_t k = 0; k < n && n <= GS_MAX_RANK; k++)
    ones[k] = 1;
  return n <= GS_MAX_RANK ? bs_ints(values, ones, n) : BS_NIL;
}

static bool
match_attrs(const ck_env *e, uint32_t *slots, const gs_sk_node *s,
            const gs_node *n) {
  bs_values *values = e->ctx->values;
  bool ok = s->n_attrs == bs_len(values, n->attr);
  for (uint32_t k = 0; k < s->n_attrs && ok; k++) {
    bs_value have = bs_item(values, n->attr, k);
    ok = s->attrs[k]
             ? match_attr(e, slots, s->attrs[k], have)
             : bs_same(have, ones_like(values, bs_item(values, n->attr, 0)));
  }
  return ok;
}

/* The terms that the nodes stand for, from the root down. */
static bool
lay_on(const ck_env *e, uint32_t *slots, const gs_skeleton *s, gs_term *on) {
  for (uint32_t k = s->n; k-- > 0;) {
    const gs_sk_node *node = &s->nodes[k];
    if (!gs_term_ok(on[k]))
      continue;
    const gs_node *n = gs_at(e->p, on[k]);
    if (node->hole) {
      if (!bind(e, slots, node->slot, on[k].i, true))
        return false;
      continue;
    }
    if (node->op != n->op || node->n_kids != n->n_kids ||
        !match_attrs(e, slots, node, n))
      return false;
    for (uint32_t j = 0; j < n->n_kids; j++) {
      gs_term *kid = &on[node->kids[j]];
      if (gs_term_ok(*kid) && kid->i != n->kids[j].i)
        return false;
      *kid = n->kids[j];
    }
  }
  return true;
}

bool
ck_match(const ck_env *e, uint32_t *slots, const gs_skeleton *s, gs_term t) {
  gs_term *on = bs_alloc(e->ctx->heap, s->n * sizeof *on);
  for (uint32_t k = 0; k < s->n; k++)
    on[k] = GS_NO_TERM;
  on[s->n - 1] = t;
  bool ok = lay_on(e, slots, s, on);
  bs_free(e->ctx->heap, on);
  return ok;
}

/* ---- building ---- */

static bool
attrs_of(const ck_env *e, const gs_sk_node *s, bs_value *out) {
  bs_values *values = e->ctx->values;
  bs_value *items = bs_alloc(e->ctx->heap, (s->n_attrs + 1u) * sizeof *items);
  bool ok = true;
  for (uint32_t k = 0; ok && k < s->n_attrs; k++) {
    items[k] =
        s->attrs[k] ? ck_eval(e, s->attrs[k]) : ones_like(values, items[0]);
    ok = items[k].i != 0;
  }
  if (ok)
    *out = bs_list(values, items, s->n_attrs);
  bs_free(e->ctx->heap, items);
  return ok;
}

static gs_term
build_node(const ck_env *e, gs_program *p, const gs_sk_node *s,
           const gs_term *made) {
  gs_fault fault;
  bs_value attr;
  if (s->hole)
    return (gs_term){e->slots[s->slot]};
  if (!attrs_of(e, s, &attr))
    return GS_NO_TERM;
  gs_term *kids =
      bs_alloc(e->ctx->heap, (s->n_kids + (size_t)1) * sizeof *kids);
  bool ok = true;
  for (uint32_t k = 0; k < s->n_kids; k++) {
    kids[k] = made[s->kids[k]];
    ok &= gs_term_ok(kids[k]);
  }
  gs_term out = ok ? gs_add(p, s->op, attr, kids, s->n_kids, s->span, &fault)
                   : GS_NO_TERM;
  bs_free(e->ctx->heap, kids);
  return out;
}

gs_term
ck_build(const ck_env *e, gs_program *p, const gs_skeleton *s) {
  gs_term *made = bs_alloc(e->ctx->heap, s->n * sizeof *made);
  for (uint32_t k = 0; k < s->n; k++)
    made[k] = build_node(e, p, &s->nodes[k], made);
  gs_term out = made[s->n - 1];
  bs_free(e->ctx->heap, made);
  return out;
}

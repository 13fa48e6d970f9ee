/* SPDX-License-Identifier: MIT */
/* check_match.c - a side of a rule laid on a term.
 *
 * The nodes of the skeleton stand children first, and are no more than a file
 * writes.  A left side binds variables.  On a right side all are bound, and
 * attributes are expressions: the term must be what they give. */
#include "check/check.h"
#include "glenside/expr/expr_functions.h"
#include <assert.h>

/* ---- attributes ---- */

static bool
bind(const ck_env *e, uint32_t slot, uint32_t value, bool is_term, bool binds) {
  uint32_t *have = &e->slots[slot];
  if (binds && *have == UINT32_MAX)
    *have = value;
  return *have == value ||
         (!is_term && *have != UINT32_MAX &&
          ck_same(e->ctx->values, (bs_value){*have}, (bs_value){value}));
}

/* Lists of a pattern are nested no deeper than GS_MAX_NESTING. */
static bool
match_attr(const ck_env *e, const gs_expr *x, bs_value have) {
  const bs_values *values = e->ctx->values;
  if (x->kind == GS_X_LITERAL)
    return ck_same(values, x->literal, have);
  if (x->kind == GS_X_VAR)
    return bind(e, x->slot, have.i, false, true);
  if (x->function != GS_F_LIST || bs_len(values, have) != x->n_args)
    return false;
  for (uint32_t k = 0; k < x->n_args; k++)
    if (!match_attr(e, x->args[k], bs_item(values, have, k)))
      return false;
  return true;
}

/* Each attribute alone is laid on a pattern; what expressions give is compared
 * as a whole, in its one form. */
static bool
fits_attrs(const ck_env *e, const gs_sk_node *s, const gs_node *n, bool binds) {
  bs_values *values = e->ctx->values;
  bs_value *items = bs_alloc(e->ctx->heap, (s->n_attrs + 1u) * sizeof *items);
  bool ok = !binds || s->n_attrs == bs_len(values, n->attr);
  for (uint32_t k = 0; ok && k < s->n_attrs; k++) {
    const gs_expr *x = s->attrs[k];
    items[k] = !x      ? gs_default_dilation(values, items[0])
               : binds ? bs_item(values, n->attr, k)
                       : ck_eval(e, x);
    ok = items[k].i && (!binds || !x || match_attr(e, x, items[k]));
  }
  ok = ok &&
       bs_same(n->attr, gs_canonical_attr(values, n->op,
                                          bs_list(values, items, s->n_attrs)));
  bs_free(e->ctx->heap, items);
  return ok;
}

/* ---- terms ---- */

/* The terms that the nodes stand for, from the root down. */
static bool
match_nodes(const ck_env *e, const gs_skeleton *s, gs_term *on, bool binds) {
  for (uint32_t k = s->n; k-- > 0;) {
    const gs_sk_node *node = &s->nodes[k];
    if (!gs_term_ok(on[k]))
      continue;
    const gs_node *n = gs_at(e->p, on[k]);
    if (node->hole) {
      if (!bind(e, node->slot, on[k].i, true, binds))
        return false;
      continue;
    }
    if (node->op != n->op || node->n_kids != n->n_kids ||
        !fits_attrs(e, node, n, binds))
      return false;
    for (uint32_t j = 0; j < n->n_kids; j++) {
      assert(node->kids[j] < k);
      gs_term *kid = &on[node->kids[j]];
      if (gs_term_ok(*kid) && kid->i != n->kids[j].i)
        return false;
      *kid = n->kids[j];
    }
  }
  return true;
}

bool
ck_match(const ck_env *e, const gs_skeleton *s, gs_term t, bool binds) {
  assert(s->n > 0);
  gs_term *on = bs_alloc(e->ctx->heap, s->n * sizeof *on);
  for (uint32_t k = 0; k < s->n; k++)
    on[k] = GS_NO_TERM;
  on[s->n - 1] = t;
  bool ok = match_nodes(e, s, on, binds);
  bs_free(e->ctx->heap, on);
  return ok;
}

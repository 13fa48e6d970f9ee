/* SPDX-License-Identifier: MIT */
/* check_proof.c - a proof read, and its lemmas checked one after another.
 *
 * What stands before (proof ...) is a program, whose lets name the terms.
 * Lemma n may cite those before it alone; a claim must be about an output of
 * the program that the proof is held against, and every output claimed once. */
#include "check/check.h"
#include <string.h>

/* ---- reading ---- */

/* Arrays, which have their names as attributes, and lets. */
static void
name_terms(ck_proof *x) {
  const gs_program *p = x->p;
  bs_values *values = x->ctx->values;
  for (uint32_t k = 0; k < p->nodes.len; k++)
    if (p->nodes.data[k].op == GS_TENSOR || p->nodes.data[k].op == GS_CONST)
      bs_map_put(x->ctx->heap, &x->term_of,
                 bs_item(values, p->nodes.data[k].attr, 0).i, k);
  for (uint32_t k = 0; k < p->lets.len; k++)
    bs_map_put(x->ctx->heap, &x->term_of,
               bs_sym(values, p->lets.data[k].name).i, p->lets.data[k].term.i);
}

/* GS_NO_TERM of no name. */
static gs_term
term_named(const ck_proof *x, bs_value symbol) {
  return (gs_term){bs_map_get(&x->term_of, symbol.i)};
}

gs_term
ck_term(const ck_proof *x, uint32_t node) {
  const bs_sx *n = bs_sx_at(&x->sx, node);
  return node && n->kind == BS_SX_SYM ? term_named(x, n->value) : GS_NO_TERM;
}

/* The program stands before the form. */
bool
ck_read_proof(ck_proof *x, const char *path) {
  bs_diags *diags = x->ctx->diags;
  uint32_t source = bs_source_read(diags, path, BS_NOWHERE);
  if (!source ||
      !bs_sexp_read(x->ctx->heap, x->ctx->values, diags, source, &x->sx))
    return false;
  x->root = x->sx.roots.len ? bs_last(&x->sx.roots) : 0;
  if (!bs_sx_is_form(&x->sx, x->ctx->values, x->root, "proof"))
    return bs_error(diags, BS_NOWHERE, "no-proof",
                    "%s does not end in a form (proof ...)", path);
  bs_source file = diags->sources.data[source - 1];
  uint32_t lo = bs_sx_at(&x->sx, x->root)->span.lo;
  uint32_t own = bs_source_add(diags, file.path, file.text, lo);
  x->p = own ? gs_parse(x->ctx, x->rules->target, own) : NULL;
  if (x->p)
    name_terms(x);
  return x->p != NULL;
}

/* ---- lemmas ---- */

bool
ck_cited(const ck_proof *x, uint32_t node, gs_term from, ck_lemma *out) {
  const bs_sx *cite = bs_sx_at(&x->sx, node);
  int64_t n = node ? bs_as_int(x->ctx->values, cite->value) : 0;
  uint64_t which = n < 0 ? -(uint64_t)n : (uint64_t)n;
  bool any = !gs_term_ok(from);
  if (!node || cite->kind != BS_SX_INT || which > x->lemmas.len || (!n && any))
    return false;
  *out = n ? x->lemmas.data[which - 1] : (ck_lemma){from, from};
  if (n < 0)
    *out = (ck_lemma){out->to, out->from};
  return any || out->from.i == from.i;
}

static const char *
check_congruence(const ck_proof *x, uint32_t node, gs_term from, gs_term to) {
  const gs_node *a = gs_at(x->p, from), *b = gs_at(x->p, to);
  if (a->op != b->op || !bs_same(a->attr, b->attr) || a->n_kids != b->n_kids ||
      bs_sx_at(&x->sx, node)->count != 3 + (uint64_t)a->n_kids)
    return "the terms do not have the same operator";
  uint32_t c = bs_sx_item(&x->sx, node, 3);
  for (uint32_t k = 0; k < a->n_kids; k++, c = bs_sx_at(&x->sx, c)->next) {
    ck_lemma kid;
    if (!ck_cited(x, c, a->kids[k], &kid) || kid.to.i != b->kids[k].i)
      return "operands are not equal by what is cited";
  }
  return NULL;
}

static const char *
check_chain(const ck_proof *x, uint32_t node, gs_term from, gs_term to) {
  uint32_t c = bs_sx_item(&x->sx, node, 3);
  for (ck_lemma link; c; c = bs_sx_at(&x->sx, c)->next) {
    if (!ck_cited(x, c, GS_NO_TERM, &link) || link.from.i != from.i)
      return "the chain is broken";
    from = link.to;
  }
  return from.i == to.i ? NULL : "the chain ends elsewhere";
}

static const char *
check_lemma(ck_proof *x, uint32_t node, const char *head) {
  gs_term from = ck_term(x, bs_sx_item(&x->sx, node, 1));
  gs_term to = ck_term(x, bs_sx_item(&x->sx, node, 2));
  const char *why = "this is not a lemma";
  if (!gs_term_ok(from) || !gs_term_ok(to))
    return "there is no such term";
  if (!bs_same(gs_at(x->p, from)->type, gs_at(x->p, to)->type))
    return "the terms do not have the same type";
  if (!strcmp(head, "rule"))
    why = ck_check_step(x, node, from, to);
  else if (!strcmp(head, "congruence"))
    why = check_congruence(x, node, from, to);
  else if (!strcmp(head, "chain"))
    why = check_chain(x, node, from, to);
  bs_push(x->ctx->heap, &x->lemmas, (ck_lemma){from, to});
  return why;
}

/* ---- claims ---- */

/* The array of the proof that is the same: it has one name, one type, and one
 * content. */
static gs_term
same_array(const ck_proof *x, const gs_program *from, const gs_node *n) {
  bs_value name = bs_item(x->ctx->values, n->attr, 0);
  gs_term have = term_named(x, name);
  bool same =
      gs_term_ok(have) && gs_at(x->p, have)->op == n->op &&
      bs_same(gs_at(x->p, have)->attr, n->attr) &&
      (n->op == GS_TENSOR || gs_same_constant(gs_constant_of(from, n->attr),
                                              gs_constant_of(x->p, n->attr)));
  return same ? have : GS_NO_TERM;
}

/* By term of a program that of the proof; GS_NO_TERM when it is made of other
 * inputs or constants. */
static gs_term *
import(ck_proof *x, const gs_program *from) {
  gs_term *map =
      bs_alloc(x->ctx->heap, (from->nodes.len + (size_t)1) * sizeof *map);
  for (uint32_t k = 0; k < from->nodes.len; k++) {
    const gs_node *n = &from->nodes.data[k];
    bool array = n->op == GS_TENSOR || n->op == GS_CONST;
    map[k] = array ? same_array(x, from, n) : gs_add_like(x->p, n, map);
  }
  return map;
}

/* (claim OUTPUT FROM TO CITE) */
static const char *
check_claim(ck_proof *x, uint32_t node) {
  const bs_sx *name = bs_sx_at(&x->sx, bs_sx_item(&x->sx, node, 1));
  gs_term from = ck_term(x, bs_sx_item(&x->sx, node, 2));
  ck_lemma shown;
  if (bs_sx_at(&x->sx, node)->count != 5 || !gs_term_ok(from) ||
      name->kind != BS_SX_SYM)
    return "a claim needs an output, two terms and a lemma";
  if (bs_map_get(&x->claims, name->value.i) != BS_NO_ENTRY)
    return "an output is claimed twice";
  bs_map_put(x->ctx->heap, &x->claims, name->value.i, node);
  return ck_cited(x, bs_sx_item(&x->sx, node, 4), from, &shown) &&
                 shown.to.i == ck_term(x, bs_sx_item(&x->sx, node, 3)).i
             ? NULL
             : "the claim is not what its lemma says";
}

/* Each output of a program is claimed, and nothing else: from what it is there,
 * item 2 of the claim, or to it, item 3. */
static bool
are_claimed(ck_proof *x, const gs_program *p, uint32_t item) {
  gs_term *map = import(x, p);
  bool ok = p->outputs.len == x->claims.n;
  for (uint32_t k = 0; ok && k < p->outputs.len; k++) {
    bs_value name = bs_sym(x->ctx->values, p->outputs.data[k].name);
    uint32_t claim = bs_map_get(&x->claims, name.i);
    ok =
        claim != BS_NO_ENTRY && ck_term(x, bs_sx_item(&x->sx, claim, item)).i ==
                                    map[p->outputs.data[k].term.i].i;
  }
  bs_free(x->ctx->heap, map);
  return ok;
}

static const char *
check_forms(ck_proof *x) {
  const char *why = NULL;
  uint32_t node = bs_sx_at(&x->sx, x->root + 1)->next;
  for (; node && !why; node = bs_sx_at(&x->sx, node)->next) {
    const char *head = bs_sx_head(&x->sx, x->ctx->values, node);
    bool claim = head && !strcmp(head, "claim");
    x->at = claim ? 0 : x->lemmas.len + 1;
    why = !head   ? "this is not a lemma"
          : claim ? check_claim(x, node)
                  : check_lemma(x, node, head);
  }
  return why;
}

void
ck_check_proof(ck_proof *x, const gs_program *program,
               const gs_program *result) {
  x->why = check_forms(x);
  if (x->why)
    return;
  x->at = 0;
  x->why = !are_claimed(x, program, 2)
               ? "the proof must claim exactly one term for each output of the "
                 "program"
           : !are_claimed(x, x->p, 3)
               ? "the claims do not lead to the outputs of the proof"
           : result && !are_claimed(x, result, 3)
               ? "the claims do not lead to the outputs of the result"
               : NULL;
}

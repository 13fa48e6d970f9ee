/* SPDX-License-Identifier: MIT */
/* proof.c - a proof read, and its lemmas checked one after another.
 *
 * What stands before (proof ...) is a program, whose lets name the terms.
 * Lemma n may cite those before it alone; a claim must be about an output of
 * the program that the proof is held against, and every output claimed once. */
#include "check/check.h"
#include <string.h>

static const bs_sx *
at(const ck_proof *x, uint32_t node) {
  return &x->sx.nodes.data[node];
}

/* ---- reading ---- */

static void
name_term(ck_proof *x, bs_value symbol, gs_term t) {
  while (x->term_of.len <= symbol.i)
    bs_push(x->ctx->heap, &x->term_of, GS_NO_TERM);
  x->term_of.data[symbol.i] = t;
}

/* Arrays, which have their names as attributes, and lets. */
static void
name_terms(ck_proof *x) {
  const gs_program *p = x->p;
  bs_values *values = x->ctx->values;
  for (uint32_t k = 0; k < p->nodes.len; k++)
    if (p->nodes.data[k].op == GS_TENSOR || p->nodes.data[k].op == GS_CONST)
      name_term(x, bs_item(values, p->nodes.data[k].attr, 0), (gs_term){k});
  for (uint32_t k = 0; k < p->lets.len; k++)
    name_term(x, bs_sym(values, p->lets.data[k].name), p->lets.data[k].term);
}

static gs_term
term_named(const ck_proof *x, bs_value symbol) {
  return symbol.i < x->term_of.len ? x->term_of.data[symbol.i] : GS_NO_TERM;
}

gs_term
ck_term(const ck_proof *x, uint32_t node) {
  const bs_sx *n = at(x, node);
  return node && n->kind == BS_SX_SYM ? term_named(x, n->value) : GS_NO_TERM;
}

/* The program before the form. */
static bool
read_program(ck_proof *x, uint32_t source) {
  bs_diags *diags = x->ctx->diags;
  bs_source file = diags->sources.data[source - 1];
  uint32_t lo = at(x, x->root)->span.lo;
  uint32_t own = bs_source_add(diags, file.path, file.text, lo);
  x->p = own ? gs_parse(x->ctx, x->rules->target, own) : NULL;
  if (x->p)
    name_terms(x);
  return x->p != NULL;
}

bool
ck_read_proof(ck_proof *x, const char *path) {
  bs_diags *diags = x->ctx->diags;
  uint32_t source = bs_source_read(diags, path, BS_NOWHERE);
  if (!source ||
      !bs_sexp_read(x->ctx->heap, x->ctx->values, diags, source, &x->sx))
    return false;
  x->root = x->sx.roots.len ? bs_last(&x->sx.roots) : 0;
  const char *head =
      x->root ? bs_sx_head(&x->sx, x->ctx->values, x->root) : NULL;
  if (!head || strcmp(head, "proof"))
    return bs_error(diags, BS_NOWHERE, "no-proof",
                    "%s does not end in a form (proof ...)", path);
  return read_program(x, source);
}

/* ---- lemmas ---- */

bool
ck_cited(const ck_proof *x, uint32_t node, gs_term *from, gs_term *to) {
  int64_t n = node ? bs_as_int(x->ctx->values, at(x, node)->value) : 0;
  uint64_t which = n < 0 ? -(uint64_t)n : (uint64_t)n;
  if (!node || at(x, node)->kind != BS_SX_INT || !n || which > x->lemmas.len)
    return false;
  const ck_lemma *l = &x->lemmas.data[which - 1];
  *from = n < 0 ? l->to : l->from;
  *to = n < 0 ? l->from : l->to;
  return true;
}

bool
ck_cited_or_same(const ck_proof *x, uint32_t node, gs_term have, gs_term *to) {
  gs_term from = have;
  *to = have;
  if (!node || at(x, node)->kind != BS_SX_INT)
    return false;
  return (!bs_as_int(x->ctx->values, at(x, node)->value) ||
          ck_cited(x, node, &from, to)) &&
         from.i == have.i;
}

static const char *
check_congruence(const ck_proof *x, uint32_t node, gs_term from, gs_term to) {
  const gs_node *a = gs_at(x->p, from), *b = gs_at(x->p, to);
  if (a->op != b->op || !bs_same(a->attr, b->attr) || a->n_kids != b->n_kids ||
      at(x, node)->count != 3 + (uint64_t)a->n_kids)
    return "the terms do not have the same operator";
  uint32_t c = bs_sx_item(&x->sx, node, 3);
  for (uint32_t k = 0; k < a->n_kids; k++, c = at(x, c)->next) {
    gs_term kid;
    if (!ck_cited_or_same(x, c, a->kids[k], &kid) || kid.i != b->kids[k].i)
      return "operands are not equal by what is cited";
  }
  return NULL;
}

static const char *
check_chain(const ck_proof *x, uint32_t node, gs_term from, gs_term to) {
  for (uint32_t c = bs_sx_item(&x->sx, node, 3); c; c = at(x, c)->next) {
    gs_term a, b;
    if (!ck_cited(x, c, &a, &b) || a.i != from.i)
      return "the chain is broken";
    from = b;
  }
  return from.i == to.i ? NULL : "the chain ends elsewhere";
}

static const char *
check_lemma(ck_proof *x, uint32_t node, const char *head) {
  gs_term from = ck_term(x, bs_sx_item(&x->sx, node, 1));
  gs_term to = ck_term(x, bs_sx_item(&x->sx, node, 2));
  gs_type a, b;
  const char *why = "no form of a lemma";
  if (!gs_term_ok(from) || !gs_term_ok(to))
    return "there is no such term";
  gs_type_at(x->p, from, &a);
  gs_type_at(x->p, to, &b);
  if (!gs_type_equal(&a, &b))
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
  if (!gs_term_ok(have) || gs_at(x->p, have)->op != n->op ||
      !bs_same(gs_at(x->p, have)->attr, n->attr))
    return GS_NO_TERM;
  if (n->op == GS_TENSOR)
    return have;
  const char *text = bs_as_sym(x->ctx->values, name);
  const gs_constant *a = gs_find_constant(from, text);
  const gs_constant *b = gs_find_constant(x->p, text);
  size_t size =
      (size_t)gs_elements(&a->type) * gs_dtype_table[a->type.dtype].bytes;
  return memcmp(a->data, b->data, size) ? GS_NO_TERM : have;
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

static uint32_t
output_named(const gs_program *p, const char *name) {
  uint32_t k = 0;
  while (k < p->outputs.len && strcmp(p->outputs.data[k].name, name))
    k++;
  return k;
}

typedef struct held {
  const gs_program *program, *result; /* the latter may be NULL */
  gs_term *of_program, *of_result;
  uint8_t *claimed; /* by output of the program */
} held;

/* (claim OUTPUT FROM TO CITE) */
static const char *
check_claim(ck_proof *x, uint32_t node, const held *h) {
  uint32_t name = bs_sx_item(&x->sx, node, 1);
  if (at(x, node)->count != 5 || at(x, name)->kind != BS_SX_SYM)
    return "a claim has an output, two terms and a lemma";
  const char *output = bs_as_sym(x->ctx->values, at(x, name)->value);
  uint32_t own = output_named(x->p, output);
  uint32_t k = output_named(h->program, output);
  gs_term from = ck_term(x, bs_sx_item(&x->sx, node, 2));
  gs_term to = ck_term(x, bs_sx_item(&x->sx, node, 3)), shown;
  if (own == x->p->outputs.len || k == h->program->outputs.len || h->claimed[k])
    return "not an output, or claimed twice";
  h->claimed[k] = 1;
  if (!gs_term_ok(from) ||
      from.i != h->of_program[h->program->outputs.data[k].term.i].i)
    return "the claim is not about the output of the program";
  if (to.i != x->p->outputs.data[own].term.i)
    return "the claim does not lead to the output of the proof";
  if (h->result) {
    uint32_t r = output_named(h->result, output);
    if (r == h->result->outputs.len ||
        h->of_result[h->result->outputs.data[r].term.i].i != to.i)
      return "the claim does not lead to the output of the result";
  }
  x->n_claims++;
  return ck_cited_or_same(x, bs_sx_item(&x->sx, node, 4), from, &shown) &&
                 shown.i == to.i
             ? NULL
             : "the claim is not what its lemma says";
}

static const char *
check_forms(ck_proof *x, const held *h) {
  const char *why = NULL;
  uint32_t node = at(x, x->root + 1)->next;
  for (; node && !why; node = at(x, node)->next) {
    const char *head = bs_sx_head(&x->sx, x->ctx->values, node);
    bool claim = head && !strcmp(head, "claim");
    x->at = claim ? 0 : x->lemmas.len + 1;
    why = !head   ? "no form of a lemma"
          : claim ? check_claim(x, node, h)
                  : check_lemma(x, node, head);
  }
  if (why)
    return why;
  x->at = 0;
  return x->n_claims == h->program->outputs.len &&
                 x->n_claims == x->p->outputs.len &&
                 (!h->result || x->n_claims == h->result->outputs.len)
             ? NULL
             : "an output is not claimed";
}

void
ck_check_proof(ck_proof *x, const gs_program *program,
               const gs_program *result) {
  held h = {.program = program, .result = result};
  h.of_program = import(x, program);
  h.of_result = result ? import(x, result) : NULL;
  h.claimed = BS_NEWS(x->ctx->arena, uint8_t, program->outputs.len + 1);
  x->why = check_forms(x, &h);
  bs_free(x->ctx->heap, h.of_program);
  bs_free(x->ctx->heap, h.of_result);
}

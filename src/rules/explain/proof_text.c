/* SPDX-License-Identifier: MIT */
/* proof_text.c - a proof as text: a program, whose lets are its terms, and one
 * form with its lemmas (docs/PROOFS.md).
 *
 * Lemmas are numbered from 1 in their order, so that a minus sign can say that
 * one is read from right to left; 0 says that both terms are one. */
#include "rules/explain/explain_proof.h"
#include "rules/rule/rule_internal.h"
#include <assert.h>
#include <string.h>

typedef struct writer {
  const gs_context *ctx;
  const rl_proof *x;
  const gs_program *p;
  const char *prefix; /* of the names of terms */
  const char **names; /* by term; NULL: not needed */
  bs_text *out;
} writer;

/* ---- names ---- */

static bool
is_numbered(const char *name, const char *prefix) {
  size_t n = strlen(prefix);
  return !strncmp(name, prefix, n) &&
         strspn(name + n, "0123456789") == strlen(name + n);
}

static bool
is_taken(const writer *w, const gs_program *result, const char *prefix) {
  bool taken = false;
  for (uint32_t k = 0; k < w->p->inputs.len; k++)
    taken |= is_numbered(w->p->inputs.data[k].name, prefix);
  for (uint32_t k = 0; k < w->p->constants.len; k++)
    taken |= is_numbered(w->p->constants.data[k].name, prefix);
  for (uint32_t k = 0; k < result->outputs.len; k++)
    taken |= is_numbered(result->outputs.data[k].name, prefix);
  return taken;
}

static void
choose_prefix(writer *w, const gs_program *result) {
  w->prefix = "t";
  while (is_taken(w, result, w->prefix))
    w->prefix = bs_arena_printf(w->ctx->arena, "%s_", w->prefix);
}

/* ---- terms ---- */

static void
want(gs_term t, uint8_t *wanted) {
  if (gs_term_ok(t))
    wanted[t.i] = 1;
}

static void
want_lemma(const rl_lemma *l, uint8_t *wanted) {
  want(l->from, wanted);
  want(l->to, wanted);
  want(l->root, wanted);
  for (uint32_t s = 0; s < l->n_slots; s++)
    if (l->is_term[s] && l->slots[s] != UINT32_MAX)
      wanted[l->slots[s]] = 1;
}

static uint8_t *
wanted_terms(const writer *w) {
  const gs_program *p = w->p;
  uint8_t *wanted = BS_NEWS(w->ctx->arena, uint8_t, p->nodes.len + 1);
  for (uint32_t k = 0; k < w->x->n_lemmas; k++)
    want_lemma(&w->x->lemmas[k], wanted);
  for (uint32_t k = 0; k < w->x->n_claims; k++) {
    want(w->x->claims[k].from, wanted);
    want(w->x->claims[k].to, wanted);
  }
  for (uint32_t k = p->nodes.len; k-- > 0;)
    for (uint32_t j = 0; wanted[k] && j < p->nodes.data[k].n_kids; j++)
      wanted[p->nodes.data[k].kids[j].i] = 1;
  return wanted;
}

static void
put_declarations(const writer *w) {
  gs_program *q = gs_program_new(w->ctx, w->p->target);
  for (uint32_t k = 0; k < w->p->inputs.len; k++) {
    const gs_named *input = &w->p->inputs.data[k];
    gs_type type;
    gs_type_at(w->p, input->term, &type);
    gs_add_tensor(q, input->name, &type, BS_NOWHERE);
  }
  for (uint32_t k = 0; k < w->p->constants.len; k++) {
    const gs_constant *c = &w->p->constants.data[k];
    gs_add_constant(q, c->name, &c->type, c->data, BS_NOWHERE);
  }
  gs_print(q, false, w->out);
}

static void
put_term(writer *w, uint32_t t) {
  assert(t < w->p->nodes.len);
  const gs_node *n = &w->p->nodes.data[t];
  const bs_values *values = w->ctx->values;
  if (n->op == GS_TENSOR || n->op == GS_CONST) {
    w->names[t] = bs_as_sym(values, bs_item(values, n->attr, 0));
    return;
  }
  const char **kids =
      bs_alloc(w->ctx->heap, (n->n_kids + (size_t)1) * sizeof *kids);
  for (uint32_t k = 0; k < n->n_kids; k++)
    kids[k] = w->names[n->kids[k].i];
  w->names[t] = bs_arena_printf(w->ctx->arena, "%s%u", w->prefix, t);
  bs_putf(w->out, "(let %s ", w->names[t]);
  gs_print_node(w->ctx, n->op, n->attr, kids, n->n_kids, w->out);
  bs_put(w->out, ")\n");
  bs_free(w->ctx->heap, kids);
}

static void
put_outputs(const writer *w, const gs_program *result) {
  for (uint32_t k = 0; k < w->x->n_claims; k++) {
    const char *name = result->outputs.data[k].name;
    const char *term = w->names[w->x->claims[k].to.i];
    if (strcmp(name, term))
      bs_putf(w->out, "(let %s %s)\n", name, term);
    bs_putf(w->out, "(output %s)\n", name);
  }
}

/* ---- lemmas ---- */

static const char *
name_of(const writer *w, gs_term t) {
  return gs_term_ok(t) && w->names[t.i] ? w->names[t.i] : "?";
}

static void
put_cite(const writer *w, eg_cite c) {
  if (c == EG_SAME)
    bs_put(w->out, " 0");
  else
    bs_putf(w->out, " %s%u", c & 1 ? "-" : "", c / 2 + 1);
}

static void
put_cites(const writer *w, const char *head, const eg_cite *c, uint32_t n) {
  if (!n)
    return;
  bs_putf(w->out, " (%s", head);
  for (uint32_t k = 0; k < n; k++)
    put_cite(w, c[k]);
  bs_putc(w->out, ')');
}

/* What no author names begins with a bracket: the pattern says it again. */
static void
put_bindings(const writer *w, const rl_lemma *l) {
  for (uint32_t s = 0; s < l->n_slots && s < l->rule->scope.vars.len; s++) {
    const char *name = l->rule->scope.vars.data[s].name;
    if (l->slots[s] == UINT32_MAX || name[0] == '(')
      continue;
    bs_putf(w->out, " (?%s ", name);
    if (l->is_term[s])
      bs_put(w->out, name_of(w, (gs_term){l->slots[s]}));
    else
      bs_put_value(w->out, w->ctx->values, (bs_value){l->slots[s]});
    bs_putc(w->out, ')');
  }
}

/* Of the rules that an instruction's declaration gives: behind a dot stands
 * which. */
static bool
is_of_instruction(const gs_target *t, const char *name) {
  size_t n = strcspn(name, ".");
  for (uint32_t k = 0; t && k < t->instrs.len; k++)
    if (strlen(t->instrs.data[k]->name) == n &&
        !memcmp(t->instrs.data[k]->name, name, n))
      return true;
  return false;
}

/* An instruction says what its call means: nothing else is told. */
static void
put_rule(const writer *w, const rl_lemma *l) {
  bs_putf(w->out, " %s %u", l->rule->name, l->result);
  if (is_of_instruction(w->p->target, l->rule->name))
    return;
  if (l->result)
    bs_putf(w->out, " (root %s)", name_of(w, l->root));
  put_bindings(w, l);
  put_cites(w, "premises", l->cites, l->n_cites);
  put_cites(w, "facts", l->facts, l->n_facts);
}

static void
put_lemma(const writer *w, const rl_lemma *l) {
  static const char *const heads[] = {[EG_LEMMA_RULE] = "rule",
                                      [EG_LEMMA_GIVEN] = "given",
                                      [EG_LEMMA_CONGRUENCE] = "congruence",
                                      [EG_LEMMA_CHAIN] = "chain"};
  bs_putf(w->out, "  (%s %s %s", heads[l->kind], name_of(w, l->from),
          name_of(w, l->to));
  if (l->kind == EG_LEMMA_RULE)
    put_rule(w, l);
  for (uint32_t k = 0; l->kind != EG_LEMMA_RULE && k < l->n_cites; k++)
    put_cite(w, l->cites[k]);
  bs_put(w->out, ")\n");
}

void
rl_put_proof(const gs_context *ctx, const rl_proof *x, const gs_program *result,
             bs_text *out) {
  writer w = {.ctx = ctx, .x = x, .p = x->program, .out = out};
  const uint8_t *wanted = wanted_terms(&w);
  w.names = BS_NEWS(ctx->arena, const char *, w.p->nodes.len + 1);
  choose_prefix(&w, result);
  put_declarations(&w);
  for (uint32_t k = 0; k < w.p->nodes.len; k++)
    if (wanted[k] || w.p->nodes.data[k].op == GS_TENSOR)
      put_term(&w, k);
  put_outputs(&w, result);
  bs_put(out, "\n(proof\n");
  for (uint32_t k = 0; k < x->n_lemmas; k++)
    put_lemma(&w, &x->lemmas[k]);
  for (uint32_t k = 0; k < x->n_claims; k++) {
    const rl_claim *c = &x->claims[k];
    bs_putf(out, "  (claim %s %s %s", result->outputs.data[k].name,
            name_of(&w, c->from), name_of(&w, c->to));
    put_cite(&w, c->cite);
    bs_put(out, ")\n");
  }
  bs_put(out, ")\n");
}

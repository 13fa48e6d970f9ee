/* SPDX-License-Identifier: MIT */
/* explain_proof.c - lemmas of the engine as lemmas about terms of a program.
 *
 * Only what the claims rest on is taken, in the order of a walk from them, so
 * that each lemma stands behind what it cites.  A condition may rest on facts
 * that another term of a class proves; an equality with that term is cited,
 * too.  Should a lemma come to rest on itself so, the proof fails. */
#include "rules/explain/explain_proof.h"
#include "rules/explain/explain.h"
#include "rules/explain/explain_terms.h"
#include <string.h>

enum { MOST_WITNESSES = 48, MOST_PREMISES = 64 };

/* A lemma of the engine on its way: 0, OPEN, or its number + 1. */
#define OPEN UINT32_MAX

typedef struct facts {
  uint32_t lemma;
  eg_cite cite;
} facts;

typedef struct proving {
  const gs_context *ctx;
  const rl_run *run;
  rl_terms terms;
  uint32_t max;
  bool facts, failed;
  BS_VEC(uint32_t) number;
  BS_VEC(uint32_t) stack;
  BS_VEC(facts) rested; /* facts that lemmas rest on, by age */
  BS_VEC(rl_lemma) lemmas;
  rl_proof *out;
} proving;

static const eg_lemma *
lemma_at(const proving *p, uint32_t k) {
  uint32_t n;
  return &eg_lemmas(p->terms.x, &n)[k];
}

/* --- facts ---------------------------------------------------------------- */

static gs_term
term(proving *p, uint32_t t) {
  return rl_term_of(&p->terms, t);
}

static const rl_compiled *
rule_of(const proving *p, const eg_lemma *l) {
  const rl_rules *rules = p->run->rules;
  return l->kind == EG_LEMMA_RULE && l->rule < rules->compiled.len
             ? rules->compiled.data[l->rule]
             : NULL;
}

/* The application as a step that can be replayed. */
static rl_link
link_of(proving *p, const eg_lemma *l) {
  rl_link out = {.rule = &rule_of(p, l)->rule,
                 .result = l->result,
                 .forward = true,
                 .before = term(p, l->from),
                 .after = term(p, l->to),
                 .root = term(p, l->root),
                 .is_term = l->is_class,
                 .n_slots = l->n_slots};
  out.whole = out.before;
  out.next = out.after;
  out.slots = rl_slot_terms(&p->terms, l->slots, l->is_class, l->n_slots);
  return out;
}

/* Does the application hold with its premises and one more equality? */
static bool
holds(proving *p, const eg_lemma *l, uint32_t slot, uint32_t witness) {
  rl_chain known[MOST_PREMISES + 1];
  rl_link link = link_of(p, l);
  uint32_t n = 0;
  for (uint32_t k = 0; k < l->n_cites && n < MOST_PREMISES; k++)
    if (l->cites[k] != EG_SAME) {
      const eg_lemma *c = lemma_at(p, l->cites[k] / 2);
      known[n++] = (rl_chain){.from = term(p, c->from), .to = term(p, c->to)};
    }
  if (witness != EG_NO_TERM)
    known[n++] = (rl_chain){.from = term(p, slot), .to = term(p, witness)};
  rl_explanation x = {
      .program = p->terms.program, .lemmas = known, .n_lemmas = n};
  link.n_lemmas = n;
  return !rl_check_link(p->ctx, p->run->rules, &x, &link);
}

static bool
try_witness(proving *p, uint32_t lemma, uint32_t slot, uint32_t witness) {
  eg_cite cite;
  eg_lemma l = *lemma_at(p, lemma);
  if (witness == EG_NO_TERM || witness == slot ||
      !holds(p, &l, slot, witness) ||
      eg_prove(p->terms.x, slot, witness, p->max, &cite) != EG_EXPLAINED ||
      cite == EG_SAME || lemma_at(p, cite / 2)->age >= l.age)
    return false;
  bs_push(p->ctx->heap, &p->rested, (facts){lemma, cite});
  return true;
}

/* Looks for a term among those of the classes of the rule's variables with
 * which the condition holds. */
static void
find_facts(proving *p, uint32_t lemma) {
  const eg_graph *g = p->run->graph;
  eg_lemma l = *lemma_at(p, lemma);
  const rl_compiled *rule = rule_of(p, &l);
  if (!p->facts || !rule || !rule->condition || rule->condition->steady ||
      holds(p, &l, EG_NO_TERM, EG_NO_TERM))
    return;
  for (uint32_t s = 0; s < l.n_slots; s++) {
    uint32_t n, t = l.slots[s];
    if (!l.is_class[s] || t == UINT32_MAX)
      continue;
    const eg_node *nodes = eg_class_nodes(g, eg_term_class(p->terms.x, t), &n);
    for (uint32_t k = 0; k < n && k < MOST_WITNESSES; k++)
      if (try_witness(p, lemma, t, rl_witness(&p->terms, nodes[k])))
        return;
  }
  p->failed = true;
}

/* --- the walk ------------------------------------------------------------- */

static uint32_t *
number_of(proving *p, uint32_t lemma) {
  uint32_t n;
  eg_lemmas(p->terms.x, &n);
  while (p->number.len < n)
    bs_push(p->ctx->heap, &p->number, 0);
  return &p->number.data[lemma];
}

static void
want(proving *p, eg_cite c) {
  if (c == EG_SAME)
    return;
  uint32_t have = *number_of(p, c / 2);
  p->failed |= have == OPEN;
  if (!have)
    bs_push(p->ctx->heap, &p->stack, c / 2);
}

static eg_cite
renumbered(proving *p, eg_cite c) {
  return c == EG_SAME ? c : 2 * (*number_of(p, c / 2) - 1) + (c & 1);
}

static const eg_cite *
take_cites(proving *p, const eg_cite *cites, uint32_t n) {
  eg_cite *out = BS_NEWS(p->ctx->arena, eg_cite, n + 1);
  for (uint32_t k = 0; k < n; k++)
    out[k] = renumbered(p, cites[k]);
  return out;
}

/* The facts of a lemma are the last ones that were found, if any are its. */
static void
take_facts(proving *p, uint32_t lemma, rl_lemma *out) {
  for (uint32_t k = p->rested.len; k-- > 0;)
    if (p->rested.data[k].lemma == lemma) {
      out->facts = take_cites(p, &p->rested.data[k].cite, 1);
      out->n_facts = 1;
      return;
    }
}

static void
take_lemma(proving *p, uint32_t lemma) {
  eg_lemma l = *lemma_at(p, lemma);
  rl_lemma out = {.kind = l.kind,
                  .from = term(p, l.from),
                  .to = term(p, l.to),
                  .root = GS_NO_TERM,
                  .result = l.result,
                  .n_cites = l.n_cites};
  const rl_compiled *rule = rule_of(p, &l);
  out.cites = take_cites(p, l.cites, l.n_cites);
  if (rule) {
    out.rule = &rule->rule;
    out.root = term(p, l.root);
    out.slots = rl_slot_terms(&p->terms, l.slots, l.is_class, l.n_slots);
    out.is_term = bs_arena_copy(p->ctx->arena, l.is_class, l.n_slots + 1u);
    out.n_slots = l.n_slots;
    take_facts(p, lemma, &out);
    p->out->n_rules++;
  }
  bs_push(p->ctx->heap, &p->lemmas, out);
  *number_of(p, lemma) = p->lemmas.len;
}

/* What a lemma cites goes over it on the stack. */
static void
open_lemma(proving *p, uint32_t lemma) {
  *number_of(p, lemma) = OPEN;
  uint32_t first = p->rested.len;
  find_facts(p, lemma);
  eg_lemma l = *lemma_at(p, lemma);
  for (uint32_t k = 0; k < l.n_cites; k++)
    want(p, l.cites[k]);
  for (uint32_t k = first; k < p->rested.len; k++)
    want(p, p->rested.data[k].cite);
}

static void
take(proving *p, eg_cite claim) {
  want(p, claim);
  while (p->stack.len && !p->failed) {
    uint32_t lemma = bs_last(&p->stack), waiting = p->stack.len;
    uint32_t have = *number_of(p, lemma);
    if (!have)
      open_lemma(p, lemma);
    if (p->stack.len > waiting)
      continue;
    p->stack.len--;
    if (!have || have == OPEN)
      take_lemma(p, lemma);
  }
}

/* --- claims --------------------------------------------------------------- */

static void
claim(proving *p, uint32_t from, uint32_t to, rl_claim *out) {
  eg_cite cite;
  *out = (rl_claim){.from = GS_NO_TERM, .to = GS_NO_TERM, .cite = EG_SAME};
  eg_explained why = eg_prove(p->terms.x, from, to, p->max, &cite);
  if (from != EG_NO_TERM && to != EG_NO_TERM) {
    out->from = term(p, from);
    out->to = term(p, to);
  }
  if (why == EG_EXPLAINED) {
    take(p, cite);
    out->found = !p->failed;
    if (out->found)
      out->cite = renumbered(p, cite);
    else
      why = EG_TOO_LONG;
  }
  if (why != EG_EXPLAINED && p->out->why == EG_EXPLAINED)
    p->out->why = why;
}

static void
end(proving *p) {
  bs_heap *heap = p->ctx->heap;
  p->out->program = p->terms.program;
  p->out->n_lemmas = p->lemmas.len;
  p->out->lemmas = bs_arena_copy(p->ctx->arena, p->lemmas.data,
                                 p->lemmas.len * sizeof *p->lemmas.data);
  rl_terms_done(&p->terms);
  bs_vec_done(heap, &p->number);
  bs_vec_done(heap, &p->stack);
  bs_vec_done(heap, &p->rested);
  bs_vec_done(heap, &p->lemmas);
}

bool
rl_prove(const gs_context *ctx, const rl_run *run, const gs_program *a,
         const gs_program *b, uint32_t max, bool with_facts, rl_proof *out) {
  proving p = {
      .ctx = ctx, .run = run, .max = max, .facts = with_facts, .out = out};
  uint32_t n =
      a->outputs.len < b->outputs.len ? a->outputs.len : b->outputs.len;
  *out = (rl_proof){.why = EG_EXPLAINED, .n_claims = n};
  rl_terms_init(&p.terms, ctx, run, a);
  out->claims = BS_NEWS(ctx->arena, rl_claim, n + 1);
  const uint32_t *from = rl_output_terms(&p.terms, a);
  const uint32_t *to = rl_output_terms(&p.terms, b);
  for (uint32_t k = 0; k < n && !p.failed; k++)
    claim(&p, from[k], to[k], &out->claims[k]);
  end(&p);
  return out->why == EG_EXPLAINED;
}

/* SPDX-License-Identifier: MIT */
/* explain.c - chains of the engine as terms of a program.
 *
 * A step may rest on more than its own terms show: a class that two patterns
 * ask of at once, or a fact that one term of a class proves and the term in the
 * chain does not.  Such equalities become lemmas with chains of their own; a
 * lemma that leads to itself is left unproved. */
#include "rules/explain/explain.h"
#include "rules/explain/explain_terms.h"
#include <string.h>

enum { MOST_LEMMAS = 64, MOST_DEPTH = 4, MOST_WITNESSES = 48 };

typedef struct pending {
  uint32_t from, to, depth; /* terms of the engine */
} pending;

typedef struct explaining {
  const gs_context *ctx;
  const rl_run *run;
  rl_terms terms;
  eg_explainer *x;
  rl_explanation *out;
  uint32_t max_steps;
  BS_VEC(pending) lemmas;
  BS_VEC(rl_chain) proved; /* by lemma */
} explaining;

static gs_term
term(explaining *e, uint32_t t) {
  return rl_term_of(&e->terms, t);
}

/* --- links ---------------------------------------------------------------- */

static void
take_slots(explaining *e, const eg_link *l, rl_link *out) {
  out->slots = rl_slot_terms(&e->terms, l->slots, l->is_class, l->n_slots);
  out->is_term = l->is_class;
  out->n_slots = l->n_slots;
}

static void
want_lemma(explaining *e, uint32_t from, uint32_t to, uint32_t depth) {
  bs_push(e->ctx->heap, &e->lemmas, (pending){from, to, depth});
  bs_push(e->ctx->heap, &e->proved,
          (rl_chain){.from = term(e, from), .to = term(e, to)});
}

/* The lemmas as the checker sees them while they are being collected. */
static void
show_lemmas(explaining *e) {
  e->out->lemmas = e->proved.data;
  e->out->n_lemmas = e->proved.len;
}

static bool
holds(explaining *e, rl_link *l) {
  show_lemmas(e);
  return !rl_check_link(e->ctx, e->run->rules, e->out, l);
}

/* The link without what it may need besides its terms. */
static rl_link
plain_link(explaining *e, const eg_link *l) {
  rl_link out = {.result = l->result,
                 .forward = l->forward,
                 .whole = term(e, l->whole),
                 .next = term(e, l->next),
                 .before = term(e, l->before),
                 .after = term(e, l->after),
                 .root = term(e, l->root),
                 .path = l->path,
                 .n_path = l->n_path,
                 .first_lemma = e->lemmas.len};
  if (l->rule < rl_count(e->run->rules))
    out.rule = rl_at(e->run->rules, l->rule);
  take_slots(e, l, &out);
  return out;
}

/* Is there a chain whose steps need nothing but their terms? */
static bool
is_plain(explaining *e, uint32_t from, uint32_t to) {
  eg_chain chain;
  bool plain = eg_explain(e->x, from, to, e->max_steps, &chain) == EG_EXPLAINED;
  for (uint32_t k = 0; k < chain.n && plain; k++) {
    rl_link l = plain_link(e, &chain.links[k]);
    plain = holds(e, &l);
  }
  return plain;
}

/* Adds a lemma for the step and keeps it if that makes the step hold. */
static bool
try_witness(explaining *e, rl_link *l, uint32_t slot_term, uint32_t w,
            uint32_t depth) {
  if (w == EG_NO_TERM || w == slot_term || e->lemmas.len >= MOST_LEMMAS)
    return false;
  want_lemma(e, slot_term, w, depth + 1);
  l->n_lemmas++;
  if (holds(e, l))
    return true;
  l->n_lemmas--;
  e->lemmas.len--;
  e->proved.len--;
  return false;
}

/* A condition may rest on facts that another term of a class proves: looks for
 * one such term among the nodes of the classes of the rule's variables, best
 * one whose own chain needs no such help. */
static void
find_witness(explaining *e, const eg_link *link, rl_link *l, uint32_t depth) {
  const eg_graph *g = e->run->graph;
  uint32_t first_slot = EG_NO_TERM, first = EG_NO_TERM;
  for (uint32_t s = 0; s < link->n_slots; s++) {
    uint32_t n, t = link->slots[s];
    if (!link->is_class[s] || t == UINT32_MAX)
      continue;
    const eg_node *nodes = eg_class_nodes(g, eg_term_class(e->x, t), &n);
    for (uint32_t k = 0; k < n && k < MOST_WITNESSES; k++) {
      uint32_t w = rl_witness(&e->terms, nodes[k]);
      if (!try_witness(e, l, t, w, depth))
        continue;
      if (is_plain(e, t, w))
        return;
      if (first == EG_NO_TERM) {
        first_slot = t;
        first = w;
      }
      l->n_lemmas--;
      e->lemmas.len--;
      e->proved.len--;
    }
  }
  try_witness(e, l, first_slot, first, depth);
}

static rl_link
link_of(explaining *e, const eg_link *l, uint32_t depth) {
  rl_link out = plain_link(e, l);
  for (uint32_t k = 0; k < l->n_premises && e->lemmas.len < MOST_LEMMAS; k++) {
    want_lemma(e, l->premises[k].from, l->premises[k].to, depth + 1);
    out.n_lemmas++;
  }
  const rl_compiled *c =
      out.rule ? e->run->rules->compiled.data[l->rule] : NULL;
  if (c && c->condition && !c->condition->steady && !holds(e, &out))
    find_witness(e, l, &out, depth);
  return out;
}

/* Paths are copied: the explainer does not outlive the explanation. */
static void
own_arrays(explaining *e, rl_link *l) {
  bs_arena *arena = e->ctx->arena;
  l->path = bs_arena_copy(arena, l->path, l->n_path * sizeof *l->path + 1);
  if (l->n_slots)
    l->is_term = bs_arena_copy(arena, l->is_term, l->n_slots);
}

static eg_explained
explain_pair(explaining *e, uint32_t from, uint32_t to, uint32_t depth,
             rl_chain *out) {
  eg_chain chain;
  *out = (rl_chain){.from = GS_NO_TERM, .to = GS_NO_TERM};
  eg_explained got = eg_explain(e->x, from, to, e->max_steps, &chain);
  if (from != EG_NO_TERM && to != EG_NO_TERM) {
    out->from = term(e, from);
    out->to = term(e, to);
  }
  if (got != EG_EXPLAINED)
    return got;
  rl_link *links = BS_NEWS(e->ctx->arena, rl_link, chain.n + 1);
  for (uint32_t k = 0; k < chain.n; k++) {
    links[k] = link_of(e, &chain.links[k], depth);
    own_arrays(e, &links[k]);
  }
  out->links = links;
  out->n = chain.n;
  out->found = true;
  return got;
}

static void
prove_lemmas(explaining *e) {
  for (uint32_t k = 0; k < e->lemmas.len; k++) {
    pending p = e->lemmas.data[k];
    rl_chain chain;
    if (p.depth > MOST_DEPTH)
      continue;
    explain_pair(e, p.from, p.to, p.depth, &chain);
    e->proved.data[k] = chain;
  }
}

static void
begin(explaining *e, const gs_program *a) {
  rl_terms_init(&e->terms, e->ctx, e->run, a);
  e->x = e->terms.x;
  e->out->program = e->terms.program;
}

static void
end(explaining *e) {
  bs_heap *heap = e->ctx->heap;
  e->out->n_lemmas = e->proved.len;
  e->out->lemmas = bs_arena_copy(e->ctx->arena, e->proved.data,
                                 e->proved.len * sizeof *e->proved.data);
  rl_terms_done(&e->terms);
  bs_vec_done(heap, &e->lemmas);
  bs_vec_done(heap, &e->proved);
}

bool
rl_explain(const gs_context *ctx, const rl_run *run, const gs_program *a,
           const gs_program *b, uint32_t max_steps, rl_explanation *out) {
  explaining e = {.ctx = ctx, .run = run, .out = out, .max_steps = max_steps};
  uint32_t n =
      a->outputs.len < b->outputs.len ? a->outputs.len : b->outputs.len;
  *out = (rl_explanation){.why = EG_EXPLAINED};
  begin(&e, a);
  out->chains = BS_NEWS(ctx->arena, rl_chain, n + 1);
  const uint32_t *from = rl_output_terms(&e.terms, a);
  const uint32_t *to = rl_output_terms(&e.terms, b);
  for (uint32_t k = 0; k < n && out->why == EG_EXPLAINED; k++) {
    out->why = explain_pair(&e, from[k], to[k], 0, &out->chains[k]);
    out->failed = k;
    out->n_chains = k + 1;
  }
  prove_lemmas(&e);
  end(&e);
  return out->why == EG_EXPLAINED;
}

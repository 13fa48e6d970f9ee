/* SPDX-License-Identifier: MIT */
/* equal_steps.c - a proof's rule applications, each a question to the prover.
 *
 * A step says that two terms are equal.  It is asked as a claim about all
 * values of what the terms share: the largest shared sub-terms become fresh
 * tensors, numbered as a walk from the left meets them.  So the question is as
 * small as the rule, whatever stands around it, and applications of one rule at
 * the same shapes are one question.  That claim may be too strong (the rule may
 * rest on what is shared); then the terms themselves are asked.
 *
 * Invariants: `asked` holds terms over fresh tensors only, children first; an
 * answer is remembered by the numbers of its two terms there.
 *
 * What is shared may be no number for some input (partial.c).  Then the tensor
 * that stands for it is one of which nothing may cancel. */
#include "prove/equal/equal_steps.h"
#include "prove/equal/cone.h"
#include "prove/equal/smaller.h"
#include <assert.h>
#include <stdlib.h>
#include <string.h>

enum {
  BUCKETS = 1024,
  MOST_OPEN = 8,
  MOST_TERMS = 20000,
  LONG_RUN = 4,
  SHORT_RUN = 200000
};

typedef struct known {
  gs_term left, right;
  pv_verdict verdict;
  uint32_t next; /* of the bucket; UINT32_MAX ends it */
} known;

struct pv_stepper {
  const gs_context *ctx;
  const rl_rules *rules;
  const gs_program *p; /* of the proofs */
  pv_options options;
  pv_options general; /* a refutation would say nothing: hardly any runs */
  gs_program *asked;
  pv_cutter cutter;
  BS_VEC(known) answers;
  uint32_t buckets[BUCKETS];
  uint32_t questions;
  bool any_order; /* as in the answers */
  /* Of the question being made, by term of p; a mark counts when it is the
   * question's own. */
  uint32_t question;
  uint32_t *left, *right, *met;
  uint8_t *facts; /* by term of p: which may be no number */
  gs_term *made;
  BS_VEC(gs_term) stack;
  BS_VEC(uint32_t) body; /* what is rebuilt */
  uint32_t n_fresh;
  int64_t elements; /* of the fresh tensors */
};

/* Of the fresh tensors, by the first letter of their names. */
#define PARTIAL 'u'

static bool
stands_for_partial(const char *name) {
  return name[0] == PARTIAL;
}

pv_stepper *
pv_stepper_new(const gs_context *ctx, const rl_rules *rules,
               const gs_program *p, const pv_options *options) {
  pv_stepper *s = bs_calloc(ctx->heap, 1, sizeof *s);
  size_t n = p->nodes.len + (size_t)1;
  s->ctx = ctx;
  s->rules = rules;
  s->p = p;
  s->options = s->general = *options;
  s->general.runs = 1;
  if (s->general.max_run > SHORT_RUN)
    s->general.max_run = SHORT_RUN;
  s->cutter.ctx = ctx;
  s->asked = gs_program_new(ctx, s->p->target);
  s->left = bs_calloc(ctx->heap, n, sizeof *s->left);
  s->right = bs_calloc(ctx->heap, n, sizeof *s->right);
  s->met = bs_calloc(ctx->heap, n, sizeof *s->met);
  s->facts = bs_calloc(ctx->heap, n, 1);
  pv_partial_terms(p, NULL, s->facts);
  s->general.is_partial = stands_for_partial;
  s->made = bs_alloc(ctx->heap, n * sizeof *s->made);
  memset(s->buckets, 0xff, sizeof s->buckets);
  return s;
}

void
pv_stepper_free(pv_stepper *s) {
  bs_heap *heap = s->ctx->heap;
  pv_cutter_done(&s->cutter);
  bs_free(heap, s->left);
  bs_free(heap, s->right);
  bs_free(heap, s->met);
  bs_free(heap, s->facts);
  bs_free(heap, s->made);
  bs_vec_done(heap, &s->answers);
  bs_vec_done(heap, &s->stack);
  bs_vec_done(heap, &s->body);
  bs_free(heap, s);
}

/* ---- the claim about all values of what is shared ---- */

static void
mark(pv_stepper *s, gs_term root, uint32_t *marks) {
  bs_heap *heap = s->ctx->heap;
  bs_push(heap, &s->stack, root);
  while (s->stack.len) {
    gs_term t = bs_pop(&s->stack);
    if (marks[t.i] == s->question)
      continue;
    marks[t.i] = s->question;
    const gs_node *n = gs_at(s->p, t);
    for (uint32_t k = 0; k < n->n_kids; k++)
      bs_push(heap, &s->stack, n->kids[k]);
  }
}

/* A tensor of the program that is asked; of its name there is one type. */
static gs_term
tensor(pv_stepper *s, const char *name, const gs_type *type) {
  const gs_program *q = s->asked;
  for (uint32_t k = 0; k < q->inputs.len; k++)
    if (!strcmp(q->inputs.data[k].name, name))
      return q->inputs.data[k].term;
  return gs_add_tensor(s->asked, name, type, BS_NOWHERE);
}

static gs_term
fresh(pv_stepper *s, gs_term t) {
  gs_type type, made;
  gs_fault fault;
  bs_text name;
  bs_text_init(&name, s->ctx->heap);
  gs_type_at(s->p, t, &type);
  if (__builtin_add_overflow(s->elements, gs_elements(&type), &s->elements))
    s->elements = INT64_MAX;
  bs_putf(&name, "%c%u.", s->facts[t.i] & PV_PARTIAL ? PARTIAL : 't',
          s->n_fresh++);
  bs_put(&name, gs_dtype_table[type.dtype].name);
  for (uint32_t d = 0; d < type.rank; d++)
    bs_putf(&name, ".%lld", (long long)type.dim[d]);
  gs_term out = tensor(s, bs_text_str(&name), &type);
  bs_text_done(&name);
  if (!gs_term_ok(out))
    return out;
  gs_type_at(s->asked, out, &made);
  if (gs_type_equal(&made, &type))
    return out;
  bs_value split = bs_int(s->ctx->values, type.access);
  return gs_add(s->asked, GS_ACCESS, bs_list(s->ctx->values, &split, 1), &out,
                1, BS_NOWHERE, &fault);
}

static bool
is_shared(const pv_stepper *s, gs_term t) {
  return s->left[t.i] == s->question && s->right[t.i] == s->question;
}

/* Met for the first time: a fresh tensor, or to be rebuilt. */
static bool
meet(pv_stepper *s, gs_term t) {
  const gs_node *n = gs_at(s->p, t);
  s->met[t.i] = s->question;
  if (n->op == GS_TENSOR || (n->n_kids && is_shared(s, t))) {
    s->made[t.i] = fresh(s, t);
    return gs_term_ok(s->made[t.i]);
  }
  bs_push(s->ctx->heap, &s->body, t.i);
  for (uint32_t k = n->n_kids; k-- > 0;)
    bs_push(s->ctx->heap, &s->stack, n->kids[k]);
  return true;
}

static bool
walk(pv_stepper *s, gs_term root) {
  bool ok = true;
  bs_push(s->ctx->heap, &s->stack, root);
  while (s->stack.len) {
    gs_term t = bs_pop(&s->stack);
    if (ok && s->met[t.i] != s->question)
      ok = meet(s, t) && s->body.len <= MOST_TERMS;
  }
  return ok;
}

static gs_term
rebuild_one(pv_stepper *s, const gs_node *n) {
  bs_heap *heap = s->ctx->heap;
  gs_fault fault;
  if (n->op == GS_CONST)
    return gs_copy_constant(s->p, n->attr, s->asked, BS_NOWHERE);
  gs_term *kids = bs_alloc(heap, (n->n_kids + (size_t)1) * sizeof *kids);
  for (uint32_t k = 0; k < n->n_kids; k++)
    kids[k] = s->made[n->kids[k].i];
  gs_term out =
      gs_add(s->asked, n->op, n->attr, kids, n->n_kids, BS_NOWHERE, &fault);
  bs_free(heap, kids);
  return out;
}

static int
by_index(const void *a, const void *b) {
  uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
  return x < y ? -1 : x > y;
}

/* Children come first: they have the smaller numbers. */
static bool
rebuild(pv_stepper *s) {
  qsort(s->body.data, s->body.len, sizeof *s->body.data, by_index);
  for (uint32_t k = 0; k < s->body.len; k++) {
    uint32_t t = s->body.data[k];
    s->made[t] = rebuild_one(s, &s->p->nodes.data[t]);
    if (!gs_term_ok(s->made[t]))
      return false;
  }
  return true;
}

/* Both terms over fresh tensors; false when they are too large. */
static bool
generalize(pv_stepper *s, gs_term a, gs_term b, gs_term *left, gs_term *right) {
  s->question++;
  s->n_fresh = 0;
  s->elements = 0;
  s->body.len = 0;
  mark(s, a, s->left);
  mark(s, b, s->right);
  if (!walk(s, a) || !walk(s, b) || !rebuild(s))
    return false;
  *left = s->made[a.i];
  *right = s->made[b.i];
  return true;
}

/* ---- one step ---- */

static known *
find(pv_stepper *s, gs_term a, gs_term b) {
  uint32_t *bucket = &s->buckets[(a.i * 31 + b.i) % BUCKETS];
  for (uint32_t k = *bucket; k != UINT32_MAX; k = s->answers.data[k].next)
    if (s->answers.data[k].left.i == a.i && s->answers.data[k].right.i == b.i)
      return &s->answers.data[k];
  return NULL;
}

static void
remember(pv_stepper *s, gs_term a, gs_term b, pv_verdict v) {
  uint32_t *bucket = &s->buckets[(a.i * 31 + b.i) % BUCKETS];
  known k = {.left = a, .right = b, .verdict = v, .next = *bucket};
  *bucket = s->answers.len;
  bs_push(s->ctx->heap, &s->answers, k);
}

/* The question itself.  Views have no price when they are run, but where one
 * is what is compared, all of it is. */
static void
put(pv_stepper *s, const gs_program *p, gs_term a, gs_term b,
    const pv_options *options, pv_answer *out) {
  pv_options own = *options;
  gs_type type;
  gs_type_at(p, a, &type);
  if (gs_elements(&type) > own.max_run)
    own.max_run = 0;
  s->questions++;
  const gs_program *small = pv_cut_out(&s->cutter, p, &a, &b);
  pv_equal_terms(s->ctx, small ? small : p, a, b, &own, out);
  s->any_order |= out->any_order;
}

/* Proved for all values of what both share? */
static bool
proved_in_general(pv_stepper *s, gs_term a, gs_term b) {
  gs_term left, right;
  if (a.i == b.i)
    return true;
  if (!generalize(s, a, b, &left, &right))
    return false;
  if (left.i == right.i)
    return true;
  known *have = find(s, left, right);
  if (have)
    return have->verdict == PV_PROVED;
  pv_answer answer;
  pv_options general = s->general;
  if (s->elements > general.max_run)
    general.max_run = 0;
  put(s, s->asked, left, right, &general, &answer);
  remember(s, left, right, answer.verdict);
  return answer.verdict == PV_PROVED;
}

/* The child alone in which two terms of one form differ, or UINT32_MAX. */
static uint32_t
only_difference(const gs_node *a, const gs_node *b) {
  uint32_t at = UINT32_MAX;
  if (a->op != b->op || a->n_kids != b->n_kids || !bs_same(a->attr, b->attr))
    return at;
  for (uint32_t k = 0; k < a->n_kids; k++) {
    if (a->kids[k].i == b->kids[k].i)
      continue;
    if (at != UINT32_MAX)
      return UINT32_MAX;
    at = k;
  }
  return at;
}

/* Down to the smallest terms whose equality makes a and b equal. */
static void
narrow(const gs_program *p, gs_term *a, gs_term *b) {
  for (;;) {
    const gs_node *x = gs_at(p, *a), *y = gs_at(p, *b);
    uint32_t k = only_difference(x, y);
    if (a->i == b->i || k == UINT32_MAX)
      return;
    *a = x->kids[k];
    *b = y->kids[k];
  }
}

/* One run may be as long as all that were allowed, and then some: a wrong
 * rule shows on nearly every input. */
static void
run_once(pv_stepper *s, const rl_lemma *l, pv_answer *out) {
  pv_options once = s->options;
  pv_answer answer;
  once.runs = 1;
  once.max_elements = 0;
  once.max_operations = 0;
  once.max_run *= LONG_RUN;
  put(s, s->p, l->from, l->to, &once, &answer);
  if (answer.verdict == PV_REFUTED)
    *out = answer;
}

static void
prove_step(pv_stepper *s, const rl_lemma *l, pv_answer *out) {
  gs_term a = l->from, b = l->to;
  *out = (pv_answer){.verdict = PV_PROVED, .method = PV_BY_STEPS};
  narrow(s->p, &a, &b);
  if (proved_in_general(s, a, b))
    return;
  if (a.i != l->from.i && proved_in_general(s, l->from, l->to))
    return;
  put(s, s->p, l->from, l->to, &s->options, out);
  if (out->verdict == PV_UNKNOWN)
    run_once(s, l, out);
  if (out->verdict == PV_UNKNOWN)
    pv_refuted_smaller(s->ctx, s->rules, s->p, l, &s->options, out);
}

/* ---- a proof ---- */

/* The terms that a cited lemma makes equal, in the order it is read in. */
static void
ends_of(const rl_proof *x, eg_cite c, gs_term *from, gs_term *to) {
  const rl_lemma *l = &x->lemmas[c / 2];
  *from = c & 1 ? l->to : l->from;
  *to = c & 1 ? l->from : l->to;
}

static bool
is_cited(const rl_proof *x, uint32_t at, eg_cite c, gs_term from, gs_term to) {
  gs_term a = from, b = from;
  if (c != EG_SAME && c / 2 >= at)
    return false;
  if (c != EG_SAME)
    ends_of(x, c, &a, &b);
  return a.i == from.i && b.i == to.i;
}

static bool
is_congruence(const rl_proof *x, uint32_t at) {
  const rl_lemma *l = &x->lemmas[at];
  const gs_node *a = gs_at(x->program, l->from), *b = gs_at(x->program, l->to);
  bool ok = a->op == b->op && bs_same(a->attr, b->attr) &&
            a->n_kids == b->n_kids && a->n_kids == l->n_cites;
  for (uint32_t k = 0; ok && k < a->n_kids; k++)
    ok = is_cited(x, at, l->cites[k], a->kids[k], b->kids[k]);
  return ok;
}

static bool
is_chain(const rl_proof *x, uint32_t at) {
  const rl_lemma *l = &x->lemmas[at];
  gs_term have = l->from, from, to;
  for (uint32_t k = 0; k < l->n_cites; k++) {
    if (l->cites[k] == EG_SAME || l->cites[k] / 2 >= at)
      return false;
    ends_of(x, l->cites[k], &from, &to);
    if (from.i != have.i)
      return false;
    have = to;
  }
  return have.i == l->to.i;
}

static void
torn(pv_step_answer *out) {
  out->answer = (pv_answer){.verdict = PV_UNKNOWN,
                            .method = PV_BY_NOTHING,
                            .reason = "the proof does not hold together"};
}

static void
judge(pv_stepper *s, const rl_proof *x, uint32_t at, pv_step_answer *out) {
  const rl_lemma *l = &x->lemmas[at];
  out->answer = (pv_answer){.verdict = PV_PROVED, .method = PV_BY_STEPS};
  switch (l->kind) {
  case EG_LEMMA_RULE:
    prove_step(s, l, &out->answer);
    return;
  case EG_LEMMA_CONGRUENCE:
    if (!is_congruence(x, at))
      torn(out);
    return;
  case EG_LEMMA_CHAIN:
    if (!is_chain(x, at))
      torn(out);
    return;
  case EG_LEMMA_GIVEN:
    torn(out);
    return;
  }
}

/* Steps left open are dear: a few of them decide that the claims are. */
void
pv_prove_steps(pv_stepper *s, const rl_proof *x, pv_proof_answer *out) {
  uint32_t step = 0;
  *out = (pv_proof_answer){.steps = x->n_rules};
  out->open = BS_NEWS(s->ctx->arena, pv_step_answer, MOST_OPEN);
  for (uint32_t k = 0; k < x->n_lemmas; k++) {
    pv_step_answer *one = &out->open[out->n_open];
    bool is_step = x->lemmas[k].kind == EG_LEMMA_RULE;
    *one = (pv_step_answer){.lemma = k, .step = step};
    judge(s, x, k, one);
    step += is_step;
    bool proved = one->answer.verdict == PV_PROVED;
    out->proved += is_step && proved;
    out->n_open += !proved;
    out->questions = s->questions;
    out->any_order = s->any_order;
    if (one->answer.verdict == PV_REFUTED || out->n_open == MOST_OPEN) {
      out->left_out = x->n_rules - step;
      return;
    }
  }
}

uint32_t
pv_verdict_weight(pv_verdict v) {
  assert(v < PV_CHECKED);
  static const uint32_t weights[] = {
      [PV_PROVED] = 0, [PV_TESTED] = 1, [PV_UNKNOWN] = 2, [PV_REFUTED] = 3};
  return weights[v];
}

/* Which lemmas a claim rests on, marked from it down to the first. */
static uint8_t *
rests_on(pv_stepper *s, const rl_proof *x, const rl_claim *c) {
  uint8_t *needed = BS_NEWS(s->ctx->arena, uint8_t, x->n_lemmas + 1);
  if (c->cite != EG_SAME)
    needed[c->cite / 2] = 1;
  for (uint32_t k = x->n_lemmas; k-- > 0;)
    for (uint32_t j = 0; needed[k] && j < x->lemmas[k].n_cites; j++)
      if (x->lemmas[k].cites[j] != EG_SAME)
        needed[x->lemmas[k].cites[j] / 2] = 1;
  return needed;
}

const pv_step_answer *
pv_worst_step(pv_stepper *s, const rl_proof *x, const pv_proof_answer *a,
              uint32_t claim) {
  assert(claim < x->n_claims);
  static const pv_step_answer none = {
      .answer = {.verdict = PV_UNKNOWN,
                 .method = PV_BY_NOTHING,
                 .reason = "too many steps before it were not proved"}};
  const pv_step_answer *worst = a->left_out ? &none : NULL;
  const uint8_t *needed = rests_on(s, x, &x->claims[claim]);
  for (uint32_t k = 0; k < a->n_open; k++) {
    const pv_step_answer *one = &a->open[k];
    if (needed[one->lemma] && (!worst || worst == &none ||
                               pv_verdict_weight(one->answer.verdict) >
                                   pv_verdict_weight(worst->answer.verdict)))
      worst = one;
  }
  return worst;
}

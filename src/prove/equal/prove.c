/* SPDX-License-Identifier: MIT */
/* prove.c - the order of the arguments: types, polynomials, relations,
 * integers, runs.
 *
 * Whatever an argument says of terms small enough to run is held against one
 * run of the interpreter, so that a fault of the prover shows as `unknown` and
 * not as a wrong verdict. */
#include "prove/session/session.h"
#include <assert.h>
#include <string.h>

/* Element visits of a run that a proof is held against. */
enum { SHORT_RUN = 8000, LONG_RUN = 200000, UNDEFINED_RUNS = 4 };

void
pv_defaults(pv_options *o) {
  *o = (pv_options){.seed = 1,
                    .runs = 24,
                    .max_elements = 100000,
                    .max_work = 4000000,
                    .max_operations = 20000000,
                    .max_run = 20000000,
                    .max_bytes = (size_t)1 << 30};
}

/* --- deciding ------------------------------------------------------------- */

static void
prove_identical(pv_session *s) {
  for (uint32_t k = 0; k < s->n_pairs; k++)
    s->proved[k] |= s->pairs[k].left.i == s->pairs[k].right.i;
}

static void
disagree(pv_session *s, const char *where) {
  s->answer->verdict = PV_UNKNOWN;
  s->answer->method = PV_BY_NOTHING;
  s->answer->reason =
      pv_say(s, "the proof and the interpreter disagree%s", where);
}

/* Did a run of a copy with smaller sizes have a say? */
static bool
held_against_copy(pv_session *s) {
  bool said = false;
  if (s->answer->method == PV_BY_RELATIONS &&
      !pv_audit(s, pv_prove_by_relations, &said))
    disagree(s, " on a copy with smaller sizes");
  return said;
}

/* Whether a term that the pairs need may have no value for some input. */
static bool
may_be_undefined(const pv_session *s) {
  const gs_program *p = s->plain;
  uint8_t *live = bs_calloc(s->ctx.heap, p->nodes.len + (size_t)1, 1);
  bool found = false;
  pv_mark(p, s->pairs, s->n_pairs, live);
  for (uint32_t k = 0; k < p->nodes.len && !found; k++)
    found = live[k] && s->facts[k] & PV_PARTIAL;
  bs_free(s->ctx.heap, live);
  return found;
}

/* A proof that a run contradicts is none; false when it would take more than
 * `most` element visits.  Of real numbers 0 is one, and 1 / 0 and 1 / -0 are
 * none: where that may be, inputs with zeros are run, too, and if numbers are
 * made of infinities that differ, the sides do. */
static bool
held_against_run(pv_session *s, int64_t most) {
  pv_options once = *s->options;
  const pv_options *options = s->options;
  pv_answer proof = *s->answer;
  once.runs = s->undefined ? UNDEFINED_RUNS : 1;
  once.max_run = s->undefined ? UNDEFINED_RUNS * most : most;
  s->options = &once;
  for (uint32_t k = 0; k < s->n_pairs; k++)
    s->proved[k] = 0;
  pv_run(s);
  s->options = options;
  bool refuted = s->answer->verdict == PV_REFUTED;
  bool ran = s->answer->verdict != PV_UNKNOWN;
  if (refuted && s->undefined)
    return true;
  *s->answer = proof;
  if (refuted)
    disagree(s, "");
  return ran;
}

/* A copy of large terms says as much as they do, and sooner; where it says
 * nothing, they are run after all. */
static void
hold_proof(pv_session *s) {
  bool held = false;
  if (!s->options->max_run) {
    held_against_copy(s);
    return;
  }
  if (s->answer->method == PV_BY_RELATIONS)
    held = held_against_run(s, SHORT_RUN) || held_against_copy(s);
  if (!held)
    held_against_run(s, LONG_RUN);
}

static void
decide(pv_session *s) {
  pv_answer *out = s->answer;
  s->facts = bs_calloc(s->ctx.heap, s->plain->nodes.len + (size_t)1, 1);
  pv_partial_terms(s->plain, s->options->is_partial, s->facts);
  s->undefined = may_be_undefined(s);
  prove_identical(s);
  out->method = PV_BY_ELEMENTS;
  out->reason = s->by_induction
                    ? "the same term, by induction over the steps of "
                      "scans"
                    : "the same term";
  bool looked = pv_all_proved(s);
  if (!looked) {
    looked = pv_prove_by_elements(s);
    out->reason = "equal element by element";
  }
  if (!looked && !pv_all_proved(s) && s->options->max_operations) {
    pv_prove_by_relations(s);
    out->method = PV_BY_RELATIONS;
    out->reason = "equal as relations";
  }
  if (!pv_all_proved(s) && s->options->max_run)
    pv_decide_integers(s);
  if (!pv_all_proved(s) && s->hides_scans) {
    out->verdict = PV_UNKNOWN;
    out->method = PV_BY_NOTHING;
    out->reason = "a scan of many steps is not another one by induction";
    return;
  }
  if (!pv_all_proved(s)) {
    pv_run(s);
    return;
  }
  out->verdict = PV_PROVED;
  out->any_order = s->any_order;
  if (s->any_order)
    out->reason = pv_say(s, "%s" PV_ANY_ORDER, out->reason);
  if (!s->hides_scans)
    hold_proof(s);
}

/* --- setting up ----------------------------------------------------------- */

typedef struct question {
  const gs_context *ctx;
  const gs_program *left, *right; /* one and the same, or two */
  const gs_term *lefts, *rights;
  uint32_t n;
  const pv_options *options;
  pv_answer *answer;
  bs_heap heap;
} question;

static pv_pair *
copy_sides(pv_session *s, const question *q, gs_program *to, bool plain) {
  gs_term *a = pv_import(s, q->left, to, q->lefts, q->n, plain);
  gs_term *b = a ? pv_import(s, q->right, to, q->rights, q->n, plain) : NULL;
  pv_pair *pairs = BS_NEWS(s->ctx.arena, pv_pair, q->n + (size_t)1);
  for (uint32_t k = 0; b && k < q->n; k++)
    pairs[k] = (pv_pair){a[q->lefts[k].i], b[q->rights[k].i]};
  return b ? pairs : NULL;
}

static bool
refuse_types(pv_session *s, const char *a, const char *b, uint32_t output) {
  s->answer->verdict = PV_REFUTED;
  s->answer->method = PV_BY_TYPES;
  s->answer->output = output;
  s->answer->reason = pv_say(s, "the types differ: %s and %s", a, b);
  return false;
}

static bool
same_types(pv_session *s) {
  for (uint32_t k = 0; k < s->n_pairs; k++) {
    gs_type a, b;
    bs_text x, y;
    gs_type_at(s->given, s->given_pairs[k].left, &a);
    gs_type_at(s->given, s->given_pairs[k].right, &b);
    if (gs_type_equal(&a, &b))
      continue;
    bs_text_init(&x, s->ctx.heap);
    bs_text_init(&y, s->ctx.heap);
    gs_put_type(&x, &a);
    gs_put_type(&y, &b);
    return refuse_types(s, bs_text_str(&x), bs_text_str(&y), k);
  }
  return true;
}

/* Tensors of one name must be of one type. */
static bool
same_inputs(pv_session *s) {
  const gs_program *p = s->given;
  for (uint32_t i = 0; i < p->inputs.len; i++)
    for (uint32_t k = 0; k < i; k++)
      if (!strcmp(p->inputs.data[i].name, p->inputs.data[k].name)) {
        s->answer->verdict = PV_REFUTED;
        s->answer->method = PV_BY_TYPES;
        s->answer->reason =
            pv_say(s, "the input %s has two types", p->inputs.data[i].name);
        return false;
      }
  return true;
}

static void
no_meaning(pv_session *s) {
  const bs_diags *d = s->ctx.diags;
  s->answer->verdict = PV_UNKNOWN;
  s->answer->method = PV_BY_NOTHING;
  s->answer->reason =
      pv_say(s, "%s", d->list.len ? d->list.data[0].message : "ill-typed");
}

static bool proves(const pv_session *, const gs_program *, gs_term,
                   const gs_program *, gs_term);

static void
ask(void *arg) {
  question *q = arg;
  pv_session s = {.outer = q->ctx,
                  .options = q->options,
                  .answer = q->answer,
                  .proves = proves};
  bs_arena arena;
  bs_diags diags;
  bs_arena_init(&arena, &q->heap);
  bs_diags_init(&diags, &q->heap);
  s.ctx = (gs_context){&q->heap, &arena, q->ctx->values, &diags};
  s.given = gs_program_new(&s.ctx, q->left->target);
  s.plain = gs_program_new(&s.ctx, q->left->target);
  s.n_pairs = q->n;
  s.given_pairs = copy_sides(&s, q, s.given, false);
  if (!s.given_pairs) {
    no_meaning(&s);
    return;
  }
  if (!same_types(&s) || !same_inputs(&s))
    return;
  s.pairs = copy_sides(&s, q, s.plain, true);
  s.proved = bs_calloc(&q->heap, q->n + (size_t)1, 1);
  if (s.pairs)
    decide(&s);
  else
    no_meaning(&s);
}

/* Memory that runs out within the session ends the session only. */
static void
answer_question(question *q) {
  *q->answer = (pv_answer){.verdict = PV_UNKNOWN, .method = PV_BY_NOTHING};
  pv_count(q->options->counts, PV_W_QUESTIONS, 1);
  bs_heap_init_child(&q->heap, q->ctx->heap, q->options->max_bytes);
  bool ok = bs_protect(&q->heap, ask, q);
  bs_heap_done(&q->heap);
  if (ok)
    return;
  *q->answer = (pv_answer){.verdict = PV_UNKNOWN,
                           .method = PV_BY_NOTHING,
                           .reason = "out of memory"};
}

/* A question about the operands or the steps of two scans.  Neither holds a
 * scan, so this goes one level down. */
static bool
proves(const pv_session *s, const gs_program *left, gs_term a,
       const gs_program *right, gs_term b) {
  pv_options options = *s->options;
  pv_answer answer;
  question q = {.ctx = &s->ctx,
                .left = left,
                .right = right,
                .lefts = &a,
                .rights = &b,
                .n = 1,
                .options = &options,
                .answer = &answer};
  options.runs = 0;
  options.max_run = 0;
  answer_question(&q);
  return answer.verdict == PV_PROVED;
}

void
pv_equal_terms(const gs_context *ctx, const gs_program *p, gs_term a, gs_term b,
               const pv_options *options, pv_answer *out) {
  assert(a.i < p->nodes.len && b.i < p->nodes.len && out);
  question q = {.ctx = ctx,
                .left = p,
                .right = p,
                .lefts = &a,
                .rights = &b,
                .n = 1,
                .options = options,
                .answer = out};
  answer_question(&q);
}

static gs_term *
outputs_of(const gs_context *ctx, const gs_program *p) {
  gs_term *out = BS_NEWS(ctx->arena, gs_term, p->outputs.len + (size_t)1);
  for (uint32_t k = 0; k < p->outputs.len; k++)
    out[k] = p->outputs.data[k].term;
  return out;
}

void
pv_equal_programs(const gs_context *ctx, const gs_program *a,
                  const gs_program *b, const pv_options *options,
                  pv_answer *out) {
  question q = {.ctx = ctx,
                .left = a,
                .right = b,
                .n = a->outputs.len,
                .options = options,
                .answer = out};
  if (a->outputs.len != b->outputs.len) {
    *out = (pv_answer){.verdict = PV_REFUTED,
                       .method = PV_BY_TYPES,
                       .reason = "they have different numbers of outputs"};
    return;
  }
  q.lefts = outputs_of(ctx, a);
  q.rights = outputs_of(ctx, b);
  answer_question(&q);
}

/* --- telling -------------------------------------------------------------- */

const char *
pv_verdict_name(pv_verdict v) {
  static const char *const names[] = {"proved", "refuted", "tested", "unknown",
                                      "checked"};
  assert(v < sizeof names / sizeof *names);
  return names[v];
}

const char *
pv_method_name(pv_method m) {
  static const char *const names[] = {"types",   "elements", "relations",
                                      "running", "nothing",  "steps",
                                      "values",  "bits"};
  assert(m < sizeof names / sizeof *names);
  return names[m];
}

static void
put_input(bs_text *out, const pv_input *in) {
  const gs_tensor *t = &in->tensor;
  bs_putf(out, "  %s =", in->name);
  for (int64_t k = 0; k < t->elements && k < 64; k++)
    bs_putf(out, " %.*g", gs_digits_shown(t->dtype), gs_tensor_get(t, k));
  bs_put(out, t->elements > 64 ? " ...\n" : "\n");
}

void
pv_put_answer(bs_text *out, const pv_answer *a) {
  bs_putf(out, "%s: %s", pv_verdict_name(a->verdict),
          a->reason ? a->reason : "");
  if (pv_has_difference(a)) {
    bs_put(out, " at [");
    for (uint32_t d = 0; d < a->rank; d++)
      bs_putf(out, "%s%lld", d ? ", " : "", (long long)a->index[d]);
    bs_put(out, "]");
  }
  bs_put(out, "\n");
  for (uint32_t k = 0; k < a->n_inputs; k++)
    put_input(out, &a->inputs[k]);
}

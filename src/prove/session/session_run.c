/* SPDX-License-Identifier: MIT */
/* session_run.c - inputs tried on the interpreter, to refute or to test.
 *
 * First what integer.c found to tell both sides apart, then values near the
 * landmarks of both, then inputs of all kinds (tried.c).  A difference of
 * integers, or one of floats beyond what rounding explains, is a difference of
 * meaning (confirm.c).
 *
 * An input that refutes is made simpler, element by element, while it does. */
#include "prove/session/tried.h"
#include "glenside/interpret/interpret.h"
#include <math.h>
#include <string.h>

#define MAX_SIMPLIFIED 96      /* input elements */
#define MAX_DOUBTS     16      /* differences of floats looked into, of a run */
#define FINE           0x1p-40 /* rounding is meant: hardly anything is equal */
#define COARSE         0x1p-10

typedef struct runner {
  pv_session *s;
  gs_program *p;
  uint32_t *pair_of; /* outputs 2k, 2k + 1 are those of this pair */
  uint32_t n_pairs;
  gs_tensor *inputs, *outputs;
  int64_t visits; /* of a run */
  bool rounds;    /* floats are involved */
  pv_tried tried;
  gs_tensor *bounds; /* of the outputs, once asked for; else without data */
  /* the difference found */
  uint32_t pair;
  int64_t element;
} runner;

/* --- comparison ----------------------------------------------------------- */

static bool
differ(double a, double b) {
  return a != b && !(isnan(a) && isnan(b));
}

static void
drop(runner *r, gs_tensor *list) {
  for (uint32_t k = 0; k < 2 * r->n_pairs; k++)
    gs_tensor_done(r->s->ctx.heap, &list[k]);
}

/* Runs once more for the bounds; false when that failed. */
static bool
bound_outputs(runner *r) {
  if (r->bounds[0].data)
    return true;
  gs_tensor *again =
      BS_NEWS(r->s->ctx.arena, gs_tensor, 2 * (size_t)r->n_pairs);
  bool ok = gs_interpret_bounded(r->p, r->inputs, again, r->bounds);
  if (ok)
    drop(r, again);
  return ok;
}

/* Whether what the running error bounds of both sides allow, in their own
 * dtype, makes the difference.  They allow anything behind an operator that may
 * have had no value: there a coarse difference is looked into. */
static bool
is_within_bounds(runner *r, uint32_t pair, int64_t i) {
  const gs_tensor *a = &r->outputs[2 * (size_t)pair], *b = a + 1;
  const gs_tensor *e = &r->bounds[2 * (size_t)pair], *f = e + 1;
  double x = gs_tensor_get(a, i), y = gs_tensor_get(b, i), gap = fabs(x - y);
  if (r->s->undefined && gap > COARSE * fmax(fabs(x), fabs(y)))
    return false;
  return isfinite(gap) && !gs_dtype_table[a->dtype].integer &&
         (!bound_outputs(r) ||
          !(gap > gs_tensor_get(e, i) + gs_tensor_get(f, i)));
}

/* What floats had a part in is looked at more closely. */
static bool
is_meant(runner *r, uint32_t pair, int64_t element, bool fine,
         uint32_t *doubts) {
  pv_doubt d = {r->pair_of[pair], element, r->p, r->inputs, fine ? FINE : 0};
  if (!r->rounds)
    return true;
  if (*doubts == MAX_DOUBTS || (!fine && is_within_bounds(r, pair, element)))
    return false;
  pv_count(r->s->options->counts, PV_W_DOUBTS, 1);
  return pv_is_meant(r->s, &d, (*doubts)++ > 0);
}

static bool
find_difference(runner *r) {
  for (uint32_t k = 0; k < r->n_pairs; k++) {
    const gs_tensor *a = &r->outputs[2 * k], *b = a + 1;
    bool fine = r->rounds && pv_means_rounding(r->s, r->pair_of[k]);
    uint32_t doubts = 0;
    for (int64_t i = 0; i < a->elements; i++)
      if (differ(gs_tensor_get(a, i), gs_tensor_get(b, i)) &&
          is_meant(r, k, i, fine, &doubts)) {
        r->pair = k;
        r->element = i;
        return true;
      }
  }
  return false;
}

static void
drop_outputs(runner *r) {
  drop(r, r->outputs);
}

/* Runs on the present inputs; false when that failed.  The outputs stay until
 * they are dropped. */
static bool
run_once(runner *r, bool *differs) {
  bool ok = gs_interpret(r->p, r->inputs, r->outputs);
  pv_count(r->s->options->counts, PV_W_RUNS, 1);
  pv_count(r->s->options->counts, PV_W_VISITS, (uint64_t)r->visits);
  *differs = ok && find_difference(r);
  if (r->bounds[0].data)
    drop(r, r->bounds);
  return ok;
}

/* --- simpler inputs ------------------------------------------------------- */

static bool
still_differs(runner *r) {
  bool differs = false;
  if (run_once(r, &differs))
    drop_outputs(r);
  return differs;
}

/* 0 and 1 are simple; -0 is another number where it is divided by. */
static void
simplify(runner *r) {
  int64_t n = 0;
  for (uint32_t k = 0; k < r->p->inputs.len; k++)
    n += r->inputs[k].elements;
  if (n > MAX_SIMPLIFIED || r->visits * n > r->s->options->max_run)
    return;
  for (uint32_t k = 0; k < r->p->inputs.len; k++)
    for (int64_t i = 0; i < r->inputs[k].elements; i++) {
      double was = gs_tensor_get(&r->inputs[k], i);
      for (int simple = 0; simple < 2; simple++) {
        if (was == simple && !signbit(was))
          break;
        gs_tensor_set(&r->inputs[k], i, simple);
        if (still_differs(r))
          break;
        gs_tensor_set(&r->inputs[k], i, was);
      }
    }
}

/* --- the answer ----------------------------------------------------------- */

static gs_tensor
tensor_for_answer(const runner *r, const gs_tensor *t) {
  gs_tensor out = *t;
  out.data =
      bs_arena_copy(r->s->outer->arena, t->data,
                    (size_t)t->elements * gs_dtype_table[t->dtype].bytes);
  return out;
}

/* The sign of what is no number says nothing, and processors differ in it. */
static double
told(double x) {
  return isnan(x) ? NAN : x;
}

static void
refute(runner *r) {
  pv_answer *out = r->s->answer;
  const gs_tensor *a = &r->outputs[2 * r->pair], *b = a + 1;
  bs_arena *arena = r->s->outer->arena;
  int64_t rest = r->element;
  out->verdict = PV_REFUTED;
  out->method = PV_BY_RUNNING;
  out->output = r->pair_of[r->pair];
  out->rank = a->rank;
  for (uint32_t d = a->rank; d-- > 0;) {
    out->index[d] = rest % a->dim[d];
    rest /= a->dim[d];
  }
  out->left = told(gs_tensor_get(a, r->element));
  out->right = told(gs_tensor_get(b, r->element));
  pv_input *inputs = BS_NEWS(arena, pv_input, r->p->inputs.len + (size_t)1);
  for (uint32_t k = 0; k < r->p->inputs.len; k++)
    inputs[k] = (pv_input){bs_arena_strdup(arena, r->p->inputs.data[k].name),
                           tensor_for_answer(r, &r->inputs[k])};
  out->inputs = inputs;
  out->n_inputs = r->p->inputs.len;
  out->reason = pv_say(r->s, "they differ for an input: %.*g and %.*g",
                       gs_digits_shown(a->dtype), out->left,
                       gs_digits_shown(b->dtype), out->right);
}

/* --- setting up ----------------------------------------------------------- */

static double
elements_at(const gs_program *p, gs_term t) {
  gs_type type;
  gs_type_at(p, t, &type);
  return (double)gs_elements(&type);
}

/* Views have no price within terms, but inputs are filled, and outputs are
 * written out to be compared. */
static int64_t
visits_of(const gs_program *p) {
  double sum = 0;
  uint8_t *live = bs_calloc(p->ctx.heap, p->nodes.len + (size_t)1, 1);
  gs_mark_live(p, live);
  for (uint32_t k = 0; k < p->nodes.len; k++) {
    const gs_node *n = &p->nodes.data[k];
    if (live[k] && !gs_op_table[n->op].view)
      sum += elements_at(p, n->op == GS_COMPUTE ? n->kids[0] : (gs_term){k});
  }
  for (uint32_t k = 0; k < p->outputs.len; k++)
    sum += elements_at(p, p->outputs.data[k].term);
  bs_free(p->ctx.heap, live);
  return sum < 1e15 ? (int64_t)sum + 1 : (int64_t)1e15;
}

/* The pairs that are not proved, as outputs of a program; calls are looked
 * into to see what they may do to floats. */
static bool
build(runner *r, bool plain) {
  pv_session *s = r->s;
  const gs_program *from = plain ? s->plain : s->given;
  const pv_pair *pairs = plain ? s->pairs : s->given_pairs;
  gs_term *roots = BS_NEWS(s->ctx.arena, gs_term, 2 * (size_t)s->n_pairs);
  r->n_pairs = 0;
  for (uint32_t k = 0; k < s->n_pairs; k++) {
    if (s->proved[k])
      continue;
    r->pair_of[r->n_pairs] = k;
    roots[2 * r->n_pairs] = pairs[k].left;
    roots[2 * r->n_pairs++ + 1] = pairs[k].right;
  }
  r->p = gs_program_new(&s->ctx, from->target);
  gs_term *made = pv_import(s, from, r->p, roots, 2 * r->n_pairs, false);
  for (uint32_t k = 0; made && k < 2 * r->n_pairs; k++)
    gs_add_output(r->p, pv_say(s, "%u", k), made[roots[k].i], BS_NOWHERE);
  return made != NULL;
}

static bool
set_up(runner *r) {
  pv_session *s = r->s;
  r->pair_of = BS_NEWS(s->ctx.arena, uint32_t, s->n_pairs);
  if (!build(r, true))
    return false;
  for (uint32_t k = 0; k < r->p->nodes.len; k++) {
    gs_type type;
    gs_type_at(r->p, (gs_term){k}, &type);
    r->rounds |= !gs_dtype_table[type.dtype].integer;
  }
  pv_tried_init(&r->tried, r->p, s->options->seed);
  r->visits = visits_of(r->p);
  pv_count(s->options->counts, PV_W_LANDMARKS,
           pv_landmarks_count(&r->tried.landmarks));
  return build(r, false);
}

/* Memory for a run, once it is known that there may be one. */
static void
make_room(runner *r) {
  pv_session *s = r->s;
  r->inputs = BS_NEWS(s->ctx.arena, gs_tensor, r->p->inputs.len + (size_t)1);
  r->outputs = BS_NEWS(s->ctx.arena, gs_tensor, 2 * (size_t)r->n_pairs);
  r->bounds = BS_NEWS(s->ctx.arena, gs_tensor, 2 * (size_t)r->n_pairs);
  for (uint32_t k = 0; k < r->p->inputs.len; k++) {
    gs_type type;
    gs_type_at(r->p, r->p->inputs.data[k].term, &type);
    gs_tensor_init(s->ctx.heap, &r->inputs[k], &type);
  }
}

static void
unknown(pv_session *s, const char *why) {
  s->answer->verdict = PV_UNKNOWN;
  s->answer->method = PV_BY_NOTHING;
  s->answer->reason = pv_say(s, "%s", why);
}

/* --- runs ----------------------------------------------------------------- */

/* Which inputs are tried, of a number of runs: the hint, those near landmarks,
 * and the rest. */
typedef struct plan {
  uint32_t hint, near, rest;
} plan;

#define MOST_NEAR 256 /* runs */

static plan
plan_runs(const runner *r) {
  const pv_options *o = r->s->options;
  int64_t may = o->max_run / r->visits;
  plan p = {.hint = r->s->hint.n > 0 && may > 0};
  p.rest = o->runs > may ? (uint32_t)may : o->runs;
  if (o->runs > 1)
    p.near = pv_tried_near(&r->tried, r->inputs, r->p->inputs.len);
  if (p.near > MOST_NEAR)
    p.near = MOST_NEAR;
  if (p.near > (may - p.rest) / 2)
    p.near = (uint32_t)((may - p.rest) / 2);
  return p;
}

static void
fill_hint(runner *r) {
  const pv_hint *h = &r->s->hint;
  const gs_program *plain = r->s->plain;
  for (uint32_t k = 0; k < r->p->inputs.len; k++) {
    gs_tensor *t = &r->inputs[k];
    memset(t->data, 0, (size_t)t->elements * gs_dtype_table[t->dtype].bytes);
    for (uint32_t i = 0; i < h->n; i++) {
      const gs_node *n = gs_at(plain, h->wires[i].source);
      const bs_values *values = plain->ctx.values;
      if (n->op != GS_TENSOR ||
          strcmp(bs_as_sym(values, bs_item(values, n->attr, 0)),
                 r->p->inputs.data[k].name) != 0)
        continue;
      int64_t at = h->wires[i].element;
      for (int64_t e = 0; e < t->elements; e++)
        if (at == PV_EVERYWHERE || at == e)
          gs_tensor_set(t, e, h->values[i]);
    }
  }
}

static void
fill(runner *r, const plan *p, uint32_t run) {
  uint32_t n = r->p->inputs.len;
  if (run < p->hint)
    fill_hint(r);
  else if (run < p->hint + p->near)
    pv_tried_fill_near(&r->tried, run - p->hint, r->inputs, n);
  else
    pv_tried_fill(&r->tried, run - p->hint - p->near, r->inputs, n);
}

/* True when that was the last one: the answer is known. */
static bool
try_one(runner *r, const plan *p, uint32_t run) {
  bool differs = false;
  fill(r, p, run);
  r->s->answer->runs = run + 1;
  if (!run_once(r, &differs)) {
    unknown(r->s, "no proof was found, and the interpreter refused the terms");
    return true;
  }
  if (differs) {
    simplify(r);
    drop_outputs(r);
    if (run_once(r, &differs) && differs)
      refute(r);
    else
      unknown(r->s, "two runs on one input differ");
    return true;
  }
  drop_outputs(r);
  if (run < p->hint && r->s->hint.certain)
    unknown(r->s, "the decision about integers and the interpreter disagree");
  return run < p->hint && r->s->hint.certain;
}

/* What kept a proof away, and how equal the runs were. */
static const char *
why_tested(runner *r) {
  if (!r->rounds)
    return "no proof was found, nor could all values be tried; equal";
  for (uint32_t k = 0; k < r->n_pairs; k++)
    if (pv_means_rounding(r->s, r->pair_of[k]))
      return "no proof was found of what a cast rounds; equal";
  return "no proof was found over the real numbers; equal up to rounding";
}

static void
tested(runner *r, uint32_t runs) {
  pv_answer *out = r->s->answer;
  out->verdict = PV_TESTED;
  out->method = PV_BY_RUNNING;
  out->output = r->pair_of[0];
  out->reason =
      pv_say(r->s, "%s on %u %s", why_tested(r), BS_COUNTED(runs, "input"));
}

void
pv_run(pv_session *s) {
  runner r = {.s = s};
  if (!set_up(&r)) {
    unknown(s, "a call has no meaning here");
    return;
  }
  plan p = {0};
  if (r.visits <= s->options->max_run) {
    make_room(&r);
    p = plan_runs(&r);
  }
  uint32_t runs = p.hint + p.near + p.rest;
  if (!runs) {
    unknown(s, "no proof was found, and the terms are too large to run");
    return;
  }
  for (uint32_t k = 0; k < runs; k++)
    if (try_one(&r, &p, k))
      return;
  tested(&r, runs);
}

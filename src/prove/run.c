/* run.c - inputs tried on the interpreter, to refute or to test.
 *
 * Runs alternate between kinds of inputs: small whole numbers, positive ones,
 * extremes, mostly zeros, the whole range, ones, negative ones, and nothing
 * much but at the ends.  Whole numbers keep sums and products exact, so that a
 * difference of integers, or one of floats beyond what rounding explains, is a
 * difference of meaning.  NaN tells nothing; nor does infinity where an
 * operator may have made it of finite numbers.
 *
 * An input that refutes is made simpler, element by element, while it does. */
#include "prove/session.h"
#include "glenside/interpret.h"
#include <math.h>

#define MAX_SIMPLIFIED 96 /* input elements */
#define MAX_DOUBTS     16 /* differences of floats looked into, of a run */
#define KINDS          8  /* of inputs */
#define ENDS           7
#define MAX_LANDMARKS  16
#define FINE           0x1p-40 /* rounding is meant: hardly anything is equal */

typedef struct runner {
  pv_session *s;
  gs_program *p;
  uint32_t *pair_of; /* outputs 2k, 2k + 1 are those of this pair */
  uint32_t n_pairs;
  gs_tensor *inputs, *outputs;
  int64_t visits;                  /* of a run */
  double rel;                      /* what rounding may make of equal floats */
  bool rounds;                     /* floats are involved */
  bool to_whole;                   /* of which some become integers */
  bool narrows;                    /* or narrower floats */
  double landmarks[MAX_LANDMARKS]; /* bounds and amounts in the terms */
  uint32_t n_landmarks;
  /* the difference found */
  uint32_t pair;
  int64_t element;
} runner;

/* --- inputs --------------------------------------------------------------- */

static uint64_t
mix(uint64_t x) {
  x += 0x9e3779b97f4a7c15;
  x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9;
  x = (x ^ x >> 27) * 0x94d049bb133111eb;
  return x ^ x >> 31;
}

static double
extreme(gs_dtype d, uint64_t bits) {
  static const double floats[] = {0, 1, -1, 0.5, -0.5, 100, -100, 3};
  int64_t half = gs_dtype_table[d].integer
                     ? (int64_t)1 << (8 * gs_dtype_table[d].bytes - 1)
                     : 0;
  const double u8[] = {0, 1, 255, 128, 127, 2, 16, 254};
  const double whole[] = {
      0, 1, -1, -(double)half, (double)half - 1, 2, (double)(half / 2), -2};
  if (!gs_dtype_table[d].integer)
    return floats[bits % 8];
  return d == GS_U8 ? u8[bits % 8] : whole[bits % 8];
}

static double
whole_range(gs_dtype d, uint64_t bits) {
  if (!gs_dtype_table[d].integer)
    return ((double)(bits % 4096) - 2048) / 64;
  if (d == GS_U8)
    return (double)(bits & 255);
  return d == GS_I8 ? (double)(int8_t)bits : (double)(int32_t)bits;
}

/* Floats that integers do not hold, or hold in part. */
static double
beyond(uint64_t bits) {
  static const double values[] = {0,    0.5,   -0.5,    -1.75,  127.5, 300,
                                  -300, 65536, -131072, 5e9,    -5e9,  1e12,
                                  2.5,  200,   -200,    -0.0625};
  return values[bits % 16];
}

/* More bits than a narrower float holds. */
static double
long_fraction(uint64_t bits) {
  return (double)((int64_t)(bits % (1ull << 40)) - (1ll << 39)) / 0x1p30;
}

/* Nothing but the first and the last element stands out. */
static double
ends(gs_dtype d, uint32_t run, int64_t i, int64_t n) {
  double high = d == GS_U8 ? 255 : 100, low = d == GS_U8 ? 0 : -100;
  bool turned = run / KINDS % 2;
  if (i == 0)
    return turned ? high : low;
  return i == n - 1 ? (turned ? low : high) : 2;
}

static double
small(gs_dtype d, uint64_t bits) {
  return d == GS_U8 ? (double)(bits % 8) : (double)(bits % 9) - 4;
}

/* At a parameter of an operator, beside it, and beyond it. */
static double
landmark(const runner *r, gs_dtype d, uint64_t bits) {
  double at = r->landmarks[bits % r->n_landmarks];
  uint64_t way = bits / r->n_landmarks % 4;
  if (gs_dtype_table[d].integer)
    return at + (double)way - 1;
  return way == 3 ? at : at * (way == 2 ? -2 : way == 1 ? 2 : 1.0625);
}

static double
value_of(const runner *r, gs_dtype d, uint32_t run, uint64_t bits) {
  switch (run % KINDS) {
  case 1:
    return (double)(bits % 7 + 1);
  case 2:
    if (r->n_landmarks && bits >> 32 & 1)
      return landmark(r, d, bits);
    return r->to_whole && !gs_dtype_table[d].integer ? beyond(bits)
                                                     : extreme(d, bits);
  case 3:
    return bits % 4 ? 0 : small(d, bits >> 8);
  case 4:
    return r->narrows && !gs_dtype_table[d].integer ? long_fraction(bits)
                                                    : whole_range(d, bits);
  case 5:
    return run % 2 ? 1 : small(d, bits) * 3;
  case 6:
    return d == GS_U8 ? whole_range(d, bits) : -(double)(bits % 7 + 1);
  default:
    return small(d, bits);
  }
}

static void
fill_inputs(runner *r, uint32_t run) {
  uint64_t at = mix(r->s->options->seed + run);
  for (uint32_t k = 0; k < r->p->inputs.len; k++) {
    gs_tensor *t = &r->inputs[k];
    for (int64_t i = 0; i < t->elements; i++)
      gs_tensor_set(t, i,
                    run % KINDS == ENDS
                        ? ends(t->dtype, run, i, t->elements)
                        : value_of(r, t->dtype, run, mix(++at) >> 16));
  }
}

/* --- comparison ----------------------------------------------------------- */

/* The largest finite magnitude of an output. */
static double
magnitude(const gs_tensor *t) {
  double most = 0;
  for (int64_t k = 0; k < t->elements; k++) {
    double x = fabs(gs_tensor_get(t, k));
    if (isfinite(x) && x > most)
      most = x;
  }
  return most;
}

static bool
differ(double rel, gs_dtype d, double a, double b, double scale) {
  double gap = fabs(a - b);
  if (isnan(a) || isnan(b) || a == b)
    return false;
  if (!isfinite(a) || !isfinite(b) || gs_dtype_table[d].integer)
    return true;
  return gap > rel * fmax(fabs(a), fabs(b)) + rel / 16 * scale;
}

/* What floats had a part in is looked at more closely. */
static bool
is_meant(runner *r, uint32_t pair, int64_t element, double rel,
         uint32_t *doubts) {
  pv_doubt d = {r->pair_of[pair], element, r->p, r->inputs, rel};
  return !r->rounds ||
         (*doubts < MAX_DOUBTS && pv_is_meant(r->s, &d, (*doubts)++ > 0));
}

static bool
find_difference(runner *r) {
  for (uint32_t k = 0; k < r->n_pairs; k++) {
    const gs_tensor *a = &r->outputs[2 * k], *b = a + 1;
    double scale = fmax(magnitude(a), magnitude(b));
    bool fine = r->rounds && pv_means_rounding(r->s, r->pair_of[k]);
    double rel = fine ? FINE : r->rel;
    uint32_t doubts = 0;
    for (int64_t i = 0; i < a->elements; i++)
      if (differ(rel, a->dtype, gs_tensor_get(a, i), gs_tensor_get(b, i),
                 scale) &&
          is_meant(r, k, i, rel, &doubts)) {
        r->pair = k;
        r->element = i;
        return true;
      }
  }
  return false;
}

static void
drop_outputs(runner *r) {
  for (uint32_t k = 0; k < 2 * r->n_pairs; k++)
    gs_tensor_done(r->s->ctx.heap, &r->outputs[k]);
}

/* Runs on the present inputs; false when that failed.  The outputs stay until
 * they are dropped. */
static bool
run_once(runner *r, bool *differs) {
  bool ok = gs_interpret(r->p, r->inputs, r->outputs);
  *differs = ok && find_difference(r);
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
        gs_tensor_set(&r->inputs[k], i, simple);
        if (was == simple || still_differs(r))
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
  out->left = gs_tensor_get(a, r->element);
  out->right = gs_tensor_get(b, r->element);
  pv_input *inputs = BS_NEWS(arena, pv_input, r->p->inputs.len + (size_t)1);
  for (uint32_t k = 0; k < r->p->inputs.len; k++)
    inputs[k] = (pv_input){bs_arena_strdup(arena, r->p->inputs.data[k].name),
                           tensor_for_answer(r, &r->inputs[k])};
  out->inputs = inputs;
  out->n_inputs = r->p->inputs.len;
  out->reason = pv_say(r->s, "they differ for an input: %.10g and %.10g",
                       out->left, out->right);
}

/* --- setting up ----------------------------------------------------------- */

static void
note_landmarks(runner *r, gs_compute op, bs_value o) {
  const bs_values *values = r->p->ctx.values;
  uint32_t n = op == GS_C_CLIP ? 2 : op == GS_C_OFFSET ? 1 : 0;
  for (uint32_t k = 0; k < n && r->n_landmarks < MAX_LANDMARKS; k++)
    r->landmarks[r->n_landmarks++] =
        bs_as_real(values, gs_compute_param(values, o, k));
}

static void
look_at_node(runner *r, const gs_node *n, const gs_type *type) {
  const bs_values *values = r->p->ctx.values;
  gs_compute op;
  gs_type from;
  bool real = !gs_dtype_table[type->dtype].integer;
  r->rounds |= real;
  if (type->dtype == GS_BF16)
    r->rel = fmax(r->rel, 0.004);
  else if (real)
    r->rel = fmax(r->rel, 1e-5);
  if (n->op != GS_COMPUTE ||
      !gs_compute_of(values, bs_item(values, n->attr, 0), &op))
    return;
  gs_type_at(r->p, n->kids[0], &from);
  bool cast = op == GS_C_CAST && !gs_dtype_table[from.dtype].integer;
  r->to_whole |= cast && !real;
  r->narrows |= cast && real && type->dtype != from.dtype;
  note_landmarks(r, op, bs_item(values, n->attr, 0));
}

static int64_t
visits_of(const gs_program *p) {
  double sum = 0;
  uint8_t *live = bs_calloc(p->ctx.heap, p->nodes.len + (size_t)1, 1);
  gs_mark_live(p, live);
  for (uint32_t k = 0; k < p->nodes.len; k++) {
    const gs_node *n = &p->nodes.data[k];
    gs_type type;
    if (!live[k] || gs_op_table[n->op].view || n->op == GS_TENSOR)
      continue;
    gs_type_at(p, n->op == GS_COMPUTE ? n->kids[0] : (gs_term){k}, &type);
    sum += (double)gs_elements(&type);
  }
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
    look_at_node(r, &r->p->nodes.data[k], &type);
  }
  r->visits = visits_of(r->p);
  if (!build(r, false))
    return false;
  r->inputs = BS_NEWS(s->ctx.arena, gs_tensor, r->p->inputs.len + (size_t)1);
  r->outputs = BS_NEWS(s->ctx.arena, gs_tensor, 2 * (size_t)r->n_pairs);
  for (uint32_t k = 0; k < r->p->inputs.len; k++) {
    gs_type type;
    gs_type_at(r->p, r->p->inputs.data[k].term, &type);
    gs_tensor_init(s->ctx.heap, &r->inputs[k], &type);
  }
  return true;
}

static void
unknown(pv_session *s, const char *why) {
  s->answer->verdict = PV_UNKNOWN;
  s->answer->method = PV_BY_NOTHING;
  s->answer->reason = pv_say(s, "%s", why);
}

void
pv_run(pv_session *s) {
  runner r = {.s = s};
  bool differs = false;
  if (!set_up(&r)) {
    unknown(s, "a call has no meaning here");
    return;
  }
  uint32_t runs = s->options->runs;
  if (r.visits > s->options->max_run / (runs ? runs : 1))
    runs = (uint32_t)(s->options->max_run / r.visits);
  if (!runs) {
    unknown(s, "no proof was found, and the terms are too large to run");
    return;
  }
  for (uint32_t k = 0; k < runs; k++) {
    fill_inputs(&r, k);
    s->answer->runs = k + 1;
    if (!run_once(&r, &differs)) {
      unknown(s, "no proof was found, and the interpreter refused the terms");
      return;
    }
    if (differs) {
      simplify(&r);
      drop_outputs(&r);
      if (run_once(&r, &differs) && differs)
        refute(&r);
      return;
    }
    drop_outputs(&r);
  }
  s->answer->verdict = PV_TESTED;
  s->answer->method = PV_BY_RUNNING;
  s->answer->output = r.pair_of[0];
  s->answer->reason = pv_say(s, "no proof was found; equal on %u inputs", runs);
}

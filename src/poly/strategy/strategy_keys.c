/* SPDX-License-Identifier: MIT */
/* strategy_keys.c - which parts of the sizes get code of their own.
 *
 * The program is priced at sampled sizes: as code for these sizes alone, and
 * as the code of every candidate that holds them.  Candidates are single
 * points, all sizes up to some number, and multiples of a vector's elements.
 * The part that takes away most of what calls cost beyond the code for their
 * sizes alone is added, until no part takes away enough. */
#include "poly/strategy/strategy_keys.h"
#include "base/random.h"
#include "glenside/target/tuned.h"
#include "poly/kernel/contraction.h"
#include "poly/loops/loops_number.h"
#include "poly/strategy/strategy.h"
#include <assert.h>
#include <math.h>
#include <string.h>

enum {
  MOST_SAMPLES = 40,
  MOST_CANDIDATES = 96,
  MOST_TERMS = 32, /* contractions that are looked at */
  POINTS = 16,     /* sizes that may be parts of their own, from the least on */
  RANDOM_SAMPLES = 16,
  LARGE = 64 /* statements beyond which one code is enough */
};

typedef struct sample {
  int64_t at[GS_MOST_SIZES];
  double cycles; /* of code for these sizes alone */
} sample;

/* A part, the program lowered for it, and its contractions as terms of the
 * whole program. */
typedef struct candidate {
  po_key key;
  po_program *loops;
  gs_term terms[MOST_TERMS];
  uint32_t n_terms;
  double rest; /* of the sample being priced: what is beside the kernels */
  double cycles[MOST_SAMPLES]; /* infinite where it does not hold them */
} candidate;

typedef struct choosing {
  const gs_program *p;
  gs_target one; /* a core of the target */
  po_options options;
  gs_term *made; /* by term of the program: of the one just narrowed */
  sample samples[MOST_SAMPLES];
  uint32_t n_samples;
  candidate *candidates;
  uint32_t n_candidates;
} choosing;

/* ---- lowering ---- */

po_program *
po_lower_part(const gs_program *program, const gs_target *t,
              const po_options *options) {
  po_program *p = po_lower(program, t, options);
  for (uint32_t k = 0; p && k < options->n_prepack; k++)
    if (!po_prepack(p, options->prepack[k])) {
      po_free(p);
      return NULL;
    }
  if (p && options->n_prepack)
    po_lay_out(p);
  return p;
}

/* What gs_program_within or gs_program_at made. */
static po_program *
lower(const choosing *c, const gs_program *program) {
  return program ? po_lower_part(program, &c->one, &c->options) : NULL;
}

static void
find_terms(const choosing *c, candidate *x) {
  const po_program *p = x->loops;
  for (uint32_t k = 0; k < p->contractions.len; k++) {
    gs_term of = p->stmts.data[p->contractions.data[k]->update].term;
    for (uint32_t t = 0; t < c->p->nodes.len && x->n_terms < MOST_TERMS; t++)
      if (c->made[t].i == of.i) {
        x->terms[x->n_terms++] = (gs_term){t};
        break;
      }
  }
}

static bool
make_candidate(choosing *c, const gs_size *part, candidate *x) {
  *x = (candidate){0};
  memcpy(x->key.part, part, c->p->sizes->n * sizeof *part);
  x->key.program = gs_program_within(c->p, part, c->made);
  x->loops = lower(c, x->key.program);
  if (!x->loops)
    return false;
  find_terms(c, x);
  return true;
}

/* ---- prices ---- */

static bool
holds(const gs_size *part, uint32_t n, const int64_t *at) {
  for (uint32_t k = 0; k < n; k++)
    if (!gs_size_holds(&part[k], at[k]))
      return false;
  return true;
}

static double
kernels_at(const choosing *c, const candidate *x, const int64_t *at) {
  po_program *p = x->loops;
  int64_t own[GS_MOST_SIZES];
  double sum = 0;
  po_contraction *now = bs_alloc(p->ctx.heap, sizeof *now);
  const gs_sizes *sizes = po_numbers_of(p, &p->arena);
  po_sizes_left(x->key.part, c->p->sizes->n, at, own);
  for (uint32_t k = 0; k < p->contractions.len; k++) {
    po_contraction_at(sizes, own, p->contractions.data[k], now);
    sum += po_contraction_cycles(&c->one, now) *
               (double)po_cdims_size(&now->dims[PO_DIM_O]) +
           GS_SIZED_KERNEL;
  }
  bs_free(p->ctx.heap, now);
  return sum;
}

/* Sums of products of few numbers run as loops, which C compilers write out:
 * they cost no more than a kernel for them does. */
static double
kernels_alone(const choosing *c, const int64_t *at) {
  const candidate *x = c->candidates;
  po_program *p = x->loops;
  double sum = 0;
  po_contraction *room = bs_alloc(p->ctx.heap, 3 * sizeof *room);
  const gs_sizes *sizes = po_numbers_of(p, &p->arena);
  for (uint32_t k = 0; k < p->contractions.len; k++) {
    po_contraction_at(sizes, at, p->contractions.data[k], room);
    for (uint32_t role = 0; role < 4; role++)
      room->sized[role] = room->ragged[role] = false;
    const bool before[2] = {room->x_mode == PO_BEFORE,
                            room->y_mode == PO_BEFORE};
    po_plan_contraction(&c->one, before, NULL, room, room + 1, NULL);
    sum += room->cycles * (double)po_cdims_size(&room->dims[PO_DIM_O]);
  }
  bs_free(p->ctx.heap, room);
  return sum;
}

static bool
have_same_terms(const candidate *a, const candidate *b) {
  return a->n_terms == b->n_terms &&
         !memcmp(a->terms, b->terms, a->n_terms * sizeof *a->terms);
}

/* What the program costs at a sample's sizes beside the kernels of x.  `alone`
 * is the program there, and made says what terms are in it.  Most candidates
 * have the kernels of one before them, and a prediction takes long. */
static double
predict_rest(const choosing *c, const candidate *x, po_program *alone) {
  gs_term terms[MOST_TERMS];
  for (const candidate *y = c->candidates; y < x; y++)
    if (have_same_terms(x, y))
      return y->rest;
  for (uint32_t k = 0; k < x->n_terms; k++)
    terms[k] = c->made[x->terms[k].i];
  return po_predict_others(alone, terms, x->n_terms);
}

static double
price_alone(const choosing *c, po_program *alone, const int64_t *at) {
  double rest = c->candidates->rest;
  return rest + fmin(po_predict_cycles(alone) - rest, kernels_alone(c, at));
}

/* The rest of the program costs what it does at these sizes alone, where all of
 * it costs `cycles`. */
static double
price_at(const choosing *c, const candidate *x, double cycles,
         const int64_t *at) {
  if (!holds(x->key.part, c->p->sizes->n, at))
    return INFINITY;
  return x->key.program->sizes ? x->rest + kernels_at(c, x, at) : cycles;
}

static po_program *
lower_at(choosing *c, const int64_t *at) {
  return lower(c, gs_program_at(c->p, at, c->made));
}

static void
price_at_sizes(choosing *c, uint32_t s, po_program *alone) {
  assert(s < c->n_samples);
  const int64_t *at = c->samples[s].at;
  for (uint32_t k = 0; k < c->n_candidates; k++)
    c->candidates[k].rest = predict_rest(c, &c->candidates[k], alone);
  c->samples[s].cycles = price_alone(c, alone, at);
  for (uint32_t k = 0; k < c->n_candidates; k++)
    c->candidates[k].cycles[s] =
        price_at(c, &c->candidates[k], c->samples[s].cycles, at);
}

static void
price_sample(choosing *c, uint32_t s) {
  assert(s < c->n_samples);
  po_program *alone = lower_at(c, c->samples[s].at);
  c->samples[s].cycles = 0;
  for (uint32_t k = 0; k < c->n_candidates; k++)
    c->candidates[k].cycles[s] = INFINITY;
  if (!alone)
    return;
  price_at_sizes(c, s, alone);
  po_free(alone);
}

/* ---- sizes that are looked at ---- */

/* From 1 on all, then fewer: 1 2 ... 16, 17, 20, 24, 31, 32, 33, 40, ... */
static int64_t
next_number(int64_t x) {
  assert(x >= 1);
  int64_t power = 1;
  while (2 * power <= x)
    power *= 2;
  if (x < POINTS)
    return x + 1;
  if (x == power)
    return x + 1;
  if (x == 2 * power - 1)
    return 2 * power;
  return x < power * 5 / 4   ? power * 5 / 4
         : x < power * 3 / 2 ? power * 3 / 2
                             : 2 * power - 1;
}

static void
add_sample(choosing *c, const int64_t *at) {
  sample *s = &c->samples[c->n_samples];
  if (c->n_samples == MOST_SAMPLES)
    return;
  for (uint32_t k = 0; k < c->n_samples; k++)
    if (!memcmp(c->samples[k].at, at, c->p->sizes->n * sizeof *at))
      return;
  memcpy(s->at, at, c->p->sizes->n * sizeof *at);
  c->n_samples++;
}

/* All sizes alike, then any, small ones as often as large ones. */
static void
choose_samples(choosing *c) {
  const gs_sizes *s = c->p->sizes;
  int64_t at[GS_MOST_SIZES], most = 1;
  uint64_t state = 1;
  for (uint32_t k = 0; k < s->n; k++)
    most = s->list[k].most > most ? s->list[k].most : most;
  for (uint32_t r = 0; s->n > 1 && r < RANDOM_SAMPLES; r++) {
    for (uint32_t k = 0; k < s->n; k++) {
      int64_t below = (int64_t)1 << bs_random_next(&state) % 40;
      below = below > s->list[k].most ? s->list[k].most : below;
      at[k] = gs_size_fit(
          &s->list[k], 1 + (int64_t)(bs_random_next(&state) % (uint64_t)below));
    }
    add_sample(c, at);
  }
  for (int64_t x = 1; x <= 2 * most; x = next_number(x)) {
    for (uint32_t k = 0; k < s->n; k++)
      at[k] = gs_size_fit(&s->list[k], x);
    add_sample(c, at);
  }
}

/* ---- candidates ---- */

static bool
are_same(const gs_size *a, const gs_size *b, uint32_t n) {
  for (uint32_t k = 0; k < n; k++)
    if (a[k].least != b[k].least || a[k].most != b[k].most ||
        a[k].multiple != b[k].multiple)
      return false;
  return true;
}

/* The candidate of a part, or NULL. */
static const candidate *
find_candidate(const choosing *c, const gs_size *part) {
  for (uint32_t k = 0; k < c->n_candidates; k++)
    if (are_same(c->candidates[k].key.part, part, c->p->sizes->n))
      return &c->candidates[k];
  return NULL;
}

static void
add_candidate(choosing *c, const gs_size *part) {
  if (c->n_candidates < MOST_CANDIDATES && !find_candidate(c, part) &&
      make_candidate(c, part, &c->candidates[c->n_candidates]))
    c->n_candidates++;
}

/* The program itself, which is the first; false where it has no code. */
static bool
add_program(choosing *c) {
  add_candidate(c, c->p->sizes->list);
  return c->n_candidates;
}

/* The sizes of the mask no greater than `most`, multiples of `lanes`, too. */
static void
add_range(choosing *c, uint32_t mask, int64_t most, int64_t lanes) {
  gs_size part[GS_MOST_SIZES];
  for (uint32_t k = 0; k < c->p->sizes->n; k++) {
    gs_size *size = &part[k];
    *size = c->p->sizes->list[k];
    if (!(mask >> k & 1))
      continue;
    size->most = most < size->most ? most : size->most;
    size->multiple *= size->multiple % lanes ? lanes : 1;
    if (!gs_fit_bounds(size))
      return;
  }
  add_candidate(c, part);
}

/* The sizes of the mask are this number. */
static void
add_point(choosing *c, uint32_t mask, int64_t x) {
  gs_size part[GS_MOST_SIZES];
  for (uint32_t k = 0; k < c->p->sizes->n; k++) {
    part[k] = c->p->sizes->list[k];
    if (!(mask >> k & 1))
      continue;
    if (!gs_size_holds(&part[k], x))
      return;
    part[k].least = part[k].most = x;
  }
  add_candidate(c, part);
}

static void
add_candidates_of(choosing *c, uint32_t mask) {
  int64_t most = 1, lanes = c->one.vector_bytes / 4;
  for (uint32_t k = 0; k < c->p->sizes->n; k++)
    most = mask >> k & 1 && c->p->sizes->list[k].most > most
               ? c->p->sizes->list[k].most
               : most;
  for (int64_t x = lanes; lanes > 1 && x < 2 * most; x *= 2) {
    add_range(c, mask, x, 1);
    add_range(c, mask, x, lanes);
  }
  for (int64_t x = 1; x <= POINTS && x <= most; x++)
    add_point(c, mask, x);
}

static void
choose_candidates(choosing *c) {
  uint32_t all = (1u << c->p->sizes->n) - 1;
  add_candidates_of(c, all);
  for (uint32_t k = 0; all > 1 && k < c->p->sizes->n; k++)
    add_candidates_of(c, 1u << k);
}

/* ---- the choice ---- */

/* Sizes in the part, of those between its bounds in the program's. */
static double
share_of(const choosing *c, const gs_size *part) {
  double share = 1;
  for (uint32_t k = 0; k < c->p->sizes->n; k++)
    share *= (double)(part[k].most - part[k].least + part[k].multiple) /
             (double)part[k].multiple;
  return share;
}

/* What a call of a sample's sizes costs, and the share of the part whose code
 * takes it. */
typedef struct served {
  double cycles, share;
} served;

/* What a part takes away from the calls that would reach it, as a share of the
 * code for their sizes alone; `most`: at the sizes at which it is most. */
static double
gain_of(const choosing *c, const candidate *x, const served *now,
        double *most) {
  double sum = 0, share = share_of(c, x->key.part);
  *most = 0;
  for (uint32_t s = 0; s < c->n_samples; s++) {
    double less = now[s].cycles - x->cycles[s];
    if (isinf(x->cycles[s]) || c->samples[s].cycles <= 0 ||
        now[s].share <= share)
      continue;
    sum += less / c->samples[s].cycles;
    *most = fmax(*most, less / now[s].cycles);
  }
  return sum;
}

static candidate *
best_candidate(const choosing *c, const served *now) {
  candidate *best = NULL;
  double best_gain = 0, most;
  for (uint32_t k = 1; k < c->n_candidates; k++) {
    double gain = gain_of(c, &c->candidates[k], now, &most);
    if (most >= GS_SIZED_GAIN && gain > best_gain) {
      best = &c->candidates[k];
      best_gain = gain;
    }
  }
  return best;
}

/* Smaller parts are looked at first. */
static void
put_key(const choosing *c, const candidate *x, po_keys *out) {
  uint32_t k = out->n++;
  for (; k > 0 && share_of(c, out->list[k - 1].part) > share_of(c, x->key.part);
       k--)
    out->list[k] = out->list[k - 1];
  out->list[k] = x->key;
}

/* The first key that holds its sizes takes a call. */
static void
serve(const choosing *c, const po_keys *keys, served *now) {
  for (uint32_t s = 0; s < c->n_samples; s++) {
    uint32_t key = po_key_at(keys, c->p->sizes->n, c->samples[s].at);
    const candidate *x = c->candidates;
    if (key < keys->n)
      x = find_candidate(c, keys->list[key].part);
    now[s] = (served){x->cycles[s],
                      key < keys->n ? share_of(c, x->key.part) : INFINITY};
  }
}

static void
choose(const choosing *c, uint32_t most, po_keys *out) {
  served now[MOST_SAMPLES];
  for (;;) {
    serve(c, out, now);
    const candidate *best = out->n < most ? best_candidate(c, now) : NULL;
    if (!best)
      return;
    put_key(c, best, out);
  }
}

/* ---- */

static choosing *
begin(const gs_program *p, const gs_target *t, const po_options *options) {
  choosing *c = bs_calloc(p->ctx.heap, 1, sizeof *c);
  c->p = p;
  c->one = *t;
  c->one.cores = 1;
  c->options = *options;
  c->made = BS_NEWS(p->ctx.arena, gs_term, p->nodes.len);
  c->candidates = bs_calloc(p->ctx.heap, MOST_CANDIDATES, sizeof(candidate));
  return c;
}

static void
end(choosing *c) {
  bs_heap *heap = c->p->ctx.heap;
  for (uint32_t k = 0; k < c->n_candidates; k++)
    po_free(c->candidates[k].loops);
  bs_free(heap, c->candidates);
  bs_free(heap, c);
}

/* Only kernels of products cost more in code for all sizes than in code for
 * some; and code for each part of a large program is more than anybody waits
 * for. */
static bool
may_pay(const choosing *c) {
  const po_program *p = c->candidates->loops;
  return p->contractions.len && p->stmts.len <= LARGE;
}

bool
po_choose_keys(const gs_program *p, const gs_target *t,
               const po_options *options, uint32_t most, po_keys *out) {
  *out = (po_keys){0};
  if (!p->sizes || !p->sizes->n || !most)
    return true;
  choosing *c = begin(p, t, options);
  bool has_code = add_program(c);
  if (has_code && may_pay(c)) {
    choose_samples(c);
    choose_candidates(c);
    for (uint32_t s = 0; s < c->n_samples; s++)
      price_sample(c, s);
    choose(c, most < PO_MOST_KEYS ? most : PO_MOST_KEYS, out);
  }
  end(c);
  return has_code;
}

static po_key_price
price_of(const candidate *x) {
  return x && isfinite(x->cycles[0]) ? (po_key_price){true, x->cycles[0]}
                                     : (po_key_price){0};
}

static void
price_call(choosing *c, const po_keys *keys, const int64_t *at,
           po_key_price *prices) {
  c->n_samples = 0;
  add_sample(c, at);
  price_sample(c, 0);
  for (uint32_t k = 0; k < keys->n; k++)
    prices[k] = price_of(find_candidate(c, keys->list[k].part));
  prices[keys->n] = price_of(c->candidates);
  prices[keys->n + 1] = (po_key_price){true, c->samples[0].cycles};
}

bool
po_price_keys(const gs_program *p, const gs_target *t,
              const po_options *options, const po_keys *keys, uint32_t n,
              const int64_t *at, po_key_prices *prices) {
  choosing *c = begin(p, t, options);
  bool has_code = add_program(c);
  for (uint32_t k = 0; k < keys->n; k++)
    add_candidate(c, keys->list[k].part);
  for (uint32_t k = 0; has_code && k < n; k++)
    price_call(c, keys, at + k * p->sizes->n, prices[k].of);
  end(c);
  return has_code;
}

void
po_sizes_left(const gs_size *part, uint32_t n, const int64_t *at,
              int64_t *left) {
  assert(n <= GS_MOST_SIZES);
  uint32_t to = 0;
  for (uint32_t k = 0; k < n; k++)
    if (part[k].least < part[k].most)
      left[to++] = at[k];
}

uint32_t
po_key_at(const po_keys *keys, uint32_t n_sizes, const int64_t *at) {
  assert(keys->n <= PO_MOST_KEYS);
  uint32_t k = 0;
  while (k < keys->n && !holds(keys->list[k].part, n_sizes, at))
    k++;
  return k;
}

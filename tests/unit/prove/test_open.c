/* SPDX-License-Identifier: MIT */
/* test_open.c - terms over open sizes grown at random, each compared with each.
 *
 * What the argument for all sizes proves is equal on the interpreter at all of
 * the small ones, and what is said of programs whose sizes are few is so at
 * each of them: proved where no run tells them apart, refuted where one does,
 * at the sizes that are named. */
#include "trail.h"
#include "base/hash.h"
#include "base/random.h"
#include "glenside/interpret/interpret.h"
#include "prove/equal/equal_open.h"
#include "prove/symbolic/symbolic.h"
#include <math.h>

enum {
  TERMS = 44,
  RUNS = 3,
  LARGEST = 4096, /* more than is looked at one by one */
  SMALLEST = 2,
  TRIED_N = 5, /* n = 2 .. 6 with m = 1 .. 3 */
  TRIED_M = 3,
  PLACES = TRIED_N * TRIED_M,
  NUMBERS = 12,
  PROGRAMS = SANITIZED ? 8 : 24
};

static uint64_t state;

static uint32_t
below(uint32_t n) {
  return (uint32_t)(bs_random_next(&state) % n);
}

/* ---- programs ---- */

static gs_number numbers[NUMBERS];

static void
make_numbers(gs_program *p, int64_t most_n, int64_t most_m) {
  const gs_size n = {
      .name = "n", .least = SMALLEST, .most = most_n, .multiple = 1};
  const gs_size m = {.name = "m", .least = 1, .most = most_m, .multiple = 1};
  gs_number x = gs_open_size(p, &n), y = gs_open_size(p, &m);
  const gs_numbers *over = &p->sizes->over;
  gs_number half = gs_quotient(over, x, 2);
  const gs_number made[NUMBERS] = {0,
                                   1,
                                   2,
                                   x,
                                   y,
                                   gs_plus(over, x, -1),
                                   gs_plus(over, x, 1),
                                   half,
                                   gs_combine(over, 1, x, -1, half, 0),
                                   gs_combine(over, 1, x, 1, y, 0),
                                   gs_combine(over, 2, x, 0, x, 0),
                                   gs_quotient(over, gs_plus(over, x, 2), 3)};
  memcpy(numbers, made, sizeof made);
}

static bs_value
number(void) {
  return bs_int(ctx.values, numbers[below(NUMBERS)]);
}

/* A size of the term, or any number. */
static bs_value
end_of(const gs_type *t, uint32_t d) {
  return below(2) ? bs_int(ctx.values, t->dim[d]) : number();
}

static bs_value
operator_of(gs_dtype d) {
  static const char *const names[] = {
      "reduceSum", "reduceSum", "reduceMax", "reduceMin", "reduceProd",
      "dotProd",   "add",       "mul",       "max",       "min",
      "sub",       "neg",       "relu",      "square"};
  uint32_t pick = below(sizeof names / sizeof *names + 2);
  if (pick < sizeof names / sizeof *names)
    return bs_sym(ctx.values, names[pick]);
  bs_value items[2] = {
      bs_sym(ctx.values, pick % 2 ? "scale" : "offset"),
      bs_int(ctx.values, (int64_t)below(4) - (gs_dtype_table[d].is_signed))};
  return bs_list(ctx.values, items, 2);
}

static uint32_t
attribute(gs_op op, const gs_type *t, bs_value *out) {
  static const char *const kinds[] = {"zero", "edge", "min"};
  uint32_t d = t->rank ? below(t->rank) : 0;
  switch ((int)op) {
  case GS_ACCESS:
  case GS_INSERT_AXIS:
    out[0] = bs_int(ctx.values, below(t->rank + 1u));
    return 1;
  case GS_TRANSPOSE: {
    int64_t order[] = {t->rank == 2, 0};
    out[0] = bs_ints(ctx.values, order, t->rank < 2 ? t->rank : 2);
    return 1;
  }
  case GS_SLICE:
    out[0] = bs_int(ctx.values, d);
    out[1] = below(2) ? bs_int(ctx.values, 0) : number();
    out[2] = t->rank ? end_of(t, d) : number();
    return 3;
  case GS_PAD:
    out[0] = bs_sym(ctx.values, kinds[below(3)]);
    out[1] = bs_int(ctx.values, d);
    out[2] = number();
    out[3] = number();
    return 4;
  case GS_REPEAT:
    out[0] = bs_int(ctx.values, d);
    out[1] = bs_int(ctx.values, 1 + below(2));
    return 2;
  case GS_CONCAT:
  case GS_REVERSE:
  case GS_SQUEEZE:
    out[0] = bs_int(ctx.values, d);
    return 1;
  case GS_COMPUTE:
    out[0] = operator_of(t->dtype);
    return 1;
  default:
    return 0;
  }
}

static void
add_random(gs_program *p) {
  static const gs_op ops[] = {
      GS_ACCESS,  GS_ACCESS,  GS_TRANSPOSE,   GS_SLICE,    GS_SLICE,
      GS_PAD,     GS_PAD,     GS_CONCAT,      GS_REVERSE,  GS_REPEAT,
      GS_PAIR,    GS_SQUEEZE, GS_INSERT_AXIS, GS_CARTPROD, GS_COMPUTE,
      GS_COMPUTE, GS_COMPUTE, GS_COMPUTE,     GS_COMPUTE,  GS_MATERIALIZE};
  gs_op op = ops[below(sizeof ops / sizeof *ops)];
  gs_term kids[2] = {{below(p->nodes.len)}, {below(p->nodes.len)}};
  bs_value items[4];
  gs_fault fault;
  gs_type t;
  gs_type_at(p, kids[0], &t);
  if (t.rank > 3)
    return;
  uint32_t n = attribute(op, &t, items);
  gs_add(p, op, bs_list(ctx.values, items, n), kids,
         (uint32_t)gs_op_table[op].kids, BS_NOWHERE, &fault);
}

static gs_program *
random_program(int64_t most_n, int64_t most_m) {
  static const gs_dtype dtypes[] = {GS_F64, GS_I32, GS_U8};
  gs_program *p = gs_program_new(&ctx, NULL);
  make_numbers(p, most_n, most_m);
  gs_type t = {.dtype = dtypes[below(3)], .rank = 2, .access = 2};
  t.dim[0] = numbers[3];
  t.dim[1] = numbers[below(2) ? 4 : 3];
  gs_add_tensor(p, "a", &t, BS_NOWHERE);
  gs_add_tensor(p, "b", &t, BS_NOWHERE);
  for (int tries = 0; p->nodes.len < TERMS && tries < 4000; tries++)
    add_random(p);
  for (uint32_t k = 0; k < p->nodes.len; k++)
    gs_add_output(p, bs_arena_printf(ctx.arena, "o%u", k), (gs_term){k},
                  BS_NOWHERE);
  return p;
}

/* ---- what runs tell ---- */

typedef struct runs {
  gs_tensor *of[PLACES][RUNS]; /* by term */
  int64_t at[PLACES][2];
  uint32_t n;
} runs;

static double
element(gs_dtype d, int run) {
  return run == 0   ? (double)below(3) + (d == GS_U8 ? 0 : -1)
         : run == 1 ? (double)below(200)
                    : (double)below(7) - (d == GS_U8 ? 0 : 9);
}

static void
run_at(const gs_program *p, int run, gs_tensor *out) {
  gs_tensor in[2];
  for (uint32_t k = 0; k < 2; k++) {
    gs_type t;
    gs_type_at(p, p->inputs.data[k].term, &t);
    gs_tensor_init(&heap, &in[k], &t);
    for (int64_t i = 0; i < in[k].elements; i++)
      gs_tensor_set(&in[k], i, element(t.dtype, run));
  }
  cr_assert(gs_interpret(p, in, out));
}

static void
run_all(const gs_program *p, int64_t most_n, int64_t most_m, runs *r) {
  for (int64_t n = SMALLEST; n <= most_n && n < SMALLEST + TRIED_N; n++)
    for (int64_t m = 1; m <= most_m && m <= TRIED_M; m++) {
      int64_t at[] = {n, m};
      gs_term *made = BS_NEWS(ctx.arena, gs_term, p->nodes.len + 1);
      const gs_program *here = gs_program_at(p, at, made);
      memcpy(r->at[r->n], at, sizeof at);
      cr_assert(here);
      for (int k = 0; k < RUNS; k++) {
        r->of[r->n][k] = bs_calloc(&heap, p->nodes.len + 1u, sizeof(gs_tensor));
        run_at(here, k, r->of[r->n][k]);
      }
      r->n++;
    }
}

static bool
agree_at(const runs *r, uint32_t place, uint32_t i, uint32_t j) {
  for (int k = 0; k < RUNS; k++) {
    const gs_tensor *a = &r->of[place][k][i], *b = &r->of[place][k][j];
    for (int64_t e = 0; e < a->elements; e++) {
      double x = gs_tensor_get(a, e), y = gs_tensor_get(b, e);
      bool apart = fabs(x - y) > 1e-9 * (fabs(x) + fabs(y));
      if (isfinite(x) && isfinite(y) ? apart : isfinite(x) != isfinite(y))
        return false;
    }
  }
  return true;
}

static uint32_t
first_apart(const runs *r, uint32_t i, uint32_t j) {
  uint32_t k = 0;
  while (k < r->n && agree_at(r, k, i, j))
    k++;
  return k;
}

static const char *
pair_text(const gs_program *p, uint32_t i, uint32_t j) {
  bs_text out;
  bs_text_init(&out, &heap);
  gs_print(p, false, &out);
  bs_putf(&out, "; o%u and o%u", i, j);
  return bs_text_str(&out);
}

/* ---- for all sizes ---- */

static uint32_t n_equal, n_proved;

/* What is said of a pair, in the digest of those before. */
static uint64_t
note(uint64_t digest, bool proved, bool any_order, const char *why) {
  uint64_t item[2] = {digest,
                      bs_hash(why, strlen(why)) + 2u * proved + any_order};
  return bs_hash(item, sizeof item);
}

static void
compare_all(const gs_program *p, const runs *r) {
  pv_counts work = {{0}};
  pv_options o;
  uint64_t digest = 1;
  uint32_t before = n_proved;
  pv_defaults(&o);
  o.counts = &work;
  for (uint32_t i = 0; i < p->nodes.len; i++)
    for (uint32_t j = 0; j < i; j++) {
      bool any = false;
      if (!bs_same(p->nodes.data[i].type, p->nodes.data[j].type))
        continue;
      bool equal = first_apart(r, i, j) == r->n;
      const char *why = "";
      bool proved =
          pv_prove_open(p, (gs_term){i}, (gs_term){j}, &o, &heap, &any, &why);
      digest = note(digest, proved, any, proved ? "" : why);
      cr_assert(equal || !proved, "%s: at n = %lld, m = %lld they differ",
                pair_text(p, i, j), (long long)r->at[first_apart(r, i, j)][0],
                (long long)r->at[first_apart(r, i, j)][1]);
      n_equal += equal;
      n_proved += proved;
    }
  bs_putf(trail_text(), "%u proved, all answers %016llx; ", n_proved - before,
          (unsigned long long)digest);
  pv_put_counts(trail_text(), &work);
  bs_putc(trail_text(), '\n');
}

Test(open, nothing_wrong_is_proved_for_all_sizes) {
  for (uint64_t seed = 1; seed <= PROGRAMS; seed++) {
    runs r = {.n = 0};
    fixture_start();
    state = seed * 9973;
    gs_program *p = random_program(LARGEST, LARGEST);
    run_all(p, LARGEST, LARGEST, &r);
    compare_all(p, &r);
    fixture_stop();
  }
  trail_end("open-random");
  cr_log_info("%u equal, %u proved", n_equal, n_proved);
  cr_expect(n_equal > 4 * PROGRAMS, "%u", n_equal);
  cr_expect(2 * n_proved > n_equal, "%u of %u", n_proved, n_equal);
}

/* ---- what is said of programs ---- */

/* A term as the only output. */
static gs_program
program_of_term(const gs_program *p, uint32_t k) {
  gs_program one = *p;
  memset(&one.outputs, 0, sizeof one.outputs);
  gs_add_output(&one, "y", (gs_term){k}, BS_NOWHERE);
  return one;
}

static uint32_t
place_of(const runs *r, const int64_t *at) {
  uint32_t k = 0;
  while (k < r->n && (r->at[k][0] != at[0] || r->at[k][1] != at[1]))
    k++;
  return k;
}

typedef struct told {
  uint32_t apart, refuted, proved, equal;
} told;

static void
hold_said(const gs_program *p, const runs *r, uint32_t i, uint32_t j, bool few,
          told *t) {
  pv_counts work = {{0}};
  pv_options o;
  pv_open_answer said;
  pv_defaults(&o);
  o.counts = &work;
  gs_program a = program_of_term(p, i), b = program_of_term(p, j);
  pv_equal_open(&ctx, &a, &b, &o, &said);
  uint32_t first = first_apart(r, i, j);
  bool refuted = said.verdict == PV_REFUTED;
  cr_expect(first == r->n || said.verdict != PV_PROVED, "%s: %s",
            pair_text(p, i, j), said.reason);
  cr_expect(!few || !refuted || place_of(r, said.at) <= first, "%s: %s",
            pair_text(p, i, j), said.reason);
  cr_expect(!few || said.verdict != PV_CHECKED, "%s", said.reason);
  cr_expect_eq(said.decided, said.looked && said.verdict != PV_PROVED &&
                                 said.verdict != PV_CHECKED);
  t->apart += first < r->n;
  t->refuted += first < r->n && refuted;
  t->equal += first == r->n;
  t->proved += said.verdict == PV_PROVED;
  bs_putf(trail_text(), "%u, %d%d: %s by %s: %s; ", said.looked, said.all,
          said.decided, pv_verdict_name(said.verdict),
          pv_method_name(said.answer.method), said.reason);
  pv_put_counts(trail_text(), &work);
  bs_putc(trail_text(), '\n');
}

/* Pairs of one type, as many again that no run tells apart. */
static void
hold_pairs(const gs_program *p, const runs *r, bool few, told *t) {
  enum { PAIRS = 5, TRIES = 4000 };
  uint32_t left[2] = {PAIRS, PAIRS};
  for (uint32_t tries = 0; tries < TRIES && left[0] + left[1]; tries++) {
    uint32_t i = below(p->nodes.len), j = below(p->nodes.len);
    if (i == j || !bs_same(p->nodes.data[i].type, p->nodes.data[j].type))
      continue;
    bool equal = first_apart(r, i, j) == r->n;
    if (!left[equal])
      continue;
    left[equal]--;
    hold_said(p, r, i, j, few, t);
  }
}

Test(open, what_is_said_of_programs_is_so) {
  told few = {0}, many = {0};
  for (uint64_t seed = 1; seed <= PROGRAMS; seed++) {
    for (int all = 0; all < 2; all++) {
      int64_t n = all ? SMALLEST + TRIED_N - 1 : LARGEST;
      runs r = {.n = 0};
      fixture_start();
      state = seed * 6007;
      gs_program *p = random_program(n, all ? TRIED_M : LARGEST);
      run_all(p, n, all ? TRIED_M : LARGEST, &r);
      hold_pairs(p, &r, all, all ? &few : &many);
      fixture_stop();
    }
  }
  trail_end("open-said");
  cr_expect(10 * few.refuted >= 9 * few.apart, "%u of %u", few.refuted,
            few.apart);
  cr_expect(2 * few.proved > few.equal && 3 * many.proved > many.equal,
            "%u of %u, %u of %u", few.proved, few.equal, many.proved,
            many.equal);
}

/* SPDX-License-Identifier: MIT */
/* test_operators.c - each operator of each type, compared with others.
 *
 * Terms over x and y are made of every compute operator, alone and within one
 * another.  Runs on pairs of landmarks (the least and the greatest value, those
 * beside zero, infinities, no number) tell which are equal there.  What an
 * argument alone proves must be; and how many pairs each argument proves is
 * known, so that one that proves less is seen, too. */
#include "trail.h"
#include "glenside/interpret/interpret.h"
#include <float.h>
#include <math.h>

enum { MARKS = 14, TERMS = 140, OTHERS = 4 };

static uint64_t state;

static uint32_t
draw(uint32_t n) {
  state = state * 6364136223846793005u + 1442695040888963407u;
  return (uint32_t)(state >> 33) % n;
}

/* ---- terms ---- */

static gs_term
made(gs_program *p, gs_op op, const bs_value *items, uint32_t n, gs_term a,
     gs_term b) {
  gs_term kids[] = {a, b};
  gs_fault fault;
  return gs_add(p, op, bs_list(ctx.values, items, n), kids,
                (uint32_t)gs_op_table[op].kids, BS_NOWHERE, &fault);
}

static bs_value
parameter(char letter, uint32_t choice) {
  static const double numbers[] = {0, 1, -1, 2, 0.5, 100, -3, 127};
  if (letter == 't')
    return bs_sym(ctx.values, gs_dtype_table[choice % GS_DTYPE_COUNT].name);
  double v = numbers[choice % 8];
  return v == floor(v) ? bs_int(ctx.values, (int64_t)v)
                       : bs_real(ctx.values, v);
}

static gs_term
computed(gs_program *p, uint32_t op, uint32_t choice, gs_term of) {
  const char *params = gs_compute_table[op].params;
  bs_value items[4] = {bs_sym(ctx.values, gs_compute_table[op].name)};
  uint32_t n = 1;
  for (; params[n - 1] && n < 4; n++)
    items[n] = parameter(params[n - 1], n == 1 ? choice : choice / 8);
  bs_value spelled = n > 1 ? bs_list(ctx.values, items, n) : items[0];
  return made(p, GS_COMPUTE, &spelled, 1, of, of);
}

/* a, b and a, one after another in each element. */
static gs_term
triple(gs_program *p, gs_term a, gs_term both) {
  bs_value one = bs_int(ctx.values, 1);
  gs_term third = made(p, GS_INSERT_AXIS, &one, 1, a, a);
  gs_term item =
      gs_term_ok(third) ? made(p, GS_ACCESS, &one, 1, third, third) : third;
  return gs_term_ok(item) ? made(p, GS_CONCAT, &one, 1, both, item) : item;
}

/* An operator of one or, of the pair, of two; or of three. */
static void
add_computed(gs_program *p, uint32_t op, uint32_t choice, gs_term a,
             gs_term b) {
  if (p->nodes.len >= TERMS || gs_term_ok(computed(p, op, choice, a)))
    return;
  gs_term both = made(p, GS_PAIR, NULL, 0, a, b);
  if (!gs_term_ok(both) || gs_term_ok(computed(p, op, choice, both)))
    return;
  gs_term three = triple(p, a, both);
  if (gs_term_ok(three))
    computed(p, op, choice, three);
}

/* Terms of every operator over x and y.  They depend on the dtype alone, so
 * that arrays of two sizes have the same ones. */
static gs_program *
make_terms(gs_dtype dtype, int64_t size) {
  gs_program *p = gs_program_new(&ctx, NULL);
  gs_type t = {.dtype = dtype, .rank = 1, .access = 1, .dim = {size}};
  gs_add_tensor(p, "x", &t, BS_NOWHERE);
  gs_add_tensor(p, "y", &t, BS_NOWHERE);
  gs_term x = {0}, y = {1};
  state = 1 + (uint64_t)dtype;
  for (uint32_t op = 0; op < GS_COMPUTE_COUNT; op++)
    for (uint32_t k = 0; k < (gs_compute_table[op].params[0] ? 4 : 1); k++)
      add_computed(p, op, draw(64), x, y);
  for (int tries = 0; p->nodes.len < TERMS && tries < 2000; tries++)
    add_computed(p, draw(GS_COMPUTE_COUNT), draw(64),
                 (gs_term){draw(p->nodes.len)}, (gs_term){draw(p->nodes.len)});
  for (uint32_t k = 0; k < p->nodes.len; k++)
    gs_add_output(p, bs_arena_printf(ctx.arena, "o%u", k), (gs_term){k},
                  BS_NOWHERE);
  return p;
}

/* ---- runs ---- */

static double
mark(gs_dtype d, uint32_t k) {
  static const double reals[MARKS] = {0,         -0.0,     1,         -1,  2,
                                      0.5,       -0.5,     3.,        100, -7.5,
                                      0.0009765, INFINITY, -INFINITY, NAN};
  static const double wholes[MARKS] = {0, 1, 2, 3, 5, 7, 100, -1, -2, -3, -100};
  const gs_dtype_info *info = &gs_dtype_table[d];
  if (!info->integer)
    return reals[k];
  double low = gs_is_unsigned(d) ? 0 : -ldexp(1, 8 * (int)info->bytes - 1);
  double high = ldexp(1, 8 * (int)info->bytes - !gs_is_unsigned(d)) - 1;
  return k == 11 ? low : k == 12 ? high : k == 13 ? low + 1 : wholes[k];
}

static gs_tensor *
run(const gs_program *p, gs_dtype dtype) {
  gs_tensor in[2], *out = bs_calloc(&heap, p->nodes.len, sizeof *out);
  gs_type t = {.dtype = dtype, .rank = 1, .access = 1, .dim = {MARKS * MARKS}};
  for (uint32_t k = 0; k < 2; k++) {
    gs_tensor_init(&heap, &in[k], &t);
    for (uint32_t i = 0; i < MARKS * MARKS; i++)
      gs_tensor_set(&in[k], i, mark(dtype, k ? i % MARKS : i / MARKS));
  }
  cr_assert(gs_interpret(p, in, out));
  return out;
}

static bool
near(double x, double y, double rel) {
  if (isinf(x) || isinf(y))
    return x == y;
  return x == y || (isnan(x) && isnan(y)) ||
         fabs(x - y) <= rel * (fabs(x) + fabs(y));
}

static bool
agree(const gs_tensor *a, const gs_tensor *b) {
  double rel = gs_dtype_table[a->dtype].integer ? 0
               : a->dtype == GS_F64             ? 1e-12
               : a->dtype == GS_F32             ? 1e-5
                                                : 0.02;
  for (int64_t k = 0; k < a->elements; k++)
    if (!near(gs_tensor_get(a, k), gs_tensor_get(b, k), rel))
      return false;
  return true;
}

/* ---- proofs ---- */

static pv_counts works[2]; /* by elements, by relations */

static bool
proves(const gs_program *p, uint32_t i, uint32_t j, bool relations) {
  pv_counts *work = &works[relations];
  pv_options o;
  pv_answer a;
  pv_defaults(&o);
  o.max_run = 0;
  o.counts = work;
  o.max_elements = relations ? 0 : o.max_elements;
  o.max_operations = relations ? 400000 : 0;
  pv_equal_terms(&ctx, p, (gs_term){i}, (gs_term){j}, &o, &a);
  return a.verdict == PV_PROVED;
}

typedef struct tally {
  uint32_t equal, by_elements, by_relations;
} tally;

static const char *
pair_text(const gs_program *p, uint32_t i, uint32_t j) {
  bs_text out;
  bs_text_init(&out, &heap);
  gs_print(p, false, &out);
  bs_putf(&out, "; o%u and o%u", i, j);
  return bs_text_str(&out);
}

static void
compare(const gs_program *p, const gs_tensor *out, uint32_t i, uint32_t j,
        tally *sum) {
  if (!bs_same(p->nodes.data[i].type, p->nodes.data[j].type))
    return;
  bool equal = agree(&out[i], &out[j]);
  bool elements = proves(p, i, j, false), relations = proves(p, i, j, true);
  cr_expect(equal || !(elements || relations), "%s%s: %s", elements ? "e" : "",
            relations ? "r" : "", pair_text(p, i, j));
  sum->equal += equal;
  sum->by_elements += elements;
  sum->by_relations += relations;
}

/* Each term with a few drawn ones, and with all that are equal to it at all
 * landmarks. */
static tally
compare_all(gs_dtype dtype) {
  tally sum = {0};
  gs_program *small = make_terms(dtype, 2);
  gs_program *large = make_terms(dtype, MARKS * MARKS);
  cr_assert_eq(small->nodes.len, large->nodes.len);
  gs_tensor *out = run(large, dtype);
  for (uint32_t i = 2; i < small->nodes.len; i++) {
    for (uint32_t k = 0; k < OTHERS; k++)
      compare(small, out, i, draw(i), &sum);
    for (uint32_t j = 0; j < i; j++)
      if (bs_same(small->nodes.data[i].type, small->nodes.data[j].type) &&
          agree(&out[i], &out[j]))
        compare(small, out, i, j, &sum);
  }
  return sum;
}

/* Equal at all landmarks, proved by elements, proved by relations: whoever
 * changes an operator or an argument sees here what it proves more or less. */
static const tally wanted[GS_DTYPE_COUNT] = {
    [GS_F32] = {33, 24, 17},  [GS_F64] = {24, 17, 12}, [GS_BF16] = {23, 15, 11},
    [GS_I8] = {28, 19, 14},   [GS_U8] = {44, 29, 23},  [GS_I32] = {53, 26, 16},
    [GS_F16] = {21, 12, 10},  [GS_I16] = {31, 23, 17}, [GS_U16] = {74, 61, 45},
    [GS_BOOL] = {67, 27, 26}, [GS_I64] = {86, 78, 52}, [GS_U32] = {97, 69, 61},
};

Test(operators, what_is_proved_of_them_is_so) {
  for (int d = 0; d < GS_DTYPE_COUNT; d += SANITIZED ? 3 : 1) {
    fixture_start();
    tally have = compare_all((gs_dtype)d);
    cr_expect_arr_eq(&have, &wanted[d], sizeof have, "%s: {%u, %u, %u}",
                     gs_dtype_table[d].name, have.equal, have.by_elements,
                     have.by_relations);
    fixture_stop();
    for (uint32_t k = 0; k < 2; k++) {
      bs_putf(trail_text(), "%s %s: ", gs_dtype_table[d].name,
              k ? "relations" : "elements");
      pv_put_counts(trail_text(), &works[k]);
      bs_putc(trail_text(), '\n');
      works[k] = (pv_counts){{0}};
    }
  }
  trail_end("operators");
}

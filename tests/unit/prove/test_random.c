/* SPDX-License-Identifier: MIT */
/* test_random.c - terms grown at random, each compared with each.
 *
 * Whatever an argument alone proves must be equal on the interpreter, for
 * every input tried here; the arguments see no run. */
#include "trail.h"
#include "base/hash.h"
#include "glenside/interpret/interpret.h"
#include <math.h>

#define RUNS  8
#define TERMS 60

static uint64_t state;

static uint64_t
below(uint64_t n) {
  uint64_t x = state += 0x9e3779b97f4a7c15;
  x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9;
  x = (x ^ x >> 27) * 0x94d049bb133111eb;
  return (x ^ x >> 31) % n;
}

static bs_value
integer(uint64_t v) {
  return bs_int(ctx.values, (int64_t)v);
}

static bs_value
permutation(uint32_t n) {
  int64_t p[GS_MAX_RANK];
  for (uint32_t k = 0; k < n; k++)
    p[k] = k;
  for (uint32_t k = n; k > 1; k--) {
    uint32_t j = (uint32_t)below(k);
    int64_t swap = p[k - 1];
    p[k - 1] = p[j];
    p[j] = swap;
  }
  return bs_ints(ctx.values, p, n);
}

static uint32_t
windows(const gs_type *t, bs_value *out) {
  int64_t k[GS_MAX_RANK], s[GS_MAX_RANK], d[GS_MAX_RANK];
  uint32_t n = (uint32_t)t->rank - t->access;
  for (uint32_t i = 0; i < n; i++) {
    k[i] = 1 + (int64_t)below((uint64_t)t->dim[t->access + i]);
    s[i] = 1 + (int64_t)below(2);
    d[i] = 1;
  }
  out[0] = bs_ints(ctx.values, k, n);
  out[1] = bs_ints(ctx.values, s, n);
  out[2] = bs_ints(ctx.values, d, n);
  return 3;
}

static bs_value
operator(gs_dtype d) {
  static const gs_compute likely[] = {
      GS_C_REDUCE_SUM, GS_C_REDUCE_MAX, GS_C_DOT_PROD, GS_C_ADD, GS_C_SUB,
      GS_C_MUL,        GS_C_MAX,        GS_C_MIN,      GS_C_RELU};
  uint64_t pick = below(GS_COMPUTE_COUNT + 12);
  gs_compute op = pick < GS_COMPUTE_COUNT ? (gs_compute)pick : likely[below(9)];
  const char *params = gs_compute_table[op].params;
  bs_value items[3] = {bs_sym(ctx.values, gs_compute_table[op].name)};
  int64_t low = d == GS_U8 ? 0 : (int64_t)below(5) - 2;
  if (!params[0])
    return items[0];
  items[1] =
      params[0] == 't'
          ? bs_sym(ctx.values, gs_dtype_table[below(GS_DTYPE_COUNT)].name)
          : bs_int(ctx.values, low);
  items[2] = bs_int(ctx.values, low + (int64_t)below(3));
  return bs_list(ctx.values, items, params[1] ? 3 : 2);
}

/* The attribute of a random node over a child of type t. */
static uint32_t
attribute(gs_op op, const gs_type *t, bs_value *out) {
  static const char *const kinds[] = {"zero", "edge", "min"};
  uint32_t d = t->rank ? (uint32_t)below(t->rank) : 0;
  uint64_t size = t->rank ? (uint64_t)t->dim[d] : 1, lo = below(size);
  switch ((int)op) {
  case GS_ACCESS:
  case GS_INSERT_AXIS:
    out[0] = integer(below(t->rank + 1u));
    return 1;
  case GS_TRANSPOSE:
    out[0] = permutation(t->rank);
    return 1;
  case GS_WINDOWS:
    return windows(t, out);
  case GS_SLICE:
    out[0] = integer(d);
    out[1] = integer(lo);
    out[2] = integer(lo + 1 + below(size - lo));
    return 3;
  case GS_CONCAT:
  case GS_REVERSE:
  case GS_SQUEEZE:
    out[0] = integer(d);
    return 1;
  case GS_PAD:
    out[0] = bs_sym(ctx.values, kinds[below(3)]);
    out[1] = integer(d);
    out[2] = integer(below(2));
    out[3] = integer(below(2));
    return 4;
  case GS_REPEAT:
    out[0] = integer(d);
    out[1] = integer(1 + below(2));
    return 2;
  case GS_COMPUTE:
    out[0] = operator(t->dtype);
    return 1;
  default:
    return 0;
  }
}

static void
add_random(gs_program *p) {
  static const gs_op ops[] = {
      GS_ACCESS,  GS_TRANSPOSE, GS_CARTPROD, GS_PAIR,       GS_WINDOWS,
      GS_SLICE,   GS_CONCAT,    GS_PAD,      GS_SQUEEZE,    GS_INSERT_AXIS,
      GS_FLATTEN, GS_REPEAT,    GS_REVERSE,  GS_COMPUTE,    GS_COMPUTE,
      GS_COMPUTE, GS_COMPUTE,   GS_COMPUTE,  GS_MATERIALIZE};
  gs_op op = ops[below(sizeof ops / sizeof ops[0])];
  gs_term kids[2] = {{(uint32_t)below(p->nodes.len)},
                     {(uint32_t)below(p->nodes.len)}};
  bs_value items[4];
  gs_fault fault;
  gs_type t;
  gs_type_at(p, kids[0], &t);
  if (t.rank > 5 || gs_elements(&t) > 150)
    return;
  uint32_t n = attribute(op, &t, items);
  gs_add(p, op, bs_list(ctx.values, items, n), kids,
         (uint32_t)gs_op_table[op].kids, BS_NOWHERE, &fault);
}

static gs_program *
random_program(gs_dtype *dtype) {
  static const gs_dtype dtypes[] = {GS_F64, GS_F32, GS_I32,
                                    GS_I8,  GS_U8,  GS_BF16};
  gs_program *p = gs_program_new(&ctx, NULL);
  int64_t a = 1 + (int64_t)below(3), b = 1 + (int64_t)below(3);
  *dtype = dtypes[below(6)];
  for (int k = 0; k < 3; k++) {
    gs_type t = {.dtype = *dtype, .rank = 2, .access = 2, .dim = {a, a}};
    t.dim[k == 2 ? 0 : 1] = b;
    gs_add_tensor(p, bs_arena_printf(ctx.arena, "t%d", k), &t, BS_NOWHERE);
  }
  for (int tries = 0; p->nodes.len < TERMS && tries < 4000; tries++)
    add_random(p);
  for (uint32_t k = 0; k < p->nodes.len; k++)
    gs_add_output(p, bs_arena_printf(ctx.arena, "o%u", k), (gs_term){k},
                  BS_NOWHERE);
  return p;
}

static double
input(gs_dtype d, int run) {
  if (run < 3)
    return (double)below(7) - 3;
  if (run < 5)
    return (double)below(256) - 128;
  if (run == 5)
    return (double)below(2);
  return gs_dtype_table[d].integer ? (double)(int32_t)below((uint64_t)1 << 32)
                                   : ((double)below(1000) - 500) / 4;
}

static bool
interpret(const gs_program *p, int run, gs_tensor *out) {
  gs_tensor in[3];
  for (uint32_t k = 0; k < 3; k++) {
    gs_type t;
    gs_type_at(p, p->inputs.data[k].term, &t);
    gs_tensor_init(&heap, &in[k], &t);
    for (int64_t i = 0; i < in[k].elements; i++)
      gs_tensor_set(&in[k], i, input(t.dtype, run));
  }
  return gs_interpret(p, in, out);
}

static bool
agree(const gs_tensor *a, const gs_tensor *b, gs_dtype of) {
  double rel = of == GS_BF16 ? 0.1 : of == GS_F64 ? 1e-8 : 1e-3;
  if (gs_dtype_table[a->dtype].integer)
    rel = 0;
  for (int64_t k = 0; k < a->elements; k++) {
    double x = gs_tensor_get(a, k), y = gs_tensor_get(b, k);
    if (isfinite(x) && isfinite(y) &&
        fabs(x - y) > rel * (fabs(x) + fabs(y)) + (rel ? 1e-6 : 0))
      return false;
  }
  return true;
}

static bool
proves(const gs_program *p, uint32_t i, uint32_t j, bool relations,
       pv_counts *work) {
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

static const char *
pair_text(const gs_program *p, uint32_t i, uint32_t j) {
  bs_text out;
  bs_text_init(&out, &heap);
  gs_print(p, false, &out);
  bs_putf(&out, "; o%u and o%u", i, j);
  return bs_text_str(&out);
}

typedef struct tally {
  long equal, by_elements, by_relations;
} tally;

static void
compare_all(const gs_program *p, gs_dtype dtype, gs_tensor *out[RUNS],
            tally *sum) {
  pv_counts work = {{0}};
  uint64_t digest = 1;
  for (uint32_t i = 0; i < p->nodes.len; i++)
    for (uint32_t j = 0; j < i; j++) {
      if (!bs_same(p->nodes.data[i].type, p->nodes.data[j].type))
        continue;
      bool equal = true;
      for (int r = 0; r < RUNS; r++)
        equal &= agree(&out[r][i], &out[r][j], dtype);
      bool elements = proves(p, i, j, false, &work);
      bool relations = (equal || below(2)) && proves(p, i, j, true, &work);
      cr_assert(equal || !(elements || relations), "%s: %s, %s",
                pair_text(p, i, j), elements ? "elements" : "",
                relations ? "relations" : "");
      sum->equal += equal;
      sum->by_elements += elements;
      sum->by_relations += relations;
      digest = 4 * digest + 2u * elements + relations;
      digest = bs_hash(&digest, sizeof digest);
    }
  bs_putf(trail_text(), "%s: all answers %016llx; ", gs_dtype_table[dtype].name,
          (unsigned long long)digest);
  pv_put_counts(trail_text(), &work);
  bs_putc(trail_text(), '\n');
}

enum { PROGRAMS = SANITIZED ? 30 : 120 };

Test(random, nothing_wrong_is_proved) {
  tally sum = {0};
  for (uint64_t seed = 1; seed <= PROGRAMS; seed++) {
    gs_tensor *out[RUNS];
    gs_dtype dtype;
    bool ok = true;
    fixture_start();
    state = seed * 7919;
    gs_program *p = random_program(&dtype);
    for (int r = 0; r < RUNS; r++) {
      out[r] = bs_calloc(&heap, p->nodes.len, sizeof **out);
      ok = ok && interpret(p, r, out[r]);
    }
    if (ok)
      compare_all(p, dtype, out, &sum);
    fixture_stop();
  }
  trail_end("random");
  cr_assert_gt(sum.equal, 4 * PROGRAMS);
  /* Elements that are equal only where what cancelled has a value, as x - x of
   * a logarithm, agree in all runs here and are not proved. */
  cr_assert_gt(sum.by_elements * 100, sum.equal * 93);
  cr_assert_gt(sum.by_relations * 100, sum.equal * 85);
}

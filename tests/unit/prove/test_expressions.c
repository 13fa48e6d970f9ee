/* SPDX-License-Identifier: MIT */
/* test_expressions.c - what an expression of a rule is understood to be for all
 * sizes, against what it is at some.
 *
 * Expressions are made at random of every function.  Read for all sizes, where
 * cases are told apart on one path after another, each is a number, a list or a
 * truth over sizes; at every point of a path it must be what the interpreter of
 * expressions computes there.  What is taken from a condition holds wherever
 * the condition does. */
#include "trail.h"
#include "random_expr.h"
#include "prove/symbolic/symbolic_form.h"

enum {
  SEEDS = SANITIZED ? 60 : 500,
  COORDINATES = 7, /* two dimensions, ?lo, ?hi, and lists of two and of one */
  POINTS = 40,
  HIGHEST = 5
};

static const scope names = {
    .ints = {"?lo", "?hi", "(dim ?a 0)", "(dim ?a 1)", "?d"},
    .lists = {"?s", "?c", "(shape ?a)"}};

static isl_ctx *isl;
static fm_form *f;
static const rl_rule *rule;
static int64_t points[POINTS][COORDINATES];
static uint8_t variable[COORDINATES];
static uint32_t n_compared, n_false, n_excluded;

/* ---- a rule ---- */

static const char *
random_rule(void) {
  bs_text text;
  bs_text_init(&text, &heap);
  bs_put(&text, "(rule r \"x\" (reshape (slice ?a ?d ?lo ?hi) ?s ?c) => ?a "
                ":where (and (= ?x ");
  put_expr(&text, &names, 'i', 1 + draw(3));
  bs_put(&text, ") (= ?y ");
  put_expr(&text, &names, 'l', 1 + draw(3));
  bs_put(&text, ") ");
  put_expr(&text, &names, 'b', 1 + draw(3));
  bs_put(&text, "))");
  return bs_text_str(&text);
}

static uint32_t
slot_of(const char *name) {
  int k = gs_scope_find(&rule->scope, name);
  cr_assert_geq(k, 0);
  return (uint32_t)k;
}

/* ---- at a point ---- */

static int64_t
floor_of(int64_t x, int64_t by) {
  return x / by - (x % by < 0);
}

static int64_t value_of(fm_number, const int64_t *at, bool *ok);

static int64_t
value_of_variable(uint8_t var, const int64_t *at, bool *ok) {
  const fm_var *v = &f->var[var];
  for (uint32_t k = 0; k < COORDINATES; k++)
    if (variable[k] == var)
      return at[k];
  if (v->kind != FM_V_QUOTIENT) {
    *ok = false; /* a number that nothing is known of */
    return 0;
  }
  int64_t of = value_of(v->of, at, ok), by = value_of(v->by, at, ok);
  *ok &= by >= 1;
  return by >= 1 ? floor_of(of, by) : 0;
}

static int64_t
value_of_mono(uint16_t mono, const int64_t *at, bool *ok) {
  int64_t one = 1;
  for (uint32_t i = 0; i < f->mono[mono].n; i++)
    one *= value_of_variable(f->mono[mono].var[i], at, ok);
  return one;
}

static int64_t
value_of(fm_number x, const int64_t *at, bool *ok) {
  fm_poly p = f->number[x];
  int64_t all = 0;
  for (uint32_t k = 0; k < p.n; k++)
    all +=
        f->term[p.at + k].times * value_of_mono(f->term[p.at + k].mono, at, ok);
  return all;
}

/* Does the point meet all that is known on the path? */
static bool
is_on_path(const int64_t *at) {
  bool ok = true;
  for (uint32_t k = 0; k < f->n_rows; k++)
    if (value_of(f->row[k].number, at, &ok) < 0 && ok)
      return false;
  for (uint32_t k = 0; k < f->n_rules; k++)
    if (value_of_mono(f->rule[k].mono, at, &ok) !=
            value_of(f->rule[k].number, at, &ok) &&
        ok)
      return false;
  return true;
}

static bs_value
type_at(void *facts, uint32_t term) {
  const int64_t *at = facts;
  gs_type t = {.dtype = GS_F32, .rank = 2, .access = 2, .dim = {at[0], at[1]}};
  return term ? BS_NIL : gs_type_intern(ctx.values, &t);
}

/* As it is in a run: false where it is undefined. */
static bool
evaluate(const gs_expr *e, int64_t *at, bs_value *out) {
  uint32_t slots[PV_RULE_SLOTS] = {0};
  slots[slot_of("d")] = bs_int(ctx.values, 0).i;
  slots[slot_of("lo")] = bs_int(ctx.values, at[2]).i;
  slots[slot_of("hi")] = bs_int(ctx.values, at[3]).i;
  slots[slot_of("s")] = bs_ints(ctx.values, &at[4], 2).i;
  slots[slot_of("c")] = bs_ints(ctx.values, &at[6], 1).i;
  gs_env env = {.values = ctx.values,
                .slots = slots,
                .n_slots = rule->scope.vars.len,
                .facts = at,
                .type_of = type_at};
  return gs_expr_eval(e, &env, out);
}

/* ---- comparison ---- */

static const char *
text_of(const gs_expr *e) {
  bs_text out;
  bs_text_init(&out, &heap);
  gs_put_expr(&out, ctx.values, &rule->scope, e);
  return bs_text_str(&out);
}

static bool
is_value(const fm_value *v, bs_value is, int64_t *at) {
  int64_t item[GS_MAX_RANK];
  uint32_t n;
  bool ok = true;
  if (v->kind == FM_DATUM)
    return bs_same(v->datum, is);
  if (v->kind == FM_INT)
    return bs_kind_of(ctx.values, is) == BS_KIND_INT &&
           (value_of(v->at[0], at, &ok) == bs_as_int(ctx.values, is) || !ok);
  if (bs_kind_of(ctx.values, is) != BS_KIND_LIST ||
      !bs_to_ints(ctx.values, is, item, GS_MAX_RANK, &n) || n != v->n)
    return false;
  for (uint32_t k = 0; k < n; k++)
    if (value_of(v->at[k], at, &ok) != item[k] && ok)
      return false;
  return true;
}

static void
compare_value(const gs_expr *e, const fm_value *v) {
  bs_value is;
  for (uint32_t p = 0; p < POINTS && v->kind != FM_UNKNOWN; p++)
    if (is_on_path(points[p]) && evaluate(e, points[p], &is)) {
      n_compared++;
      cr_expect(is_value(v, is, points[p]),
                "%s at dims %d %d, lo %d, hi %d, s %d %d, c %d", text_of(e),
                (int)points[p][0], (int)points[p][1], (int)points[p][2],
                (int)points[p][3], (int)points[p][4], (int)points[p][5],
                (int)points[p][6]);
    }
}

static void
compare_truth(const gs_expr *e, int truth) {
  bs_value is;
  for (uint32_t p = 0; p < POINTS && truth >= 0; p++)
    if (is_on_path(points[p]) && evaluate(e, points[p], &is)) {
      n_compared++;
      cr_expect_eq(bs_as_bool(ctx.values, is), truth,
                   "%s: point %u, path says %d", text_of(e), p, truth);
    }
}

/* What is taken from a condition leaves each point at which it holds on some
 * path; of the others the more are left out, the more is understood. */
static void
compare_assumed(const gs_expr *e, const uint32_t *met) {
  uint32_t n = 0, left = 0;
  bs_value is;
  for (uint32_t p = 0; p < POINTS; p++) {
    if (evaluate(e, points[p], &is) && bs_as_bool(ctx.values, is)) {
      cr_expect_geq(met[p], 1, "%s: point %u is left out", text_of(e), p);
    } else {
      n++;
      left += !met[p];
    }
  }
  n_false += n;
  n_excluded += left;
  bs_putf(trail_text(), " %u-%u", n, left);
}

/* ---- paths ---- */

static fm_number
coordinate(uint32_t k) {
  variable[k] = (uint8_t)f->n_vars;
  return fm_parameter(f);
}

static void
start_path(const pv_form *form, const fm_frame *cases) {
  memset(f, 0, offsetof(fm_form, var));
  f->of = form;
  f->heap = &heap;
  f->values = ctx.values;
  f->isl = isl;
  f->frame[0] = *cases;
  f->frame[0].at = 0;
  f->fixed[slot_of("d")] = 1;
  variable[0] = (uint8_t)f->n_vars;
  variable[1] = (uint8_t)(f->n_vars + 1);
  fm_type_of(f, slot_of("a"));
  fm_number lo = coordinate(2), hi = coordinate(3);
  f->value[slot_of("lo")] = fm_of_number(lo);
  f->value[slot_of("hi")] = fm_of_number(hi);
  fm_assume(f, lo, false);
  fm_assume(f, fm_combine(f, 1, hi, -1, lo, -1), false);
  fm_value s = {.kind = FM_LIST, .n = 2}, c = {.kind = FM_LIST, .n = 1};
  for (uint32_t k = 0; k < 3; k++) {
    fm_number x = coordinate(4 + k);
    fm_assume(f, fm_combine(f, 1, x, 0, x, -1), false);
    *(k < 2 ? &s.at[k] : &c.at[0]) = x;
  }
  f->value[slot_of("s")] = s;
  f->value[slot_of("c")] = c;
}

static void
draw_points(void) {
  for (uint32_t p = 0; p < POINTS; p++) {
    int64_t *at = points[p];
    for (uint32_t k = 0; k < COORDINATES; k++)
      at[k] = 1 + draw(HIGHEST);
    at[2] = draw(HIGHEST - 1);
    at[3] = at[2] + 1 + draw(HIGHEST);
  }
}

static void
put_kind(const fm_value *v) {
  static const char kinds[] = "?ild";
  bs_putf(trail_text(), " %c", kinds[v->kind]);
  for (uint32_t k = 0; k < v->n && v->kind != FM_DATUM; k++)
    bs_putf(trail_text(), "%u", f->number[v->at[k]].n);
}

/* One kind of question of a clause, on each of its paths. */
static void
ask_clause(const pv_form *form, const rl_asked *c, int question) {
  fm_frame cases = {0};
  bool more = true;
  uint32_t met[POINTS] = {0};
  bool whole = true;
  for (uint32_t paths = 0; more && paths < 60; paths++) {
    start_path(form, &cases);
    fm_value v = {.kind = FM_UNKNOWN};
    int truth = -1;
    if (question == 0)
      v = fm_eval(f, c->expr);
    else if (question == 1)
      truth = fm_truth(f, c->expr);
    else
      fm_assume_expr(f, c->expr);
    whole &= !f->why;
    if (!f->why && question < 2) {
      compare_value(c->expr, &v);
      compare_truth(c->expr, truth);
    }
    for (uint32_t p = 0; p < POINTS; p++)
      met[p] += is_on_path(points[p]);
    if (question == 0)
      put_kind(&v);
    else if (question == 1)
      bs_putf(trail_text(), " %d", truth);
    more = fm_next(f);
    cases = f->frame[0];
  }
  if (!whole || more)
    bs_put(trail_text(), " not whole");
  else if (question == 2)
    compare_assumed(c->expr, met);
  for (uint32_t p = 0; p < POINTS && whole && !more && question < 2; p++)
    cr_expect_geq(met[p], 1, "%s: a point on no path", text_of(c->expr));
}

static void
ask_rule(const rl_rules *rules, sy_memo *systems) {
  gs_program *p = gs_program_new(&ctx, NULL);
  gs_type t = {.dtype = GS_F32, .rank = 2, .access = 2, .dim = {3, 4}};
  gs_add_tensor(p, "a", &t, BS_NOWHERE);
  uint32_t slots[PV_RULE_SLOTS];
  memset(slots, 0xff, sizeof slots);
  slots[slot_of("a")] = 0;
  slots[slot_of("d")] = bs_int(ctx.values, 0).i;
  slots[slot_of("lo")] = bs_int(ctx.values, 1).i;
  slots[slot_of("hi")] = bs_int(ctx.values, 2).i;
  slots[slot_of("s")] = bs_ints(ctx.values, (int64_t[]){1, 1}, 2).i;
  slots[slot_of("c")] = bs_ints(ctx.values, (int64_t[]){1}, 1).i;
  pv_form form = {
      .rules = rules, .rule = rule, .p = p, .slots = slots, .systems = systems};
  for (uint32_t k = 0; k < rl_asked_count(rule); k++) {
    rl_asked c = rl_asked_at(rule, k);
    if (c.kind == RL_ASKS_DEFINE)
      ask_clause(&form, &c, 0);
    for (int q = 1; q < 3 && c.kind == RL_ASKS_TEST; q++)
      ask_clause(&form, &c, q);
    bs_put(trail_text(), ";");
  }
}

Test(expressions, are_what_they_are_at_each_size) {
  for (uint64_t seed = 1; seed <= SEEDS; seed++) {
    fixture_start();
    isl = isl_ctx_alloc();
    f = bs_alloc(&heap, sizeof *f);
    state = seed * 271;
    const char *text = random_rule();
    rl_rules *rules = rl_new(&ctx, NULL);
    uint32_t source = bs_source_add(&diags, "test.rules", text, strlen(text));
    if (rl_load_source(rules, source) && rl_finish(rules) && rl_count(rules)) {
      rule = rl_at(rules, 0);
      draw_points();
      bs_put(trail_text(), text + 75);
      ask_rule(rules, sy_memo_new(&heap));
      bs_put(trail_text(), "\n");
    }
    isl_ctx_free(isl);
    fixture_stop();
  }
  trail_end("expressions");
  cr_log_info("%u compared, %u of %u left out", n_compared, n_excluded,
              n_false);
  cr_expect(n_compared > 20 * SEEDS && 7 * n_excluded > n_false, "%u, %u of %u",
            n_compared, n_excluded, n_false);
}

/* SPDX-License-Identifier: MIT */
/* What an instruction means, spelled in many ways, is mapped onto it by the
 * rule that its declaration gives, in as many calls each time, and the
 * interpreter says the same of both. */
#include "mapped.h"
#include "rules/instr/fit.h"
#include <stdarg.h>

TestSuite(fit, .init = fixture_start, .fini = fixture_stop);

#define COST " (cost (cycles 1)) (emit \"(void)0;\"))"

static const char *const units =
    "(target t)"
    "(instr mm (operands (a ((4) (4)) f32) (b ((4) (4)) f32))"
    " (result ((4 4) ()) f32)"
    " (semantics (compute dotProd (cartProd a b)))" COST
    "(instr rows (operands (x ((n) (4)) f32)) (result ((n) ()) f32)"
    " (where (= n 4)) (semantics (compute reduceMax x))" COST
    "(instr chain (operands (x ((4) ()) i32) (y ((4) ()) i32))"
    " (result ((4) ()) i32)"
    " (semantics (compute (clip 0 9) (compute add (pair x"
    "   (compute (scale 2) y)))))" COST;

/* ---- spellings ---- */

static uint32_t state;

static uint32_t
draw(uint32_t n) {
  state = state * 1664525u + 1013904223u;
  return (state >> 16) % n;
}

static const char *
say(const char *format, ...) {
  char text[8192];
  va_list args;
  va_start(args, format);
  vsnprintf(text, sizeof text, format, args);
  va_end(args);
  return bs_arena_strdup(&arena, text);
}

/* A term and its type. */
typedef struct spelled {
  const char *text;
  uint32_t access, rank;
  int64_t dim[12];
} spelled;

static const char *
sizes(const int64_t *dim, uint32_t n) {
  const char *out = "";
  for (uint32_t k = 0; k < n; k++)
    out = say("%s %lld", out, (long long)dim[k]);
  return out;
}

static spelled
access_at(spelled t, uint32_t n) {
  if (t.access != n || !draw(8))
    t.text = say("(access %s %u)", t.text, n);
  t.access = n;
  return t;
}

/* A dimension moves to the end and back. */
static const char *
there_and_back(spelled t) {
  uint32_t at = draw(t.rank);
  const char *there = "", *back = "";
  for (uint32_t k = 0; k < t.rank; k++) {
    there = say("%s %u", there, k + 1 == t.rank ? at : k < at ? k : k + 1);
    back = say("%s %u", back, k < at ? k : k == at ? t.rank - 1 : k - 1);
  }
  return say("(transpose (transpose %s (list%s)) (list%s))", t.text, there,
             back);
}

/* As windows of one element of a dimension that comes in last. */
static const char *
as_windows(spelled t) {
  const char *one =
      say("(windows (access (insertAxis (access %s %u) %u) %u) (shape 1)"
          " (stride 1))",
          t.text, t.rank, t.rank, t.rank);
  return say("(access (squeeze (squeeze (access %s %u) %u) %u) %u)", one,
             t.rank + 2, t.rank, t.rank, t.access);
}

/* Flat and in shape again. */
static const char *
reshaped(spelled t) {
  int64_t all = 1;
  for (uint32_t k = 0; k < t.rank; k++)
    all *= t.dim[k];
  return say("(access (reshape (reshape (access %s %u) (shape %lld) (shape))"
             " (shape%s) (shape)) %u)",
             t.text, t.rank, (long long)all, sizes(t.dim, t.rank), t.access);
}

/* Some views that change nothing. */
static spelled
noise(spelled t) {
  for (uint32_t n = draw(3); n; n--) {
    uint32_t at = draw(t.rank + 1);
    switch (draw(5)) {
    case 0:
      t.text = there_and_back(t);
      break;
    case 1:
      t.text = say("(squeeze (insertAxis %s %u) %u)", t.text, at, at);
      break;
    case 2:
      t.text = reshaped(t);
      break;
    case 3:
      t.text = say("(access (access %s %u) %u)", t.text, at, t.access);
      break;
    default:
      t.text = as_windows(t);
    }
  }
  return t;
}

/* The sizes dim[0..n) come in at `at`, in one of the ways that there are. */
static spelled
spread(spelled t, uint32_t at, const int64_t *dim, uint32_t n) {
  for (uint32_t k = n; k-- > 0;) {
    t.text = say("(insertAxis %s %u)", t.text, at);
    memmove(t.dim + at + 1, t.dim + at, (t.rank - at) * sizeof *t.dim);
    t.dim[at] = dim[k];
    t.rank++;
    t.access += at <= t.access;
    if (draw(2))
      t.text = say("(repeat %s %u %lld)", t.text, at, (long long)dim[k]);
    else
      t.text = say("(broadcast %s (shape%s))", t.text, sizes(t.dim, t.rank));
  }
  return t;
}

/* Products of the elements of two equally shaped terms, summed over the last
 * `items` dimensions. */
static spelled
sum_of_products(spelled a, spelled b, uint32_t items) {
  uint32_t rank = a.rank, keep = rank - items;
  spelled out = a;
  if (draw(2)) {
    spelled t = a;
    a = b;
    b = t;
  }
  switch (draw(4)) {
  case 0: /* the tuple behind what is iterated */
    out.text =
        say("(compute dotProd (pair %s %s))", noise(access_at(a, keep)).text,
            noise(access_at(b, keep)).text);
    break;
  case 1: { /* the tuple at the end, and moved */
    const char *order = "";
    for (uint32_t k = 0; k < rank; k++)
      order = say("%s%s %u", order, k == keep ? say(" %u", rank) : "", k);
    out.text =
        say("(compute dotProd (access (transpose (pair %s %s) (list%s)) "
            "%u))",
            access_at(a, rank).text, access_at(b, rank).text, order, keep);
    break;
  }
  case 2: /* products, then their sum */
    out.text = say("(compute reduceSum (access (compute mul (pair %s %s)) %u))",
                   access_at(a, rank).text, access_at(b, rank).text, keep);
    break;
  default: /* one dimension after the other */
    out.text = say("(compute mul (pair %s %s))", access_at(a, rank).text,
                   access_at(b, rank).text);
    for (uint32_t k = rank; k > keep; k--)
      out.text = say("(compute reduceSum (access %s %u))", out.text, k - 1);
  }
  out.rank = out.access = keep;
  return out;
}

/* `lead` dimensions are those of a batch; `items` are summed over. */
static const char *
spell_product(spelled a, spelled b, uint32_t lead, uint32_t items) {
  uint32_t na = a.rank - items - lead, nb = b.rank - items - lead;
  spelled out;
  a = noise(a);
  b = noise(b);
  if (!lead && draw(3) == 0) {
    out = a;
    out.rank = out.access = na + nb;
    memcpy(out.dim + na, b.dim, nb * sizeof *b.dim);
    out.text = say("(compute dotProd (cartProd %s %s))", access_at(a, na).text,
                   access_at(b, nb).text);
    return noise(out).text;
  }
  spelled wide = spread(access_at(a, a.rank), lead + na, b.dim + lead, nb);
  spelled high = spread(access_at(b, b.rank), lead, a.dim + lead, na);
  return noise(sum_of_products(wide, high, items)).text;
}

/* ---- families ---- */

static const char *
product(void) {
  spelled a = {"a", 2, 2, {8, 12}}, b = {"b", 2, 2, {16, 12}};
  return say("(tensor a (shape 8 12) f32)(tensor b (shape 16 12) f32)"
             "(let y %s)(output y)",
             spell_product(a, b, 0, 1));
}

static const char *
heads(void) {
  spelled a = {"a", 3, 3, {3, 4, 8}}, b = {"b", 3, 3, {3, 8, 8}};
  return say("(tensor a (shape 3 4 8) f32)(tensor b (shape 3 8 8) f32)"
             "(let y %s)(output y)",
             spell_product(a, b, 1, 1));
}

/* 3 x 3 and strided, of an image with channels in front or behind. */
static const char *
convolution(void) {
  bool last = draw(2);
  const char *x = last ? "(transpose x (list 0 3 1 2))" : "x";
  spelled a = {say("(squeeze (access (squeeze (windows (access %s 1)"
                   " (shape 4 3 3) (stride 1 2 1)) 1) 6) 0)",
                   x),
               5,
               5,
               {4, 4, 4, 3, 3}};
  spelled b = {"w", 4, 4, {8, 4, 3, 3}};
  return say("(tensor x (shape%s) f32)(tensor w (shape 8 4 3 3) f32)"
             "(let y %s)(output y)",
             last ? " 1 9 6 4" : " 1 4 9 6", spell_product(a, b, 0, 3));
}

/* Of one pixel, with windows or without. */
static const char *
pointwise(void) {
  spelled a = {draw(2) ? "(transpose x (list 1 2 0))"
                       : "(access (squeeze (squeeze (access (squeeze"
                         " (windows (access x 0) (shape 8 1 1) (stride 1 1 1))"
                         " 0) 5) 3) 3) 3)",
               3,
               3,
               {4, 4, 8}};
  spelled b = {"w", 2, 2, {8, 8}};
  return say("(tensor x (shape 8 4 4) f32)(tensor w (shape 8 8) f32)"
             "(let y %s)(output y)",
             spell_product(a, b, 0, 1));
}

/* The maximum of four, of two and two, or of windows of two by two. */
static const char *
pool(void) {
  spelled x = noise((spelled){"x", 3, 3, {8, 2, 2}}), y = x;
  y.rank = y.access = 1;
  switch (draw(3)) {
  case 0:
    y.text = say("(compute reduceMax %s)", access_at(x, 1).text);
    break;
  case 1:
    y.text = say("(compute reduceMax (access (compute reduceMax %s) 1))",
                 access_at(x, 2).text);
    break;
  default:
    y.text = say("(squeeze (squeeze (compute reduceMax (windows %s"
                 " (shape 2 2) (stride 2 2))) 1) 1)",
                 access_at(x, 1).text);
  }
  return say("(tensor x (shape 8 2 2) f32)(let y %s)(output y)", noise(y).text);
}

static const char *
elementwise(void) {
  spelled x = noise((spelled){"x", 2, 2, {4, 6}});
  spelled z = noise((spelled){"z", 1, 1, {6}}), y = x;
  int64_t four = 4;
  z.text = say("(compute (scale 2) %s)", z.text);
  z = noise(spread(noise(z), 0, &four, 1));
  bool swap = draw(2);
  uint32_t at = draw(3);
  y.text = say("(compute add (pair %s %s))", access_at(swap ? z : x, at).text,
               access_at(swap ? x : z, at).text);
  y.access = at;
  y = noise(y);
  y.text = say("(compute (clip 0 9) %s)", y.text);
  return say("(tensor x (shape 4 6) i32)(tensor z (shape 6) i32)"
             "(let y %s)(output y)",
             access_at(noise(y), 2).text);
}

static void
all_map(const char *(*spell)(void), uint32_t calls) {
  gs_target *t = target_of(units);
  rl_rules *rules = rules_over(t, "");
  host_price = 1e6;
  for (uint32_t k = 0; k < 60; k++) {
    state = k * 2654435761u + 7;
    const char *text = spell();
    mapped m = map_under(t, rules, text, 100000);
    cr_expect_eq(m.computes, 0, "on the host: %s", text);
    cr_expect_eq(m.calls, calls, "%u calls: %s", m.calls, text);
    equal(&m);
  }
}

Test(fit, products) {
  all_map(product, 2 * 4 * 3);
}

Test(fit, products_of_a_batch) {
  all_map(heads, 3 * 1 * 2 * 2);
}

Test(fit, convolutions) {
  all_map(convolution, 4 * 2 * 9);
}

Test(fit, convolutions_of_one_pixel) {
  all_map(pointwise, 4 * 2 * 2);
}

Test(fit, pools) {
  all_map(pool, 2);
}

Test(fit, chains) {
  all_map(elementwise, 6);
}

/* ---- none is missing, none is wrong ---- */

static const char *const small_unit =
    "(target t)"
    "(instr mm (operands (a ((2) (2)) i32) (b ((2) (2)) i32))"
    " (result ((2 2) ()) i32)"
    " (semantics (compute dotProd (cartProd a b)))" COST;

/* Calls of it may be smaller. */
static const char *const bounded_unit =
    "(target t)"
    "(instr mm (operands (a ((m) (k)) i32) (b ((n) (k)) i32))"
    " (result ((m n) ()) i32) (where (and (<= m 2) (<= n 2) (<= k 2)))"
    " (semantics (compute dotProd (cartProd a b)))" COST;

enum { MOST_FOUND = 4096 };

typedef struct counting {
  rl_run run;
  gs_program *p;
  fit_match m;
  fit_space s;
  fit_assignment a;
  uint32_t found; /* by the rule */
  uint32_t right; /* by trying all, and asking the interpreter */
  uint32_t missing, seen;
  fit_assignment list[MOST_FOUND];
} counting;

/* The term of a class that has one node. */
static gs_term
term_of(counting *c, eg_class cls) {
  uint32_t n;
  for (uint32_t k = 0; k < c->p->nodes.len && k < c->seen; k++)
    if (eg_find(c->run.graph, c->run.session->class_of[k]).i ==
        eg_find(c->run.graph, cls).i)
      return (gs_term){k};
  const eg_node *nodes = eg_class_nodes(c->run.graph, cls, &n);
  cr_assert_eq(n, 1);
  gs_term made[4];
  const eg_class *kids = eg_kids(c->run.graph, nodes[0], &n);
  for (uint32_t k = 0; k < n; k++)
    made[k] = term_of(c, kids[k]);
  gs_fault fault;
  return gs_add(c->p, (gs_op)eg_op(c->run.graph, nodes[0]),
                eg_attr(c->run.graph, nodes[0]), made, n, BS_NOWHERE, &fault);
}

static bool
denotes_the_same(counting *c, gs_term t) {
  gs_tensor in[4], out[1], other[1];
  const gs_program *q = c->p;
  for (uint32_t k = 0; k < q->inputs.len; k++) {
    gs_type type;
    gs_type_at(q, q->inputs.data[k].term, &type);
    gs_tensor_init(&heap, &in[k], &type);
    gs_tensor_fill(&in[k], 5, q->inputs.data[k].name);
  }
  cr_assert(gs_interpret(c->p, in, out), "%s", faults());
  gs_named named = c->p->outputs.data[0];
  c->p->outputs.data[0].term = t;
  cr_assert(gs_interpret(c->p, in, other), "%s", faults());
  c->p->outputs.data[0] = named;
  return !memcmp(out[0].data, other[0].data,
                 (size_t)gs_prod(out[0].dim, out[0].rank) * 4);
}

static bool
note(void *ctx_, const fit_assignment *a) {
  counting *c = ctx_;
  cr_assert_lt(c->found, MOST_FOUND);
  c->list[c->found++] = *a;
  return true;
}

static bool
is_found(const counting *c) {
  for (uint32_t k = 0; k < c->found; k++)
    if (!memcmp(&c->list[k], &c->a, sizeof c->a))
      return true;
  return false;
}

static void
try_assignment(counting *c) {
  rl_fit calls;
  gs_type type;
  for (uint32_t j = 0; j < c->m.f->n_ids; j++) {
    int64_t all = 1;
    for (uint32_t i = 0; i < c->s.n; i++)
      all *= c->a.part[i][j];
    const fit_id *id = &c->m.f->id[j];
    if (id->fixed ? all != id->fixed : all > id->most)
      return;
  }
  eg_class made = fit_build(&c->m, &c->s, &c->a, NULL, FIT_ADD, &calls);
  if (made.i == UINT32_MAX)
    return;
  eg_rebuild(c->run.graph);
  gs_term t = term_of(c, made);
  gs_type_at(c->p, t, &type);
  if (!gs_type_equal(&type, &c->m.type) || !denotes_the_same(c, t))
    return;
  c->right++;
  if (!is_found(c))
    c->missing++;
}

/* All divisors of what is left of each atom, for each digit. */
static void
try_all(counting *c, uint32_t at) {
  uint32_t i = at / c->m.f->n_ids, j = at % c->m.f->n_ids;
  if (i == c->s.n) {
    try_assignment(c);
    return;
  }
  int64_t rest = c->a.rest[i];
  const fit_id *id = &c->m.f->id[j];
  int64_t most = id->fixed ? id->fixed : id->most;
  for (int64_t v = 1; v <= rest && v <= most; v++) {
    if (rest % v)
      continue;
    c->a.part[i][j] = v;
    c->a.rest[i] = rest / v;
    try_all(c, at + 1);
  }
  c->a.part[i][j] = 1;
  c->a.rest[i] = rest;
}

static void
start_counting(counting *c, const gs_target *t, const rl_rules *rules,
               const char *text, uint32_t swaps, bool across) {
  uint32_t n;
  rl_options o = options();
  c->p = program_over(t, text);
  c->seen = c->p->nodes.len;
  cr_assert(rl_start(&ctx, c->p, rules, &o, true, &c->run), "%s", faults());
  eg_rebuild(c->run.graph);
  c->m.f = fit_instr_new(&ctx, t, t->instrs.data[0]);
  c->m.session = c->run.session;
  c->m.graph = c->run.graph;
  c->m.ranks = fit_ranks_new(&heap);
  c->m.root = c->run.session->class_of[c->p->outputs.data[0].term.i];
  const eg_node *nodes = eg_class_nodes(c->run.graph, c->m.root, &n);
  c->m.kid = eg_kids(c->run.graph, nodes[0], &n)[0];
  c->m.spec = bs_item(ctx.values, eg_attr(c->run.graph, nodes[0]), 0);
  cr_assert(gs_compute_of(ctx.values, c->m.spec, &c->m.op));
  cr_assert(fit_walk(&c->m, swaps));
  cr_assert(
      fit_space_of(&c->m, across ? FIT_JOIN_ACROSS : FIT_JOIN_WITHIN, &c->s));
  for (uint32_t i = 0; i < c->s.n; i++) {
    c->a.rest[i] = c->s.atom[i].size;
    for (uint32_t j = 0; j < c->m.f->n_ids; j++)
      c->a.part[i][j] = 1;
  }
}

static void
all_and_no_other(const char *unit) {
  static const struct {
    const char *text;
    uint32_t least;
  } cases[] = {
      {"(tensor a (shape 4 2) i32)(tensor b (shape 2 4) i32)"
       "(let y (compute dotProd (cartProd (access a 1)"
       "  (transpose (access b 1) (list 1 0)))))(output y)",
       1},
      {"(tensor a (shape 2 2 4) i32)(tensor b (shape 4 2 2) i32)"
       "(let y (compute dotProd (cartProd (access (transpose a (list 1 0 2)) 2)"
       "  (access (reshape (access b 1) (shape 4) (shape 4)) 1))))(output y)",
       2},
      {"(tensor a (shape 3 4 4) i32)(tensor b (shape 3 2 4) i32)"
       "(let y (compute dotProd (pair"
       "  (access (broadcast (insertAxis a 2) (shape 3 4 2 4)) 3)"
       "  (access (broadcast (insertAxis b 1) (shape 3 4 2 4)) 3))))(output y)",
       1},
      {"(tensor x (shape 2 4 4) i32)(tensor w (shape 4 2 3 3) i32)"
       "(let y (compute dotProd (cartProd (windows (access x 0) (shape 2 3 3)"
       "  (stride 1 1 1)) (access w 1))))(output y)",
       2},
      {"(tensor x (shape 2 5 5) i32)(tensor w (shape 2 2 2 2) i32)"
       "(let y (compute dotProd (cartProd (windows (access x 0) (shape 2 2 2)"
       "  (stride 1 1 1)) (access w 1))))(output y)",
       6},
      {"(tensor a (shape 2 3 4) i32)(tensor b (shape 2 4) i32)"
       "(let y (compute reduceSum (access (compute mul (pair a"
       "  (broadcast (insertAxis b 1) (shape 2 3 4)))) 2)))(output y)",
       0},
  };
  gs_target *t = target_of(unit);
  rl_rules *rules = rules_over(t, "");
  for (size_t k = 0; k < sizeof cases / sizeof *cases; k++)
    for (uint32_t way = 0; way < 4; way++) {
      counting *c = bs_calloc(&heap, 1, sizeof *c);
      start_counting(c, t, rules, cases[k].text, way / 2, way & 1);
      fit_assign(&ctx, c->m.f, NULL, &c->s, note, c);
      try_all(c, 0);
      cr_expect_eq(c->missing, 0, "%zu.%u: %u of %u are missing", k, way,
                   c->missing, c->right);
      cr_expect_eq(c->found, c->right, "%zu.%u: %u found, %u are right", k, way,
                   c->found, c->right);
      if (!(way & 1)) /* joined dimensions are cut in fewer ways */
        cr_expect_geq(c->right, cases[k].least, "%zu.%u: %u", k, way, c->right);
      fit_ranks_free(&heap, c->m.ranks);
      rl_run_done(&c->run);
    }
}

Test(fit, all_assignments_and_no_other) {
  all_and_no_other(small_unit);
}

Test(fit, all_assignments_within_bounds) {
  all_and_no_other(bounded_unit);
}

/* ---- no copies by the host ---- */

/* A unit whose memory takes rows of any stride, and columns that are dense. */
static const char *const rows_unit =
    "(target t (memory m (bytes 4096))"
    " (host (flops-per-cycle 0.001) (scalar-ops-per-cycle 0.001)))"
    "(instr in (operands (a ((r) (c)) i8)) (result ((r) (c)) i8 (in m))"
    " (semantics a) (cost (cycles 1))"
    " (emit \"(void){a.stride.0};\"))"
    "(instr out (operands (a ((r) (c)) i32 (in m))) (result ((r) (c)) i32)"
    " (semantics a) (cost (cycles 1))"
    " (emit \"(void){result.stride.0};\"))"
    "(instr mm (operands (a ((r) (4)) i8 (in m)) (b ((c) (4)) i8 (in m)))"
    " (result ((r c) ()) i32 (in m)) (where (and (<= r 4) (<= c 4)))"
    " (semantics (compute dotProd (cartProd a b)))" COST
    "(instr more (operands (s ((r c) ()) i32 (in m)) (a ((r) (4)) i8 (in m))"
    "   (b ((c) (4)) i8 (in m)))"
    " (result ((r c) ()) i32 (in m) (onto s)) (where (and (<= r 4) (<= c 4)))"
    " (semantics (compute add (pair s (compute dotProd (cartProd a b)))))" COST;

static uint32_t
copies_of(const mapped *m) {
  uint32_t n = 0;
  uint8_t *live = bs_calloc(&heap, m->result->nodes.len + (size_t)1, 1);
  gs_mark_live(m->result, live);
  for (uint32_t k = 0; k < m->result->nodes.len; k++)
    n += live[k] && gs_at(m->result, (gs_term){k})->op == GS_MATERIALIZE;
  return n;
}

/* Parts of operands that lie so that they can be loaded are chosen, though
 * others take as many calls; what no choice leaves where it is is copied. */
Test(fit, operands_stay_where_they_lie) {
  static const struct {
    const char *text;
    uint32_t copies;
  } cases[] = {
      /* channels last: rows of one line of the image */
      {"(tensor x (shape 6 10 4) i8)(tensor w (shape 4 3 3 4) i8)"
       "(let y (squeeze (compute dotProd (cartProd (windows (access x 0)"
       "  (shape 3 3 4) (stride 1 1 1)) (access w 1))) 2))(output y)",
       0},
      /* few channels: rows of the window are items, too */
      {"(tensor x (shape 6 8 2) i8)(tensor w (shape 4 2 2 2) i8)"
       "(let y (squeeze (compute dotProd (cartProd (windows (access x 0)"
       "  (shape 2 2 2) (stride 2 2 1)) (access w 1))) 2))(output y)",
       0},
      /* every other pixel */
      {"(tensor x (shape 7 7 4) i8)(tensor w (shape 8 1 1 4) i8)"
       "(let y (squeeze (compute dotProd (cartProd (windows (access x 0)"
       "  (shape 1 1 4) (stride 2 2 1)) (access w 1))) 2))(output y)",
       0},
      /* pixels of all lines are one row of them */
      {"(tensor x (shape 6 6 4) i8)(tensor w (shape 8 4) i8)"
       "(let y (compute dotProd (cartProd (access x 2) (access w 1))))"
       "(output y)",
       0},
      /* channels first, of the result: weights are the rows */
      {"(tensor x (shape 6 6 4) i8)(tensor w (shape 8 4) i8)"
       "(let y (transpose (compute dotProd (cartProd (access x 2)"
       "  (access w 1))) (list 2 0 1)))(output y)",
       0},
      /* channels first, of the operand */
      {"(tensor x (shape 4 6 6) i8)(tensor w (shape 8 4) i8)"
       "(let y (compute dotProd (cartProd (access (transpose x (list 1 2 0)) 2)"
       "  (access w 1))))(output y)",
       1},
  };
  gs_target *t = target_of(rows_unit);
  rl_rules *rules = rules_over(t, "");
  for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
    mapped m = map_under(t, rules, cases[k].text, 100000);
    cr_expect_eq(m.computes, 0, "%zu: on the host", k);
    cr_expect_eq(copies_of(&m), cases[k].copies, "%zu: %u copies", k,
                 copies_of(&m));
    equal(&m);
  }
}

/* ---- distances of digits ---- */

static int64_t
address(const gs_type *t, const fit_lie *lie, int64_t flat) {
  int64_t at = 0;
  for (uint32_t d = t->rank; d-- > 0; flat /= t->dim[d])
    at += flat % t->dim[d] * lie->stride[d];
  return at;
}

/* How far apart the values of the digit lie in every index; 0: not the same
 * distance everywhere. */
static int64_t
distance(const gs_type *t, const fit_lie *lie, int64_t low, int64_t size) {
  int64_t step = address(t, lie, low), all = gs_prod(t->dim, t->rank);
  for (int64_t n = 0; n < all; n++) {
    int64_t digit = n / low % size;
    if (address(t, lie, n) - address(t, lie, n - digit * low) != step * digit)
      return 0;
  }
  return step;
}

/* A digit of the flat index of a type that lies dense, in another order or
 * with gaps. */
Test(fit, distances_of_digits_are_those_of_their_elements) {
  uint32_t same = 0, none = 0;
  state = 5;
  for (int k = 0; k < 20000; k++) {
    gs_type t = {.rank = (uint8_t)(1 + draw(3))};
    fit_lie lie = {.known = true};
    int64_t step = 1 + draw(2), low = 1, size = 2 + draw(5);
    for (uint32_t d = 0; d < t.rank; d++)
      t.dim[d] = 1 + draw(6);
    for (uint32_t j = 0, turn = draw(3); j < t.rank; j++) {
      uint32_t d = draw(4) ? t.rank - 1 - j : (j + turn) % t.rank;
      lie.stride[d] = step;
      step *= t.dim[d] + (draw(3) ? 0 : draw(3));
    }
    for (uint32_t n = draw(4); n > 0; n--)
      low *= 1 + draw(3);
    int64_t all = gs_prod(t.dim, t.rank);
    if (all % (low * size))
      continue;
    lie.shape = t;
    int64_t found = fit_flat_stride(&lie, low, size);
    int64_t right = distance(&t, &lie, low, size);
    same += found == right && found;
    none += !found;
    cr_expect(
        !found || found == right,
        "%lld x %lld x %lld at %lld, %lld, %lld: digit of %lld from %lld: "
        "%lld, not %lld",
        (long long)t.dim[0], (long long)t.dim[1], (long long)t.dim[2],
        (long long)lie.stride[0], (long long)lie.stride[1],
        (long long)lie.stride[2], (long long)size, (long long)low,
        (long long)found, (long long)right);
  }
  cr_expect(same > 500 && none > 100, "%u and %u", same, none);
}

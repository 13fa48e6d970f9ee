/* SPDX-License-Identifier: MIT */
/* egraph_memory.c - saturation in both forms of the index and in little memory.
 *
 * Saturates seeds with rules that join, look at constants, have guards and wide
 * nodes, under both schedulers, in full and incrementally, with and without
 * limits, with small groups of matches and with large ones.  Node ids, classes
 * and statistics must be the same in both forms of the index; they also must be
 * those of a run that is stopped and goes on after each iteration.  Sums are
 * saturated by themselves, too, for there most matches do nothing.  Then every
 * so many'th allocation fails, and the memory limit must hold. */
#include "base/hash.h"
#include "base/vec.h"
#include "egraph/run.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LEAF, NEG, ADD, MUL, TRIPLE };

typedef struct subject {
  bs_heap heap;
  bs_values *values;
  eg_graph *g;
  BS_VEC(eg_rule) rules;
} subject;

#define NODES(...) ((const eg_term_node[]){__VA_ARGS__})
#define TERM(...)                                                              \
  (eg_term) {                                                                  \
    NODES(__VA_ARGS__), sizeof NODES(__VA_ARGS__) / sizeof(eg_term_node)       \
  }
#define KIDS(...) ((const uint32_t[]){__VA_ARGS__})
#define V(s)                                                                   \
  { .is_slot = true, .slot = (s) }
#define FIXED(v)                                                               \
  { .kind = EG_ATTR_VALUE, .value = (v) }
#define L(v)                                                                   \
  { .op = LEAF, .attr = FIXED(v) }
#define N1(o, a)                                                               \
  { .op = (o), .attr = FIXED(BS_NIL), .n_kids = 1, .kids = KIDS(a) }
#define N2(o, a, b)                                                            \
  { .op = (o), .attr = FIXED(BS_NIL), .n_kids = 2, .kids = KIDS(a, b) }
#define N3(o, a, b, c)                                                         \
  { .op = (o), .attr = FIXED(BS_NIL), .n_kids = 3, .kids = KIDS(a, b, c) }

/* --- rules ------------------------------------------------------------- */

static eg_result
copy_result(subject *s, eg_term right) {
  eg_term_node *nodes = bs_alloc(&s->heap, right.n * sizeof *nodes);
  memcpy(nodes, right.nodes, right.n * sizeof *nodes);
  for (uint32_t i = 0; i < right.n; i++) {
    uint32_t *kids = bs_alloc(&s->heap, nodes[i].n_kids * sizeof *kids);
    if (nodes[i].n_kids)
      memcpy(kids, nodes[i].kids, nodes[i].n_kids * sizeof *kids);
    nodes[i].kids = kids;
  }
  return (eg_result){{nodes, right.n}, UINT32_MAX};
}

enum { MOST_RESULTS = 2 };

static eg_rule *
add_rule(subject *s, const char *name, eg_term left, eg_term right,
         uint32_t slots) {
  eg_result *result = bs_alloc(&s->heap, MOST_RESULTS * sizeof *result);
  *result = copy_result(s, right);
  eg_rule rule = {
      .name = name,
      .id = s->rules.len,
      .pattern = eg_pattern_new(&s->heap, s->values, &left, NULL, 1, slots),
      .n_slots = slots,
      .results = result,
      .n_results = 1};
  bs_push(&s->heap, &s->rules, rule);
  return &bs_last(&s->rules);
}

static void
add_result(subject *s, eg_rule *r, eg_term right) {
  eg_result *results = bs_alloc(&s->heap, (r->n_results + 1) * sizeof *results);
  memcpy(results, r->results, r->n_results * sizeof *results);
  results[r->n_results++] = copy_result(s, right);
  r->results = results;
}

/* Looks at the unfinished graph: says no where both sides are one already. */
static eg_guard_result
differ(void *ctx, eg_graph *g, uint32_t *slots, uint32_t alternative) {
  (void)ctx;
  (void)alternative;
  eg_class a = eg_find(g, (eg_class){slots[0]});
  return a.i == eg_find(g, (eg_class){slots[1]}).i ? EG_GUARD_SKIP
                                                   : EG_GUARD_EMIT;
}

/* Right sides with several inner nodes, two of them, and a limit in the middle
 * of a group. */
static void
make_sum_rules(subject *s) {
  add_rule(s, "comm", TERM(V(0), V(1), N2(ADD, 0, 1)),
           TERM(V(1), V(0), N2(ADD, 0, 1)), 2);
  add_rule(s, "assoc", TERM(V(0), V(1), V(2), N2(ADD, 1, 2), N2(ADD, 0, 3)),
           TERM(V(0), V(1), N2(ADD, 0, 1), V(2), N2(ADD, 2, 3)), 3);
  add_rule(
      s, "pairs",
      TERM(V(0), V(1), V(2), V(3), N2(ADD, 2, 3), N2(ADD, 1, 4), N2(ADD, 0, 5)),
      TERM(V(0), V(1), N2(ADD, 0, 1), V(2), V(3), N2(ADD, 3, 4), N2(ADD, 2, 5)),
      4)
      ->match_limit = 30011;
  eg_rule *r =
      add_rule(s, "both", TERM(V(0), V(1), V(2), N2(ADD, 1, 2), N2(ADD, 0, 3)),
               TERM(V(0), V(2), N2(ADD, 0, 1), V(1), N2(ADD, 2, 3)), 3);
  add_result(s, r, TERM(V(2), V(1), V(0), N2(ADD, 1, 2), N2(ADD, 0, 3)));
  add_rule(s, "neg-neg", TERM(V(0), N1(NEG, 0), N1(NEG, 1)), TERM(V(0)), 1);
}

static void
make_rules(subject *s) {
  bs_value zero = bs_int(s->values, 0), one = bs_int(s->values, 1);
  add_rule(s, "comm-add", TERM(V(0), V(1), N2(ADD, 0, 1)),
           TERM(V(1), V(0), N2(ADD, 0, 1)), 2);
  add_rule(s, "assoc-add", TERM(V(0), V(1), V(2), N2(ADD, 1, 2), N2(ADD, 0, 3)),
           TERM(V(0), V(1), N2(ADD, 0, 1), V(2), N2(ADD, 2, 3)), 3);
  add_rule(s, "comm-mul", TERM(V(0), V(1), N2(MUL, 0, 1)),
           TERM(V(1), V(0), N2(MUL, 0, 1)), 2);
  add_rule(
      s, "distribute", TERM(V(0), V(1), V(2), N2(ADD, 1, 2), N2(MUL, 0, 3)),
      TERM(V(0), V(1), N2(MUL, 0, 1), V(2), N2(MUL, 0, 3), N2(ADD, 2, 4)), 3);
  add_rule(s, "factor",
           TERM(V(0), V(1), N2(MUL, 0, 1), V(2), N2(MUL, 0, 3), N2(ADD, 2, 4)),
           TERM(V(0), V(1), V(2), N2(ADD, 1, 2), N2(MUL, 0, 3)), 3);
  add_rule(s, "add-zero", TERM(V(0), L(zero), N2(ADD, 0, 1)), TERM(V(0)), 1);
  add_rule(s, "mul-one", TERM(V(0), L(one), N2(MUL, 0, 1)), TERM(V(0)), 1);
  eg_rule *r =
      add_rule(s, "neg-neg", TERM(V(0), N1(NEG, 0), N1(NEG, 1)), TERM(V(0)), 1);
  add_result(s, r, TERM(V(0), L(zero), N2(ADD, 0, 1), N1(NEG, 2), N1(NEG, 3)));
  add_rule(s, "same", TERM(V(0), N2(ADD, 0, 0)),
           TERM(V(0), L(one), N2(MUL, 0, 1)), 1)
      ->match_limit = 7;
  add_rule(s, "triple", TERM(V(0), V(1), V(2), N3(TRIPLE, 0, 1, 2)),
           TERM(V(2), V(0), V(1), N3(TRIPLE, 0, 1, 2)), 3);
  r = add_rule(s, "guarded", TERM(V(0), V(1), N2(MUL, 0, 1)),
               TERM(V(0), V(1), N2(MUL, 0, 1), N1(NEG, 2), N1(NEG, 3)), 2);
  r->guard = differ;
  r = add_rule(s, "steady", TERM(V(0), V(1), N2(ADD, 0, 1), N1(NEG, 2)),
               TERM(V(0), N1(NEG, 0), V(1), N1(NEG, 2), N2(ADD, 1, 3)), 2);
  r->guard = differ;
  r->steady = true;
}

/* --- seeds ------------------------------------------------------------- */

static eg_class
put(subject *s, uint32_t op, eg_class a, eg_class b) {
  eg_class kids[2] = {a, b};
  return eg_add(s->g, op, BS_NIL, kids, op == NEG ? 1 : 2);
}

static eg_class
leaf(subject *s, uint32_t k) {
  return eg_add(s->g, LEAF, bs_int(s->values, k), NULL, 0);
}

static uint32_t
next(uint64_t *seed, uint32_t n) {
  *seed = *seed * 6364136223846793005u + 1442695040888963407u;
  return (uint32_t)(*seed >> 33) % n;
}

/* Wide nodes switch some of the engine's short cuts off. */
static void
make_seeds(subject *s, uint64_t seed, bool wide) {
  BS_VEC(eg_class) made = {0};
  for (uint32_t i = 0; i < 5; i++)
    bs_push(&s->heap, &made, leaf(s, i));
  for (uint32_t i = 0; i < 120; i++) {
    eg_class a = made.data[next(&seed, made.len)];
    eg_class b = made.data[made.len - 1 - next(&seed, 4)];
    uint32_t op = NEG + next(&seed, 3);
    bs_push(&s->heap, &made, put(s, op, a, b));
    eg_class kids[3] = {a, b, bs_last(&made)};
    if (wide && i % 5 == 0)
      eg_add(s->g, TRIPLE, BS_NIL, kids, 3);
  }
}

/* One sum of so many leaves, the last under two signs. */
static void
make_sum(subject *s, uint32_t n) {
  eg_class sum = leaf(s, 0);
  for (uint32_t i = 1; i < n; i++) {
    eg_class one = leaf(s, i);
    if (i + 1 == n)
      one = put(s, NEG, put(s, NEG, one, one), one);
    sum = put(s, ADD, sum, one);
  }
}

/* --- one run ----------------------------------------------------------- */

typedef struct setting {
  uint64_t seed;
  bool backoff, full, wide;
  uint32_t sum; /* of so many leaves, and its rules */
  uint32_t nodes, iterations, match_limit, group;
  size_t bytes;
} setting;

typedef struct outcome {
  uint64_t graph, counts;
  uint32_t nodes;
  eg_stop stop;
  size_t peak;
  const char *broken;
} outcome;

static uint64_t
mix(uint64_t h, uint64_t v) {
  uint64_t both[2] = {h, v};
  return bs_hash(both, sizeof both);
}

static uint64_t
digest_graph(const eg_graph *g) {
  uint64_t h = 0;
  for (eg_class c = eg_first_class(g); c.i != EG_NO_CLASS.i;
       c = eg_next_class(g, c)) {
    uint32_t n, n_kids;
    const eg_node *nodes = eg_class_nodes(g, c, &n);
    h = mix(h, c.i);
    for (uint32_t i = 0; i < n; i++) {
      const eg_class *kids = eg_kids(g, nodes[i], &n_kids);
      h = mix(mix(h, nodes[i].i), eg_op(g, nodes[i]));
      for (uint32_t k = 0; k < n_kids; k++)
        h = mix(h, kids[k].i);
    }
  }
  return h;
}

static uint64_t
digest_counts(const eg_runner *r, uint32_t n_rules) {
  uint64_t h = 0;
  uint32_t n;
  const eg_iteration *it = eg_runner_iterations(r, &n);
  for (uint32_t i = 0; i < n; i++)
    h = mix(mix(mix(h, it[i].nodes), it[i].matches), it[i].applied);
  const eg_rule_stats *s = eg_runner_stats(r);
  for (uint32_t k = 0; k < n_rules; k++)
    h = mix(mix(mix(mix(h, s[k].matches), s[k].applied), s[k].refused),
            mix(mix(s[k].nodes, s[k].unions), s[k].banned));
  return h;
}

typedef struct trial {
  subject s;
  setting how;
  bool wide_index, stepped; /* stepped: one iteration a call */
  outcome out;
} trial;

static void
saturate(void *arg) {
  trial *t = arg;
  subject *s = &t->s;
  memset(&s->rules, 0, sizeof s->rules);
  s->values = bs_values_new(&s->heap);
  s->g =
      eg_new(&s->heap, s->values, &(eg_options){.wide_index = t->wide_index});
  if (t->how.sum) {
    make_sum_rules(s);
    make_sum(s, t->how.sum);
  } else {
    make_rules(s);
    make_seeds(s, t->how.seed, t->how.wide);
  }
  eg_run_options o;
  eg_run_defaults(&o);
  o.nodes = t->how.nodes;
  o.iterations = t->how.iterations;
  o.bytes = t->how.bytes;
  o.seconds = 0;
  o.scheduler = t->how.backoff ? EG_BACKOFF : EG_SIMPLE;
  o.full_search = t->how.full;
  if (t->how.match_limit)
    o.backoff_matches = t->how.match_limit;
  o.group = t->how.group;
  eg_runner *r = eg_runner_new(&s->heap, s->g, s->rules.data, s->rules.len, &o);
  uint32_t done = 0, at_once = t->stepped;
  do {
    t->out.stop = eg_run_some(r, NULL, at_once);
    eg_runner_iterations(r, &done);
  } while (at_once && t->out.stop == EG_STOP_ITERATIONS &&
           done < t->how.iterations);
  t->out.peak = s->heap.peak;
  t->out.counts = digest_counts(r, s->rules.len);
  t->out.graph = digest_graph(s->g);
  t->out.nodes = eg_count_nodes(s->g);
  t->out.broken = eg_check(s->g);
  eg_runner_free(r);
}

static outcome
run(const setting *how, bool wide_index, bool stepped) {
  trial t = {.how = *how, .wide_index = wide_index, .stepped = stepped};
  bs_heap_init(&t.s.heap, NULL, 0);
  if (!bs_protect(&t.s.heap, saturate, &t))
    t.out.broken = "memory ran out";
  bs_heap_done(&t.s.heap);
  return t.out;
}

static int
differs(const setting *how, const outcome *one, const outcome *other,
        const char *what) {
  if (other->graph == one->graph && other->counts == one->counts &&
      other->stop == one->stop && !other->broken)
    return 0;
  printf("seed %llu, sum %u, groups of %u, %s: %s %s differ: %u nodes, %s%s%s; "
         "else: %u nodes, %s\n",
         (unsigned long long)how->seed, how->sum, how->group, what,
         other->graph == one->graph ? "" : "graphs",
         other->counts == one->counts ? "" : "counts", other->nodes,
         eg_stop_name(other->stop), other->broken ? "; " : "",
         other->broken ? other->broken : "", one->nodes,
         eg_stop_name(one->stop));
  return 1;
}

/* What a wide index takes counts towards a limit of bytes, so there only the
 * calls are compared. */
static int
compare(const setting *how) {
  outcome one = run(how, false, false), stepped = run(how, false, true);
  int bad = one.broken != NULL;
  if (one.broken)
    printf("%s\n", one.broken);
  bad += differs(how, &one, &stepped, "one iteration a call");
  if (!how->bytes) {
    outcome wide = run(how, true, false);
    bad += differs(how, &one, &wide, "wide index");
  }
  printf("seed %llu, sum %u: %u nodes, %s\n", (unsigned long long)how->seed,
         how->sum, one.nodes, eg_stop_name(one.stop));
  return bad;
}

/* --- memory ------------------------------------------------------------ */

typedef struct scarce {
  long left;
} scarce;

static void *
failing(void *ctx, void *block, size_t size) {
  scarce *b = ctx;
  if (!size) {
    free(block);
    return NULL;
  }
  return b->left-- ? realloc(block, size) : NULL;
}

/* One allocation fails, a later one each time; afterwards there is room again.
 */
static int
fail_everywhere(setting how) {
  int bad = 0, runs = 0, cut = 0;
  for (long n = 0;; n += 1 + n / 9) {
    scarce b = {n};
    bs_hooks hooks = {failing, &b};
    trial t = {.how = how};
    bs_heap_init(&t.s.heap, &hooks, 0);
    bool ok = bs_protect(&t.s.heap, saturate, &t);
    size_t used = t.s.heap.used;
    bs_heap_done(&t.s.heap);
    bad += t.s.heap.used != 0 || t.out.broken || (!used && ok);
    runs++;
    cut += ok && t.out.stop == EG_STOP_BYTES;
    if (b.left >= 0)
      break;
  }
  printf("%d runs with a failing allocation, %d stopped in order\n", runs, cut);
  return bad + (runs < 20 || !cut);
}

static int
hold_bytes(void) {
  int bad = 0;
  for (size_t bytes = 2000000; bytes < 20000000; bytes += bytes / 3) {
    setting how = {.seed = 5, .iterations = 30, .bytes = bytes};
    outcome o = run(&how, false, false);
    if (o.broken || o.stop != EG_STOP_BYTES || o.peak > bytes + bytes / 10) {
      printf("limit %zu: peak %zu, %s\n", bytes, o.peak,
             o.broken ? o.broken : eg_stop_name(o.stop));
      bad++;
    }
  }
  return bad;
}

int
main(void) {
  static const setting settings[] = {
      {.seed = 1, .nodes = 60000, .iterations = 7},
      {.seed = 2, .nodes = 60000, .iterations = 7, .wide = true},
      {.seed = 3, .nodes = 40000, .iterations = 5, .full = true},
      {.seed = 4, .nodes = 60000, .iterations = 14, .backoff = true},
      {.seed = 5,
       .nodes = 60000,
       .iterations = 12,
       .backoff = true,
       .wide = true},
      {.seed = 6, .iterations = 20, .bytes = 6000000},
      {.seed = 7, .nodes = 40000, .iterations = 6},
      {.seed = 8,
       .nodes = 150000,
       .iterations = 8,
       .backoff = true,
       .match_limit = 20000},
      {.sum = 8, .iterations = 20},
      {.sum = 8, .iterations = 9, .full = true},
      {.sum = 8, .iterations = 30, .backoff = true, .match_limit = 5000},
      {.sum = 9, .iterations = 20, .nodes = 9000},
      {.sum = 9, .iterations = 20, .nodes = 19111},
      {.sum = 9, .iterations = 20, .bytes = 1200000},
      {.sum = 8, .iterations = 9},
      {.sum = 10, .iterations = 20},
      {.seed = 1, .nodes = 30000, .iterations = 7, .group = 4096},
      {.seed = 2, .nodes = 20000, .iterations = 7, .wide = true, .group = 1024},
      {.seed = 4,
       .nodes = 60000,
       .iterations = 14,
       .backoff = true,
       .group = 512},
      {.seed = 6, .iterations = 20, .bytes = 3000000, .group = 2048},
      {.sum = 8, .iterations = 9, .full = true, .group = 1024},
      {.sum = 9, .iterations = 20, .group = 2048},
  };
  static const setting failing[] = {
      {.seed = 3, .nodes = 30000, .iterations = 5},
      {.sum = 8, .iterations = 20, .group = 512}};
  int bad = 0;
  for (size_t i = 0; i < sizeof settings / sizeof *settings; i++)
    bad += compare(&settings[i]);
  for (int i = 0; i < 2; i++)
    bad += fail_everywhere(failing[i]);
  bad += hold_bytes();
  printf("%d bad\n", bad);
  return bad != 0;
}

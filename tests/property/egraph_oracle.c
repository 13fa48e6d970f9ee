/* SPDX-License-Identifier: MIT */
/* egraph_oracle.c - the engine against naive congruence closure.
 *
 *   egraph_oracle [CASES [SEED]]
 *
 * A case is a list of actions (add a node, unite two, rebuild), then rules run
 * for a few iterations.  The oracle keeps every node in one array, restores
 * congruence by comparing all pairs, and matches by trying every node for every
 * pattern node.  Compared after each rebuild and each iteration: nodes,
 * classes, matches, which of the added terms are equal, and eg_check; once with
 * incremental and once with full application, where every equality between
 * added terms is explained, too, and each chain replayed.  A case that fails is
 * shrunk by dropping actions, rules and iterations while it still fails. */
#include "chains.h"
#include "egraph/egraph_testing.h"
#include "tests/property/oracle/naive.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- one case ---------------------------------------------------------- */

typedef struct subject {
  bs_heap *heap;
  bs_values *values;
  eg_graph *g;
  naive *o;
  eg_class mine[MAX_ACTIONS];
  uint32_t theirs[MAX_ACTIONS], n;
  eg_class said[MAX_ACTIONS][2]; /* united */
  uint32_t n_said;
  char *why;
} subject;

static bool
wrong(subject *s, const char *what, uint64_t mine, uint64_t theirs) {
  sprintf(s->why, "%s: %llu, oracle %llu", what, (unsigned long long)mine,
          (unsigned long long)theirs);
  return false;
}

static bool
agree(subject *s) {
  const char *broken = eg_check(s->g);
  if (broken) {
    sprintf(s->why, "%s", broken);
    return false;
  }
  if (eg_count_nodes(s->g) != s->o->n)
    return wrong(s, "nodes", eg_count_nodes(s->g), s->o->n);
  if (eg_count_classes(s->g) != naive_classes(s->o))
    return wrong(s, "classes", eg_count_classes(s->g), naive_classes(s->o));
  for (uint32_t i = 0; i < s->n; i++)
    for (uint32_t j = 0; j < i; j++) {
      bool a = eg_find(s->g, s->mine[i]).i == eg_find(s->g, s->mine[j]).i;
      bool b = naive_find(s->o, s->theirs[i]) == naive_find(s->o, s->theirs[j]);
      if (a != b)
        return wrong(s, "equality", a, b);
    }
  return true;
}

static bool
act(subject *s, const action *a) {
  if (a->kind == REBUILD) {
    eg_rebuild(s->g);
    naive_close(s->o);
    return agree(s);
  }
  if (a->kind == UNITE && s->n) {
    uint32_t i = a->a % s->n, j = a->b % s->n;
    s->said[s->n_said][0] = s->mine[i];
    s->said[s->n_said++][1] = s->mine[j];
    eg_union(s->g, s->mine[i], s->mine[j], (eg_reason){EG_BY_CLIENT, 0});
    naive_unite(s->o, s->theirs[i], s->theirs[j]);
  } else if (a->kind == ADD) {
    uint32_t pick[3] = {a->a, a->b, a->c};
    naive_node x = {.op = s->n ? a->op : a->op % 2};
    eg_class kids[3];
    x.n = arity_of[x.op];
    x.attr = attr_value(s->values, a->attr);
    for (uint32_t k = 0; k < x.n; k++) {
      kids[k] = s->mine[pick[k] % s->n];
      x.kid[k] = s->theirs[pick[k] % s->n];
    }
    s->mine[s->n] = eg_add(s->g, x.op, x.attr, kids, x.n);
    s->theirs[s->n++] = naive_add(s->o, x);
  }
  return true;
}

static void
compile(subject *s, test_case *c, eg_rule *rules, eg_result *results) {
  for (uint32_t i = 0; i < c->n_rules; i++) {
    rule *r = &c->rules[i];
    eg_term parts[2] = {term_of(&r->left), term_of(&r->more)};
    uint32_t roots[2] = {UINT32_MAX, r->root_slot};
    uint32_t n = r->root_slot == UINT32_MAX ? 1 : 2;
    results[i] = (eg_result){term_of(&r->right), r->into_slot ? 0 : UINT32_MAX};
    rules[i] = (eg_rule){.name = "r",
                         .id = i,
                         .n_slots = SLOTS,
                         .results = &results[i],
                         .n_results = 1};
    rules[i].pattern =
        eg_pattern_new(s->heap, s->values, parts, roots, n, SLOTS);
  }
}

static bool
iterate(subject *s, test_case *c, eg_runner *r) {
  for (uint32_t i = 0; i < c->iterations && s->o->n < NODE_CAP; i++) {
    uint64_t total;
    uint32_t n;
    if (!naive_iterate(s->o, c, &total))
      return true;
    eg_run_some(r, NULL, 1);
    const eg_iteration *it = eg_runner_iterations(r, &n);
    if (n != i + 1)
      return wrong(s, "iterations", n, i + 1);
    if (it[i].matches != total)
      return wrong(s, "matches", it[i].matches, total);
    if (!agree(s))
      return false;
  }
  return true;
}

static uint64_t n_chains, n_links, n_unproved;

static bool
explained(subject *s, chains *c, uint32_t i, uint32_t j) {
  eg_chain chain;
  uint32_t a = eg_explain_class(c->x, s->mine[i]);
  uint32_t b = eg_explain_class(c->x, s->mine[j]);
  eg_explained e = eg_explain(c->x, a, b, 1000, &chain);
  n_chains++;
  if (e != EG_EXPLAINED)
    return wrong(s, "explained", e, EG_EXPLAINED);
  if (check_chain(c, &chain, 3))
    return true;
  sprintf(s->why, "%s", c->why);
  return false;
}

static bool
all_explained(subject *s, test_case *c, const eg_rule *rules) {
  eg_shape shapes[MAX_RULES];
  eg_term parts[MAX_RULES][2];
  uint32_t roots[MAX_RULES][2], said[2 * MAX_ACTIONS], n_said = 0;
  for (uint32_t i = 0; i < c->n_rules; i++) {
    rule *r = &c->rules[i];
    parts[i][0] = term_of(&r->left);
    parts[i][1] = term_of(&r->more);
    roots[i][0] = UINT32_MAX;
    roots[i][1] = r->root_slot;
    shapes[i] =
        (eg_shape){parts[i], roots[i], r->root_slot == UINT32_MAX ? 1 : 2,
                   rules[i].results, 1};
  }
  eg_explainer *x = eg_explainer_new(s->g, shapes, c->n_rules);
  for (uint32_t i = 0; i < s->n_said; i++)
    for (uint32_t k = 0; k < 2; k++)
      said[n_said++] = eg_explain_class(x, s->said[i][k]);
  chains all = {.x = x,
                .values = s->values,
                .shapes = shapes,
                .said = said,
                .n_said = s->n_said};
  bool ok = true;
  uint64_t most = n_chains + MAX_CHAINS;
  for (uint32_t i = 0; ok && i < s->n; i++)
    for (uint32_t j = 0; ok && j < s->n && n_chains < most; j++)
      if (i != j && eg_find(s->g, s->mine[i]).i == eg_find(s->g, s->mine[j]).i)
        ok = explained(s, &all, i, j);
  n_links += all.links;
  n_unproved += all.unproved;
  eg_explainer_free(x);
  return ok;
}

static bool
holds(test_case *c, bs_values *values, bool full, char *why) {
  static naive o;
  bs_heap heap;
  bs_heap_init(&heap, NULL, 0);
  memset(&o, 0, sizeof o);
  o.values = values;
  subject s = {.heap = &heap, .values = values, .o = &o, .why = why};
  eg_options how = {.explain = full, .wide_index = c->n_actions % 2};
  s.g = eg_new(&heap, values, &how);
  bool ok = true;
  for (uint32_t i = 0; ok && i < c->n_actions; i++)
    ok = act(&s, &c->actions[i]);
  eg_rebuild(s.g);
  naive_close(&o);
  ok = ok && agree(&s);
  if (ok && c->n_rules) {
    eg_rule rules[MAX_RULES];
    eg_result results[MAX_RULES];
    eg_run_options options = {.full_search = full};
    compile(&s, c, rules, results);
    eg_runner *r = eg_runner_new(&heap, s.g, rules, c->n_rules, &options);
    ok = iterate(&s, c, r) && (!full || all_explained(&s, c, rules));
    eg_runner_free(r);
  }
  bs_heap_done(&heap);
  return ok;
}

static bool
both_hold(test_case *c, bs_values *values, char *why) {
  return holds(c, values, false, why) && holds(c, values, true, why);
}

/* --- shrinking --------------------------------------------------------- */

static bool
without(test_case *c, uint32_t k) {
  if (k < c->n_actions) {
    memmove(&c->actions[k], &c->actions[k + 1],
            (c->n_actions - k - 1) * sizeof *c->actions);
    c->n_actions--;
    return true;
  }
  k -= c->n_actions;
  if (k < c->n_rules) {
    memmove(&c->rules[k], &c->rules[k + 1],
            (c->n_rules - k - 1) * sizeof *c->rules);
    c->n_rules--;
    return true;
  }
  return k == c->n_rules && c->iterations && c->iterations--;
}

static void
shrink(test_case *c, bs_values *values, char *why) {
  char note[256];
  for (uint32_t k = 0;;) {
    test_case less = *c;
    if (!without(&less, k))
      return;
    if (both_hold(&less, values, note)) {
      k++;
      continue;
    }
    *c = less;
    strcpy(why, note);
    k = 0;
  }
}

static void
show_term(const bs_values *v, const char *name, term *t) {
  eg_term e = term_of(t);
  (void)v;
  printf("    %s:", name);
  for (uint32_t i = 0; i < e.n; i++) {
    const eg_term_node *n = &e.nodes[i];
    if (n->is_slot) {
      printf(" %u=?%u", i, n->slot);
      continue;
    }
    printf(" %u=op%u/attr-kind%u,slot%u,value%u(", i, n->op, n->attr.kind,
           n->attr.slot, n->attr.value.i);
    for (uint32_t k = 0; k < n->n_kids; k++)
      printf(" %u", n->kids[k]);
    printf(")");
  }
  printf("\n");
}

static void
show(const bs_values *v, test_case *c) {
  for (uint32_t i = 0; i < c->n_actions; i++) {
    const action *a = &c->actions[i];
    static const char *const names[] = {"add", "unite", "rebuild"};
    printf("  %s op%u attr%u %u %u %u\n", names[a->kind], a->op, a->attr, a->a,
           a->b, a->c);
  }
  for (uint32_t i = 0; i < c->n_rules; i++) {
    rule *r = &c->rules[i];
    printf("  rule root_slot %d into_slot %d\n", (int)r->root_slot,
           r->into_slot);
    show_term(v, "left", &r->left);
    if (r->root_slot != UINT32_MAX)
      show_term(v, "more", &r->more);
    show_term(v, "right", &r->right);
  }
  printf("  %u iterations\n", c->iterations);
}

int
main(int argc, char **argv) {
  uint32_t cases = argc > 1 ? (uint32_t)strtoul(argv[1], NULL, 10) : 5000;
  uint64_t seed = argc > 2 ? strtoull(argv[2], NULL, 10) : 1;
  bs_heap heap;
  bs_heap_init(&heap, NULL, 0);
  bs_values *values = bs_values_new(&heap);
  static test_case c;
  char why[256] = "";
  for (uint32_t i = 0; i < cases; i++) {
    roll_case(values, &c, (seed + i) * 0x2545f4914f6cdd1du);
    if (both_hold(&c, values, why))
      continue;
    shrink(&c, values, why);
    printf("case with seed %llu fails: %s\n", (unsigned long long)(seed + i),
           why);
    show(values, &c);
    bs_heap_done(&heap);
    return 1;
  }
  printf("%u cases agree; %llu chains, %llu steps, %llu premises left\n", cases,
         (unsigned long long)n_chains, (unsigned long long)n_links,
         (unsigned long long)n_unproved);
  bs_heap_done(&heap);
  return 0;
}

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
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
  MAX_ACTIONS = 40,
  MAX_RULES = 4,
  MAX_TERM = 6,
  MAX_NODES = 4096,
  CLASS_SLOTS = 3,
  SLOTS = 5, /* 3 and 4 hold attributes */
  MAX_MATCHES = 4000,
  NODE_CAP = 150,
  MAX_CHAINS = 60, /* explained a case */
  OPS = 6
};

static const uint32_t arity_of[OPS] = {0, 0, 1, 2, 2, 3};

/* --- cases ------------------------------------------------------------- */

typedef enum { ADD, UNITE, REBUILD } action_kind;

typedef struct action {
  action_kind kind;
  uint32_t op, attr, a, b, c; /* a, b, c: earlier adds, modulo their number */
} action;

typedef struct term {
  uint32_t n;
  eg_term_node node[MAX_TERM];
  uint32_t kids[MAX_TERM][3];
  eg_attr_pattern items[MAX_TERM][2];
} term;

typedef struct rule {
  term left, more, right; /* more: a second part, when root_slot is one */
  uint32_t root_slot;
  bool into_slot; /* the right side is united with slot 0 */
} rule;

typedef struct test_case {
  uint32_t n_actions, n_rules, iterations;
  action actions[MAX_ACTIONS];
  rule rules[MAX_RULES];
} test_case;

static uint64_t random_state;

static uint32_t
roll(uint32_t n) {
  uint64_t z = random_state += 0x9e3779b97f4a7c15u;
  z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
  z = (z ^ z >> 27) * 0x94d049bb133111ebu;
  return (uint32_t)((z ^ z >> 31) % n);
}

/* Attribute k: 0 none, 1..3 integers, above: a list of two. */
static bs_value
attr_value(bs_values *v, uint32_t k) {
  int64_t two[2] = {k / 2, k % 2};
  if (!k)
    return BS_NIL;
  return k < 4 ? bs_int(v, k) : bs_ints(v, two, 2);
}

static eg_attr_pattern
roll_attr(bs_values *v, term *t, uint32_t bound, bool left) {
  eg_attr_pattern a = {.kind = EG_ATTR_VALUE};
  uint32_t slot = 3 + roll(2);
  a.value = attr_value(v, roll(3) ? 0 : roll(8));
  if (roll(3))
    return a;
  if (left && roll(3) == 0) {
    a.kind = EG_ATTR_LIST;
    a.n = 2;
    a.items = t->items[t->n];
    for (uint32_t i = 0; i < 2; i++) {
      eg_attr_pattern item = {.kind = EG_ATTR_SLOT, .slot = 3 + roll(2)};
      if (roll(2)) {
        item.kind = EG_ATTR_VALUE;
        item.value = bs_int(v, roll(3));
      }
      t->items[t->n][i] = item;
    }
  } else if (left || bound & 1u << slot) {
    a.kind = EG_ATTR_SLOT;
    a.slot = slot;
  }
  return a;
}

/* The slots that the nodes below the root bind. */
static uint32_t
bound_by(const term *t, uint32_t bound) {
  bool reached[MAX_TERM] = {false};
  reached[t->n - 1] = true;
  for (uint32_t i = t->n; i-- > 0;) {
    const eg_term_node *n = &t->node[i];
    if (!reached[i])
      continue;
    for (uint32_t k = 0; !n->is_slot && k < n->n_kids; k++)
      reached[t->kids[i][k]] = true;
    if (n->is_slot)
      bound |= 1u << n->slot;
    else if (n->attr.kind == EG_ATTR_SLOT)
      bound |= 1u << n->attr.slot;
    for (uint32_t k = 0; !n->is_slot && k < n->attr.n; k++)
      if (n->attr.items[k].kind == EG_ATTR_SLOT)
        bound |= 1u << n->attr.items[k].slot;
  }
  return bound;
}

/* Builds a random term bottom-up; on the right only bound variables. */
static void
roll_term(bs_values *v, term *t, uint32_t want, uint32_t bound, bool left) {
  t->n = 0;
  while (t->n < want) {
    eg_term_node n = {0};
    uint32_t slot = roll(CLASS_SLOTS);
    bool root = t->n + 1 == want;
    if ((left || bound & 1u << slot) && roll(2) && (!root || !left)) {
      n.is_slot = true;
      n.slot = slot;
    } else {
      n.op = t->n ? roll(OPS) : roll(2);
      n.attr = roll_attr(v, t, bound, left);
      n.n_kids = arity_of[n.op];
      for (uint32_t k = 0; k < n.n_kids; k++)
        t->kids[t->n][k] = k || !root ? roll(t->n) : t->n - 1;
    }
    t->node[t->n++] = n;
  }
}

static void
roll_rule(bs_values *v, rule *r) {
  memset(r, 0, sizeof *r);
  roll_term(v, &r->left, 1 + roll(MAX_TERM - 1), 0, true);
  uint32_t bound = bound_by(&r->left, 0);
  r->root_slot = roll(CLASS_SLOTS);
  if (roll(4) || !(bound & 1u << r->root_slot))
    r->root_slot = UINT32_MAX;
  else
    roll_term(v, &r->more, 1 + roll(3), 0, true);
  if (r->root_slot != UINT32_MAX)
    bound = bound_by(&r->more, bound);
  roll_term(v, &r->right, 1 + roll(4), bound, false);
  r->into_slot = bound & 1 && roll(4) == 0;
}

static void
roll_case(bs_values *v, test_case *c) {
  c->n_actions = 1 + roll(MAX_ACTIONS);
  for (uint32_t i = 0; i < c->n_actions; i++) {
    uint32_t k = roll(10);
    c->actions[i] = (action){.kind = k < 6   ? ADD
                                     : k < 9 ? UNITE
                                             : REBUILD,
                             .op = roll(OPS),
                             .attr = roll(3) ? 0 : roll(8),
                             .a = roll(1000),
                             .b = roll(1000),
                             .c = roll(1000)};
  }
  c->n_rules = roll(MAX_RULES + 1);
  c->iterations = roll(5);
  for (uint32_t i = 0; i < c->n_rules; i++)
    roll_rule(v, &c->rules[i]);
}

/* A term's arrays are addressed only when used, so that cases can be copied. */
static eg_term
term_of(term *t) {
  for (uint32_t i = 0; i < t->n; i++) {
    t->node[i].kids = t->kids[i];
    if (t->node[i].attr.kind == EG_ATTR_LIST)
      t->node[i].attr.items = t->items[i];
  }
  return (eg_term){t->node, t->n};
}

/* --- the oracle -------------------------------------------------------- */

typedef struct naive_node {
  uint32_t op, n, kid[3], cls;
  bs_value attr;
} naive_node;

typedef struct naive {
  bs_values *values;
  naive_node nodes[MAX_NODES];
  uint32_t n, up[MAX_NODES], n_classes;
} naive;

static uint32_t
naive_find(const naive *o, uint32_t c) {
  while (o->up[c] != c)
    c = o->up[c];
  return c;
}

static bool
naive_equal(const naive *o, const naive_node *a, const naive_node *b) {
  if (a->op != b->op || a->n != b->n || a->attr.i != b->attr.i)
    return false;
  for (uint32_t k = 0; k < a->n; k++)
    if (naive_find(o, a->kid[k]) != naive_find(o, b->kid[k]))
      return false;
  return true;
}

static uint32_t
naive_add(naive *o, naive_node n) {
  for (uint32_t i = 0; i < o->n; i++)
    if (naive_equal(o, &o->nodes[i], &n))
      return naive_find(o, o->nodes[i].cls);
  n.cls = o->n_classes;
  o->up[o->n_classes] = o->n_classes;
  o->n_classes++;
  o->nodes[o->n++] = n;
  return n.cls;
}

static void
naive_unite(naive *o, uint32_t a, uint32_t b) {
  o->up[naive_find(o, a)] = naive_find(o, b);
}

static void
naive_close(naive *o) {
  for (bool changed = true; changed;) {
    changed = false;
    for (uint32_t i = 0; i < o->n; i++)
      for (uint32_t j = i + 1; j < o->n;) {
        if (!naive_equal(o, &o->nodes[i], &o->nodes[j])) {
          j++;
          continue;
        }
        naive_unite(o, o->nodes[i].cls, o->nodes[j].cls);
        o->nodes[j] = o->nodes[--o->n];
        changed = true;
      }
  }
}

static uint32_t
naive_classes(const naive *o) {
  uint32_t n = 0;
  for (uint32_t c = 0; c < o->n_classes; c++)
    n += o->up[c] == c;
  return n;
}

/* A partial match: slots, and the nodes of the pattern still to be matched. */
typedef struct partial {
  uint32_t slots[SLOTS], root;
  uint32_t todo[MAX_TERM * 4], want[MAX_TERM * 4], n;
} partial;

typedef struct match {
  uint32_t slots[SLOTS], root;
} match;

typedef struct matches {
  match list[MAX_MATCHES];
  uint32_t n;
} matches;

static bool
naive_attr(naive *o, const eg_attr_pattern *a, bs_value v, uint32_t *slots) {
  if (a->kind == EG_ATTR_VALUE)
    return a->value.i == v.i;
  if (a->kind == EG_ATTR_SLOT) {
    if (slots[a->slot] == UINT32_MAX)
      slots[a->slot] = v.i;
    return slots[a->slot] == v.i;
  }
  if (bs_kind_of(o->values, v) != BS_KIND_LIST || bs_len(o->values, v) != a->n)
    return false;
  for (uint32_t i = 0; i < a->n; i++)
    if (!naive_attr(o, &a->items[i], bs_item(o->values, v, i), slots))
      return false;
  return true;
}

static void naive_match(naive *, const rule *, const term *, partial,
                        matches *);

static void
naive_done(naive *o, const rule *r, const term *t, partial p, matches *out) {
  if (t == &r->left && r->root_slot != UINT32_MAX) {
    p.todo[0] = r->more.n - 1;
    p.want[0] = p.slots[r->root_slot];
    p.n = 1;
    naive_match(o, r, &r->more, p, out);
  } else if (out->n < MAX_MATCHES) {
    match *m = &out->list[out->n++];
    memcpy(m->slots, p.slots, sizeof p.slots);
    m->root = p.root;
  }
}

static void
naive_match(naive *o, const rule *r, const term *t, partial p, matches *out) {
  if (!p.n) {
    naive_done(o, r, t, p, out);
    return;
  }
  const eg_term_node *n = &t->node[p.todo[--p.n]];
  uint32_t cls = p.want[p.n];
  if (n->is_slot) {
    if (p.slots[n->slot] == UINT32_MAX)
      p.slots[n->slot] = cls;
    if (p.slots[n->slot] == cls)
      naive_match(o, r, t, p, out);
    return;
  }
  for (uint32_t i = 0; i < o->n; i++) {
    const naive_node *x = &o->nodes[i];
    partial q = p;
    if (x->op != n->op || naive_find(o, x->cls) != cls ||
        !naive_attr(o, &n->attr, x->attr, q.slots))
      continue;
    for (uint32_t k = 0; k < x->n; k++) {
      q.todo[q.n] = n->kids[k];
      q.want[q.n++] = naive_find(o, x->kid[k]);
    }
    naive_match(o, r, t, q, out);
  }
}

static void
naive_search(naive *o, rule *r, matches *out) {
  out->n = 0;
  term_of(&r->left);
  term_of(&r->more);
  for (uint32_t c = 0; c < o->n_classes; c++) {
    if (o->up[c] != c)
      continue;
    partial p = {.root = c, .n = 1};
    memset(p.slots, 0xff, sizeof p.slots);
    p.todo[0] = r->left.n - 1;
    p.want[0] = c;
    naive_match(o, r, &r->left, p, out);
  }
}

static void
naive_apply(naive *o, rule *r, const match *m) {
  eg_term t = term_of(&r->right);
  uint32_t made[MAX_TERM];
  for (uint32_t i = 0; i < t.n; i++) {
    const eg_term_node *n = &t.nodes[i];
    if (n->is_slot) {
      made[i] = m->slots[n->slot];
      continue;
    }
    naive_node x = {.op = n->op, .n = n->n_kids};
    x.attr = n->attr.kind == EG_ATTR_SLOT ? (bs_value){m->slots[n->attr.slot]}
                                          : n->attr.value;
    for (uint32_t k = 0; k < x.n; k++)
      x.kid[k] = made[n->kids[k]];
    made[i] = naive_add(o, x);
  }
  naive_unite(o, made[t.n - 1], r->into_slot ? m->slots[0] : m->root);
}

/* One iteration; false when it would leave the oracle's bounds. */
static bool
naive_iterate(naive *o, test_case *c, uint64_t *n_matches) {
  static matches found[MAX_RULES];
  uint64_t total = 0;
  for (uint32_t i = 0; i < c->n_rules; i++) {
    naive_search(o, &c->rules[i], &found[i]);
    total += found[i].n;
    if (found[i].n == MAX_MATCHES)
      return false;
  }
  if (o->n + total * MAX_TERM > MAX_NODES ||
      o->n_classes + total * MAX_TERM > MAX_NODES)
    return false;
  for (uint32_t i = 0; i < c->n_rules; i++)
    for (uint32_t k = 0; k < found[i].n; k++)
      naive_apply(o, &c->rules[i], &found[i].list[k]);
  naive_close(o);
  *n_matches = total;
  return true;
}

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
  chains chains = {.x = x,
                   .values = s->values,
                   .shapes = shapes,
                   .said = said,
                   .n_said = s->n_said};
  bool ok = true;
  uint64_t most = n_chains + MAX_CHAINS;
  for (uint32_t i = 0; ok && i < s->n; i++)
    for (uint32_t j = 0; ok && j < s->n && n_chains < most; j++)
      if (i != j && eg_find(s->g, s->mine[i]).i == eg_find(s->g, s->mine[j]).i)
        ok = explained(s, &chains, i, j);
  n_links += chains.links;
  n_unproved += chains.unproved;
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
  eg_options how = {.explain = full};
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
    random_state = (seed + i) * 0x2545f4914f6cdd1du;
    roll_case(values, &c);
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

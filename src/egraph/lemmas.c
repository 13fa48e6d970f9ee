/* SPDX-License-Identifier: MIT */
/* lemmas.c - a proof, from the journal.
 *
 * What is wanted is a goal: two rows are equal; what an event says holds; a
 * row is an instance of a node of a side of a rule; a term is what its row was
 * added as.  Goals are kept by what they say, so each is proved once.  A goal
 * names the goals it rests on, which are proved before it, with a stack; then
 * it is put together from what they gave.
 *
 * Rows stand for the terms that they were added as, variables for what made
 * their class: so an equality has one proof, whatever it is needed for.  The
 * way between two rows is that of the forest (history.h), whose events are not
 * younger than the equality, and what an event rests on is older than it: no
 * goal comes to rest on itself.  Should one, the proof fails. */
#include "egraph/lemmas.h"
#include "base/hash.h"
#include "egraph/proof.h"
#include <assert.h>
#include <string.h>

typedef enum goal_kind {
  ROWS,  /* rows a < b are equal */
  EVENT, /* what event a says */
  PART,  /* row c is an instance of node b of a side of event a */
  TERM   /* term a is what its row was added as */
} goal_kind;

enum { NEW, OPEN, DONE };
enum { SIDE_SHIFT = 16 }; /* of PART, b is the side and the node */

typedef eg_goal goal;

typedef struct proving {
  eg_explainer *x;
  eg_lemma_book *book;
  BS_VEC(uint32_t) todo;
  BS_VEC(eg_cite) cites;
  uint32_t max;
  bool failed;
} proving;

/* --- goals ---------------------------------------------------------------- */

static uint32_t
hash_goal(uint32_t kind, uint32_t a, uint32_t b, uint32_t c) {
  uint32_t word[4] = {kind, a, b, c};
  return (uint32_t)bs_hash(word, sizeof word);
}

static bool
is_goal(const goal *g, uint32_t kind, uint32_t a, uint32_t b, uint32_t c) {
  return g->kind == kind && g->a == a && g->b == b && g->c == c;
}

static uint32_t *
place_of(const eg_lemma_book *k, uint32_t kind, uint32_t a, uint32_t b,
         uint32_t c) {
  uint32_t mask = k->table.len - 1, at = hash_goal(kind, a, b, c) & mask;
  while (k->table.data[at] &&
         !is_goal(&k->goals.data[k->table.data[at] - 1], kind, a, b, c))
    at = (at + 1) & mask;
  return &k->table.data[at];
}

static void
make_room(proving *p) {
  eg_lemma_book *k = p->book;
  uint32_t size = k->table.len ? 2 * k->table.len : 256;
  if (2 * k->goals.len + 2 < k->table.len)
    return;
  bs_vec_done(p->x->heap, &k->table);
  bs_reserve(p->x->heap, &k->table, size);
  memset(k->table.data, 0, size * sizeof *k->table.data);
  k->table.len = size;
  for (uint32_t i = 0; i < k->goals.len; i++) {
    const goal *g = &k->goals.data[i];
    *place_of(k, g->kind, g->a, g->b, g->c) = i + 1;
  }
}

static uint32_t
goal_of(proving *p, uint32_t kind, uint32_t a, uint32_t b, uint32_t c) {
  make_room(p);
  uint32_t *at = place_of(p->book, kind, a, b, c);
  if (!*at) {
    bs_push(p->x->heap, &p->book->goals,
            (goal){.kind = kind, .a = a, .b = b, .c = c, .cite = EG_SAME});
    *at = p->book->goals.len;
  }
  return *at - 1;
}

/* A goal that is rested on: its lemma when it is proved, else it is to be. */
static eg_cite
want(proving *p, uint32_t kind, uint32_t a, uint32_t b, uint32_t c) {
  uint32_t i = goal_of(p, kind, a, b, c);
  const goal *g = &p->book->goals.data[i];
  if (g->state == DONE)
    return g->cite;
  p->failed |= g->state == OPEN;
  bs_push(p->x->heap, &p->todo, i);
  return EG_SAME;
}

static eg_cite
back(eg_cite c) {
  return c == EG_SAME ? c : c ^ 1;
}

static eg_cite
want_rows(proving *p, uint32_t a, uint32_t b) {
  if (a == b)
    return EG_SAME;
  return a < b ? want(p, ROWS, a, b, 0) : back(want(p, ROWS, b, a, 0));
}

/* --- lemmas --------------------------------------------------------------- */

static uint32_t
youngest_of(const eg_lemma_book *k, const eg_lemma *l) {
  uint32_t age = l->age;
  for (uint32_t i = 0; i < l->n_cites; i++) {
    if (l->cites[i] == EG_SAME)
      continue;
    uint32_t cited = k->lemmas.data[l->cites[i] / 2].age;
    age = cited > age ? cited : age;
  }
  return age;
}

static eg_cite
add_lemma(proving *p, const eg_lemma *l) {
  eg_lemma_book *k = p->book;
  eg_lemma own = *l;
  if (l->from == EG_NO_TERM || l->to == EG_NO_TERM || k->lemmas.len >= p->max) {
    p->failed = true;
    return EG_SAME;
  }
  if (l->from == l->to)
    return EG_SAME;
  own.age = youngest_of(k, l);
  own.cites = bs_arena_copy(&p->x->arena, l->cites,
                            (l->n_cites + (size_t)1) * sizeof *l->cites);
  bs_push(p->x->heap, &k->lemmas, own);
  return 2 * (k->lemmas.len - 1);
}

/* One after another; what is gone back at once is left out. */
static void
follow(proving *p, eg_cite c) {
  if (c == EG_SAME)
    return;
  if (p->cites.len && bs_last(&p->cites) == (c ^ 1))
    p->cites.len--;
  else
    bs_push(p->x->heap, &p->cites, c);
}

static eg_cite
chain(proving *p, uint32_t from, uint32_t to) {
  eg_lemma l = {.kind = EG_LEMMA_CHAIN, .from = from, .to = to};
  bs_reserve(p->x->heap, &p->cites, p->cites.len + (uint64_t)1);
  l.cites = p->cites.data;
  l.n_cites = p->cites.len;
  if (from == to)
    return EG_SAME;
  p->failed |= !l.n_cites;
  return l.n_cites == 1 ? l.cites[0] : add_lemma(p, &l);
}

static eg_cite
congruence(proving *p, uint32_t from, uint32_t to) {
  eg_lemma l = {.kind = EG_LEMMA_CONGRUENCE, .from = from, .to = to};
  bs_reserve(p->x->heap, &p->cites, p->cites.len + (uint64_t)1);
  l.cites = p->cites.data;
  l.n_cites = p->cites.len;
  return add_lemma(p, &l);
}

/* --- two rows ------------------------------------------------------------- */

/* Called again once what it rests on is proved. */
static eg_cite
prove_rows(proving *p, const goal *g) {
  eg_explainer *x = p->x;
  uint32_t a = eg_xterm_of_row(x, g->a), b = eg_xterm_of_row(x, g->b);
  if (a == b)
    return EG_SAME;
  bs_clear(&x->way);
  p->failed |=
      !eg_history_way(&x->h, g->a, g->b, x->h.n_events, false, &x->way);
  for (uint32_t k = 0; k < x->way.len; k++) {
    uint32_t word = x->way.data[k];
    eg_cite c = want(p, EVENT, word & ~EG_BACK, 0, 0);
    follow(p, word & EG_BACK ? back(c) : c);
  }
  return p->todo.len ? EG_SAME : chain(p, a, b);
}

/* --- a row as an instance of a pattern ------------------------------------ */

static eg_cite
want_part(proving *p, uint32_t event, uint32_t side, uint32_t node,
          uint32_t row) {
  return want(p, PART, event, side << SIDE_SHIFT | node, row);
}

static eg_instance
instance_of(proving *p, uint32_t event) {
  eg_explainer *x = p->x;
  bs_clear(&x->instances);
  bs_clear(&x->bound);
  uint32_t i = eg_instance_new(x, event);
  return x->instances.data[i];
}

/* The children of the row that fits, each an instance of its own node. */
static eg_cite
part_kids(proving *p, const goal *g, const eg_term_node *n, uint32_t term) {
  uint32_t side = g->b >> SIDE_SHIFT;
  for (uint32_t k = 0; k < n->n_kids; k++) {
    uint32_t kid = eg_history_kid(&p->x->h, g->row, k);
    bs_push(p->x->heap, &p->cites, want_part(p, g->a, side, n->kids[k], kid));
  }
  if (p->todo.len)
    return EG_SAME;
  return congruence(p, eg_xterm_of_row(p->x, g->row), term);
}

static eg_cite
prove_part(proving *p, goal *g) {
  eg_explainer *x = p->x;
  eg_instance i = instance_of(p, g->a);
  uint32_t side = g->b >> SIDE_SHIFT, at = g->b & ((1u << SIDE_SHIFT) - 1);
  const eg_term_node *n = &eg_side_of(x, &i, side)->nodes[at];
  if (n->is_slot)
    return want_rows(p, g->c, eg_slot_row(x, &i, n->slot));
  if (g->state == NEW)
    g->row = eg_side_row(x, &i, side, at, g->c);
  uint32_t term = eg_side_instance(x, 0, side, at);
  if (g->row == EG_NONE || term == EG_NO_TERM) {
    p->failed = true;
    return EG_SAME;
  }
  eg_cite to_row = want_rows(p, g->c, g->row);
  eg_cite kids = part_kids(p, g, n, term);
  bs_clear(&p->cites);
  follow(p, to_row);
  follow(p, kids);
  return p->todo.len ? EG_SAME : chain(p, eg_xterm_of_row(x, g->c), term);
}

/* --- events --------------------------------------------------------------- */

static eg_cite
by_congruence(proving *p, uint32_t a, uint32_t b) {
  eg_explainer *x = p->x;
  for (uint32_t k = 0, n = eg_history_arity(&x->h, a); k < n; k++)
    bs_push(
        x->heap, &p->cites,
        want_rows(p, eg_history_kid(&x->h, a, k), eg_history_kid(&x->h, b, k)));
  if (p->todo.len)
    return EG_SAME;
  return congruence(p, eg_xterm_of_row(x, a), eg_xterm_of_row(x, b));
}

static void
want_premises(proving *p, const eg_instance *i) {
  const eg_shape *s = eg_shape_of(p->x, i);
  for (uint32_t k = 1; k < s->n_parts; k++)
    bs_push(p->x->heap, &p->cites,
            want_part(p, i->event, k, s->parts[k].n - 1,
                      eg_slot_row(p->x, i, s->part_roots[k])));
}

static void
show_slots(proving *p, const eg_instance *i, eg_lemma *l) {
  eg_explainer *x = p->x;
  uint32_t *slots = BS_NEWS(&x->arena, uint32_t, i->n_slots + 1);
  l->is_class = eg_class_slots(x, i);
  for (uint32_t k = 0; k < i->n_slots; k++) {
    slots[k] = eg_slots_of(x, i)[k];
    if (l->is_class[k] && slots[k] != EG_NONE)
      slots[k] = eg_xterm_of_row(x, eg_slot_row(x, i, k));
  }
  l->slots = slots;
}

/* The application itself; what it cites stands in p->cites. */
static eg_cite
application(proving *p, const eg_instance *i, uint32_t result) {
  eg_explainer *x = p->x;
  const eg_shape *s = eg_shape_of(x, i);
  uint32_t slot = s->results[result].slot;
  eg_lemma l = {.kind = EG_LEMMA_RULE,
                .rule = eg_rule_of(x, i),
                .result = result,
                .age = i->event + 1,
                .root = eg_side_instance(x, 0, 0, s->parts[0].n - 1),
                .n_slots = i->n_slots};
  l.from =
      slot == EG_NONE ? l.root : eg_xterm_of_row(x, eg_slot_row(x, i, slot));
  uint32_t side = s->n_parts + result;
  l.to = eg_side_instance(x, 0, side, eg_side_of(x, i, side)->n - 1);
  show_slots(p, i, &l);
  bs_reserve(x->heap, &p->cites, p->cites.len + (uint64_t)1);
  l.cites = p->cites.data;
  l.n_cites = p->cites.len;
  return add_lemma(p, &l);
}

static eg_cite
want_side(proving *p, const eg_instance *i, uint32_t side, uint32_t row) {
  return want_part(p, i->event, side, eg_side_of(p->x, i, side)->n - 1, row);
}

static eg_cite
by_rule(proving *p, uint32_t event) {
  eg_explainer *x = p->x;
  eg_instance i = instance_of(p, event);
  const eg_shape *s = eg_shape_of(x, &i);
  uint32_t result = x->h.j->events.data[event].b;
  const uint32_t *end = x->h.ends + 2 * (size_t)event;
  eg_cite left = EG_SAME, right, rule;
  if (s->results[result].slot == EG_NONE)
    left = want_side(p, &i, 0, end[0]);
  right = want_side(p, &i, s->n_parts + result, end[1]);
  want_premises(p, &i);
  if (p->todo.len)
    return EG_SAME;
  rule = application(p, &i, result);
  bs_clear(&p->cites);
  follow(p, left);
  follow(p, rule);
  follow(p, back(right));
  return chain(p, eg_xterm_of_row(x, end[0]), eg_xterm_of_row(x, end[1]));
}

static eg_cite
prove_event(proving *p, uint32_t event) {
  eg_explainer *x = p->x;
  const eg_event *e = &x->h.j->events.data[event];
  const uint32_t *end = x->h.ends + 2 * (size_t)event;
  if (eg_is_rule(&x->h, e))
    return by_rule(p, event);
  if (e->why == EG_BY_CONGRUENCE)
    return by_congruence(p, end[0], end[1]);
  eg_lemma l = {.kind = EG_LEMMA_GIVEN,
                .age = event + 1,
                .from = eg_xterm_of_row(x, end[0]),
                .to = eg_xterm_of_row(x, end[1])};
  return add_lemma(p, &l);
}

/* --- a term and its row --------------------------------------------------- */

static eg_cite
prove_term(proving *p, uint32_t term) {
  eg_explainer *x = p->x;
  uint32_t row = x->nodes.data[term].row, n = eg_xarity(x, term);
  BS_VEC(eg_cite) kids = {0};
  for (uint32_t k = 0; k < n; k++) {
    uint32_t kid = eg_xkids(x, term)[k], at = x->nodes.data[kid].row;
    uint32_t as = eg_history_kid(&x->h, row, k);
    bs_clear(&p->cites);
    follow(p, want(p, TERM, kid, 0, 0));
    follow(p, want_rows(p, at, as));
    eg_cite c = EG_SAME;
    if (!p->todo.len)
      c = chain(p, kid, eg_xterm_of_row(x, as));
    bs_push(x->heap, &kids, c);
  }
  bs_clear(&p->cites);
  for (uint32_t k = 0; k < kids.len; k++)
    bs_push(x->heap, &p->cites, kids.data[k]);
  bs_vec_done(x->heap, &kids);
  if (p->todo.len)
    return EG_SAME;
  return congruence(p, term, eg_xterm_of_row(x, row));
}

/* --- proofs --------------------------------------------------------------- */

static eg_cite
prove_goal(proving *p, goal *g) {
  switch ((goal_kind)g->kind) {
  case ROWS:
    return prove_rows(p, g);
  case EVENT:
    return prove_event(p, g->a);
  case PART:
    return prove_part(p, g);
  case TERM:
    return prove_term(p, g->a);
  }
  return EG_SAME;
}

/* A goal is taken up twice: to put what it rests on over it on the stack, and
 * once that is proved. */
static eg_cite
prove(proving *p, uint32_t first) {
  bs_heap *heap = p->x->heap;
  BS_VEC(uint32_t) stack = {0};
  bs_push(heap, &stack, first);
  while (stack.len && !p->failed) {
    goal g = p->book->goals.data[bs_last(&stack)];
    bs_clear(&p->todo);
    bs_clear(&p->cites);
    if (g.state != DONE)
      g.cite = prove_goal(p, &g);
    g.state = p->todo.len ? OPEN : DONE;
    p->book->goals.data[bs_last(&stack)] = g;
    if (g.state == DONE)
      stack.len--;
    for (uint32_t k = 0; k < p->todo.len; k++)
      bs_push(heap, &stack, p->todo.data[k]);
  }
  bs_vec_done(heap, &stack);
  return p->book->goals.data[first].cite;
}

static eg_cite
prove_wanted(proving *p, uint32_t kind, uint32_t a, uint32_t b) {
  return prove(p, goal_of(p, kind, a, b, 0));
}

static eg_cite
prove_terms(proving *p, uint32_t from, uint32_t to) {
  const eg_explainer *x = p->x;
  uint32_t a = x->nodes.data[from].row, b = x->nodes.data[to].row;
  eg_cite left = prove_wanted(p, TERM, from, 0);
  eg_cite right = prove_wanted(p, TERM, to, 0), rows = EG_SAME;
  if (a != b)
    rows = prove_wanted(p, ROWS, a < b ? a : b, a < b ? b : a);
  bs_clear(&p->cites);
  follow(p, left);
  follow(p, a < b ? rows : back(rows));
  follow(p, back(right));
  return p->failed ? EG_SAME : chain(p, from, to);
}

static void
forget_open(eg_lemma_book *k) {
  for (uint32_t i = 0; i < k->goals.len; i++)
    if (k->goals.data[i].state == OPEN)
      k->goals.data[i].state = NEW;
}

eg_explained
eg_prove(eg_explainer *x, uint32_t from, uint32_t to, uint32_t max,
         eg_cite *out) {
  proving p = {.x = x, .book = &x->book, .max = max};
  *out = EG_SAME;
  if (!x->of_row)
    return EG_NOT_RECORDED;
  assert(from == EG_NO_TERM || from < x->nodes.len);
  assert(to == EG_NO_TERM || to < x->nodes.len);
  if (from == EG_NO_TERM || to == EG_NO_TERM ||
      eg_xterm_class(x, from) != eg_xterm_class(x, to))
    return EG_NOT_EQUAL;
  if (from != to)
    *out = prove_terms(&p, from, to);
  if (p.failed)
    forget_open(p.book);
  bs_vec_done(x->heap, &p.todo);
  bs_vec_done(x->heap, &p.cites);
  return p.failed ? EG_TOO_LONG : EG_EXPLAINED;
}

const eg_lemma *
eg_lemmas(const eg_explainer *x, uint32_t *n) {
  *n = x->book.lemmas.len;
  return x->book.lemmas.data;
}

/* SPDX-License-Identifier: MIT */
/* egraph_explain.c - a chain built by changing one term into another.
 *
 * The chain is found by doing: a term stands before us, tasks on a stack say
 * what its subterms shall become, and each application of a rule is written
 * down.  To become equal to a row, a term goes the way of events from its own
 * row to that one.  For an event of a rule it is made to match one side and is
 * replaced by the other; an event of congruence needs nothing by itself, since
 * only keys are compared: where the children matter, a later pattern or the
 * final term asks for them.  Variables stand for the subterm that is there, so
 * what no pattern looks at is left alone.
 *
 * That is short but may run in circles.  So it comes second, with fuel, on the
 * shortest way and on the forest's, and the shortest chain is taken.  First,
 * `strict`, the forest is followed exactly, each term as it was added: then
 * whatever a step rests on is older than the step, and it ends. */
#include "egraph/proof.h"
#include "egraph/egraph_testing.h"
#include <assert.h>
#include <string.h>

/* Tasks, and tasks a step that is allowed. */
enum {
  FUEL = 1 << 12,
  FUEL_A_STEP = 32,
  MOST_DEPTH = 1 << 12,
  MOST_TWINS = 32
};

/* --- explainers --------------------------------------------------------- */

eg_explainer *
eg_explainer_new(const eg_graph *g, const eg_shape *shapes, uint32_t n) {
  assert(shapes || !n);
  eg_explainer *x = bs_calloc(g->heap, 1, sizeof *x);
  x->g = g;
  x->heap = g->heap;
  bs_arena_init(&x->arena, x->heap);
  if (!g->journal)
    return x;
  eg_history_init(&x->h, g, shapes, n);
  x->of_row = bs_calloc(x->heap, x->h.n_rows + (size_t)1, sizeof *x->of_row);
  return x;
}

void
eg_explainer_free(eg_explainer *x) {
  if (!x)
    return;
  bs_heap *heap = x->heap;
  if (x->of_row)
    eg_history_done(&x->h);
  bs_free(heap, x->of_row);
  bs_vec_done(heap, &x->nodes);
  bs_vec_done(heap, &x->kids);
  bs_vec_done(heap, &x->table);
  bs_vec_done(heap, &x->stack);
  bs_vec_done(heap, &x->tasks);
  bs_vec_done(heap, &x->paths);
  bs_vec_done(heap, &x->instances);
  bs_vec_done(heap, &x->bound);
  bs_vec_done(heap, &x->links);
  bs_vec_done(heap, &x->scratch);
  bs_vec_done(heap, &x->way);
  bs_vec_done(heap, &x->book.goals);
  bs_vec_done(heap, &x->book.table);
  bs_vec_done(heap, &x->book.lemmas);
  bs_arena_done(&x->arena);
  bs_free(heap, x);
}

uint32_t
eg_explain_term(eg_explainer *x, uint32_t op, bs_value attr,
                const uint32_t *kids, uint32_t n) {
  assert(kids || !n);
  uint32_t head = eg_head_find(x->g, op, attr, n);
  for (uint32_t k = 0; k < n; k++)
    if (kids[k] == EG_NO_TERM)
      return EG_NO_TERM;
  return head == EG_NONE || !x->of_row ? EG_NO_TERM
                                       : eg_xterm(x, head, kids, n);
}

uint32_t
eg_explain_class(eg_explainer *x, eg_class c) {
  if (!x->of_row || c.i >= x->g->n_classes || x->h.first[c.i] == EG_NONE)
    return EG_NO_TERM;
  return eg_xterm_of_row(x, x->h.first[c.i]);
}

uint32_t
eg_term_op(const eg_explainer *x, uint32_t term) {
  assert(term < x->nodes.len);
  return eg_head_of(x->g, x->nodes.data[term].head)->op;
}

bs_value
eg_term_attr(const eg_explainer *x, uint32_t term) {
  assert(term < x->nodes.len);
  return eg_head_of(x->g, x->nodes.data[term].head)->attr;
}

const uint32_t *
eg_term_kids(const eg_explainer *x, uint32_t term, uint32_t *n) {
  assert(term < x->nodes.len);
  *n = eg_xarity(x, term);
  return eg_xkids(x, term);
}

eg_class
eg_term_class(const eg_explainer *x, uint32_t term) {
  assert(term < x->nodes.len);
  return (eg_class){eg_xterm_class(x, term)};
}

uint32_t
eg_count_terms(const eg_explainer *x) {
  return x->nodes.len;
}

/* --- tasks -------------------------------------------------------------- */

static void
task(eg_explainer *x, eg_task_kind kind, uint32_t path, uint32_t a, uint32_t b,
     uint32_t side, uint32_t bound) {
  bs_push(x->heap, &x->tasks, (eg_task){kind, path, a, b, side, bound});
}

static uint32_t
below(eg_explainer *x, uint32_t path, uint32_t kid) {
  bs_push(x->heap, &x->paths, (eg_path_step){path, kid});
  return x->paths.len - 1;
}

static uint32_t
here(eg_explainer *x, const eg_task *t) {
  return eg_subterm(x, x->whole, t->path);
}

static uint32_t
row_at(const eg_explainer *x, uint32_t term) {
  return x->nodes.data[term].row;
}

/* To one side of an event of a rule, and over to the other. */
static void
cross_rule(eg_explainer *x, const eg_task *t, uint32_t event, bool back) {
  uint32_t i = eg_instance_new(x, event);
  const eg_instance *in = &x->instances.data[i];
  const eg_shape *s = eg_shape_of(x, in);
  uint32_t result = x->h.j->events.data[event].b;
  uint32_t slot = s->results[result].slot;
  uint32_t side = back ? s->n_parts + result : 0;
  if (x->strict)
    task(x, EG_TO_TERM, t->path,
         eg_xterm_of_row(x, x->h.ends[2 * (size_t)event + !back]), 0, 0, event);
  task(x, EG_DO_RULE, t->path, i, !back, result, event);
  if (!back && slot != EG_NONE)
    task(x, EG_TO_SLOT, t->path, i, slot, 0, event);
  else
    task(x, EG_TO_PATTERN, t->path, i, eg_side_of(x, in, side)->n - 1, side,
         event);
}

/* Tasks are pushed last first. */
static void
cross(eg_explainer *x, const eg_task *t, uint32_t way) {
  bool back = way & EG_BACK;
  uint32_t event = way & ~EG_BACK;
  const eg_event *e = &x->h.j->events.data[event];
  const uint32_t *end = x->h.ends + 2 * (size_t)event;
  uint32_t to = eg_xterm_of_row(x, end[!back]);
  if (eg_is_rule(&x->h, e)) {
    cross_rule(x, t, event, back);
  } else if (e->why == EG_BY_CONGRUENCE) {
    if (x->strict)
      task(x, EG_TO_KIDS, t->path, to, 0, 0, event);
  } else {
    task(x, EG_DO_CLIENT, t->path, event, !back, 0, event);
    task(x, EG_TO_TERM, t->path, eg_xterm_of_row(x, end[back]), 0, 0, event);
  }
}

/* The last event that a term like row `like` needs to be what it is: equal to
 * row `to`, its children to those of the term. */
static uint32_t
needs(const eg_explainer *x, uint32_t term, uint32_t like, uint32_t to) {
  uint32_t last = eg_history_since(&x->h, like, to);
  for (uint32_t k = 0, n = eg_xarity(x, term); k < n; k++) {
    uint32_t kid = eg_history_kid(&x->h, like, k);
    uint32_t t = eg_history_since(&x->h, row_at(x, eg_xkids(x, term)[k]), kid);
    last = t > last ? t : last;
  }
  return last;
}

/* Of the rows that a term is like, the one that was equal to `to` first. */
static uint32_t
start_row(const eg_explainer *x, uint32_t term, uint32_t to) {
  uint32_t row = row_at(x, term), best = row, last = needs(x, term, row, to);
  uint32_t classes[MOST_TWINS], n = eg_xarity(x, term), tried = 0;
  if (n > MOST_TWINS)
    return row;
  for (uint32_t k = 0; k < n; k++)
    classes[k] = eg_xterm_class(x, eg_xkids(x, term)[k]);
  row = eg_history_find(&x->h, x->nodes.data[term].head, classes, n);
  for (; row != EG_NONE && tried < MOST_TWINS; tried++) {
    uint32_t t = needs(x, term, row, to);
    if (t < last) {
      last = t;
      best = row;
    }
    row = eg_history_next(&x->h, row);
  }
  return best;
}

/* What was equal before the bound is explained by what was before it; a lazy
 * chain may have drifted to what became equal later. */
static bool
to_row(eg_explainer *x, const eg_task *t) {
  uint32_t have = here(x, t), to = t->x;
  if (row_at(x, have) == to && !x->strict)
    return true;
  uint32_t from = start_row(x, have, to);
  if (!x->strict && eg_history_congruent(&x->h, from, to))
    return true;
  uint32_t since = eg_history_since(&x->h, from, to);
  if (since == EG_NONE)
    return false;
  bs_clear(&x->way);
  if (!eg_history_way(&x->h, from, to, t->bound > since ? t->bound : since,
                      x->shortest, &x->way))
    return false;
  for (uint32_t k = x->way.len; k-- > 0;)
    cross(x, t, x->way.data[k]);
  if (x->strict)
    task(x, EG_TO_KIDS, t->path, eg_xterm_of_row(x, from), 0, 0, t->bound);
  return true;
}

static bool
is_congruent(const eg_explainer *x, uint32_t a, uint32_t b) {
  if (x->nodes.data[a].head != x->nodes.data[b].head)
    return false;
  for (uint32_t k = 0, n = eg_xarity(x, a); k < n; k++)
    if (eg_xterm_class(x, eg_xkids(x, a)[k]) !=
        eg_xterm_class(x, eg_xkids(x, b)[k]))
      return false;
  return true;
}

/* Were the children of two terms equal before the bound? */
static bool
kids_timely(const eg_explainer *x, uint32_t a, uint32_t b, uint32_t bound) {
  for (uint32_t k = 0, n = eg_xarity(x, a); k < n; k++)
    if (eg_history_since(&x->h, row_at(x, eg_xkids(x, a)[k]),
                         row_at(x, eg_xkids(x, b)[k])) > bound)
      return false;
  return true;
}

static bool
to_term(eg_explainer *x, const eg_task *t) {
  uint32_t have = here(x, t), want = t->x;
  if (have == want)
    return true;
  task(x, EG_TO_KIDS, t->path, want, 0, 0, t->bound);
  if (!is_congruent(x, have, want) || !kids_timely(x, have, want, t->bound))
    task(x, EG_TO_ROW, t->path, row_at(x, want), 0, 0, t->bound);
  return true;
}

/* A rule whose side is a variable leads to another term of the class than the
 * row on the way: then the rest of the way is taken from there. */
static bool
to_kids(eg_explainer *x, const eg_task *t) {
  uint32_t have = here(x, t), want = t->x;
  if (have == want)
    return true;
  if (!is_congruent(x, have, want)) {
    task(x, EG_TO_TERM, t->path, want, 0, 0, t->bound);
    return !x->strict;
  }
  for (uint32_t k = eg_xarity(x, want); k-- > 0;)
    if (eg_xkids(x, have)[k] != eg_xkids(x, want)[k])
      task(x, EG_TO_TERM, below(x, t->path, k), eg_xkids(x, want)[k], 0, 0,
           t->bound);
  return true;
}

/* The first part that says what a variable stands for; 0 when none does. */
static uint32_t
part_of_slot(const eg_shape *s, uint32_t slot) {
  for (uint32_t p = 1; p < s->n_parts && p < 64; p++)
    if (s->part_roots[p] == slot)
      return p;
  return 0;
}

static bool
to_slot(eg_explainer *x, const eg_task *t, uint32_t slot) {
  eg_instance *in = &x->instances.data[t->x];
  const eg_shape *s = eg_shape_of(x, in);
  uint32_t p = part_of_slot(s, slot), *bound = &x->bound.data[in->sigma + slot];
  if (*bound == EG_NO_TERM && x->strict)
    eg_slot_term(x, t->x, slot);
  bound = &x->bound.data[in->sigma + slot];
  if (*bound != EG_NO_TERM) {
    task(x, EG_TO_TERM, t->path, *bound, 0, 0, t->bound);
  } else if (p && !(in->busy >> p & 1)) {
    in->busy |= UINT64_C(1) << p;
    task(x, EG_SET_SLOT, t->path, t->x, slot, 0, t->bound);
    task(x, EG_TO_PATTERN, t->path, t->x, s->parts[p].n - 1, p, t->bound);
  } else {
    *bound = here(x, t);
  }
  return true;
}

static bool
set_slot(eg_explainer *x, const eg_task *t) {
  uint32_t *bound = &x->bound.data[x->instances.data[t->x].sigma + t->y];
  if (*bound == EG_NO_TERM)
    *bound = here(x, t);
  return *bound == here(x, t);
}

/* Strictly, only the very term of a row that was there in time will do. */
static bool
to_pattern(eg_explainer *x, const eg_task *t) {
  const eg_instance *in = &x->instances.data[t->x];
  const eg_term_node *n = &eg_side_of(x, in, t->side)->nodes[t->y];
  uint32_t have = here(x, t);
  if (n->is_slot)
    return to_slot(x, t, n->slot);
  uint32_t row = EG_NONE;
  if (x->strict || !eg_side_fits(x, in, t->side, t->y, have)) {
    row = eg_side_row(x, in, t->side, t->y, row_at(x, have));
    if (row == EG_NONE)
      return false;
  }
  if (row != EG_NONE && (!x->strict || eg_xterm_of_row(x, row) != have)) {
    eg_task again = *t;
    bs_push(x->heap, &x->tasks, again);
    task(x, EG_TO_ROW, t->path, row, 0, 0, t->bound);
    return true;
  }
  for (uint32_t k = n->n_kids; k-- > 0;)
    task(x, EG_TO_PATTERN, below(x, t->path, k), t->x, n->kids[k], t->side,
         t->bound);
  return true;
}

/* --- steps -------------------------------------------------------------- */

static const uint32_t *
path_numbers(eg_explainer *x, uint32_t path, uint32_t *n) {
  uint32_t len = 0;
  for (uint32_t p = path; p; p = x->paths.data[p].up)
    len++;
  uint32_t *out = BS_NEWS(&x->arena, uint32_t, len + 1);
  *n = len;
  for (uint32_t p = path; p; p = x->paths.data[p].up)
    out[--len] = x->paths.data[p].kid;
  return out;
}

static bool
step(eg_explainer *x, const eg_task *t, eg_link *link, uint32_t after) {
  link->path = path_numbers(x, t->path, &link->n_path);
  link->whole = x->whole;
  link->before = here(x, t);
  link->after = after;
  if (after == EG_NO_TERM || x->links.len >= x->max_steps ||
      link->n_path > MOST_DEPTH)
    return false;
  x->whole = eg_replaced(x, x->whole, t->path, after);
  link->next = x->whole;
  if (link->next == EG_NO_TERM)
    return false;
  if (link->before != after)
    bs_push(x->heap, &x->links, *link);
  return true;
}

/* The substitution as the chain shows it. */
static void
show_slots(eg_explainer *x, uint32_t instance, eg_link *link) {
  const eg_instance i = x->instances.data[instance];
  const uint8_t *is_class = eg_class_slots(x, &i);
  uint32_t *slots = BS_NEWS(&x->arena, uint32_t, i.n_slots + 1);
  for (uint32_t k = 0; k < i.n_slots; k++)
    slots[k] = is_class[k] && eg_slots_of(x, &i)[k] != EG_NONE
                   ? eg_slot_term(x, instance, k)
                   : eg_slots_of(x, &i)[k];
  link->slots = slots;
  link->is_class = is_class;
  link->n_slots = i.n_slots;
}

/* Variables that are to be instances of two parts at once. */
static void
find_premises(eg_explainer *x, uint32_t instance, eg_link *link) {
  const eg_instance i = x->instances.data[instance];
  const eg_shape *s = eg_shape_of(x, &i);
  eg_premise *out = BS_NEWS(&x->arena, eg_premise, s->n_parts);
  link->premises = out;
  for (uint32_t p = 1; p < s->n_parts; p++) {
    if (s->part_roots[p] == EG_NONE)
      continue;
    uint32_t have = eg_slot_term(x, instance, s->part_roots[p]);
    uint32_t want = eg_side_term(x, instance, p);
    if (have != want && want != EG_NO_TERM)
      out[link->n_premises++] = (eg_premise){have, want};
  }
}

static bool
do_rule(eg_explainer *x, const eg_task *t) {
  const eg_instance i = x->instances.data[t->x];
  const eg_shape *s = eg_shape_of(x, &i);
  uint32_t slot = s->results[t->side].slot;
  uint32_t root = eg_side_term(x, t->x, 0);
  uint32_t left = slot == EG_NONE ? root : eg_slot_term(x, t->x, slot);
  uint32_t right = eg_side_term(x, t->x, s->n_parts + t->side);
  bool forward = t->y;
  eg_link link = {.rule = eg_rule_of(x, &i),
                  .result = t->side,
                  .forward = forward,
                  .root = root};
  if (here(x, t) != (forward ? left : right))
    return false;
  show_slots(x, t->x, &link);
  find_premises(x, t->x, &link);
  return step(x, t, &link, forward ? right : left);
}

static bool
do_client(eg_explainer *x, const eg_task *t) {
  const uint32_t *end = x->h.ends + 2 * (size_t)t->x;
  bool forward = t->y;
  eg_link link = {.rule = EG_BY_CLIENT, .forward = forward};
  uint32_t to = eg_xterm_of_row(x, end[forward]);
  link.root = eg_xterm_of_row(x, end[0]);
  return here(x, t) == eg_xterm_of_row(x, end[!forward]) &&
         step(x, t, &link, to);
}

static bool
do_task(eg_explainer *x, const eg_task *t) {
  switch (t->kind) {
  case EG_TO_ROW:
    return to_row(x, t);
  case EG_TO_TERM:
    return to_term(x, t);
  case EG_TO_KIDS:
    return to_kids(x, t);
  case EG_TO_PATTERN:
    return to_pattern(x, t);
  case EG_TO_SLOT:
    return to_slot(x, t, t->y);
  case EG_SET_SLOT:
    return set_slot(x, t);
  case EG_DO_RULE:
    return do_rule(x, t);
  case EG_DO_CLIENT:
    return do_client(x, t);
  }
  return false;
}

/* --- chains ------------------------------------------------------------- */

/* Leaves out what leads back to where the chain has been. */
static void
cut_loops(eg_explainer *x, uint32_t from) {
  uint32_t n = x->links.len, kept = 0, at = from;
  uint32_t *last = bs_alloc(x->heap, (x->nodes.len + (size_t)1) * sizeof *last);
  memset(last, 0xff, (x->nodes.len + (size_t)1) * sizeof *last);
  for (uint32_t i = 0; i < n; i++)
    last[x->links.data[i].whole] = i;
  for (uint32_t i = 0; i < n;) {
    if (last[at] != EG_NONE)
      i = last[at];
    at = x->links.data[i].next;
    x->links.data[kept++] = x->links.data[i++];
  }
  x->links.len = kept;
  /* The end may have been passed before. */
  for (uint32_t i = 0; i < kept; i++)
    if (x->links.data[i].whole == at) {
      x->links.len = i;
      break;
    }
  bs_free(x->heap, last);
}

static bool
attempt(eg_explainer *x, uint32_t from, uint32_t to, uint32_t max_steps,
        bool strict, bool shortest) {
  bs_clear(&x->tasks);
  bs_clear(&x->paths);
  bs_clear(&x->instances);
  bs_clear(&x->bound);
  bs_clear(&x->links);
  bs_push(x->heap, &x->paths, (eg_path_step){0, 0});
  x->whole = from;
  x->strict = strict;
  x->shortest = shortest;
  x->max_steps = max_steps;
  task(x, EG_TO_TERM, 0, to, 0, 0, x->h.n_events);
  uint64_t fuel = (uint64_t)FUEL_A_STEP * max_steps;
  for (fuel += FUEL; x->tasks.len; fuel--) {
    eg_task t = bs_pop(&x->tasks);
    if (!fuel || !do_task(x, &t))
      return false;
  }
  cut_loops(x, from);
  return x->whole == to;
}

static void
keep_shorter(eg_explainer *x, eg_chain *out, bool *found) {
  if (*found && x->links.len >= out->n)
    return;
  eg_link *links =
      bs_arena_alloc(&x->arena, (x->links.len + (size_t)1) * sizeof *links);
  if (x->links.len)
    memcpy(links, x->links.data, x->links.len * sizeof *links);
  out->links = links;
  out->n = x->links.len;
  *found = true;
}

eg_explained
eg_explain(eg_explainer *x, uint32_t from, uint32_t to, uint32_t max_steps,
           eg_chain *out) {
  bool found = false;
  *out = (eg_chain){.from = from, .to = to};
  if (!x->of_row)
    return EG_NOT_RECORDED;
  assert(from == EG_NO_TERM || from < x->nodes.len);
  assert(to == EG_NO_TERM || to < x->nodes.len);
  if (from == EG_NO_TERM || to == EG_NO_TERM ||
      eg_xterm_class(x, from) != eg_xterm_class(x, to))
    return EG_NOT_EQUAL;
  if (attempt(x, from, to, max_steps, true, false))
    keep_shorter(x, out, &found);
  for (int shortest = 1; shortest >= 0; shortest--)
    if (attempt(x, from, to, found ? out->n : max_steps, false, shortest))
      keep_shorter(x, out, &found);
  return found ? EG_EXPLAINED : EG_TOO_LONG;
}
